"""The state of rows in Spark is that of Polars: in one process, and on a cluster of two workers."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.engine_rows import ASKED, DATA, agrees

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not find_spec("pyspark"), reason="PySpark is not installed"),
    pytest.mark.skipif(not shutil.which("java"), reason="there is no Java"),
    # Of PySpark itself.
    pytest.mark.filterwarnings("default"),
]
LOOPBACK = "127.0.0.1"


def session(master: str) -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    settings = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.executor.memory": "512m",
        "spark.log.level": "ERROR",
    }
    return builder.master(master).config(map=settings).getOrCreate()


@contextmanager
def cluster(folder: Path) -> Generator[str]:
    """The address of a master with two workers, each a process of its own on this machine."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        url = f"spark://{LOOPBACK}:{free.getsockname()[1]}"
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK}
    processes: list[subprocess.Popen[bytes]] = []

    def start(name: str, kind: str, *arguments: str) -> None:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        with (folder / name).open("wb") as log:
            processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
            )

    def wait(name: str, line: str) -> None:
        for _ in range(300):
            if line in (folder / name).read_text():
                return
            time.sleep(0.2)
        raise TimeoutError((folder / name).read_text())

    at = ["--host", LOOPBACK, "--webui-port", "0"]
    try:
        start("master", "master.Master", *at, "--port", url.rpartition(":")[2])
        wait("master", "New state: ALIVE")
        for name in ("worker-1", "worker-2"):
            start(name, "worker.Worker", *at, "--cores", "1", "--memory", "512m", url)
        for name in ("worker-1", "worker-2"):
            wait(name, "Successfully registered")
        yield url
    finally:
        for process in processes:
            process.terminate()
            process.wait()


@pytest.fixture(scope="module", params=["two threads", "two workers"])
def spark(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Any]:
    """A session with two threads of this process, then one on a cluster."""
    with ExitStack() as stack:
        patched = stack.enter_context(pytest.MonkeyPatch.context())
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        patched.setenv("SPARK_LOCAL_IP", LOOPBACK)
        master = "local[2]"
        if request.param == "two workers":
            master = stack.enter_context(cluster(tmp_path_factory.mktemp("spark")))
        running = session(master)
        stack.callback(running.stop)
        yield running


def rows_of(spark: Any, folder: Path) -> Any:
    """The rows in Spark, read from several files."""
    for i in range(4):
        DATA.gather_every(4, i).write_parquet(folder / f"{i}.parquet")
    return spark.read.parquet(str(folder))


def test_the_session_is_what_it_is_said_to_be(spark: Any, request: pytest.FixtureRequest) -> None:
    cluster = "two workers" in request.node.name
    assert spark.sparkContext.master.startswith("spark://" if cluster else "local[2]")
    executors = 0
    for _ in range(100):
        executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
        if executors == 2 * cluster:
            break
        time.sleep(0.2)
    assert executors == 2 * cluster


@pytest.mark.parametrize("asked", ASKED)
def test_states_are_equal_to_the_bit(spark: Any, asked: str, tmp_path: Path) -> None:
    agrees(rows_of(spark, tmp_path), ASKED[asked])


def test_labels_of_text_and_truth_are_read_alike(spark: Any, tmp_path: Path) -> None:
    rows = DATA.with_columns(
        truth=pl.col("y") == 1, text=pl.when(pl.col("y") == 1).then(pl.lit("yes")).otherwise("y")
    )
    rows.write_parquet(tmp_path / "rows.parquet")
    there = spark.read.parquet(str(tmp_path / "rows.parquet"))
    for label, positive in (("truth", None), ("text", "yes")):
        ask: dict[str, Any] = {"bins": bm.dyadic(3), "by": "segment", "positive": positive}
        expected = rows.binmetrics.histogram("a", label, **ask)
        assert_frame_equal(bm.histogram(there, "a", label, **ask), expected)


def test_one_group_by_runs_there(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import narwhals as nw

    plans: list[str] = []
    collect = nw.LazyFrame.collect

    def watched(frame: Any, *arguments: Any, **options: Any) -> Any:
        query = frame.to_native()._jdf.queryExecution()
        plans.append(query.optimizedPlan().toString())
        return collect(frame, *arguments, **options)

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    agrees(rows_of(spark, tmp_path), {"by": "segment"})
    (plan,) = plans
    assert len(re.findall(r"\bAggregate\b", plan)) == 1
    assert len(re.findall(r"\bRelation\b", plan)) == 1
    assert "Python" not in plan
