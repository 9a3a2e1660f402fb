"""Makes the golden archive from the golden journal. Run it only for a new version.

python -m tests.history.make_golden tests/history/golden/v1
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.columns import Words
from penstock.history.shelves import OsShelves
from penstock.journal.disk import OsDisk

JOURNAL = Path(__file__).parents[1] / "journal" / "golden" / "v1"
SEALED_BELOW = 4
DIALECTS = {0: "server", 2: "pinpriq", 4: "deferred", 5: "rsmq"}


def make(folder: str) -> None:
    archive = Archive(OsShelves(folder), 1, print)
    archivist = Archivist(OsDisk(str(JOURNAL)), archive, Words(DIALECTS), lambda event, fields: None)
    for _ in archivist.upto(SEALED_BELOW):
        pass


if __name__ == "__main__":
    make(sys.argv[1])
