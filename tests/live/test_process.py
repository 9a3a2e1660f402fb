"""The server as a process: its directory, its signals, its death."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from harness.server import Server, serving
from tests.live.lines import Lines


def test_a_second_server_on_the_same_directory_is_refused_and_the_first_lives_on(data: Path) -> None:
    with serving(data) as first:
        command = [sys.executable, "-m", "penstock.cli.main", "serve", "--data", str(data)]
        command += ["--listen", "deferred=127.0.0.1:0"]
        second = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert second.returncode == 3
        assert str(first.pid) in second.stderr
        assert "ready" not in second.stdout
        with Lines(first.port) as client:
            assert client.publish(b"still here")


def test_sigterm_answers_what_was_asked_and_exits_with_zero(data: Path) -> None:
    with serving(data) as server, Lines(server.port) as client:
        client.send(b"ADD 0 x\n" * 200)
        answers = client.lines(200)
        assert all(answer.startswith(b"TASK ") for answer in answers)
        start = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - start < 10
        assert client.line() == b""


def test_what_was_told_is_there_after_a_clean_stop_and_ids_stay_valid(data: Path) -> None:
    with serving(data) as server, Lines(server.port) as client:
        waiting = client.publish(b"waits")
        later = client.publish(b"later", delay_ms=700)
        reserved = client.publish(b"held")
        assert client.ask(b"RESERVE").split(b" ")[1] == waiting
        assert client.ask(b"RETURN %s 0" % waiting) == b"ok"
        assert client.ask(b"RESERVE").split(b" ")[1] == reserved
    with serving(data) as server, Lines(server.port) as client:
        assert client.ask(b"STATS").startswith(b"TASKS 2 RESERVED 1 ")
        assert client.ask(b"DELETE " + reserved) == b"ok"
        assert client.ask(b"RESERVE") == b"TASK %s BODY waits" % waiting
        deadline = time.monotonic() + 5
        while (answer := client.ask(b"RESERVE")) == b"nil" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert answer == b"TASK %s BODY later" % later


def test_numbers_given_out_before_a_kill_never_return(data: Path) -> None:
    ids: set[bytes] = set()
    for _ in range(3):
        server = Server(data, "--confirm", "ready")
        with Lines(server.port) as client:
            client.send(b"ADD 0 x\n" * 300)
            given = {line.split(b" ")[1] for line in client.lines(300)}
        server.kill()
        server.wait()
        assert not ids & given
        ids |= given
