"""`penstock import` into a real server: what comes back, what is passed over, and what is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.cli.etzel_file import opened, write
from penstock.cli.remote import Remote
from penstock.codecs import names
from penstock.codecs.etzel_store import Row
from tests.cli.conftest import SMALL, Server, Shell
from tests.cli.journals import three_segments
from tests.cli.shapes import assert_documented

UID = b"etzl0pCk2X9LqZ"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.etzel"


def rows(queue: str, *items: bytes) -> list[Row]:
    return [Row(queue.encode(), b"elsewhere%05d" % number, 0, 0, 0, 0, item) for number, item in enumerate(items)]


def bring(shell: Shell, file: Path, *words: str) -> dict[str, Any]:
    result = shell("import", "--format", "etzel", str(file), "--output", "json", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    shape = json.loads(result.stdout)
    assert_documented("import etzel", shape)
    return dict(shape)


def refusal(shell: Shell, file: Path, *words: str) -> str:
    result = shell("import", "--format", "etzel", str(file), *words)
    assert (result.exit_code, result.stdout) == (1, "")
    return str(result.stderr)


def bodies(shell: Shell, queue: str) -> list[str]:
    return [message["body"] for message in shell.json("message", "peek", queue, "--limit", "1000")["messages"]]


# -- what comes back


def test_a_message_keeps_what_the_format_holds(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    queue = fresh()
    write(str(file), [Row(queue.encode(), UID, 3, 90, 0, 3_600, b"hello")], force=False)
    shape = bring(shell, file)
    assert (shape["messages"], shape["bytes"], shape["known"]) == (1, 5, 0)
    assert shape["queues"] == [{"queue": queue, "messages": 1}]
    (message,) = shell.json("message", "peek", queue)["messages"]
    assert (message["body"], message["deliveries"], message["foreign_id"]) == ("hello", 3, UID.decode())
    assert message["expires_us"] - message["published_us"] == 3_600_000_000
    (leased,) = shell.json("message", "reserve", queue)["messages"]
    live = shell.json("message", "show", leased["id"])["live"]
    assert (leased["deliveries"], live["until_us"] - live["leased_us"]) == (4, 90_000_000)


def test_a_dump_and_a_look_tell_of_its_past(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    write(str(file), [Row(fresh().encode(), b"dumped_here____", 3, 0, 0, 0, b"hello")], force=False)
    bring(shell, file)
    line = next(line for line in shell.text("journal", "dump").splitlines() if "dumped_here____" in line)
    assert "delivery 3, foreign id dumped_here____, body hello" in line


def test_delayed_ones_wait_and_the_others_keep_their_order(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    queue = fresh()
    late = Row(queue.encode(), UID, 0, 0, 3_600, 0, b"late")
    write(str(file), [late, *rows(queue, b"c", b"a", b"b")], force=False)
    bring(shell, file)
    assert bodies(shell, queue) == ["c", "a", "b"]
    assert shell.json("queue", "show", queue)["counts"]["delayed"] == 1


def test_several_queues_and_one_for_all(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    one, two, other = fresh(), fresh(), fresh()
    write(str(file), [*rows(one, b"1"), *rows(two, b"2", b"3")], force=False)
    result = shell("import", "--format", "etzel", str(file))
    assert result.stdout == f"imported 3 messages, 3 B, from {file}\n  1 into {one}\n  2 into {two}\n"
    assert bring(shell, file, "--queue", other)["queues"] == [{"queue": other, "messages": 3}]
    assert (bodies(shell, one), bodies(shell, two), bodies(shell, other)) == (["1"], ["2", "3"], ["1", "2", "3"])


def test_a_dry_run_changes_nothing_and_needs_no_server(away: Shell, file: Path) -> None:
    three_segments(away.data)
    before = sorted(path.read_bytes() for path in away.data.rglob("*") if path.is_file())
    write(str(file), rows("new", b"a", b"b"), force=False)
    shape = bring(away, file, "--dry-run")
    assert (shape["dry_run"], shape["messages"]) == (True, 2)
    assert away("import", "--format", "etzel", str(file), "--dry-run").stdout.startswith("would import 2 messages")
    assert sorted(path.read_bytes() for path in away.data.rglob("*") if path.is_file()) == before


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two servers: to go from one to the other."""
    servers = [Server(tmp_path_factory.mktemp(name) / "data", *SMALL) for name in ("from", "to")]
    yield [Shell(server.data) for server in servers]
    assert [server.stop() for server in servers] == [0, 0]


