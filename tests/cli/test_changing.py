"""`penstock queue create`, `set`, `pause` and `resume` against a real server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import Shell


@pytest.fixture
def queue(fresh: Callable[[], str]) -> str:
    return fresh()


def test_a_queue_is_made_once(shell: Shell, queue: str) -> None:
    assert shell.text("queue", "create", queue) == f"created {queue}\n"
    result = shell("queue", "create", queue)
    assert (result.exit_code, result.stderr) == (1, f"Error: {queue}: the queue exists already\n")


def test_everything_can_be_said_of_it(shell: Shell, queue: str) -> None:
    flags = "--lease 30s --delay 500ms --ttl 1h --attempts 5 --backoff 1s,5s,2m --dead-letter dead%FF"
    limits = "--max-length 10 --max-bytes 20 --max-body 30 --dedup 10m"
    made = shell.json("queue", "create", queue, *flags.split(), *limits.split())
    assert made["policy"] == {
        "lease_s": 30,
        "delay_s": 0.5,
        "ttl_s": 3600,
        "attempts": 5,
        "max_length": 10,
        "max_bytes": 20,
        "max_body": 30,
        "dedup_s": 600,
        "backoff_s": [1, 5, 120],
        "dead_letter": "dead%FF",
    }
    assert set(made["sources"].values()) == {"queue"}


def test_what_is_not_named_stays_and_what_is_unset_is_said_no_longer(shell: Shell, queue: str) -> None:
    shell.text("queue", "create", queue, "--lease", "30s", "--ttl", "1h", "--backoff", "1s")
    words = ("--lease", "2m", "--unset", "ttl", "--unset", "backoff")
    assert shell.text("queue", "set", queue, *words) == f"changed {queue}\n"
    assert shell.json("queue", "set", queue, "--attempts", "3")["policy"] == {"lease_s": 120, "attempts": 3}


def test_no_back_off_and_no_dead_letters_can_be_said_too(shell: Shell, queue: str) -> None:
    made = shell.json("queue", "create", queue, "--backoff", "", "--dead-letter", "", "--attempts", "0")
    assert made["policy"] == {"attempts": 0, "backoff_s": [], "dead_letter": ""}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say what to change, such as --lease 30s or --unset ttl."),
        (("--lease", "1s", "--unset", "lease"), "--lease is both set and unset."),
        (("--lease", "30"), "'30' has no unit; for seconds write 30s"),
        (("--backoff", "1s;5s"), "several with commas between, such as 1s,5s,30s."),
        (("--backoff", "1s,9999999d"), "is too long; at most 3650d each."),
        (("--attempts", "-1"), "-1 is not in the range"),
        (("--unset", "colour"), "'colour' is not one of 'lease'"),
    ],
)
def test_wrong_usage_is_told_and_changes_nothing(shell: Shell, queue: str, words: tuple[str, ...], said: str) -> None:
    shell.text("queue", "create", queue, "--ttl", "1h")
    result = shell("queue", "set", queue, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert shell.json("queue", "show", queue)["policy"] == {"ttl_s": 3600}


def test_what_only_the_server_knows_to_be_wrong_is_told_in_its_words(shell: Shell, queue: str) -> None:
    result = shell("queue", "create", queue, "--dead-letter", queue)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {queue}: dead_letter: a queue cannot be its own dead-letter queue\n"


def test_pause_and_resume(shell: Shell, queue: str) -> None:
    shell.text("message", "publish", queue, "x")
    assert shell.text("queue", "pause", queue) == f"paused {queue}\n"
    assert shell("message", "reserve", queue).exit_code == 1
    assert shell.json("queue", "pause", queue)["paused"] is True
    assert shell.text("queue", "resume", queue) == f"resumed {queue}\n"
    assert shell.json("queue", "resume", queue)["paused"] is False
    assert shell("message", "reserve", queue).exit_code == 0


@pytest.mark.parametrize("words", [("set", "--lease", "1s"), ("pause",), ("resume",), ("purge", "--yes"), ("delete",)])
def test_a_queue_that_is_not_there_is_named(shell: Shell, words: tuple[str, ...]) -> None:
    result = shell("queue", words[0], "nowhere", *words[1:])
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Error: nowhere: no such queue\n")
