"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
