"""Log-histograms: twenty buckets to each factor of e, so that a value read back is within 2.5 %. They merge by adding.

Bucket b holds what lies from e^(b/20) up to e^((b+1)/20); bucket -1 holds zero.
"""

from __future__ import annotations

from typing import Final

PER_E: Final = 20
ZERO: Final = -1


def bucket(value: str) -> str:
    """The bucket of a whole number."""
    return f"if({value} >= 1, int(floor(ln({value}) * {PER_E})), {ZERO})"


def percentile(histogram: str, p: str) -> str:
    """By nearest rank: the middle of the bucket in which the p-th part of all is reached."""
    return f"""aggregate(
        array_sort(map_entries({histogram})),
        named_struct(
            'rank', bigint(ceil({p} * aggregate(map_values({histogram}), 0L, (sum, n) -> sum + n))),
            'bucket', int(NULL)
        ),
        (seen, entry) -> named_struct(
            'rank', seen.rank - entry.value,
            'bucket', if(seen.rank > 0, entry.key, seen.bucket)
        ),
        seen -> if(seen.bucket = {ZERO}, 0L, bigint(round(exp((seen.bucket + 0.5D) / {PER_E}))))
    )"""


FUNCTION_NAME: Final = "histogram_percentile"
FUNCTION: Final = f"""
CREATE OR REPLACE FUNCTION {FUNCTION_NAME}(histogram MAP<INT, BIGINT>, p DOUBLE) RETURNS BIGINT
RETURN {percentile("histogram", "p")}
"""
