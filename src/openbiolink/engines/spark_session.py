"""The Spark session to work in: the one that runs in this process already, or one that is begun and ended here.

What the user has set counts: `spark-submit`, `spark-defaults.conf`, `PYSPARK_SUBMIT_ARGS` (such as
`--driver-memory 8g pyspark-shell`); the variable SPARK_MASTER names another master than `local[*]`. Spark keeps its
one context and its Java process in attributes of a class, which are asked and cleared here.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from openbiolink.errors import OpenBioLinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

SETTINGS = {  # of a session that is begun here, where the user has not set them
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.maxResultSize": "0",
}
LOCAL_SETTINGS = {"spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1"}
PATIENCE = 30  # seconds that the Java process has to end in good order


@contextmanager
def running_session(folder: Path) -> Iterator[SparkSession]:
    """The session of this process, left as it is, or a new one that works in `folder` and is gone afterwards.

    Raises:
        OpenBioLinkError: Spark, PyArrow or Java is not installed, or Spark does not start.
    """
    try:
        import pyarrow  # noqa: F401, ICN001
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise OpenBioLinkError(
            f"the engine spark needs {error.name}, which is not installed; run `pip install 'openbiolink[spark]'` "
            "and have Java 17 or later"
        ) from error
    with _silent_log():
        if SparkContext._active_spark_context is not None:  # noqa: SLF001
            yield SparkSession.builder.getOrCreate()
            return
        log, session = folder / "java.txt", None
        java = _start_java(log)
        try:
            session = _begin_session(folder, log, is_new=java is not None)
            yield session
        finally:
            _end(session, java)


def _start_java(log: Path) -> subprocess.Popen[bytes] | None:
    """Start the Java process if there is none yet; what it says goes to a file, and its id is returned."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # noqa: SLF001
        return None
    conf = SparkConf(loadDefaults=False)
    if master := os.environ.get("SPARK_MASTER"):
        conf.set("spark.master", master)
    with log.open("w") as chatter, _told_as_failed_start(log):
        gateway = launch_gateway(conf, popen_kwargs={"stdout": chatter, "stderr": chatter})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001
    return gateway.proc  # type: ignore[no-any-return]  # None where `spark-submit` has started it


def _begin_session(folder: Path, log: Path, *, is_new: bool) -> SparkSession:
    """A session with the user's settings, then our own; it works in `folder` if its Java process is new."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    with _told_as_failed_start(log), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # not used here
        conf = SparkConf()  # what the user has set, as Java knows it
        settings = dict(SETTINGS)
        if is_new:  # Java holds on to the first folder that it hears of
            settings |= {"spark.local.dir": f"{folder}/local", "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        if is_local := (conf.get("spark.master") or "").startswith("local"):
            settings |= LOCAL_SETTINGS
        for key, value in settings.items():
            conf.setIfMissing(key, value)
        conf.set("spark.ui.showConsoleProgress", "false")
        with _same_interrupts():
            context = SparkContext(conf=conf)
    if is_local and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    return SparkSession(context)


def _end(session: SparkSession | None, java: subprocess.Popen[bytes] | None) -> None:
    """End the session, and first of all its Java process if it was started here: so it writes no more in any case."""
    if java is not None:
        _end_java(java, session)
    elif session is not None:
        session.stop()


def _end_java(java: subprocess.Popen[bytes], session: SparkSession | None) -> None:
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001
    if session is not None:  # what listens to Java would print that Java has gone
        session.sparkContext._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]  # noqa: SLF001
    if gateway is not None:
        with suppress(Py4JError, OSError):
            gateway.shutdown()
    java.terminate()
    try:
        java.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()
    if java.stdin is not None:
        java.stdin.close()
    if session is not None:
        session.sparkContext._jsc = None  # noqa: SLF001, nobody is there to be told that it is the end
        session.sparkContext.stop()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001


@contextmanager
def _same_interrupts() -> Iterator[None]:
    """Take back what Spark puts in the place of the answer to Ctrl-C: it talks to Java amid a talk, and stays there."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _silent_log() -> Iterator[None]:
    """Keep from the terminal what Spark's Python side logs of errors and interruptions, since they are raised as well.

    Py4J logs the latter in the name of the root. Whoever has set up logging gets them.
    """
    from pyspark.logger import PySparkLogger

    log: logging.Logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    root, handler = logging.getLogger(), logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: "py4j" not in record.pathname)
    if not root.handlers:
        root.addHandler(handler)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
        root.removeHandler(handler)


@contextmanager
def _told_as_failed_start(log: Path) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        said = [line for line in log.read_text(errors="replace").splitlines() if line.strip() and not line[0].isspace()]
        reason = said[-1] if said and not hasattr(error, "java_exception") else _reason(error)
        raise OpenBioLinkError(
            f"Spark did not start ({reason}); have Java 17 or later on the PATH or in JAVA_HOME, and check "
            "SPARK_MASTER and Spark's own settings, or use the embedded engine"
        ) from error


def _stopped(reason: str) -> OpenBioLinkError:
    return OpenBioLinkError(
        f"Spark could not go on ({reason}); see that memory and disk suffice where it works, or use the embedded engine"
    )


@contextmanager
def one_line_errors(told: Callable[[str], OpenBioLinkError] = _stopped) -> Iterator[None]:
    """Raise in one line what Spark raises in many, and what is raised where Java or the disk's room is gone."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        raise told(_reason(error)) from error


def _reason(error: BaseException) -> str:
    """The first line of what went wrong in the first place."""
    cause = getattr(error, "java_exception", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    lines = str(error if cause is None else cause.toString()).strip().splitlines()
    return lines[0].split(" SQLSTATE:")[0].rstrip(";. ") if lines else type(error).__name__
