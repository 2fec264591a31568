"""Stage 4: from scores, or a file of predictions, to exact filtered ranks and their metrics.

    evaluate(scorer, dataset)      a model that scores batches  ┐
    evaluate_topk(path, dataset)   a file of best candidates    ├→  Evaluation  →  metrics, JSON, table
    baseline(name, dataset)        a trivial scorer             ┘

`dataLoader.DataLoader` and `evaluation.Evaluator` are doors to the same rooms under the names that the
earlier releases of the project documented.
"""

from openbiolink.evaluation.baselines import BASELINES, baseline
from openbiolink.evaluation.ranking import evaluate
from openbiolink.evaluation.result import Evaluation, metric_rows, render_table
from openbiolink.evaluation.scorers import Scorer
from openbiolink.evaluation.topk import evaluate_topk

__all__ = [
    "BASELINES",
    "Evaluation",
    "Scorer",
    "baseline",
    "evaluate",
    "evaluate_topk",
    "metric_rows",
    "render_table",
]
