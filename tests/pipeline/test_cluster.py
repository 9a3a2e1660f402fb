"""The same job on a real cluster, a master and two workers. An executor that is killed is replaced; nobody notices."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from tests.pipeline.cluster import SMALL, Cluster, cluster
from tests.pipeline.histories import cut, random_history, write_archive
from tests.pipeline.house import House
from tests.pipeline.sparing import options

PATIENCE_S = 200.0
CONF = {
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": " ".join(SMALL),
    "spark.executor.extraJavaOptions": " ".join(SMALL),
}


def run_on(url: str, house: House) -> subprocess.Popen[str]:
    words = ["pipeline", "run", "--data", str(house.archive.parent), "--master", url, "--memory", "1g"]
    words += options(CONF)
    command = [sys.executable, "-m", "penstock.cli.main", *words, "--output", "json"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def kill_an_executor(running: Cluster, house: House) -> None:
    """Once the batch is under way."""
    deadline = time.monotonic() + PATIENCE_S
    while not (running.executors() and any(house.lake.root.glob("*/batch=1"))):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    os.kill(running.executors()[0], signal.SIGKILL)


def test_a_cluster_makes_the_same_tables_though_an_executor_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    house = House(spark, tmp_path)
    history = random_history(41, 400).facts
    write_archive(house.archive, cut(history, 200))
    with cluster(tmp_path, 2) as running, run_on(running.url, house) as job:
        kill_an_executor(running, house)
        output, errors = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, errors
    assert [batch["facts"] for batch in json.loads(output)["batches"]] == [len(history)]
    house.agrees_with(history)
