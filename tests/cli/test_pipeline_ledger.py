"""What a run asks of the server on its data directory: to seal, and what it counts then. No Spark here."""

from __future__ import annotations

from pathlib import Path

from harness.server import serving
from penstock.cli.pipeline_ledger import counted
from penstock.history.survey import survey
from tests.live.lines import Lines


def test_what_is_told_is_archived_by_then_and_told_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as server, Lines(server.port) as client:
        for number in range(3):
            client.publish(b"%d" % number)
        ledger = counted(str(data), 0)
        assert ledger is not None
        assert survey(str(data)).last_fact == ledger.last_fact
        assert [(queue["name"], queue["counts"]["published"]) for queue in ledger.queues] == [("default", 3)]
        assert counted(str(data), ledger.last_fact) is None
        client.publish(b"more")
        again = counted(str(data), ledger.last_fact)
        assert again is not None
        assert again.last_fact == ledger.last_fact + 1


def test_without_a_server_or_an_archive_nothing_is_told(tmp_path: Path) -> None:
    assert counted(str(tmp_path / "nowhere"), 0) is None
    with serving(tmp_path / "data", "--no-archive-enabled") as server, Lines(server.port) as client:
        client.publish(b"x")
        assert counted(str(tmp_path / "data"), 0) is None