queue_names = st.one_of(st.text("-a%é\0", max_size=5).map(str.encode), st.binary(max_size=6))
messages = st.fixed_dictionaries(
    {},
    optional={
        "delay_s": st.integers(600, 86_400),
        "ttl_s": st.integers(100_000, 200_000),
        "lease_s": st.integers(1, 86_400),
        "priority": st.integers(-5, 5),
        "key": st.text(max_size=3),
    },
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(queue_names, st.binary(max_size=30), messages, st.booleans()), min_size=1, max_size=6))
def test_every_kind_of_message_comes_from_one_server_to_the_other(
    two: list[Shell], tmp_path: Path, published: list[tuple[bytes, bytes, dict[str, Any], bool]]
) -> None:
    source, target = two
    file = tmp_path / "way.etzel"
    _emptied(source, target)
    for queue, body, said, leased in published:
        _publish(source, queue, body, said)
        if leased:
            Remote(str(source.data)).post(f"/queues/{names.in_url(queue)}/reserve", {"lease_s": 7_200})
    source.text("export", "--format", "etzel", str(file), "--force", "--output", "json")
    with opened(str(file)) as store:
        sent = [row._replace(uid=b"") for row in store.rows()]
    assert len(sent) == len(published)
    assert bring(target, file)["messages"] == len(published)
    assert bring(target, file)["known"] == len(published)
    target.text("export", "--format", "etzel", str(file), "--force", "--output", "json")
    with opened(str(file)) as store:
        came = [row._replace(uid=b"") for row in store.rows()]
    assert [_nearly(row) for row in sorted(came)] == [_nearly(row) for row in sorted(sent)]


def _emptied(*shells: Shell) -> None:
    for shell in shells:
        for queue in shell.json("queue", "list")["queues"]:
            Remote(str(shell.data)).delete(f"/queues/{names.in_url(names.parse(queue['name']))}")


def _publish(shell: Shell, queue: bytes, body: bytes, said: dict[str, Any]) -> None:
    form = {"body64": base64.b64encode(body).decode(), **said}
    Remote(str(shell.data)).post(f"/queues/{names.in_url(queue)}/messages", form)


