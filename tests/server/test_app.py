"""The life of a server, seen from outside: what it prints, what signals do, which exit code it leaves."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from penstock.codecs.segments import HEADER_BYTES
from penstock.journal import check
from penstock.journal.disk import OsDisk
from penstock.model import facts
from penstock.model.limits import DRAIN_S
from penstock.server import exits
from penstock.server.clock import Clock
from penstock.server.config import load
from penstock.server.door import SOCKET_NAME
from penstock.server.store import claim, open_store
from tests.server.processes import BAD_DISK_PROGRAM, FEW_FILES_PROGRAM, PATIENCE_S, Process, read_all


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def make_store(data: Path) -> None:
    """A data directory in which a server was started and stopped."""
    lock = claim(str(data))
    open_store(load({"data": str(data), "limits.segment_bytes": 65_536}, {}, None), Clock()).embedded.close()
    lock.release()


def kinds_of_facts(data: Path) -> list[int]:
    return [fact.kind for fact in check.read(OsDisk(str(data / "journal")))]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One that is not stopped, in a directory that was not there, with a path too long for a socket's name."""
    with Process(tmp_path_factory.mktemp("data").joinpath(*["x" * 60] * 3)).ready() as server:
        yield server


def test_it_says_where_it_listens_then_that_it_is_ready(running: Process) -> None:
    listening, ready = running.lines
    assert listening.startswith("listening deferred 127.0.0.1:")
    assert not listening.endswith(":0")
    assert ready == "ready"
    assert running.ask(b"nonsense\n") == b"unknown command\n"


def test_a_new_data_directory_is_its_owners_only(running: Process) -> None:
    assert running.data.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in running.data.iterdir()}
    files = {"identity": 0o600, "journal": 0o700, "lock": 0o600, "archivist.lock": 0o600, SOCKET_NAME: 0o600}
    assert modes == files


def test_the_admin_api_is_reached_through_the_data_directory_however_long_its_path(running: Process) -> None:
    running.ask(b"ADD 0 hello\n")
    status = running.get("/api/v1/status")
    assert (status["ready"], status["data"], status["confirm"]) == (True, str(running.data), "sync")
    assert status["counts"]["ready"] == 1
    assert status["journal"]["synced"] == status["journal"]["next_fact"]
    assert [listener["name"] for listener in status["listeners"]] == ["deferred"]
    assert running.get("/health/ready") == {"ready": True}


def test_a_second_server_on_the_same_directory_is_refused(running: Process) -> None:
    with Process(running.data) as second:
        assert second.wait() == exits.IN_USE
        assert "is in use by process" in second.log()
    assert running.get("/health/ready") == {"ready": True}


def test_a_client_whose_machine_is_gone_is_asked_for_after_two_minutes(running: Process) -> None:
    with running.connect() as client:
        ports = [client.getpeername()[1], client.getsockname()[1]]
        eventually(lambda: 115 < keepalive_s(*ports) <= 120)


