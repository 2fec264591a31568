"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
