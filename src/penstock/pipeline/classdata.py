"""Class data: what Spark loads at every start, laid ready by Java in a file, which takes a third off a short command.

It must not matter: a file that is missing, damaged or of another Java is passed over, and may be removed at any time.
Whoever makes one removes those that nobody has read for a month.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_CLAIM_S: Final = 3_600
_UNREAD_S: Final = 30 * 86_400
_QUIET: Final = "-Xlog:disable"  # Java tells of each class that it leaves out


def reading() -> str:
    """For whoever starts Java: what is there, if there is something."""
    file = place()
    if file is None or not file.exists():
        return ""
    with contextlib.suppress(OSError):
        os.utime(file)  # when it was last read
    return f"-XX:SharedArchiveFile={file} {_QUIET}"


def making() -> str:
    """For whoever starts Java for a short while: it is made when that has ended, unless it is there or being made."""
    file = place()
    if file is None or file.exists() or " " in str(file) or not _claimed(file.with_suffix(".making")):
        return ""
    _sweep(file.parent)
    return f"-XX:ArchiveClassesAtExit={file} {_QUIET}"


def _sweep(cache: Path) -> None:
    """Each is 180 MB, and every environment with a Spark of its own leaves one."""
    for file in cache.glob("spark-*"):
        with contextlib.suppress(OSError):
            if time.time() - file.stat().st_mtime > _UNREAD_S:
                file.unlink()


def _claimed(mark: Path) -> bool:
    """One at a time: it takes Java half a minute of a processor. A claim that came to nothing runs out."""
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        if mark.exists() and time.time() - mark.stat().st_mtime > _CLAIM_S:
            mark.unlink()
        mark.touch(exist_ok=False)
    except OSError:
        return False
    return True


def place() -> Path | None:
    """One for each Java and each Spark; none where one of them is missing."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    spark = find_spec("pyspark")
    if java is None or spark is None or spark.origin is None:
        return None
    real = Path(java).resolve()
    told = f"{real} {real.stat().st_mtime_ns} {spark.origin} {os.stat(spark.origin).st_mtime_ns}"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(Path.home(), ".cache")
    return Path(cache, "penstock", f"spark-{hashlib.blake2b(told.encode(), digest_size=6).hexdigest()}.jsa")
