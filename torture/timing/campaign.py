"""Time goes wrong around a server, while clients of every dialect wait for something and hold something: the wall clock
is set, the process stands still, the machine sleeps. Nothing is early, nothing is lost, nothing counts as a failure."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.clocks import Clocks
from harness.server import Server, serving
from torture.timing.events import Event, Waiting
from torture.timing.waits import CONFIG, LEFT, WAITS

DAY_S = 86_400.0
JUMPS = (10, -20, 10)  # days
BETWEEN_S = 0.25


@dataclass(frozen=True)
class Outcome:
    failed: int = 0  # leases, by the server's count
    broken: tuple[str, ...] = ()


def campaign(kind: str, seconds: float) -> Outcome:
    """`seconds`: how long a process stands still, or a machine sleeps."""
    with tempfile.TemporaryDirectory(prefix="penstock-time-") as directory:
        place = Path(directory)
        clocks = Clocks(place / "clocks")
        (place / "penstock.toml").write_text(CONFIG)
        flags = ("--config", str(place / "penstock.toml"), "--confirm", "write")
        with serving(place / "data", *flags, listen=tuple(WAITS), program=clocks.program) as server:
            event = KINDS[kind](server, clocks, seconds)
            suffer(server.ports, event)
            failed = server.get("/api/v1/status")["counts"]["failed"]
    event.law(failed == LEFT, f"{failed} failures were counted instead of {LEFT}")
    return Outcome(failed, tuple(event.broken))


def set_clock(server: Server, clocks: Clocks, seconds: float) -> Event:
    def happens() -> None:
        for days in JUMPS:
            clocks.jump(days * DAY_S)
            time.sleep(BETWEEN_S)

    return Event(happens)


def stand_still(server: Server, clocks: Clocks, seconds: float) -> Event:
    def happens() -> None:
        os.kill(server.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(server.pid, signal.SIGCONT)

    return Event(happens, stands=True)


def sleep(server: Server, clocks: Clocks, seconds: float) -> Event:
    return Event(lambda: clocks.suspend(seconds), slept_s=seconds, stands=True)


KINDS: dict[str, Callable[[Server, Clocks, float], Event]] = {
    "set clock": set_clock,
    "stopped process": stand_still,
    "sleeping machine": sleep,
}


def suffer(ports: Mapping[str, int], event: Event) -> None:
    """All wait at once, and go on until they have what they waited for."""
    event.gather(len(WAITS))
    with ThreadPoolExecutor(len(WAITS)) as pool:
        for name, wait in WAITS.items():
            pool.submit(_suffer, wait, Waiting(ports, f"time-{name}", event))


def _suffer(wait: Callable[[Waiting], None], place: Waiting) -> None:
    try:
        wait(place)
    except Exception as error:
        place.event.broken.append(f"{place.queue}: {error!r}")
        place.event.give_up()