def _nearly(row: Row) -> Row:
    """A few seconds pass between one export and the other."""
    return row._replace(delay_s=(row.delay_s + 300) // 600, expires_s=(row.expires_s + 300) // 600)


# -- again


def test_a_second_run_adds_nothing_even_where_messages_are_done_with(
    shell: Shell, fresh: Callable[[], str], file: Path
) -> None:
    queue = fresh()
    write(str(file), rows(queue, b"a", b"b", b"c"), force=False)
    bring(shell, file)
    (taken,) = shell.json("message", "reserve", queue)["messages"]
    shell.text("message", "finish", taken["id"])
    result = shell("import", "--format", "etzel", str(file))
    assert result.stdout == f"imported 0 messages, 0 B, from {file}\n"
    assert result.stderr == "Passed over: 3 messages that had been there before.\n"
    assert bodies(shell, queue) == ["b", "c"]


def test_a_run_that_came_half_way_is_completed(shell: Shell, fresh: Callable[[], str], tmp_path: Path) -> None:
    queue = fresh()
    half, whole = tmp_path / "half", tmp_path / "whole"
    write(str(half), rows(queue, b"a", b"b"), force=False)
    write(str(whole), rows(queue, b"a", b"b", b"c", b"d"), force=False)
    bring(shell, half)
    shape = bring(shell, whole)
    assert (shape["messages"], shape["known"]) == (2, 2)
    assert bodies(shell, queue) == ["a", "b", "c", "d"]


def test_a_backup_brings_back_what_was_purged_and_nothing_else(
    shell: Shell, fresh: Callable[[], str], file: Path
) -> None:
    queue = fresh()
    for body in ("done", "held", "purged"):
        shell.text("message", "publish", queue, body)
    shell.text("export", "--format", "etzel", str(file), "--queue", queue)
    assert bring(shell, file)["known"] == 3
    done, _ = shell.json("message", "reserve", queue, "--max", "2", "--lease", "1h")["messages"]
    shell.text("message", "finish", done["id"])
    assert shell("queue", "purge", queue, "--yes").exit_code == 0
    assert bring(shell, file)["messages"] == 1
    assert bodies(shell, queue) == ["purged"]


def test_a_later_export_adds_what_is_new(two: list[Shell], file: Path) -> None:
    source, target = two
    for turn in ("one", "two", "three"):
        source.text("message", "publish", "growing", turn)
        source.text("export", "--format", "etzel", str(file), "--queue", "growing", "--force")
        assert bring(target, file)["messages"] == 1
    assert bodies(target, "growing") == ["one", "two", "three"]


# -- what is refused


def test_a_damaged_file_changes_nothing(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    queue = fresh()
    write(str(file), [*rows(queue, *[b"a"] * 1_500), Row(queue.encode(), UID, 0, 0, 1 << 40, 0, b"")], force=False)
    told = refusal(shell, file)
    assert told.startswith(f"Error: {file} is damaged: row 1501 ({queue}-{UID.decode()}): its delay is longer than")
    file.write_text("something else")
    assert "is no store of etzel's format" in refusal(shell, file)
    assert shell("queue", "show", queue).exit_code == 1


def test_a_full_queue_stops_it_and_the_rest_may_come_later(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    queue = fresh()
    shell.text("queue", "create", queue, "--max-length", "1500")
    write(str(file), rows(queue, *[b"x"] * 2_000), force=False)
    told = refusal(shell, file)
    assert told.startswith(f"Error: {queue}: the queue has reached its limit\n")
    assert told.endswith("Before that, 1,000 messages, 1000 B were imported; run it again for the rest.\n")
    shell.text("queue", "set", queue, "--max-length", "2000")
    shape = bring(shell, file)
    assert (shape["messages"], shape["known"]) == (1_000, 1_000)


def test_two_at_once_are_one_after_the_other(
    shell: Shell, fresh: Callable[[], str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = fresh()
    write(str(file), rows(queue, *[b"x"] * 2_500), force=False)
    post = Remote.post
    posted = 0

    def interrupting(self: Remote, path: str, *rest: Any) -> Any:
        nonlocal posted
        posted += 1
        answer = post(self, path, *rest)
        if posted == 2:
            post(Remote(str(shell.data)), "/imports", {})
        return answer

    monkeypatch.setattr(Remote, "post", interrupting)
    told = refusal(shell, file)
    assert told.startswith(f"Error: {queue}: another import has begun since, or the server was started again\n")
    assert bring(shell, file)["messages"] == 1_500
    assert shell.json("queue", "show", queue)["counts"]["ready"] == 2_500


def test_ctrl_c_says_how_far_it_came(
    shell: Shell, fresh: Callable[[], str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = fresh()
    write(str(file), rows(queue, *[b"x"] * 2_500), force=False)
    post = Remote.post

    def interrupted(self: Remote, path: str, form: Any, *rest: Any) -> Any:
        if len(form.get("messages", ())) == 500:
            raise KeyboardInterrupt
        return post(self, path, form, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(Remote, "post", interrupted)
        result = shell("import", "--format", "etzel", str(file))
    assert result.exit_code == 130
    assert result.stdout.startswith("imported 2,000 messages")
    assert result.stderr.startswith("Interrupted;")
    assert bring(shell, file)["messages"] == 500


def test_without_a_server_it_says_so(away: Shell, file: Path) -> None:
    write(str(file), rows("q", b"a"), force=False)
    assert refusal(away, file).startswith("Error: no server is running on ")
    assert refusal(away, file, "--dry-run").startswith("Error: there is no journal in ")


def test_a_file_that_is_not_there_is_bad_usage(shell: Shell, tmp_path: Path) -> None:
    assert shell("import", "--format", "etzel", str(tmp_path / "none")).exit_code == 2
    assert shell("import", str(tmp_path)).exit_code == 2
