"""`glovebox` for clients in JavaScript, on npm's `ws`: JSON, bincode, sessions that come back, and the example."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.server import Server, serving
from tests.interop.nodes import FOLDER, ROOT, run

SCRIPTS = FOLDER / "glovebox"
EXAMPLE = ROOT / "examples" / "glovebox.js"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("interop") / "data", "--confirm", "write", listen=("glovebox",)) as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    return f"ws://127.0.0.1:{server.port}/connect"


@pytest.mark.parametrize(("script", "promises"), [("session.js", 6), ("binary.js", 3)])
def test_what_the_page_promises_is_kept(url: str, script: str, promises: int) -> None:
    assert len(run(SCRIPTS / script, url).splitlines()) == promises


def test_the_way_in_may_have_a_stroke_at_its_end(url: str) -> None:
    heard = run(EXAMPLE, url + "/").splitlines()
    assert heard[0] == "poster: hello"
    assert heard.count("worker: working on hello") == 1


def test_the_example_works_again_and_again_and_is_short(url: str) -> None:
    for _ in range(2):
        heard = run(EXAMPLE, url).splitlines()
        poster = [line.removeprefix("poster: ") for line in heard if line.startswith("poster: ")]
        worker = [line.removeprefix("worker: ") for line in heard if line.startswith("worker: ")]
        assert poster[-3:] == ["write", "assign", "finish"]
        assert worker == ["hello", "message", "working on hello", "finish"]
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40
