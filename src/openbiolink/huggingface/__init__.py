"""Modules for HuggingFace `evaluate`: the same numbers as `openbiolink.metrics`, behind `evaluate.load`.

    relation_extraction      precision, recall and F1 of extracted relations
    link_prediction_ranks    MRR, Hits@k, mean and median of ranks

Each is a folder of this package: a script that `evaluate` loads, a card, and an app that shows the metric in a browser.
Loading needs no network. `pip install 'openbiolink[huggingface]'` brings `evaluate` and `datasets`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from openbiolink.errors import InputError
from openbiolink.files import replaced_folder

MODULES = ("link_prediction_ranks", "relation_extraction")
OWNER = "Ikala-allen"  # under this name the metric was published first
FILES = ("README.md", "app.py", "requirements.txt")  # and the script, which has the name of its folder
LEFT_BY_PYTHON = "__pycache__"


def path(name: str) -> str:
    """The folder of a module, for `evaluate.load`.

    Args:
        name: `relation_extraction` or `link_prediction_ranks`.

    Raises:
        InputError: there is no such module.

    >>> Path(path("relation_extraction")).name
    'relation_extraction'
    """
    if name not in MODULES:
        raise InputError(f"there is no module {name!r} for evaluate; choose one of {', '.join(MODULES)}")
    return str(Path(__file__).resolve().parent / name)


def install(folder: str | Path, *, overwrite: bool = False) -> Path:
    """Copy the module `relation_extraction` to where its published name leads, without a network.

    In `folder`, `evaluate.load("Ikala-allen/relation_extraction")` finds the copy, since a folder of that name comes
    before the hub. A copy that is there already is made whole.

    Args:
        folder: that programs will run in; made if it is absent.
        overwrite: replace files of the copy that are not as this version writes them: changed by somebody, or written
            by another version.

    Returns:
        The folder of the copy, `folder/Ikala-allen/relation_extraction`.

    Raises:
        InputError: the place holds something else, a file there differs and `overwrite` was not said, or nothing can
            be written there; it stays as it was.
    """
    name = "relation_extraction"
    files = (*FILES, f"{name}.py")
    source, target = Path(path(name)), Path(folder) / OWNER / name
    try:
        others = [file for file in files if (target / file).is_file() and not overwrite]
        if changed := [file for file in others if (target / file).read_bytes() != (source / file).read_bytes()]:
            raise InputError(
                f"{target}: {changed[0]} is not as this version writes it; keep it elsewhere if you changed it, then "
                "say overwrite=True"
            )
        with replaced_folder(target, owned={*files, LEFT_BY_PYTHON}.__contains__) as fresh:
            for file in files:
                shutil.copyfile(source / file, fresh / file)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror}); choose another folder") from error
    return target
