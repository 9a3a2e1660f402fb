"""RSMQ's protocol by example, typed into the real `redis-cli`, and into `rsmqctl`: PyPI's and ours."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from tests.interop.nodes import FOLDER, PATIENCE_S
from tests.interop.targets import Target

TRANSCRIPT = FOLDER / "rsmq" / "protocol.txt"
PATTERNS = {"<id>": "[0-9a-z]{10}[A-Za-z0-9]{22}", "<s>": "[0-9]{10}", "<ms>": "[0-9]{13}"}
PROGRAMS = {"stock": Target.stock, "ours": Target.ours}


def typed_and_printed() -> Iterator[tuple[str, str]]:
    """What is typed, and what comes of it."""
    for part in re.split(r"^\$ ", TRANSCRIPT.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        typed, _, printed = part.partition("\n")
        yield typed, printed


def pattern(printed: str) -> str:
    text = re.escape(printed)
    for name, what in PATTERNS.items():
        text = text.replace(name, f"({what})" if name == "<id>" else what)
    return text


@pytest.mark.parametrize("rsmqctl", PROGRAMS)
def test_every_example_prints_what_it_says(empty: Target, rsmqctl: str) -> None:
    known = "<id>"
    for typed, expected in typed_and_printed():
        program, *words = shlex.split(typed.replace("<id>", known))
        printed = empty.redis_cli(*words) if program == "redis-cli" else PROGRAMS[rsmqctl](empty, *words).stdout
        found = re.fullmatch(pattern(expected), printed)
        assert found, f"{typed}\n{printed}"
        assert set(found.groups()) <= {known} or known == "<id>"
        known = found.group(1) if found.groups() else known


def test_scores_move_by_the_visibility_timeout(target: Target, fresh: Callable[[], str]) -> None:
    queue = fresh()
    key = f"rsmq:{queue}"
    target.ours("queue", "create", "-n", queue, "-t", "30")
    id = target.ours("message", "send", "-n", queue, "-m", "x").stdout.strip()
    target.ours("message", "receive", "-n", queue)
    first_ms = number(target.redis_cli("HGET", f"{key}:Q", f"{id}:fr"))
    assert number(target.redis_cli("ZSCORE", key, id)) - first_ms in range(30_000, 30_050)
    assert abs(first_ms - time.time() * 1_000) < 10_000
    target.ours("message", "visibility", "-n", queue, "-i", id, "-t", "600")
    assert 590_000 < number(target.redis_cli("ZSCORE", key, id)) - time.time() * 1_000 < 601_000


def number(printed: str) -> int:
    return int(printed.strip().strip('"'))


def test_a_person_types_at_its_prompt(empty: Target) -> None:
    """On a terminal it asks the server for its commands first, and hints at them."""
    empty.ours("queue", "create", "-n", "typed")
    screen, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "HOME": "/nonexistent"}
    command = ["redis-cli", "-p", str(empty.port)]
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    try:
        prompt = f"127.0.0.1:{empty.port}> "
        seen_until(screen, prompt)
        os.write(screen, b"SMEMBERS rsmq:QUEUES\r")
        assert '1) "typed"\r\n' in seen_until(screen, prompt)
        os.write(screen, b"quit\r")
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(screen)


def seen_until(screen: int, text: str) -> str:
    seen = ""
    deadline_s = time.monotonic() + PATIENCE_S
    while text not in seen:
        left_s = deadline_s - time.monotonic()
        assert select.select([screen], [], [], max(left_s, 0))[0], f"waited in vain for {text!r}, saw {seen!r}"
        seen += os.read(screen, 4_096).decode("utf-8", "replace")
    return seen
