"""Every transcript, played in every way, on brokers that answer at the end of a tick, during the call, and late."""

from __future__ import annotations

import pytest

from penstock.dialects.table import DIALECTS
from penstock.engine.rules import PolicyBook
from tests.broker.desks import Desk, EagerDesk, EngineDesk, LateDesk, MakeDesk
from tests.dialects.folders import FOLDER, transcript, transcripts
from tests.dialects.runner import Runner
from tests.dialects.ways import WAYS


def late(seed: int) -> MakeDesk:
    def make(book: PolicyBook) -> Desk:
        return LateDesk(EngineDesk(book), seed)

    return make


BROKERS: dict[str, MakeDesk] = {"prompt": EngineDesk, "eager": EagerDesk} | {
    f"late {seed}": late(seed) for seed in range(3)
}


@pytest.mark.parametrize("broker", BROKERS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("dialect", "name"), transcripts())
def test_the_server_says_what_the_transcript_says(dialect: str, name: str, way: str, broker: str) -> None:
    Runner(dialect, transcript(dialect, name), WAYS[way], BROKERS[broker]).play()


def test_every_dialect_of_the_table_has_transcripts_and_a_page() -> None:
    root = FOLDER.parents[2]
    for dialect in DIALECTS:
        assert list((FOLDER / dialect.name).glob("*.txt")), dialect.name
        assert (root / "docs" / "dialects" / f"{dialect.name}.md").exists(), dialect.name
