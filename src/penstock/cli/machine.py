"""Checks of `penstock doctor` that look at the machine and the installation."""

from __future__ import annotations

import importlib.util
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

from penstock.server.config import Config
from penstock.server.options import CONNECTIONS

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"

PYTHON_LEAST: Final = (3, 11)
PACKAGES: Final = ("aiohttp", "click", "crc32c", "msgspec", "rich")
FILES_BESIDE_CONNECTIONS: Final = 64  # journal, log, sockets, and what libraries open
SLOW_CLOCKS: Final = ("acpi_pm", "hpet", "jiffies", "refined-jiffies")
EARLIEST_S: Final = 1_700_000_000  # the wall clock of a machine that runs this shows a later time
CLOCK_SOURCE: Final = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


class Check(NamedTuple):
    """One row: what was looked at, the verdict, what was found, and what to do about it."""

    name: str
    verdict: str
    found: str
    advice: str = ""


def check_machine(config: Config) -> list[Check]:
    return [
        check_python(sys.version_info[:3]),
        check_packages(),
        check_core(),
        check_loop(),
        check_checksum(),
        check_open_files(config[CONNECTIONS], resource.getrlimit(resource.RLIMIT_NOFILE)),
        check_clock_source(_clock_source()),
        check_wall_clock(time.time()),
    ]


def check_python(found: tuple[int, ...]) -> Check:
    shown = ".".join(map(str, found))
    if found >= PYTHON_LEAST:
        return Check("python", OK, shown)
    return Check("python", FAIL, shown, f"penstock needs Python {'.'.join(map(str, PYTHON_LEAST))} or newer.")


def check_packages(names: tuple[str, ...] = PACKAGES) -> Check:
    versions = {name: _version(name) for name in names}
    missing = [name for name, found in versions.items() if not found]
    if missing:
        return Check("packages", FAIL, f"missing: {', '.join(missing)}", "Install penstock again with its packages.")
    return Check("packages", OK, ", ".join(f"{name} {found}" for name, found in versions.items()))


def check_core() -> Check:
    spec = importlib.util.find_spec("penstock.engine.engine")
    compiled = spec is not None and (spec.origin or "").endswith(".so")
    return Check("core", OK, "compiled" if compiled else "interpreted")


def check_loop() -> Check:
    found = _version("uvloop")
    if found:
        return Check("event loop", OK, f"uvloop {found}")
    return Check("event loop", FAIL, "uvloop is missing", "The server needs it: pip install uvloop")


def check_checksum() -> Check:
    import crc32c

    if crc32c.hardware_based:
        return Check("crc32c", OK, "by hardware")
    return Check("crc32c", WARN, "by software", "Checksums of the journal are slow on this processor.")


def check_open_files(connections: int, limit: tuple[int, int]) -> Check:
    """`limit` is soft and hard."""
    needed = connections + FILES_BESIDE_CONNECTIONS
    shown = "without limit" if limit[0] == resource.RLIM_INFINITY else f"{limit[0]:,}"
    found = f"{shown} open files for {connections:,} connections"
    if limit[0] == resource.RLIM_INFINITY or limit[0] >= needed:
        return Check("open files", OK, found)
    advice = f"Raise it to {needed} with `ulimit -n {needed}` or LimitNOFILE=, or lower limits.connections."
    return Check("open files", WARN, found, advice)


def check_clock_source(source: str) -> Check:
    if source not in SLOW_CLOCKS:
        return Check("clock source", OK, source or "not told by this system")
    return Check("clock source", WARN, source, "Asking for the time is slow; see the kernel's clocksource= parameter.")


def check_wall_clock(now_s: float) -> Check:
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s))
    if now_s >= EARLIEST_S:
        return Check("wall clock", OK, shown)
    return Check("wall clock", FAIL, shown, "Set the clock: delays and lives of messages are counted from it.")


def _clock_source() -> str:
    return CLOCK_SOURCE.read_text().strip() if CLOCK_SOURCE.exists() else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
