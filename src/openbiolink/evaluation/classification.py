"""True or false: how well scores tell test triples from true negatives.

    AUROC     the probability that a positive scores higher than a negative, ties counting half (Hanley & McNeil 1982,
              "The Meaning and Use of the Area under a ROC Curve"); by the middle ranks of equal scores, exactly
    AUPRC     average precision: sum over the different scores, from the highest, of the recall gained * the precision
              there (equal scores are one threshold)
    Brier     mean of (probability - truth) ** 2 (Brier 1950)
    ECE       expected calibration error: the distance of mean probability and share of positives in bins of equal
              numbers of triples, weighted by their sizes; equal scores are of one bin (Naeini et al. 2015)

Brier and ECE need probabilities. Scores that are none are turned into such by a logistic curve that is fitted on
validation triples and negatives (Platt 1999, "Probabilistic Outputs for Support Vector Machines"), or there are no such
numbers.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import NEGATIVE, PARTS, SPLIT_FOLDER, ignore
from openbiolink.errors import InputError, ScoreError
from openbiolink.evaluation.exact import score_triples
from openbiolink.evaluation.known import RELATION
from openbiolink.evaluation.scorers import score_function, score_sides, scorer_name
from openbiolink.evaluation.vectors import VectorModel
from openbiolink.files import iter_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openbiolink.dataset import Dataset, Part, Triples
    from openbiolink.evaluation.scorers import ScoreFunction, Scorer
    from openbiolink.files import Note

Scores = npt.NDArray[np.float64]

BINS = 10
BATCH = 100
STEPS = 100  # of the fit of a logistic curve; it needs some ten
NEGATIVE_FILES: Mapping[Part, tuple[str, ...]] = MappingProxyType(
    {
        "train": ("negative_train_sample.csv", "train_negatives.txt", "train_negatives.tsv"),
        "valid": ("negative_val_sample.csv", "valid_negatives.txt", "valid_negatives.tsv"),
        "test": ("negative_test_sample.csv", "test_negatives.txt", "test_negatives.tsv"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """How well scores tell positives from negatives.

    Attributes:
        positives: how many there are.
        negatives: likewise.
        auroc: from 0 to 1, 0.5 by chance; None where one of the two is absent.
        auprc: from 0 to 1, the share of positives by chance; likewise.
    """

    positives: int
    negatives: int
    auroc: float | None
    auprc: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far probabilities are right.

    Attributes:
        method: `given` where scores are probabilities, `logistic` where they were turned into such.
        brier: from 0 (best) to 1.
        ece: expected calibration error, from 0 (best) to 1.
        bins: of the latter.
    """

    method: str
    brier: float
    ece: float
    bins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What was found on positives and negatives.

    Attributes:
        model: what was evaluated.
        overall: over all triples.
        by_relation: for each relation that has any, sorted.
        calibration: None where scores are no probabilities and there was nothing to fit a curve on.
        notes: one line for everything that a reader of the numbers should know.
    """

    model: str
    overall: Separation
    by_relation: Mapping[str, Separation]
    calibration: Calibration | None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python that JSON can hold."""
        return {
            "model": self.model,
            "overall": asdict(self.overall),
            "by_relation": {name: asdict(one) for name, one in self.by_relation.items()},
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "notes": list(self.notes),
        }


def evaluate_classification(
    scorer: Scorer | ScoreFunction | VectorModel,
    dataset: Dataset,
    negatives: Triples,
    *,
    valid_negatives: Triples | None = None,
    probabilities: bool = False,
    higher_is_better: bool = True,
    model_name: str | None = None,
    bins: int = BINS,
) -> Classification:
    """Score the test triples and negatives, and see how well they are told apart.

    Args:
        scorer: as for `openbiolink.evaluation.evaluate`; of the two scores that a model of batches has for a triple,
            that of the tail query counts.
        dataset: its test triples are the positives, each counted once.
        negatives: triples that are false, ids, shape (n, 3), each counted once.
        valid_negatives: to fit the logistic curve on, with the validation triples; None for no curve.
        probabilities: whether scores are probabilities, which need no curve.
        higher_is_better: False for distances.
        model_name: the name in the result; by default that of the scorer.
        bins: of the expected calibration error.

    Raises:
        InputError: there are no test triples or negatives, or an option is wrong.
        ScoreError: a score is not finite, or no probability where it should be.
    """
    if not len(dataset.test) or not len(negatives):
        raise InputError("classification needs test triples and negatives; give a split that has both")
    if probabilities and not higher_is_better:
        raise InputError("probabilities of being true are higher where better; say one of the two only")
    if bins < 1:
        raise InputError(f"bins={bins} is too few; give 1 or more")

    def score(triples: Triples) -> Scores:
        found = _score(scorer, dataset, triples, higher_is_better=higher_is_better)
        if probabilities and not ((found >= 0) & (found <= 1)).all():
            raise ScoreError("a score is below 0 or above 1, so it is no probability; do not say that scores are such")
        return found

    triples = [np.unique(part, axis=0) for part in (dataset.test, negatives)]
    positive, negative = (score(part) for part in triples)
    calibration = None
    if probabilities:
        calibration = _calibrate("given", positive, negative, bins)
    elif valid_negatives is not None and len(valid_negatives) and len(dataset.valid):
        curve = fit_logistic(*(score(np.unique(part, axis=0)) for part in (dataset.valid, valid_negatives)))
        calibration = _calibrate("logistic", curve(positive), curve(negative), bins)
    notes = [] if calibration else ["scores are no probabilities, so nothing is said of calibration"]
    if unseen := dataset.unseen["test"].triples:
        notes.append(f"test triples that are unseen in training are positives too, whether ranked or not: {unseen}")
    relations = [part[:, RELATION] for part in triples]
    present = np.unique(np.concatenate(relations)).tolist()
    groups = {
        dataset.relations[one]: _separate(positive[relations[0] == one], negative[relations[1] == one])
        for one in present
    }
    named = scorer.name if isinstance(scorer, VectorModel) else scorer_name(scorer)
    return Classification(
        model=model_name or named,
        overall=_separate(positive, negative),
        by_relation=dict(sorted(groups.items())),
        calibration=calibration,
        notes=tuple(notes),
    )


