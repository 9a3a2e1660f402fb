"""What lies in the archive: its files, what each says of itself, and which of them a lake has not taken in yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.history import schema
from penstock.pipeline.lake import Manifest

ARCHIVE_NAME: Final = "archive"
_PATTERN: Final = "date=*/[0-9]*.parquet"


class BadArchive(ValueError):
    """A file of the archive that cannot be taken in; in words."""


class Segment(NamedTuple):
    """A file, as its footer has it. `path`: below the archive."""

    path: str
    store: str
    number: int
    first: int
    last: int
    first_at_us: int
    last_at_us: int
    counts: Mapping[int, int]  # facts by their code

    @property
    def day(self) -> str:
        return self.path.partition("/")[0].removeprefix("date=")

    @property
    def facts(self) -> int:
        return self.last - self.first + 1


def names(archive: Path) -> list[Path]:
    """Every file, the oldest facts first. A name is the number of the first fact."""
    return sorted(archive.glob(_PATTERN), key=lambda path: int(path.stem))


def unseen(archive: Path, manifest: Manifest, tell: Callable[[int, int], None]) -> list[Segment]:
    """Raises BadArchive."""
    fresh = [path for path in names(archive) if not manifest.has(int(path.stem))]
    found = []
    for number, path in enumerate(fresh, 1):
        tell(number, len(fresh))
        found.append(_read(archive, path))
    stores = {segment.store for segment in found} | ({manifest.store} if manifest.store else set())
    if len(stores) > 1:
        raise BadArchive(f"{archive} and the lake are of more than one store: {', '.join(sorted(stores))}.")
    return found


def _read(archive: Path, path: Path) -> Segment:
    try:
        found = pq.read_metadata(path)
        said = found.metadata or {}
        version = int(said[schema.VERSION_KEY])
        segment = _segment(path.relative_to(archive).as_posix(), said)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise BadArchive(f"{path} is no file of an archive: {error!r}.") from None
    if version != schema.VERSION:
        raise BadArchive(f"{path} is of version {version}; this program reads version {schema.VERSION}.")
    if segment.first != int(path.stem):
        raise BadArchive(f"{path}: its first fact is {segment.first}, which is not its name.")
    return segment


def _segment(path: str, said: Mapping[bytes, bytes]) -> Segment:
    return Segment(
        path,
        said[schema.STORE_KEY].decode(),
        int(said[schema.SEGMENT_KEY]),
        int(said[schema.FIRST_KEY]),
        int(said[schema.LAST_KEY]),
        int(said[schema.FIRST_AT_KEY]),
        int(said[schema.LAST_AT_KEY]),
        msgspec.json.decode(said[schema.COUNTS_KEY], type=dict[int, int]),
    )
