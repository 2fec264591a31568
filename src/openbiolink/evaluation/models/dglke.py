"""Models as DGL-KE saves them: `NAME_MODEL_entity.npy`, `NAME_MODEL_relation.npy`, config.json, and id maps.

Scores are those that DGL-KE's `edge_func` gives to a triple. SimplE's are not cut off at 20, which only makes ties.
For RESCAL, DGL-KE's own evaluation of tails multiplies by the relation's matrix the other way round than its score of a
triple does; the latter is taken here, for both sides.
"""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.evaluation import vectors
from openbiolink.evaluation.models.arrays import Parameters, read_npy, take_rows
from openbiolink.evaluation.models.embeddings import check_folder, map_path
from openbiolink.evaluation.models.maps import find_places, read_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from openbiolink.dataset import Dataset
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.files import Note

ROOM = 2.0  # that DGL-KE adds to gamma where it begins: angles are parameters * pi * hidden_dim / (gamma + ROOM)


def simple_of_halves(entities: Parameters, relations: Parameters) -> VectorModel:
    """SimplE, where a row has the vector of a head, or of a relation, and then that of a tail, or of its inverse."""
    return vectors.simple(*halves(entities), *halves(relations))


def halves(table: Parameters) -> tuple[Parameters, Parameters]:
    """The first and the second half of all rows."""
    size = table.shape[1] // 2
    return np.ascontiguousarray(table[:, :size]), np.ascontiguousarray(table[:, size:])


KINDS: Mapping[str, Callable[..., VectorModel]] = MappingProxyType(
    {
        "TransE": partial(vectors.transe, norm=2),
        "TransE_l1": partial(vectors.transe, norm=1),
        "TransE_l2": partial(vectors.transe, norm=2),
        "DistMult": vectors.distmult,
        "ComplEx": vectors.complex_bilinear,
        "RESCAL": vectors.rescal,
        "RotatE": vectors.rotate,
        "SimplE": simple_of_halves,
    }
)


def read_dglke(
    path: Path | str,
    dataset: Dataset,
    *,
    entity_map: Path | str | None = None,
    relation_map: Path | str | None = None,
    note: Note = ignore,
) -> VectorModel:
    """A model from a folder that DGL-KE wrote, its rows in the order of the data set.

    Args:
        path: the folder, with config.json.
        dataset: all of its entities and relations need a row.
        entity_map: the id map of the entities; by default the one that config.json names if it is in the folder, or
            else entities.tsv.
        relation_map: likewise.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: the model is not one of `KINDS`, a file is absent or damaged, or they do not fit.
    """
    folder = check_folder(Path(path))
    config = _read_config(folder)
    name = _option(config, "model_name", "model")
    if not isinstance(name, str) or name not in KINDS:
        raise InputError(
            f"{folder / 'config.json'}: model {name!r} cannot be evaluated here; there are {', '.join(KINDS)}"
            + (" (of TransR the entities have other vectors for each relation)" if name == "TransR" else "")
        )
    places = find_places(
        dataset,
        read_labels(
            map_path(folder, "entities", entity_map, names=_maps(config, "entities", "emap_file", "emp_file")),
            note=note,
        ),
        read_labels(
            map_path(folder, "relations", relation_map, names=_maps(config, "relations", "rmap_file")), note=note
        ),
        place=str(folder),
        note=note,
    )
    files = {kind: _find_array(folder, name, kind) for kind in ("entity", "relation")}
    entities = take_rows(
        read_npy(files["entity"]), places.entities, what=str(files["entity"]), number=places.num_entities
    )
    relations = take_rows(
        read_npy(files["relation"]), places.relations, what=str(files["relation"]), number=places.num_relations
    )
    build = KINDS[name]
    if name == "RotatE":
        build = partial(build, scale=_angle(config, folder, relations.shape[1]))
    return build(entities, relations)


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(f"{folder}: has no config.json, which names the model; give the folder that DGL-KE wrote")
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: is no JSON ({error}); save the model again") from error
    if not isinstance(config, dict):
        raise InputError(f"{path}: is no JSON object; save the model again")
    return config


def _option(config: Mapping[str, Any], *names: str) -> Any:
    return next((config[name] for name in names if config.get(name) is not None), None)


def _maps(config: Mapping[str, Any], kind: str, *names: str) -> list[str]:
    """Names that a map may have: that of the configuration, without the folders of its machine, and `kind`.tsv."""
    given = _option(config, *names)
    return [*([Path(given).name] if isinstance(given, str) and given else []), f"{kind}.tsv"]


def _find_array(folder: Path, model: str, kind: str) -> Path:
    ending = f"_{model}_{kind}.npy"
    found = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    if len(found) != 1:
        fault = f"{found[0].name} and {found[1].name}; keep the one that is meant" if found else "nothing of the kind"
        raise InputError(f"{folder}: expected one file NAME{ending}, found {fault}")
    return found[0]


def _angle(config: Mapping[str, Any], folder: Path, size: int) -> float:
    """What RotatE's parameters are multiplied with to become angles."""
    gamma, hidden = _option(config, "gamma"), _option(config, "hidden_dim", "emb_size")
    for name, value in (("gamma", gamma), ("hidden_dim", hidden)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError(f"{folder / 'config.json'}: {name} is {value!r}, expected a number, to which angles scale")
    if hidden != size or gamma + ROOM <= 0:
        raise InputError(
            f"{folder / 'config.json'}: hidden_dim {hidden} and gamma {gamma} do not fit relations of {size} angles; "
            "give the config.json that belongs to them"
        )
    return math.pi * float(hidden) / (float(gamma) + ROOM)