def area_under_roc(positive: Scores, negative: Scores) -> float:
    """The probability that a positive scores higher than a negative, ties counting half.

    Args:
        positive: scores of positives, finite, shape (n,), n at least 1.
        negative: scores of negatives, likewise.

    >>> area_under_roc(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    ours, theirs = _tally_scores(positive, negative)
    below = np.cumsum(theirs) - theirs
    return int((ours * (2 * below + theirs)).sum()) / (2 * len(positive) * len(negative))


def average_precision(positive: Scores, negative: Scores) -> float:
    """The precision at each different score of a positive, weighted by the positives there.

    Args:
        positive: as in `area_under_roc`.
        negative: likewise.

    >>> average_precision(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.8333333333333333
    """
    ours, theirs = (counts[::-1] for counts in _tally_scores(positive, negative))
    true, found = np.cumsum(ours), np.cumsum(ours + theirs)
    return math.fsum(ours * (true / found)) / len(positive)


def calibration_error(positive: Scores, negative: Scores, *, bins: int = BINS) -> float:
    """The expected calibration error in bins of equal numbers of triples; equal probabilities are of one bin.

    Args:
        positive: probabilities of positives, shape (n,).
        negative: of negatives, likewise.
        bins: how many.

    >>> calibration_error(np.array([0.75, 0.75, 0.75]), np.array([0.75]))
    0.0
    """
    ours, theirs = _tally_scores(positive, negative)
    values = np.unique(np.concatenate([positive, negative]))
    counts = ours + theirs
    place = (2 * np.cumsum(counts) - counts) * bins // (2 * counts.sum())  # by the middle of equal ones
    expected = np.bincount(place, weights=values * counts, minlength=bins)
    seen = np.bincount(place, weights=ours, minlength=bins)
    return math.fsum(np.abs(expected - seen)) / int(counts.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """The curve 1 / (1 + exp(-(slope * (score - centre) / scale + shift)))."""

    slope: float
    shift: float
    centre: float
    scale: float

    def __call__(self, scores: Scores) -> Scores:
        """Probabilities of scores."""
        level = self.slope * (scores - self.centre) / self.scale + self.shift
        weak = np.exp(-np.abs(level))
        return np.asarray(np.where(level >= 0, 1.0, weak) / (1 + weak), np.float64)


def fit_logistic(positive: Scores, negative: Scores) -> Logistic:
    """The logistic curve that is most likely to give these truths, by Newton's method.

    The truths are drawn in a little, (n + 1) / (n + 2) and 1 / (m + 2), as Platt does, so that there is always a curve.

    Args:
        positive: scores of positives, shape (n,).
        negative: of negatives, shape (m,).
    """
    scores = np.concatenate([positive, negative])
    centre, scale = float(scores.mean()), float(scores.std()) or 1.0
    truth = np.repeat(
        [(len(positive) + 1) / (len(positive) + 2), 1 / (len(negative) + 2)], [len(positive), len(negative)]
    )
    design = np.stack([(scores - centre) / scale, np.ones(len(scores))], axis=1)
    curve = Logistic(slope=0.0, shift=math.log(truth.mean() / (1 - truth.mean())), centre=centre, scale=scale)
    loss = _loss(curve, scores, truth)
    for _ in range(STEPS):
        chance = curve(scores)
        gradient = design.T @ (truth - chance)
        curvature = (design * (chance * (1 - chance))[:, np.newaxis]).T @ design + 1e-12 * np.eye(2)
        step, share = np.linalg.solve(curvature, gradient), 1.0
        while share > 2.0**-30:
            moved = Logistic(
                slope=curve.slope + share * step[0], shift=curve.shift + share * step[1], centre=centre, scale=scale
            )
            if (reached := _loss(moved, scores, truth)) < loss:
                break
            share /= 2
        else:
            return curve
        curve, loss = moved, reached
    return curve


def _loss(curve: Logistic, scores: Scores, truth: Scores) -> float:
    level = curve.slope * (scores - curve.centre) / curve.scale + curve.shift
    return float((np.logaddexp(0, level) - truth * level).sum())


def _calibrate(method: str, positive: Scores, negative: Scores, bins: int) -> Calibration:
    squares = math.fsum((1 - positive) ** 2) + math.fsum(negative**2)
    return Calibration(
        method=method,
        brier=squares / (len(positive) + len(negative)),
        ece=calibration_error(positive, negative, bins=bins),
        bins=bins,
    )


def _separate(positive: Scores, negative: Scores) -> Separation:
    both = len(positive) and len(negative)
    return Separation(
        positives=len(positive),
        negatives=len(negative),
        auroc=area_under_roc(positive, negative) if both else None,
        auprc=average_precision(positive, negative) if both else None,
    )


def _tally_scores(positive: Scores, negative: Scores) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many positives and negatives have each of the different scores, in ascending order."""
    values, place = np.unique(np.concatenate([positive, negative]), return_inverse=True)
    ours = np.bincount(place[: len(positive)], minlength=len(values))
    return ours, np.bincount(place[len(positive) :], minlength=len(values))


def _score(
    scorer: Scorer | ScoreFunction | VectorModel, dataset: Dataset, triples: Triples, *, higher_is_better: bool
) -> Scores:
    """Scores of triples, higher where better, shape (n,)."""
    if isinstance(scorer, VectorModel):
        if not higher_is_better:
            raise InputError(f"{scorer.name} is a model given as vectors, whose better scores are higher ones")
        found = score_triples(scorer, triples)
    else:
        score, parts = score_function(scorer), [np.empty(0)]
        for start in range(0, len(triples), BATCH):
            batch = triples[start : start + BATCH].astype(np.int64)
            tails = score_sides(score, batch, dataset.num_entities)[1]
            parts.append(np.asarray(tails.answers, np.float64))
        found = np.concatenate(parts)
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        label = ", ".join(dataset.label(triples[wrong[0]]))
        raise ScoreError(
            f"the score of triple ({label}) is NaN or infinite; mend the model so that every one is finite"
        )
    return found if higher_is_better else 0.0 - found


def read_negatives(folder: Path | str, part: Part, dataset: Dataset, *, note: Note = ignore) -> Triples | None:
    """The negatives of a part as ids, shape (n, 3); None where the folder has no file of them.

    Files are those of a split (`negative_test_sample.csv`, six columns) or `test_negatives.txt` (three), tab-separated,
    plain or packed, in the folder or its `train_test_data`. Negatives with an entity or relation that the data set
    lacks, and those that it has as triples, are left out, counted and noted.

    Raises:
        InputError: a line is no triple, or a negative is marked as true.
    """
    names = [f"{name}{packed}" for name in NEGATIVE_FILES[part] for packed in ("", ".gz")]
    places = (Path(folder), Path(folder) / SPLIT_FOLDER)
    path = next((place / name for place in places for name in names if (place / name).is_file()), None)
    if path is None:
        return None
    entity = {label: number for number, label in enumerate(dataset.entities)}
    relation = {label: number for number, label in enumerate(dataset.relations)}
    rows, lacking = list[tuple[int, int, int]](), 0
    for number, line in enumerate(iter_lines(path, note), 1):
        if not line:
            continue
        head, name, tail = _negative(line, f"{path}, line {number}")
        if head in entity and name in relation and tail in entity:
            rows.append((entity[head], relation[name], entity[tail]))
        else:
            lacking += 1
    triples = np.array(rows, np.int32).reshape(-1, 3)
    known = np.concatenate([dataset.codes(dataset.part(one)) for one in PARTS])
    is_true = np.isin(dataset.codes(triples), known)
    if lacking:
        note(f"{path.name}: negatives with an entity or relation that the data set lacks, left out: {lacking}")
    if is_true.any():
        note(f"{path.name}: negatives that are triples of the data set, left out: {int(is_true.sum())}")
    return triples[~is_true]


def _negative(line: str, place: str) -> tuple[str, str, str]:
    cells = line.split("\t")
    if len(cells) not in {3, 6} or not all(cells[:3]):
        raise InputError(f"{place}: {line[:60]!r} is no triple; expected three columns, or the six of a sample file")
    if len(cells) == 6 and cells[4] not in NEGATIVE:
        raise InputError(f"{place}: value {cells[4]!r} among negatives, expected 0; keep positives in their own file")
    return cells[0], cells[1], cells[2]
