"""Compiles the rooms on the hot path with mypyc where a C compiler is at hand.

Without one, or with PENSTOCK_COMPILE=0, the same source runs as it is: slower, never broken. An editable install is
never compiled: what is edited is what runs. PENSTOCK_OPT_LEVEL says how hard the C compiler tries; tests do with less.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

ROOMS = ("model", "codecs", "engine", "journal", "broker", "dialects")
LOOP = ("clock", "alert", "tick", "listener", "connection")  # of the server: what every request passes through
# Not compiled: what makes pages of the documents gains nothing, and typed structs lose what says how they are tagged.
AS_WRITTEN = ("reference.py", "shapes.py")
LEVEL = os.environ.get("PENSTOCK_OPT_LEVEL", "3")
BUILD = f"build/O{LEVEL}"  # one for each level: what is made already is not made again
# Functions call each other directly, and may stand in one another's place: nobody else has a use for their names.
COMPILED_AS_ONE = ["-fno-semantic-interposition", "-fno-plt"]
LINKED_AS_ONE = ["-Wl,-Bsymbolic"]


def wanted() -> bool:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if os.environ.get("PENSTOCK_COMPILE") == "0" or "editable_wheel" in sys.argv:
        return False
    builds = any(word.startswith(("bdist", "build", "install")) for word in sys.argv)
    return builds and shutil.which(compiler) is not None


def extensions() -> list[Extension]:
    if not wanted():
        return []
    try:
        from mypyc.build import mypycify
    except ImportError:
        print("penstock: mypyc is not installed, so nothing is compiled", file=sys.stderr)
        return []
    made: list[Extension] = mypycify([str(path) for path in sources()], opt_level=LEVEL, target_dir=BUILD)
    for extension in made:
        extension.extra_compile_args += COMPILED_AS_ONE
        extension.extra_link_args += LINKED_AS_ONE
    return made


def sources() -> list[Path]:
    house = Path("src/penstock")
    rooms = [path for room in ROOMS for path in sorted((house / room).glob("[!_]*.py"))]
    loop = [house / "server" / f"{name}.py" for name in LOOP]
    return [path for path in rooms if not path.name.endswith(AS_WRITTEN)] + loop


setup(ext_modules=extensions(), options={"build": {"build_base": BUILD}})