def keepalive_s(ours: int, theirs: int) -> float:
    """When the kernel will look whether the peer of that connection is there; 0: never."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, _, timer, *_ = line.split()
        kind, when = timer.split(":")
        if [int(address.rpartition(":")[2], 16) for address in (local, remote)] == [ours, theirs]:
            return int(when, 16) / os.sysconf("SC_CLK_TCK") if kind == "02" else 0.0
    return 0.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with Process(tmp_path).ready() as server:
        server.ask(b"ADD 0 hello\n")
        assert server.stop(number) == exits.CLEAN
        assert {segment.state for segment in check.info(OsDisk(str(tmp_path / "journal")))} == {"sealed"}
        assert not (tmp_path / SOCKET_NAME).exists()
        assert server.events()[-1]["event"] == "stopped"


def test_it_stops_in_time_whatever_its_clients_do(tmp_path: Path) -> None:
    with Process(tmp_path).ready() as server, server.connect() as idle, server.connect() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        deaf.setblocking(False)
        body = b"x" * 1_000
        idle.sendall(b"ADD 0 %b\n" % body)
        assert idle.recv(100).startswith(b"TASK ")
        try:
            while True:
                deaf.send(b"ADD 0 %b\nRESERVE\n" % body)
        except BlockingIOError:
            pass
        began = time.monotonic()
        assert server.stop() == exits.CLEAN
        assert time.monotonic() - began < DRAIN_S


def test_what_is_under_way_at_a_stop_is_still_answered(tmp_path: Path) -> None:
    with Process(tmp_path, program=BAD_DISK_PROGRAM).ready() as server, server.connect() as client:
        (tmp_path / "slow").touch()
        # The first is synced inline, and after that the disk is known to be slow.
        client.sendall(b"ADD 0 first\n")
        eventually(lambda: server.get("/api/v1/status")["counts"]["published"] == 1)
        client.sendall(b"ADD 0 second\n")
        eventually(lambda: server.get("/api/v1/status")["counts"]["published"] == 2)
        server.send(signal.SIGTERM)
        assert read_all(client).count(b"TASK ") == 2
        assert server.wait() == exits.CLEAN


def test_what_was_answered_before_a_stop_is_there_after_it(tmp_path: Path) -> None:
    with Process(tmp_path).ready() as server, server.connect() as client:
        client.sendall(b"".join(b"ADD 0 %d\n" % at for at in range(20_000)))
        assert client.recv(1)
        server.send(signal.SIGTERM)
        answered = read_all(client).count(b"\n")
        assert server.wait() == exits.CLEAN
    assert answered <= kinds_of_facts(tmp_path).count(facts.PUBLISHED) <= 20_000


def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    with Process(tmp_path).ready() as server:
        task = server.ask(b"ADD 0 hello\nRESERVE\n").split()[1]
        server.stop(signal.SIGKILL)
    with Process(tmp_path).ready() as server:
        assert server.events()[1]["clean"] is False
        assert server.ask(b"DELETE %b\n" % task) == b"ok\n"


def test_it_allows_itself_as_many_files_as_it_may_have_connections(tmp_path: Path) -> None:
    with Process(tmp_path, program=FEW_FILES_PROGRAM).ready() as server, ExitStack() as open_clients:
        clients = [open_clients.enter_context(server.connect()) for _ in range(100)]
        for client in clients:
            client.sendall(b"RESERVE\n")
        assert {client.recv(100) for client in clients} == {b"nil\n"}


def test_an_address_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with Process(tmp_path, listen=address) as server:
            assert server.wait() == exits.BAD_USAGE
            assert f"cannot listen on {address}: Address already in use" in server.log()


def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Process(tmp_path / "file") as server:
        assert server.wait() == exits.BAD_USAGE
        assert "the data directory cannot be used" in server.log()


def test_a_damaged_journal_is_refused_with_its_place(tmp_path: Path) -> None:
    make_store(tmp_path)
    segment = tmp_path / "journal" / f"{1:020}.journal"
    content = bytearray(segment.read_bytes())
    content[HEADER_BYTES + 100] ^= 1
    segment.write_bytes(content)
    with Process(tmp_path) as server:
        assert server.wait() == exits.DAMAGED
        assert f"{segment.name}, byte " in server.log()


def test_a_journal_without_its_identity_is_refused(tmp_path: Path) -> None:
    make_store(tmp_path)
    (tmp_path / "identity").unlink()
    with Process(tmp_path) as server:
        assert server.wait() == exits.DAMAGED
        assert "there is a journal but no `identity` file beside it" in server.log()
    assert not (tmp_path / "identity").exists()


def test_when_the_disk_dies_nobody_is_answered_any_more(tmp_path: Path) -> None:
    with Process(tmp_path, program=BAD_DISK_PROGRAM).ready() as server, server.connect() as client:
        client.sendall(b"ADD 0 before\n")
        assert client.recv(100).startswith(b"TASK ")
        (tmp_path / "die").touch()
        client.sendall(b"ADD 0 after\nSTATS\n")
        try:
            assert read_all(client) == b""
        except ConnectionResetError:
            pass
        assert server.wait() == exits.DISK_DIED
        assert "Input/output error" in server.log()


def test_a_hang_up_reloads_policies_and_tells_what_needs_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("")
    with Process(tmp_path / "data", file=file).ready() as server:
        server.ask(b"ADD 0 hello\n")
        file.write_text('confirm = "write"\n[log]\nlevel = "debug"\n[[policy]]\nmatch = "default"\nattempts = 7\n')
        server.send(signal.SIGHUP)
        eventually(lambda: "reloaded" in server.log())
        told = server.events()[-1]
        assert (told["event"], told["changed"], told["needs_restart"]) == ("reloaded", "log.level,policy", "confirm")
        assert server.get("/api/v1/queues/default")["effective"]["attempts"] == 7
        assert server.get("/api/v1/status")["confirm"] == "sync"


def test_a_hang_up_with_a_wrong_file_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('[[policy]]\nmatch = "default"\nattempts = 7\n')
    with Process(tmp_path / "data", file=file).ready() as server:
        server.ask(b"ADD 0 hello\n")
        file.write_text('[[policy]]\nmatch = "default"\nattempts = "many"\n')
        server.send(signal.SIGHUP)
        eventually(lambda: "not reloaded" in server.log())
        assert server.get("/api/v1/queues/default")["effective"]["attempts"] == 7
        assert server.stop() == exits.CLEAN


def test_a_signal_that_comes_before_it_is_ready_stops_it(tmp_path: Path) -> None:
    with Process(tmp_path) as server:
        eventually(lambda: "starting" in server.log())
        assert server.stop() == exits.CLEAN


def test_the_deferred_watcher_is_configured(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("[dialect.deferred]\nqueue = 'mine'\nstuck_timeout_s = 0.05\nstuck_attempts = 0\n")
    with Process(tmp_path / "data", file=file).ready() as server:
        assert b"BODY hello" in server.ask(b"ADD 0 hello\nRESERVE\n")
        eventually(lambda: server.get("/api/v1/queues/mine")["counts"]["dropped"] == 1)
