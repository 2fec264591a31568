"""Models and files of other programs, as models that `openbiolink.evaluation.evaluate` ranks.

    read_model("dglke", folder, dataset)   files of a program     → VectorModel, or an object with `score_batch`
    load_scorer("package.module:object")   a scorer of one's own  → the same
    evaluate_ranks(path, dataset)          ranks made elsewhere   → Evaluation

Another format is a function `read_NAME(path, dataset, *, ...)` in a module of its own and a row of `FORMATS`. Rows of a
model are found by label: ids need not be those of the data set.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.evaluation.models.dglke import read_dglke
from openbiolink.evaluation.models.embeddings import read_embeddings
from openbiolink.evaluation.models.libkge import read_libkge
from openbiolink.evaluation.models.pykeen import read_pykeen
from openbiolink.evaluation.models.ranks import evaluate_ranks
from openbiolink.evaluation.models.scorer import load_scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from openbiolink.dataset import Dataset
    from openbiolink.evaluation.scorers import Scorer
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.files import Note

__all__ = ["FORMATS", "Format", "evaluate_ranks", "load_scorer", "read_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How the files of one program are read.

    Attributes:
        read: (path, data set, further options, note) → the model.
        options: names of the further options that `read` takes.
    """

    read: Callable[..., VectorModel | Scorer]
    options: frozenset[str]


MAPS = frozenset({"entity_map", "relation_map"})
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "embeddings": Format(read=read_embeddings, options=MAPS | {"model", "norm"}),
        "dglke": Format(read=read_dglke, options=MAPS),
        "pykeen": Format(read=read_pykeen, options=MAPS | {"trust"}),
        "libkge": Format(read=read_libkge, options=MAPS | {"trust"}),
    }
)


def read_model(
    name: str, path: Path | str, dataset: Dataset, *, note: Note = ignore, **options: Any
) -> VectorModel | Scorer:
    """A model from the files of another program.

    Args:
        name: of the format, one of `FORMATS`.
        path: its folder or file.
        dataset: the model gets the order of its ids.
        note: called with one line for everything that a reader of results should know.
        options: further ones of the format.

    Raises:
        InputError: there is no such format or option, or the files cannot be used.
    """
    if name not in FORMATS:
        raise InputError(f"format {name!r} is not known; choose one of {', '.join(FORMATS)}")
    strange = sorted(set(options) - FORMATS[name].options)
    if strange:
        raise InputError(f"{strange[0]} is no option of {name}; it has {', '.join(sorted(FORMATS[name].options))}")
    return FORMATS[name].read(path, dataset, note=note, **options)
