"""Out of a Redis into penstock, with the stock client on either side: it goes on as if nothing had happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from harness.server import serving
from penstock.cli.main import main
from tests.interop.nodes import FOLDER, run
from tests.interop.targets import STORES

QUEUE = "moved"


def knows(port: int, part: str, **said: str) -> Any:
    return json.loads(run(FOLDER / "rsmq" / "moving.js", port, QUEUE, part, json.dumps(said)))


def test_the_npm_client_goes_on_with_the_same_ids(tmp_path: Path) -> None:
    with (
        STORES["redis"](tmp_path) as redis,
        serving(tmp_path / "data", "--confirm", "write", listen=("rsmq",)) as server,
    ):
        before = knows(redis.port, "fill")
        words = ["import", "rsmq", redis.url, "--data", str(server.data)]
        for count in (4, 0):
            assert CliRunner().invoke(main, words).stdout.startswith(f"imported {count} messages")
        after = knows(server.port, "go-on")
        assert {**after["attributes"], "hiddenmsgs": 0} == {**before["attributes"], "hiddenmsgs": 0}
        assert (after["next"]["id"], after["next"]["rc"]) == (before["ids"]["next"], 1)
        returned = after["returned"]
        assert (returned["id"], returned["rc"], returned["fr"]) == (before["ids"]["returned"], 2, before["fr"])
        assert after["none"] == {}
        for name in ("held", "late", "returned"):
            assert knows(server.port, "end", id=before["ids"][name]) == {"deleted": 1, "again": 0}
        assert CliRunner().invoke(main, words).stdout.startswith("imported 0 messages")
