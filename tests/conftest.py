"""Fixtures that every test may use."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from openbiolink.engines import open_engine

collect_ignore = [
    "dglke_stand_in.py",
    "examples_of_old.py",
]  # need PyTorch and stand-ins; test_printed_examples.py runs them
ROOT = Path(__file__).resolve().parent.parent
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # less work on what runs but once: half the time for tests


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """Send every request that leaves this machine to a port where nobody listens, also those of child processes."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy"):
            for spelling in (name, name.upper()):
                patch.setenv(spelling, "http://127.0.0.1:9")
        for spelling in ("no_proxy", "NO_PROXY"):
            patch.setenv(spelling, "127.0.0.1,localhost")
        yield


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of the small made-up inputs, one per kind of known fault."""
    return ROOT / "tests" / "cases"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real source files and benchmark sets, which are never part of the repository."""
    folder = Path(os.environ.get("OPENBIOLINK_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        if os.environ.get("OPENBIOLINK_REQUIRE_REAL"):
            pytest.fail(f"{folder}/data is absent; set OPENBIOLINK_SHARED to the folder that holds data/")
        pytest.skip(f"REAL DATA ABSENT: no {folder}/data; set OPENBIOLINK_SHARED to check on real files")
    return folder


@pytest.fixture(scope="session")
def spark():
    """A Spark session for all tests of this process, since one takes long to begin; every engine is apart in it."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        pytest.skip("SPARK ABSENT: pip install 'openbiolink[spark]' to check that both engines agree")
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip("JAVA ABSENT: install Java 17 or later to check that both engines agree")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"--driver-java-options '{QUICK_JAVA}' pyspark-shell")
        with open_engine("spark") as engine:
            yield engine


@pytest.fixture(params=["embedded", pytest.param("spark", marks=pytest.mark.xdist_group("spark"))])
def every_engine(request) -> str:
    """The name of each engine in turn."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    return request.param
