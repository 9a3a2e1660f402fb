"""A Spark cluster of this machine: a master and workers, processes of their own on loopback, from the wheel."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from penstock.pipeline.classdata import reading
from penstock.pipeline.session import find_java
from torture.kill import children

START_S = 60.0
STOP_S = 20.0
DEPLOY = "org.apache.spark.deploy"
HERE = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *reading().split())


class Cluster:
    def __init__(self, url: str, workers: list[subprocess.Popen[bytes]]) -> None:
        self.url = url
        self._workers = workers

    def executors(self) -> list[int]:
        """Processes that a worker has started for somebody's tasks."""
        return [child for worker in self._workers for child in children(worker.pid)]


@contextmanager
def process(log: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Of a class of Spark's."""
    find_java()
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_JAVA_OPTS": " ".join(SMALL)}
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with log.open("wb") as file:
        started = subprocess.Popen([program, *words], stdout=file, stderr=file, env=environment)
        try:
            yield started
        finally:
            started.terminate()
            started.wait(STOP_S)


def said(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@contextmanager
def cluster(place: Path, workers: int) -> Iterator[Cluster]:
    with ExitStack() as stack:
        log = place / "master.log"
        stack.enter_context(process(log, f"{DEPLOY}.master.Master", *HERE))
        url = said(log, r"(spark://127\.0\.0\.1:\d+)")
        each = ("--cores", "1", "--memory", "512m")
        logs = [place / f"worker{number}.log" for number in range(workers)]
        started = [
            stack.enter_context(
                process(one, f"{DEPLOY}.worker.Worker", *HERE, *each, "--work-dir", str(one.with_suffix("")), url)
            )
            for one in logs
        ]
        for one in logs:
            said(one, r"(Successfully registered with master)")
        yield Cluster(url, started)
