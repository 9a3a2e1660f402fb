"""What the machine and the peers are, so that a page can say on what it was measured. No host names."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from bench import compiled


def told(packages: set[str], libraries: set[str], generator: Path) -> str:
    """One paragraph."""
    peers = ", ".join(f"{package} {version(package)}" for package in sorted(packages))
    ours = "".join(f"; {library} {importlib.metadata.version(library)}" for library in sorted(libraries))
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {processor()}, {os.cpu_count()} cores; Linux {platform.release()}; "
        f"{filesystem(compiled.builds())}; Python {platform.python_version()}; load average {os.getloadavg()[0]:.2f} "
        f"at the start; penstock {how(is_compiled())}, load generator {how(generator != compiled.ROOT)}{ours}"
        + (f"; {peers}, from Debian." if peers else ".")
    )


def how(is_so: bool) -> str:
    return "compiled" if is_so else "interpreted"


def is_compiled() -> bool:
    spec = importlib.util.find_spec("penstock.engine.core")
    return spec is not None and not str(spec.origin).endswith(".py")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def filesystem(path: Path) -> str:
    """The kind of the mount that holds the servers' files."""
    held: list[tuple[int, str]] = []
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, place, kind, *_ = line.split()
        if path.is_relative_to(place):
            held.append((len(place), kind))
    return max(held)[1]


def version(package: str) -> str:
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "of unknown version"
    return asked.stdout or "of unknown version"
