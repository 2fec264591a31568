"""Models as LibKGE saves them: a checkpoint with configuration and parameters, also of reciprocal relations.

It is read without running anything in it. Labels come from the checkpoint where it was packaged with them, else from
the data set's id maps entity_ids.del and relation_ids.del, given or beside it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.evaluation import vectors
from openbiolink.evaluation.models.arrays import Array, Parameters, take_rows
from openbiolink.evaluation.models.checkpoints import load_checkpoint
from openbiolink.evaluation.models.dglke import halves, simple_of_halves
from openbiolink.evaluation.models.embeddings import map_path
from openbiolink.evaluation.models.maps import find_places, read_labels
from openbiolink.evaluation.scorers import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from openbiolink.dataset import Dataset
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.files import Note

RECIPROCAL = "reciprocal_relations_model"
LOOKUP = "lookup_embedder"


def _cp(entities: Parameters, relations: Parameters) -> VectorModel:
    heads, tails = halves(entities)
    return vectors.cp(heads, relations, tails)


KINDS: Mapping[str, Callable[..., VectorModel]] = MappingProxyType(
    {
        "distmult": vectors.distmult,
        "complex": vectors.complex_bilinear,
        "rescal": vectors.rescal,
        "cp": _cp,
        "simple": simple_of_halves,
        "transe": vectors.transe,
        "rotate": vectors.rotate,
    }
)


def read_libkge(
    path: Path | str,
    dataset: Dataset,
    *,
    entity_map: Path | str | None = None,
    relation_map: Path | str | None = None,
    trust: bool = False,
    note: Note = ignore,
) -> VectorModel:
    """A model from a checkpoint of LibKGE, its rows in the order of the data set.

    Args:
        path: the checkpoint, such as checkpoint_best.pt.
        dataset: all of its entities and relations need a row.
        entity_map: the id map of the entities; by default the labels in the checkpoint, or entity_ids.del beside it.
        relation_map: likewise.
        trust: whether classes that the checkpoint names may run; only one with unusual content needs it.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: the model is not one of `KINDS`, or checkpoint, maps and data set do not fit.
    """
    place = Path(path)
    stand_in = type("Config", (), {"__module__": "kge.config", "__doc__": "Holds the options of a checkpoint."})
    checkpoint = load_checkpoint(place, trust=trust, harmless=[stand_in])
    options, state = _parts(checkpoint, place)
    is_reciprocal = options.get("model") == RECIPROCAL
    name = str(_get(options, RECIPROCAL, "base_model", "type") if is_reciprocal else options.get("model"))
    if name not in KINDS:
        raise InputError(f"{place}: model {name!r} cannot be evaluated here; there are {', '.join(KINDS)}")
    prefix = "_base_model." if is_reciprocal else ""
    section = (RECIPROCAL, "base_model") if is_reciprocal else (name,)
    tables = {}
    for kind in ("entity", "relation"):
        embedder = _option(options, section, name, f"{kind}_embedder.type")
        tables[kind] = _table(state, f"{prefix}_{kind}_embedder", embedder, place)
    labels = {
        kind: _labels(checkpoint, place, kind, many, given, note)
        for kind, many, given in (("entity", "entities", entity_map), ("relation", "relations", relation_map))
    }
    places = find_places(dataset, labels["entity"], labels["relation"], place=str(place), note=note)
    rows, number = places.relations, places.num_relations
    if is_reciprocal:
        rows, number = np.concatenate([rows, rows + number]), 2 * number
    model = _build(name, options, section, place)(
        take_rows(tables["entity"], places.entities, what=f"{place}, entities", number=places.num_entities),
        take_rows(tables["relation"], rows, what=f"{place}, relations", number=number),
    )
    return vectors.reciprocal(model) if is_reciprocal else model


def _parts(checkpoint: Any, place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options and the parameters by name."""
    content = checkpoint if isinstance(checkpoint, dict) else {}
    options = getattr(content.get("config"), "options", content.get("config"))
    model = content.get("model")
    state = model[0] if isinstance(model, (tuple, list)) and model else model
    if not isinstance(options, dict) or not isinstance(state, dict):
        raise InputError(f"{place}: has no `config` and `model` as LibKGE's checkpoints have; give one of those")
    return options, state


def _get(options: Any, *keys: str) -> Any:
    """The option at the end of nested keys, or None."""
    for key in keys:
        options = options.get(key) if isinstance(options, dict) else None
    return options


def _option(options: Any, section: tuple[str, ...], name: str, key: str) -> Any:
    """An option of the model: that of its section, else that of all models of the kind."""
    own = _get(options, *section, *key.split("."))
    return own if own is not None else _get(options, name, *key.split("."))


def _table(state: dict[str, Any], name: str, kind: Any, place: Path) -> Array:
    """The parameters of an embedder, under the name that they have now or had earlier."""
    found = [state[key] for key in (f"{name}._embeddings.weight", f"{name}.embeddings.weight") if key in state]
    if not found or kind not in {None, LOOKUP}:
        raise InputError(f"{place}: {name} is of type {kind!r}; only {LOOKUP}, with a row for each id, can be read")
    return np.asarray(as_array(found[0]))


def _labels(  # noqa: PLR0917
    checkpoint: dict[str, Any], place: Path, kind: str, many: str, given: Path | str | None, note: Note
) -> tuple[str, ...]:
    inside = _get(checkpoint, "dataset", "meta", f"{kind}_ids") or checkpoint.get(f"{kind}_ids")
    if given is None and isinstance(inside, (list, tuple)):
        labels = tuple(map(str, inside))
        if len(set(labels)) < len(labels):
            raise InputError(f"{place}: {kind}_ids has a label twice; give the id map of the data set")
        return labels
    return read_labels(map_path(place.parent, many, given, names=[f"{kind}_ids.del"]), note=note)


def _build(name: str, options: Any, section: tuple[str, ...], place: Path) -> Callable[..., VectorModel]:
    if name not in {"transe", "rotate"}:
        return KINDS[name]
    norm = _option(options, section, name, "l_norm")
    if norm not in {1, 2}:
        raise InputError(f"{place}: l_norm of {name} is {norm!r}, expected 1 or 2; other norms are not known here")
    if name == "transe":
        return partial(vectors.transe, norm=int(norm))
    return partial(vectors.rotate, form="modulus" if norm == 1 else "l2")
