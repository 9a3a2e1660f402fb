"""The examples do what they say, on a real server, and stay short."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.server import Server, serving
from penstock.sync import Client

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE_S = 60.0
LINES_MAX = 40


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("examples")
    config = folder / "penstock.toml"
    config.write_text('[[policy]]\nmatch = "orders"\ndedup_s = 60\n')
    with serving(folder / "data", "--config", str(config), listen=("glovebox",)) as server:
        yield address(server)


def address(server: Server) -> str:
    return f"ws://127.0.0.1:{server.port}"


def said(*command: str) -> list[str]:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def example(name: str, *arguments: str) -> list[str]:
    return said(str(EXAMPLES / name), *arguments)


def test_every_python_example_is_short_and_played_here() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert set(lengths) == {"publish.py", "worker.py", "batch.py", "sync_client.py", "test_with_penstock.py"}
    assert {name for name, lines in lengths.items() if lines >= LINES_MAX} == set()


def test_publish(url: str) -> None:
    lines = example("publish.py", url)
    assert (len(lines), lines[1]) == (2, "a duplicate")
    with Client(url) as client:
        first, second, third, fourth = client.reserve("orders", max=10)
        assert first.json()["number"] == 2
        assert [message.text for message in (second, third, fourth)] == ["order 1", "order 4", "order 5"]
        client.finish([first, second, third, fourth])
        assert [message.text for message in client.reserve("metrics")] == ["17"]


def test_batch(url: str) -> None:
    assert example("batch.py", url) == ["published 5000", f"the sum is {sum(range(5_000))}"]


def test_sync_client(url: str) -> None:
    assert example("sync_client.py", url) == ["reading dear reader", "reading yours truly", "no more letters"]


def test_worker(url: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen([sys.executable, str(EXAMPLES / "worker.py"), url], stdout=file)
    try:
        with Client(url) as client:
            client.publish("orders", json={"number": 7, "items": ["tea"]})
            client.publish("orders", json={"number": 8})
            client.publish_many("mails", ["hello", "not now"])
            wait_for(output, {"cooking 7 ['tea']", "sending hello at attempt 1"})
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()


def wait_for(output: Path, lines: set[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not lines <= set(output.read_text().splitlines()):
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(0.01)


def test_with_penstock() -> None:
    lines = said("-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLES / "test_with_penstock.py"))
    assert lines[-1].startswith("1 passed")
