"""`python -m tests.pipeline.classes`: has Java lay ready what the sessions of these tests load, as the first short
command of a user's does. A dozen of them start in the tests; without it each takes ten seconds of a processor more.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from penstock.pipeline.classdata import place
from penstock.pipeline.session import BRIEF, open_session
from tests.pipeline.histories import cut, random_history, write_archive
from tests.pipeline.house import House
from tests.pipeline.sparing import SPARING

PATIENCE_S = 200.0


def work(directory: Path) -> None:
    """Everything that a run loads, and what looks at its tables."""
    spark = open_session("local[2,4]", "1g", SPARING | {BRIEF: "true"})
    house = House(spark, directory)
    history = random_history(1, 200).facts
    write_archive(house.archive, cut(history, 100))
    house.run(compact=True)
    house.agrees_with(history)
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        work(Path(directory))
    file = place()
    deadline = time.monotonic() + PATIENCE_S
    while file is not None and not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    if file is None or not file.exists():
        print("Java has laid nothing ready: the tests of the pipeline take longer.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
