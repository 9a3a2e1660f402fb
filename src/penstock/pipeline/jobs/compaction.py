"""Compaction: many small parts become one, and the facts of a day that is over move from the archive into the lake.

Everything is written beside what counts, then one manifest swaps it. A compaction that was killed is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline import holders, minutes, names
from penstock.pipeline.jobs.batch import SNAPSHOTS
from penstock.pipeline.jobs.parts import conform, read, read_archive, write
from penstock.pipeline.lake import Lake, Manifest, Part, SegmentFile
from penstock.pipeline.tiers import groups

FILE_BYTES: Final = 256 << 20

# table -> how its rows become fewer; those of the others stay as they are
_MERGES: Final[dict[str, Callable[[DataFrame], DataFrame]]] = {
    "tally": minutes.merged_tally,
    "times": minutes.merged_times,
    "names": names.merged,
    "holders": holders.merged,
}


class Move(NamedTuple):
    """Parts of a table, or files of the archive, that become one part."""

    table: str
    day: str
    parts: list[Part]
    files: list[SegmentFile]

    @property
    def level(self) -> int:
        return max((part.level for part in self.parts), default=0) + 1


def compact(
    spark: SparkSession, archive: Path, lake: Lake, tell: Callable[[str, int, int], None], everything: bool
) -> int:
    """Gives how many parts were made."""
    before = lake.manifest()
    moves = list(_moves(before, everything))
    if not moves:
        return 0
    after = msgspec.structs.replace(before, generation=before.generation + 1, parts=dict(before.parts))
    for number, move in enumerate(moves, 1):
        tell(f"compacting {move.table}", number, len(moves))
        _apply(spark, archive, lake, after, move)
    lake.publish(after, before)
    return len(moves)


def _moves(manifest: Manifest, everything: bool) -> Iterator[Move]:
    days = sorted(
        {part.day for parts in manifest.parts.values() for part in parts} | {file.day for file in manifest.files}
    )
    today = days[-1] if days else ""
    for table, parts in manifest.parts.items():
        if table not in SNAPSHOTS:
            yield from (Move(table, group[-1].day, group, []) for group in groups(parts, today, everything))
    for day in sorted({file.day for file in manifest.files if file.day < today}):
        yield Move("facts", day, [], [file for file in manifest.files if file.day == day])


def _apply(spark: SparkSession, archive: Path, lake: Lake, manifest: Manifest, move: Move) -> None:
    path = f"{move.table}/generation={manifest.generation}/day={move.day}.{move.level}"
    rows, size = _rows(spark, archive, lake, move)
    write(conform(rows, move.table).coalesce(max(1, size // FILE_BYTES)), lake.root / path)
    gone = {part.path for part in move.parts}
    kept = [part for part in manifest.parts.get(move.table, []) if part.path not in gone]
    manifest.parts[move.table] = [*kept, Part(path, move.day, move.level)]
    moved = {file.segment for file in move.files}
    manifest.files = [file for file in manifest.files if file.segment not in moved]


def _rows(spark: SparkSession, archive: Path, lake: Lake, move: Move) -> tuple[DataFrame, int]:
    """And how many bytes they are in."""
    if move.files:
        paths = [file.path for file in move.files if (archive / file.path).exists()]
        return read_archive(spark, archive, paths), sum((archive / path).stat().st_size for path in paths)
    rows = read(spark, lake, move.table, move.parts)
    merge = _MERGES.get(move.table)
    return rows if merge is None else merge(rows), _bytes(lake, move.parts)


def _bytes(lake: Lake, parts: Sequence[Part]) -> int:
    return sum(file.stat().st_size for part in parts for file in (lake.root / part.path).glob("*.parquet"))
