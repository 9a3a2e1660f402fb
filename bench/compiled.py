"""The load generator compiled by mypyc into build/, once per state of its sources; interpreted where that fails."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
BUILDS: Final = ROOT / "build" / "bench"
SOURCES: Final = ("bench/load.py", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("bench/tongues/[!_]*.py")))
PACKAGES: Final = ("bench/__init__.py", "bench/tongues/__init__.py")

_BUILD: Final = """
import sys
from mypyc.build import mypycify
from setuptools import setup
made = mypycify(["--config-file=", *sys.argv[1:]], opt_level="3")
for extension in made:  # as setup.py has it
    extension.extra_compile_args += ["-fno-semantic-interposition", "-fno-plt"]
    extension.extra_link_args += ["-Wl,-Bsymbolic"]
setup(name="load", packages=[], script_args=["-q", "build_ext", "--inplace"], ext_modules=made)
"""


def builds() -> Path:
    BUILDS.mkdir(parents=True, exist_ok=True)
    return BUILDS


def place() -> Path:
    """The directory to run the generator in: compiled if at all possible, unless PENSTOCK_COMPILE=0."""
    if os.environ.get("PENSTOCK_COMPILE") == "0":
        return ROOT
    digest = hashlib.sha256(sys.version.encode() + _BUILD.encode())
    for name in (*SOURCES, *PACKAGES):
        digest.update((ROOT / name).read_bytes())
    wanted = BUILDS / digest.hexdigest()[:16]
    if wanted.is_dir() or _build(wanted):
        return wanted
    return ROOT


def _build(wanted: Path) -> bool:
    """In a directory of its own that gets its name when all is there: two may build at once."""
    with tempfile.TemporaryDirectory(dir=builds()) as scratch:
        work = Path(scratch, "work")
        for name in (*SOURCES, *PACKAGES):
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, work / name)
        made = subprocess.run(
            [sys.executable, "-c", _BUILD, *SOURCES], cwd=work, capture_output=True, text=True, check=False
        )
        if made.returncode != 0:
            tail = (made.stderr or made.stdout).strip().splitlines()[-1:]
            print(f"bench: the load generator runs interpreted: {' '.join(tail)}", file=sys.stderr)
            return False
        for made_beside in ("build", ".mypy_cache"):
            shutil.rmtree(work / made_beside, ignore_errors=True)
        _give_name(work, wanted)
    return True


def _give_name(work: Path, wanted: Path) -> None:
    try:
        os.rename(work, wanted)
    except OSError:
        if not wanted.is_dir():
            raise
