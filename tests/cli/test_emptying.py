"""`penstock queue purge` and `delete` against a real server: they ask, and they say how many messages went."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import Shell


@pytest.fixture
def queue(shell: Shell, fresh: Callable[[], str]) -> str:
    """One message is leased, two wait."""
    name = fresh()
    for body in ("held", "ready"):
        shell.text("message", "publish", name, body)
    shell.text("message", "publish", name, "delayed", "--delay", "1h")
    shell.text("message", "reserve", name)
    return name


def live(shell: Shell, queue: str) -> int:
    counts = shell.json("queue", "show", queue)["counts"]
    return int(counts["ready"] + counts["delayed"] + counts["leased"])


def test_a_purge_asks_and_says_what_went_and_what_stays(shell: Shell, queue: str) -> None:
    result = shell("queue", "purge", queue, stdin="y\n")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Delete 2 messages of {queue} for ever? [y/N]: ")
    assert result.stdout.endswith(f"purged {queue}: 2 messages deleted\n")
    assert result.stderr == "Not those that are leased: 1 message.\n"
    assert live(shell, queue) == 1


def test_a_deleted_queue_takes_all_its_messages_along(shell: Shell, queue: str) -> None:
    result = shell("queue", "delete", queue, stdin="y\n")
    assert result.stdout.startswith(f"Delete {queue} with 3 messages for ever? [y/N]: ")
    assert result.stdout.endswith(f"deleted {queue}: 3 messages went with it\n")
    assert shell("queue", "show", queue).exit_code == 1


@pytest.mark.parametrize("verb", ["purge", "delete"])
@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_done(shell: Shell, queue: str, verb: str, answer: str) -> None:
    result = shell("queue", verb, queue, stdin=answer)
    assert result.exit_code == 1
    assert result.stderr.endswith("Error: nothing was done.\nWhere nobody can be asked, say --yes.\n")
    assert live(shell, queue) == 3


@pytest.mark.parametrize(("verb", "went"), [("purge", 2), ("delete", 3)])
def test_as_json_nobody_is_asked(shell: Shell, queue: str, verb: str, went: int) -> None:
    result = shell("queue", verb, queue, "--output", "json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: with --output json nobody is asked; say --yes to go on.\n"
    assert live(shell, queue) == 3
    assert shell.json("queue", verb, queue, "--yes") == {"name": queue, "deleted": went}
