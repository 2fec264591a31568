"""A folder of arrays: the parameters of a model of whatever origin.

    entities.npy    for each entity a row (cp and simple: as a head)
    relations.npy   for each relation a row
    tails.npy       cp and simple: for each entity a row as a tail
    inverses.npy    simple: for each relation a row of its inverse
    entities.tsv    id maps, see `openbiolink.evaluation.models.maps`
    relations.tsv

The arrays may stand in one `.safetensors` file instead, under the same names without the ending.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.evaluation import vectors
from openbiolink.evaluation.models.arrays import Array, read_npy, read_safetensors, take_rows
from openbiolink.evaluation.models.maps import find_places, read_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from openbiolink.dataset import Dataset
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.files import Note

PAIR = ("entities", "relations")
ARRAYS = (*PAIR, "tails", "inverses")
KINDS: Mapping[str, tuple[Callable[..., VectorModel], Sequence[str]]] = MappingProxyType(
    {
        "distmult": (vectors.distmult, PAIR),
        "complex": (vectors.complex_bilinear, PAIR),
        "rescal": (vectors.rescal, PAIR),
        "cp": (vectors.cp, ("entities", "relations", "tails")),
        "simple": (vectors.simple, ("entities", "tails", "relations", "inverses")),
        "transe-l1": (partial(vectors.transe, norm=1), PAIR),
        "transe-l2": (partial(vectors.transe, norm=2), PAIR),
        "rotate": (vectors.rotate, PAIR),
    }
)


def read_embeddings(
    path: Path | str,
    dataset: Dataset,
    *,
    model: str | None = None,
    norm: int | None = None,
    entity_map: Path | str | None = None,
    relation_map: Path | str | None = None,
    note: Note = ignore,
) -> VectorModel:
    """A model from a folder of arrays, its rows in the order of the data set.

    Args:
        path: the folder.
        dataset: all of its entities and relations need a row.
        model: how the arrays make a score, one of `KINDS`.
        norm: of rotate only: 1 adds the lengths of the complex differences (default), 2 takes the length of the whole.
        entity_map: the id map of the entities; entities.tsv of the folder by default.
        relation_map: likewise.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: the model is not known, a file is absent or damaged, or arrays, maps and data set do not fit.
    """
    folder = check_folder(Path(path))
    if model is None or model not in KINDS:
        given = "no model is named" if model is None else f"model {model!r} is not known"
        raise InputError(f"{folder}: {given}; say --model with one of {', '.join(KINDS)}")
    if norm is not None and (model != "rotate" or norm not in {1, 2}):
        raise InputError(f"norm {norm} of {model}; only rotate has a norm of 1 or 2 (of TransE the name says it)")
    build, names = KINDS[model]
    if norm == 2:
        build = partial(vectors.rotate, form="l2")
    arrays = _read_arrays(folder, model, names)
    places = find_places(
        dataset,
        read_labels(map_path(folder, "entities", entity_map), note=note),
        read_labels(map_path(folder, "relations", relation_map), note=note),
        place=str(folder),
        note=note,
    )
    tables = []
    for name in names:
        of_relations = name in {"relations", "inverses"}
        rows = places.relations if of_relations else places.entities
        number = places.num_relations if of_relations else places.num_entities
        if arrays[name].dtype.kind == "c" and model not in {"complex", "rotate"}:
            raise InputError(f"{folder}: {name} holds complex numbers, which {model} has not; check --model")
        tables.append(take_rows(arrays[name], rows, what=f"{folder}, {name}", number=number))
    return build(*tables)


def check_folder(folder: Path) -> Path:
    """The folder itself.

    Raises:
        InputError: there is none.
    """
    if not folder.is_dir():
        fault = "is a file, expected a folder" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {fault}; give the folder that the model was saved in")
    return folder


def map_path(folder: Path, kind: str, given: Path | str | None, *, names: Sequence[str] = ()) -> Path:
    """The id map that is given, or the first that the folder has of these names, by default `kind`.tsv.

    Raises:
        InputError: there is none.
    """
    if given is not None:
        return Path(given)
    candidates = [folder / name for name in names or [f"{kind}.tsv"]]
    for path in candidates:
        if path.is_file():
            return path
    option = "--entity-map" if kind == "entities" else "--relation-map"
    raise InputError(
        f"{folder}: has no {' or '.join(path.name for path in candidates)}, which says what each row stands for; "
        f"give the id map with {option}"
    )


def _read_arrays(folder: Path, model: str, names: Sequence[str]) -> dict[str, Array]:
    packed = sorted(folder.glob("*.safetensors"))
    single = {name: folder / f"{name}.npy" for name in ARRAYS if (folder / f"{name}.npy").is_file()}
    if len(packed) > 1 or (packed and single):
        both = [path.name for path in (*packed, *single.values())][:2]
        raise InputError(f"{folder}: holds {both[0]} and {both[1]}; keep the one that is meant")
    arrays = read_safetensors(packed[0]) if packed else {name: read_npy(path) for name, path in single.items()}
    absent = [name for name in names if name not in arrays]
    if absent:
        where = f"{packed[0].name} has no array {absent[0]}" if packed else f"has no {absent[0]}.npy"
        raise InputError(f"{folder}: {where}; {model} is made of {', '.join(names)}")
    further = sorted(set(arrays) - set(names))
    if further:
        raise InputError(f"{folder}: {further[0]} is no part of {model}, which is made of {', '.join(names)}; check it")
    return arrays
