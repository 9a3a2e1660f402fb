"""Makes the golden file of etzel's format. Run it only for a new format.

python -m tests.cli.make_etzel_golden tests/cli/golden/v1.etzel
"""

from __future__ import annotations

import sys

from penstock.cli import etzel_file
from penstock.codecs.etzel_store import Row

ROWS = (
    Row(b"orders", b"etzl0pCk2X9LqZ", 0, 0, 0, 0, b"plain"),
    Row(b"orders", b"etzl4ZkY0aB3xQ", 255, 60, 31_536_000, 86_400, bytes(range(256))),
    Row(b"a-b--", b"etzlURkxcKvovp", 1, 5, 30, 0, b""),
    Row(b"", b"etzlDPDvj9HVk7", 2, 0, 0, 1, "größer".encode()),
    Row(b"\xff\0", b"another_eighteen.b", 3, 1, 2, 3, b"x"),
)

if __name__ == "__main__":
    etzel_file.write(sys.argv[1], ROWS, force=True)
