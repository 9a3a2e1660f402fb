"""`penstock queue list` and `show` against a real server."""

from __future__ import annotations

from collections.abc import Callable

from tests.cli.conftest import Shell


def test_without_a_server_it_says_how_to_start_one(away: Shell) -> None:
    result = away("queue", "list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Error: no server is running on" in result.stderr
    assert "penstock serve --data" in result.stderr


def test_the_list_has_a_row_for_each_queue(shell: Shell, fresh: Callable[[], str]) -> None:
    queue = fresh()
    shell.text("message", "publish", queue, "one")
    shell.text("message", "publish", queue, "two", "--delay", "1h")
    head, *rows = shell.text("queue", "list").splitlines()
    assert head.split()[:4] == ["queue", "ready", "delayed", "leased"]
    row = next(row for row in rows if row.startswith(queue))
    assert row.removeprefix(queue).split()[:3] == ["1", "1", "0"]


def test_the_list_as_json(shell: Shell, fresh: Callable[[], str]) -> None:
    queue = fresh()
    shell.text("message", "publish", queue, "one")
    found = {shape["name"]: shape for shape in shell.json("queue", "list")["queues"]}
    assert found[queue]["counts"]["ready"] == 1
    assert found[queue]["oldest_ready"].endswith("Z")


def test_one_queue_is_shown_with_its_counts(shell: Shell, fresh: Callable[[], str]) -> None:
    queue = fresh()
    shell.text("message", "publish", queue, "four")
    fields = dict(line.split(maxsplit=1) for line in shell.text("queue", "show", queue).splitlines() if ":" not in line)
    assert fields["queue"] == queue
    assert fields["published"] == "1"
    assert fields["ready"] == "1"
    assert fields["bodies"] == "4 B"


def test_one_queue_as_json(shell: Shell, fresh: Callable[[], str]) -> None:
    queue = fresh()
    shell.text("message", "publish", queue, "one")
    assert shell.json("queue", "show", queue)["name"] == queue


def test_a_queue_that_is_not_there_is_named(shell: Shell) -> None:
    result = shell("queue", "show", "nowhere")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Error: nowhere: no such queue\n")


def test_any_bytes_are_a_name_and_it_is_written_as_it_is_shown(shell: Shell) -> None:
    for name in ("a/b c?d#e", "%FF%00odd", "ünïcode", "100%25"):
        shell.text("message", "publish", name, "x")
        assert shell.json("queue", "show", name)["name"] == name


def test_what_holds_is_shown_with_who_said_it(shell: Shell, fresh: Callable[[], str]) -> None:
    queue = fresh()
    shell.text("queue", "create", queue, "--attempts", "5", "--backoff", "1s,500ms")
    shown = shell.text("queue", "show", queue).splitlines()
    assert [line.split(maxsplit=1)[1] for line in shown if line.startswith(("attempts", "backoff_s"))] == [
        "5 (said of this queue)",
        "1, 0.5 (said of this queue)",
    ]


def test_what_the_configuration_says_is_shown_as_such(configured: Shell) -> None:
    configured.text("message", "publish", "orders.new", "x")
    assert "lease_s          30 (by config orders*)" in configured.text("queue", "show", "orders.new").splitlines()
    assert configured.json("queue", "show", "orders.new")["sources"] == {"lease_s": "config orders*"}
