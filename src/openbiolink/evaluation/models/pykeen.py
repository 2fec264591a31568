"""Models as PyKEEN saves them: a folder that `PipelineResult.save_to_directory` wrote.

The model is a pickle, which runs code when it is read: it is only read where the user says so. Its parameters are what
its representations return in evaluation mode, so after normalisers and constrainers. Interactions that are products or
distances become `VectorModel`s; any other model is asked for its scores a batch at a time.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.evaluation import vectors
from openbiolink.evaluation.models.arrays import Array, Parameters, take_rows
from openbiolink.evaluation.models.checkpoints import load_checkpoint
from openbiolink.evaluation.models.embeddings import check_folder, map_path
from openbiolink.evaluation.models.maps import Places, find_places, read_labels
from openbiolink.evaluation.scorers import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from openbiolink.dataset import Dataset
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.files import Note

MODEL, TRIPLES = "trained_model.pkl", "training_triples"


def _cp(heads: Parameters, tails: Parameters, relations: Parameters) -> VectorModel:
    return vectors.cp(heads, relations, tails)


def _two_distmults(first: Parameters, second: Parameters, forth: Parameters, back: Parameters) -> VectorModel:
    """SimplE of PyKEEN 1.11, where both ends of a triple have the first vector in one term, the second in the other."""
    return vectors.distmult(np.hstack([first, second]), np.hstack([forth, back]))


# By interaction; entity representations come first, then those of the relations. Of several the first whose scores are
# those of PyKEEN is taken, since versions differ.
KINDS: Mapping[str, Sequence[Callable[..., VectorModel]]] = MappingProxyType(
    {
        "DistMultInteraction": (vectors.distmult,),
        "ComplExInteraction": (vectors.complex_bilinear,),
        "RESCALInteraction": (vectors.rescal,),
        "CPInteraction": (_cp,),
        "SimplEInteraction": (_two_distmults, vectors.simple),
        "TransEInteraction": (partial(vectors.transe, norm=1), partial(vectors.transe, norm=2)),
        "RotatEInteraction": (partial(vectors.rotate, form="l2", conjugate=True),),
    }
)
COMPARED, QUESTIONS, CLOSE = 64, 4, 1e-3


class BatchModel:
    """A model of PyKEEN that is asked for its scores a batch at a time.

    Attributes:
        name: that of its class.
    """

    def __init__(self, model: Any, places: Places) -> None:
        """Ask `model` for the entities and relations at `places`."""
        torch = import_module("torch")
        self.name = type(model).__name__
        self._model = model
        self._no_grad, self._stack = torch.no_grad, torch.stack
        self._entities, self._relations = torch.from_numpy(places.entities), torch.from_numpy(places.relations)

    def score_batch(self, batch: Any) -> tuple[Any, Any]:
        """Scores of all heads and of all tails, for a batch of ids of the data set."""
        head, relation, tail = (np.asarray(batch)[:, column] for column in range(3))
        h, r, t = self._entities[head], self._relations[relation], self._entities[tail]
        with self._no_grad():
            heads = self._model.predict_h(self._stack([r, t], dim=1))
            tails = self._model.predict_t(self._stack([h, r], dim=1))
            return heads[:, self._entities], tails[:, self._entities]


def read_pykeen(
    path: Path | str,
    dataset: Dataset,
    *,
    entity_map: Path | str | None = None,
    relation_map: Path | str | None = None,
    trust: bool = False,
    note: Note = ignore,
) -> VectorModel | BatchModel:
    """A model from a folder that PyKEEN wrote, its rows in the order of the data set.

    Args:
        path: the folder, with trained_model.pkl.
        dataset: all of its entities and relations need a row.
        entity_map: the id map of the entities; by default training_triples/entity_to_id.tsv.gz.
        relation_map: likewise.
        trust: has to be True: the file runs code when it is read.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: there is no trust, PyKEEN is absent, a file is absent or damaged, or they do not fit.
    """
    folder = check_folder(Path(path))
    _refuse_untrusted(folder / MODEL, trust=trust)
    labels = [
        read_labels(map_path(folder / TRIPLES, many, given, names=names), quoted=given is None, note=note)
        for many, given, names in (
            ("entities", entity_map, ("entity_to_id.tsv.gz", "entity_to_id.tsv")),
            ("relations", relation_map, ("relation_to_id.tsv.gz", "relation_to_id.tsv")),
        )
    ]
    places = find_places(dataset, labels[0], labels[1], place=str(folder), note=note)
    model = _load(folder / MODEL)
    for kind, number in (("entities", places.num_entities), ("relations", places.num_relations)):
        has = model.num_entities if kind == "entities" else model.num_real_relations
        if has != number:
            raise InputError(f"{folder}: the model has {has} {kind}, its id map {number}; give the map of the model")
    name = type(model).__name__
    for build in _builds(model):
        try:
            found = _vectors(model, build, places, str(folder))
        except InputError as error:
            note(f"{error}; PyKEEN itself is asked for the scores")
            break
        if _agrees(model, found, places):
            if model.predict_with_sigmoid:
                note(f"{name}: ranked before its sigmoid, which would make different scores equal")
            return found
    note(f"{name}: scored by PyKEEN a batch at a time in float32; near ties may depend on the size of the batch")
    return BatchModel(model, places)


def _refuse_untrusted(path: Path, *, trust: bool) -> None:
    if not path.is_file():
        raise InputError(f"{path.parent}: has no {path.name}; give a folder that PyKEEN's `save_to_directory` wrote")
    if not trust:
        raise InputError(f"{path}: is a pickle, which runs code when it is read; say --trust if you know who made it")


def _load(path: Path) -> Any:
    try:
        kind = import_module("pykeen.models").Model
    except ImportError as error:
        raise InputError(f"{path}: needs PyKEEN; run `pip install 'openbiolink[pykeen]'`") from error
    model = load_checkpoint(path, trust=True)
    if not isinstance(model, kind):
        raise InputError(f"{path}: holds a {type(model).__name__}, expected a model of PyKEEN; give the right folder")
    model.eval()
    return model


def _builds(model: Any) -> Sequence[Callable[..., VectorModel]]:
    """What may make a `VectorModel` of the representations; nothing where the scores are no product or distance."""
    models, modules = import_module("pykeen.models"), import_module("pykeen.nn.modules")
    inductive = import_module("pykeen.models.inductive.base").InductiveERModel
    if not isinstance(model, models.ERModel) or isinstance(model, inductive):
        return ()
    interaction = model.interaction
    if isinstance(interaction, modules.ClampedInteraction) and interaction.clamp_score is None:
        interaction = interaction.base
    name = type(interaction).__name__
    if {"score_t", "score_h"} & _own_methods(model, models.ERModel) or getattr(modules, name, None) is not type(
        interaction
    ):
        return ()
    return KINDS.get(name, ())


def _own_methods(model: Any, base: type) -> set[str]:
    """Names that the classes between a model and `base` define."""
    kinds = type(model).__mro__
    return {name for kind in kinds[: kinds.index(base)] for name in vars(kind)}


def _vectors(model: Any, build: Callable[..., VectorModel], places: Places, place: str) -> VectorModel:
    rows, number = places.relations, places.num_relations
    if model.use_inverse_triples:  # relation i of the map is 2 i, its inverse 2 i + 1
        rows, number = np.concatenate([2 * rows, 2 * rows + 1]), 2 * number
    tables = [
        take_rows(table, places.entities, what=f"{place}, entities", number=places.num_entities)
        for table in _tables(model.entity_representations)
    ]
    tables += [
        take_rows(table, rows, what=f"{place}, relations", number=number)
        for table in _tables(model.relation_representations)
    ]
    built = build(*(table.reshape(len(table), -1) for table in tables))
    return vectors.reciprocal(built) if model.use_inverse_triples else built


def _agrees(model: Any, found: VectorModel, places: Places) -> bool:
    """Whether some scores of tails are those of PyKEEN, but for rounding; parameters of another shape never are."""
    torch = import_module("torch")
    asked = np.arange(QUESTIONS)
    given, relation = asked % len(places.entities), asked % len(places.relations)
    compared = np.arange(min(COMPARED, len(places.entities)))
    number = places.relations[relation] * (2 if model.use_inverse_triples else 1)
    batch = torch.from_numpy(np.stack([places.entities[given], number], axis=1))
    with torch.no_grad():
        theirs = model.score_t(batch)[:, torch.from_numpy(places.entities[compared])].double().numpy()
    query = found.query("tail", given, relation).vectors[:, None]
    candidates = found.candidates["tail"][compared].astype(np.float64)[None]
    if found.form == "dot":
        ours = (query * candidates).sum(axis=-1)
    else:
        gaps = np.abs(query - candidates)
        ours = -gaps.sum(axis=-1) if found.form == "l1" else -np.sqrt((gaps**2).sum(axis=-1))
    # A factor that is the same for all scores changes no rank: SimplE halves a sum.
    ratio = np.abs(theirs).sum() / max(np.abs(ours).sum(), 1e-300)
    return bool(np.abs(theirs - ratio * ours).max() <= CLOSE * max(np.abs(theirs).max(), 1e-300))


def _tables(representations: Sequence[Any]) -> list[Array]:
    torch = import_module("torch")
    with torch.no_grad():
        return [np.asarray(as_array(representation())) for representation in representations]
