"""The load generator against a server of a dozen lines: it counts, it times, and it does not wait for ever."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import pytest

from bench.load import Meter, cpu_s, run
from bench.tongues.tongue import BODY

ANSWERS = {b"A": b"TASK 0000000001 DELAY 0ms\n", b"R": b"TASK 0000000001 BODY " + BODY + b"\n", b"D": b"ok\n"}


def converse(sock: socket.socket) -> None:
    with contextlib.suppress(OSError), sock, sock.makefile("rwb") as lines:
        for line in lines:
            lines.write(ANSWERS[line[:1]])
            lines.flush()


@pytest.fixture
def port() -> Iterator[int]:
    """A server that answers `deferred`'s requests with the same words each time."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=converse, args=(sock,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("connections", "in_flight"), [(1, 1), (3, 1), (2, 10)])
def test_it_tells_rate_waits_and_processor_time(port: int, connections: int, in_flight: int) -> None:
    load = {"connections": connections, "in_flight": in_flight, "port": port, "pid": os.getpid(), "queues": 1}
    words = {name: str(value) for name, value in load.items()}
    told = run({**words, "tongue": "deferred", "warm_s": "0.01", "seconds": "0.05"})
    assert told["rate"] > 0
    assert told["messages"] == pytest.approx(told["rate"] / 3)
    assert 0 < told["p50_us"] <= told["p99_us"]
    assert told["server_share"] > 0
    assert told["others_share"] >= 0


def test_a_percentile_counts_answers_not_reads() -> None:
    meter = Meter()
    meter.waits_ns, meter.counts = [9_000, 1_000, 5_000], [1, 98, 1]
    assert [meter.percentile_us(share) for share in (0.5, 0.98, 0.99, 1.0)] == [1, 1, 5, 9]


def test_the_clock_of_a_process_is_its_processor_time() -> None:
    times = os.times()
    assert cpu_s(os.getpid()) == pytest.approx(times.user + times.system, abs=0.1)
