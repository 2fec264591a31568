"""What a model has to offer: the scores of a batch of triples, on both sides.

A scorer is a function of a batch, or an object with `score_batch(batch)`. A batch is an array of ids,
shape (b, 3), columns head, relation, tail. The answer is one of

- two matrices `(head_scores, tail_scores)`, each (b, num_entities): `head_scores[i, j]` is the score of
  (j, relation_i, tail_i), `tail_scores[i, j]` that of (head_i, relation_i, j);
- four arrays `(positive_head, negative_head, positive_tail, negative_tail)`, the positives (b,), the
  negatives (b, num_entities): the positives are the scores of the triples themselves, and the column of
  the answer among the negatives is ignored.

NumPy arrays, nested lists and tensors of PyTorch are all understood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError, ScoreError

Batch = npt.NDArray[np.int64]
Scores = npt.NDArray[Any]


@runtime_checkable
class Scorer(Protocol):
    """Anything with a method that scores a batch."""

    def score_batch(self, batch: Any, /) -> Sequence[Any]:
        """Two matrices or four arrays, as the module describes, for a batch of shape (b, 3)."""


ScoreFunction = Callable[[Any], Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideScores:
    """The scores of one side of a batch.

    Attributes:
        answers: score of the right answer, shape (b,).
        candidates: score of every entity, shape (b, num_entities), same type, rows contiguous.
    """

    answers: Scores
    candidates: Scores


def score_function(scorer: Scorer | ScoreFunction) -> ScoreFunction:
    """The function that scores a batch, whichever way the scorer offers it.

    Raises:
        InputError: the scorer offers none.
    """
    if isinstance(scorer, Scorer):
        return scorer.score_batch
    if callable(scorer):
        return scorer
    raise InputError(f"{type(scorer).__name__} cannot score; give a function of a batch or an object with score_batch")


def scorer_name(scorer: Scorer | ScoreFunction) -> str:
    """What to call a scorer in a result: its `name`, or that of the function or class."""
    name = getattr(scorer, "name", None) or getattr(scorer, "__name__", None)
    return name if isinstance(name, str) else type(scorer).__name__


def score_sides(score: ScoreFunction, batch: Batch, num_entities: int) -> tuple[SideScores, SideScores]:
    """The head and the tail scores of a batch, checked; rows beyond those of the batch are cut off.

    Raises:
        ScoreError: the answer has another form than the two that are understood.
    """
    given = score(batch.copy())
    if not isinstance(given, (tuple, list)) or len(given) not in {2, 4}:
        shape = f"{len(given)} values" if isinstance(given, (tuple, list)) else type(given).__name__
        raise ScoreError(
            f"a batch was scored with {shape}; expected two matrices (head, tail) "
            "or four arrays (positive head, negative head, positive tail, negative tail)"
        )
    rows = len(batch)
    if len(given) == 2:
        head, tail = (
            _array(scores, f"{side} scores", rows, num_entities)
            for side, scores in zip(("head", "tail"), given, strict=True)
        )
        every = np.arange(rows)
        return (
            SideScores(answers=head[every, batch[:, 0]], candidates=head),
            SideScores(answers=tail[every, batch[:, 2]], candidates=tail),
        )
    return (
        _positive_and_negative(given[0], given[1], "head", rows, num_entities),
        _positive_and_negative(given[2], given[3], "tail", rows, num_entities),
    )


def _positive_and_negative(positive: Any, negative: Any, side: str, rows: int, num_entities: int) -> SideScores:
    answers = _array(positive, f"positive {side} scores", rows)
    candidates = _array(negative, f"negative {side} scores", rows, num_entities)
    common = np.result_type(answers, candidates)
    return SideScores(answers=answers.astype(common, copy=False), candidates=candidates.astype(common, copy=False))


def _array(given: Any, what: str, rows: int, *columns: int) -> Scores:
    """An array of `rows` rows and the columns wanted, of a type that can be compared exactly and fast."""
    scores = _numeric(as_array(given), what)
    if scores.ndim != 1 + len(columns) or scores.shape[1:] != columns or len(scores) < rows:
        expected = "(" + ", ".join(map(str, (rows, *columns))) + ("," if not columns else "") + ")"
        raise ScoreError(
            f"the {what} have shape {scores.shape}; expected {expected}: one row per triple of the batch"
            + (", one column per entity" if columns else "")
        )
    return np.ascontiguousarray(scores[:rows])


def check_count(name: str, value: object, of: str) -> None:
    """Refuse what is no whole number of 1 or more.

    Raises:
        InputError: naming the option, and what it counts.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name}={value!r} is no whole number; give 1 or more {of}")
    if value < 1:
        raise InputError(f"{name}={value} is too small; give 1 or more {of}")


def as_tensor(array: npt.NDArray[Any]) -> Any:
    """A tensor of PyTorch on the memory of the array, or the array itself where PyTorch is absent."""
    try:
        return import_module("torch").from_numpy(array)
    except ImportError:
        return array


def as_array(given: Any) -> Any:
    """The array behind a tensor of PyTorch, told by its methods, so that PyTorch need not be there."""
    if not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    return (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()


def _numeric(given: Any, what: str) -> Scores:
    try:
        scores = np.asarray(given)
    except ValueError as error:
        raise ScoreError(f"the {what} are ragged; expected one number per candidate") from error
    if scores.dtype.kind == "f" and scores.dtype.itemsize <= 8:
        return scores.astype(np.float32 if scores.dtype.itemsize <= 4 else np.float64, copy=False)
    if scores.dtype.kind in "biu" and np.can_cast(scores.dtype, np.int64):
        return scores.astype(np.int64, copy=False)
    raise ScoreError(f"the {what} have type {scores.dtype}; expected floats up to 64 bits or whole numbers")
