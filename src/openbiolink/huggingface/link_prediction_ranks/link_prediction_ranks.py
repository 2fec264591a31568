"""MRR, Hits@k, mean and median of ranks, for `evaluate.load`; the numbers are those of `openbiolink`."""

from collections.abc import Iterable, Sequence
from typing import Any

import datasets
import evaluate

from openbiolink.errors import InputError
from openbiolink.metrics.ranking import KS, check_k, check_ranks, summary, tally_ranks

DESCRIPTION = """\
Metrics of the ranks that right answers got among all candidates: mean reciprocal rank (MRR), Hits@k, mean and median.
"""

CITATION = """\
@inproceedings{bordes-etal-2013-translating,
    title = {Translating Embeddings for Modeling Multi-relational Data},
    author = {Bordes, Antoine and Usunier, Nicolas and Garc{\\'i}a-Dur{\\'a}n, Alberto and Weston, Jason
        and Yakhnenko, Oksana},
    booktitle = {Advances in Neural Information Processing Systems 26},
    year = {2013},
}
"""

INPUTS = """
Args:
    ranks: of the right answers, one number for each query; 1 is the best. Halves and other fractions may come from
        ties; infinity stands for an answer that was not found.
    ks: the k of Hits@k, by default 1, 3 and 10.

Returns:
    A dictionary with `count`, `mrr`, `mean_rank`, `median_rank` and `hits@k` for every k. Where answers were not found,
    `not_found` says how many, and mean and median are None where they are infinite.
"""


class LinkPredictionRanks(evaluate.Metric):
    """MRR, Hits@k, mean and median of ranks."""

    def _info(self) -> evaluate.MetricInfo:
        """What `evaluate` wants to know."""
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({"ranks": datasets.Value("float64")}),
        )

    def compute(self, *, ranks: Any = None, ks: Sequence[int] = KS) -> dict[str, Any] | None:
        """Work out the metrics of what was added and of what is given here, then forget it.

        Raises:
            ValueError: a k is no whole number of at least 1, something is no rank, or there are none; one line that
                says which. What was added before stays if `ks` or `ranks` are wrong.
        """
        ks = [check_k(k) for k in ks]
        if self.writer is None and ranks is None:
            raise ValueError("there are no ranks; give them here, or to add or add_batch before")
        found: dict[str, Any] | InputError | None = super().compute(ranks=ranks, ks=ks)
        if isinstance(found, InputError):
            raise found
        return found

    def add_batch(self, *, ranks: Any = None) -> None:
        """Add ranks; all of them, or none if one is refused.

        Raises:
            ValueError: something is no rank; one line that says which.
        """
        if not isinstance(ranks, Iterable):
            raise ValueError(f"ranks are {ranks!r}, expected one number per rank; give a list or an array")
        super().add_batch(ranks=check_ranks(ranks).tolist())

    def add(self, *, rank: Any = None) -> None:
        """Add one rank.

        Raises:
            ValueError: it is none.
        """
        self.add_batch(ranks=[rank])

    def _compute(self, *, ranks: list[float], ks: Sequence[int]) -> dict[str, Any] | InputError:
        """The metrics, or the error, for `compute` to raise once `evaluate` has put its files away."""
        try:
            return summary(tally_ranks(ranks), ks)
        except InputError as error:
            return error
