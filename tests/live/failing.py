"""Runs penstock on a disk that fails, one run after the other, and keeps account of what its client was promised."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import penstock
from tests.live.lines import Lines

ROOT = Path(__file__).parents[2]
SOURCE = Path(penstock.__file__).parents[1]
BODIES = [b"body %d " % number + b"x" * 20_000 for number in range(8)]


class Fault(NamedTuple):
    """The call that fails, counted from 1; 0: none. `errno`: with what, or SHORT."""

    at: int
    errno: int
    for_good: bool


class Ended(NamedTuple):
    """`told`: when on which thread which call failed; if none was to, all calls."""

    code: int
    log: str
    told: str

    def failed_s(self) -> float:
        """When it was that the disk failed somebody whom clients wait for; infinite: it did not."""
        at_s, thread = self.told.split()[:2]
        return float("inf") if thread.startswith("spare") else float(at_s)

    def last_words(self) -> str:
        said = [json.loads(line) for line in self.log.splitlines()]
        return "".join([f"{line['event']}: {line['why']}" for line in said if line["level"] == "error"][-1:])


class Promises:
    """What a client was told is there, and what it asked without an answer."""

    def __init__(self, there: set[bytes]) -> None:
        self.there = there
        self.perhaps: set[bytes] = set()
        self.answered_s = 0.0  # when the last answer came that says that something is done

    def hold(self, found: set[bytes]) -> bool:
        return self.there - self.perhaps <= found <= self.there | self.perhaps


class Failing:
    """The process that the runs are forked from."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._turns = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.faulty"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(ROOT)])},
        )

    def serve(self, data: Path, fault: Fault, promises: Promises, *flags: str) -> Ended:
        """A server from its start to its end, which is asked for if it does not come before."""
        self._order(data, fault, ["penstock", "serve", "--data", str(data), "--listen", "deferred=127.0.0.1:0", *flags])
        pid, port = int(self._hear()[1]), 0
        heard = self._hear()
        while heard[0] != "ended":
            if heard[0] == "listening":
                port = int(heard[2].rpartition(":")[2])
            if heard[0] == "ready" and work(port, promises):
                os.kill(pid, signal.SIGTERM)
            heard = self._hear()
        return self._ended(heard[1], self._file("log").read_text())

    def archive(self, data: Path, fault: Fault, line: str, *flags: str) -> Ended:
        """An archivist that is told one line, and then that there is no more."""
        self._file("stdin", 1).write_text(line + "\n")
        self._order(data, fault, ["penstock.history", "--data", str(data), *flags])
        log: list[str] = []
        heard = self._line()
        while not heard.startswith("ended"):
            log += [] if heard.startswith("began") else [heard]
            heard = self._line()
        return self._ended(heard.split()[1], "".join(log) + self._file("log").read_text())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def _order(self, data: Path, fault: Fault, command: list[str]) -> None:
        self._turns += 1
        places = {name: str(self._file(name)) for name in ("stdin", "log", "told")}
        assert self._process.stdin is not None
        order = {"folder": str(data), "command": command, **places, **fault._asdict()}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _ended(self, code: str, log: str) -> Ended:
        told = self._file("told")
        return Ended(int(code), log, told.read_text() if told.exists() else "")

    def _file(self, name: str, ahead: int = 0) -> Path:
        return self._place / f"{self._turns + ahead}.{name}"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline() or "ended -1"

    def _hear(self) -> list[str]:
        return self._line().split()


def kinds(calls: list[str]) -> list[int]:
    """The first place of each kind of call. Counted from 1."""
    named = [re.sub(r"\d+", "N", call) for call in calls]
    return sorted({kind: len(named) - place for place, kind in enumerate(reversed(named))}.values())


def places(calls: list[str]) -> list[int]:
    """The first place of each kind of call after each other kind. Counted from 1."""
    return kinds([" ".join(pair) for pair in zip(["", *calls], calls, strict=False)])


# -- a client


def work(port: int, promises: Promises) -> bool:
    """Until all is done; False: the server has gone."""
    try:
        with Lines(port) as client:
            for body in BODIES:
                _publish(client, promises, body)
                if len(promises.there) % 3 == 0:
                    _finish_one(client, promises)
    except (ConnectionError, EOFError):
        return False
    return True


def _publish(client: Lines, promises: Promises, body: bytes) -> None:
    promises.perhaps.add(body)
    if _asked(client, promises, b"ADD 0 " + body).startswith(b"TASK "):
        promises.there.add(body)
    promises.perhaps.discard(body)


def _finish_one(client: Lines, promises: Promises) -> None:
    answer = _asked(client, promises, b"RESERVE")
    if answer == b"nil":
        return
    _, name, _, body = answer.split(b" ", 3)
    promises.perhaps.add(body)
    assert _asked(client, promises, b"DELETE " + name) == b"ok"
    promises.there.discard(body)
    promises.perhaps.discard(body)


def _asked(client: Lines, promises: Promises, request: bytes) -> bytes:
    answer = client.ask(request)
    if not answer:
        raise EOFError
    if answer not in (b"queue full", b"nil"):
        promises.answered_s = time.monotonic()
    return answer
