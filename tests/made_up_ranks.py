"""Made-up evaluations: a small graph, and counts as if a model had ranked its test triples."""

import numpy as np

from openbiolink.dataset import from_labelled
from openbiolink.evaluation.known import count_ranked, find_known
from openbiolink.evaluation.result import SIDES, Evaluation

PARTS = ("train", "valid", "test")


def make_graph(seed=0, *, entities=12, relations=3, train=40, test=30):
    """A graph of random triples, of labels that are not sorted like their ids would be by chance."""
    random = np.random.default_rng(seed)

    def draw(count):
        return [
            (f"e{random.integers(entities):02d}", f"r{random.integers(relations)}", f"e{random.integers(entities):02d}")
            for _ in range(count)
        ]

    labels = {
        "entities": [f"e{number:02d}" for number in range(entities)],
        "relations": [f"r{n}" for n in range(relations)],
    }
    return from_labelled(train=draw(train), valid=draw(3), test=draw(test), **labels)


def make_evaluation(graph=None, seed=0, *, model="made up", skill=0.0, **options):
    """Counts at random, the same for equal triples; a larger skill makes ranks smaller."""
    graph = graph or make_graph()
    random = np.random.default_rng(seed)
    known = {side: find_known(graph, side, PARTS) for side in SIDES}
    candidates = count_ranked(graph, graph.test, known)
    better = np.floor(random.random(candidates.shape) ** (1 + skill) * candidates).astype(np.int64)
    equal = np.floor(random.random(candidates.shape) * (candidates - better)).astype(np.int64)
    _, first, place = np.unique(graph.codes(graph.test), return_index=True, return_inverse=True)
    rows = first[place.ravel()]
    return Evaluation(
        **{
            "model": model,
            "dataset": graph,
            "triples": graph.test,
            "better": better[rows],
            "equal": equal[rows],
            "candidates": candidates,
            "ties": "realistic",
            "filter_parts": PARTS,
            "higher_is_better": True,
            **options,
        }
    )
