"""What every number of relation extraction is, row by row: the docs are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RATIO = '0 … 100, or 0 … 1 with `scale="fraction"`'
COUNT = "a whole number from 0 on"
TAILLE = "Taillé et al. 2020, [arXiv 2009.10684](https://arxiv.org/abs/2009.10684)"
LEWIS = "Lewis 1991, Evaluating Text Categorization"
YANG = "Yang & Liu 1999, A Re-examination of Text Categorization Methods"
SKLEARN = "common practice, as in scikit-learn's `precision_recall_fscore_support`"
DOCRED = "Yao et al. 2019, DocRED, [arXiv 1906.06127](https://arxiv.org/abs/1906.06127)"
RIJSBERGEN = "van Rijsbergen 1979, Information Retrieval, chapter 7"
SUREST = "a verdict by itself: a system that says only its one surest relation can make it perfect"
EVERYTHING = "a verdict by itself: a system that says everything can make it perfect"
RARE = "saying how a system does on rare types: the common ones decide it"
FEW = "types with a few relations each: one relation may move it by many points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A row of `MEANINGS`.

    Attributes:
        key: where the number stands in the document of `RelationResult`, keys with a point between them.
        formula: in words and signs.
        range: from the worst to the best.
        source: where it was defined.
        not_for: what it must not be used for.
    """

    key: str
    formula: str
    range: str
    source: str
    not_for: str


MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    {
        "tp": Meaning(
            key="scores.ALL.tp",
            formula="relations of a document that both sides have; repeats count once",
            range=COUNT,
            source=TAILLE,
            not_for="comparing data sets of different sizes",
        ),
        "fp": Meaning(
            key="scores.ALL.fp",
            formula="relations that only the predictions have",
            range=COUNT,
            source=TAILLE,
            not_for="counting mistakes: one wrong entity type is one fp and one fn",
        ),
        "fn": Meaning(
            key="scores.ALL.fn",
            formula="relations that only the references have",
            range=COUNT,
            source=TAILLE,
            not_for="counting mistakes: one wrong entity type is one fp and one fn",
        ),
        "p": Meaning(
            key="scores.ALL.p",
            formula="tp / (tp + fp), 0 where there is no tp",
            range=RATIO,
            source=RIJSBERGEN,
            not_for=SUREST,
        ),
        "r": Meaning(
            key="scores.ALL.r",
            formula="tp / (tp + fn), 0 where there is no tp",
            range=RATIO,
            source=RIJSBERGEN,
            not_for=EVERYTHING,
        ),
        "f1": Meaning(
            key="scores.ALL.f1",
            formula="2 p r / (p + r); of `ALL` that of the sums over types (micro)",
            range=RATIO,
            source=RIJSBERGEN,
            not_for="comparing numbers of different modes (strict, boundaries, relaxed), and " + RARE,
        ),
        "Macro_p": Meaning(
            key="scores.ALL.Macro_p", formula="mean of p over types", range=RATIO, source=LEWIS, not_for=FEW
        ),
        "Macro_r": Meaning(
            key="scores.ALL.Macro_r", formula="mean of r over types", range=RATIO, source=LEWIS, not_for=FEW
        ),
        "Macro_f1": Meaning(
            key="scores.ALL.Macro_f1",
            formula="mean of f1 over types, not the f1 of the means",
            range=RATIO,
            source=YANG,
            not_for="comparing results that do not say over which types the mean is, and " + FEW,
        ),
        "support": Meaning(
            key="support.ALL",
            formula="different relations of the references: tp + fn",
            range=COUNT,
            source=SKLEARN,
            not_for="judging a system: it says how much a row can be trusted",
        ),
        "weighted f1": Meaning(
            key="weighted.f1",
            formula="mean of f1 over types, each as often as its support; p and r likewise",
            range=RATIO,
            source=f'{SKLEARN} with `average="weighted"`',
            not_for="finding types that are only predicted: their support is 0, so they do not count",
        ),
        "ign f1": Meaning(
            key="ign.f1",
            formula="f1 of r and of p without right predictions whose fact is known from training",
            range=RATIO,
            source=DOCRED,
            not_for="comparing systems that were trained on other data",
        ),
    }
)
