"""A model that returns four arrays: distances of the triples, and of their corrupted heads and tails."""

from pathlib import Path
from typing import Any

import numpy as np

from openbiolink.evaluation.dataLoader import DataLoader
from openbiolink.evaluation.evaluation import Evaluator

loader = DataLoader(root=Path(__file__).parent / "data", name="tiny")
random = np.random.default_rng(seed=1)
entity = random.normal(size=(loader.num_entities, 8))
relation = random.normal(size=(loader.num_relations, 8))


class TransE(Evaluator):
    """Measures how far head plus relation is from tail, with vectors that were never trained."""

    def score_batch(self, batch: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Distances of shapes (b,), (b, num_neg), (b,), (b, num_neg); smaller is better."""
        head, name, tail = entity[batch[:, 0]], relation[batch[:, 1]], entity[batch[:, 2]]
        positive = np.abs(head + name - tail).sum(axis=-1)
        heads = np.abs(entity + (name - tail)[:, None]).sum(axis=-1)
        tails = np.abs((head + name)[:, None] - entity).sum(axis=-1)
        return positive, heads, positive, tails


result = TransE(loader, higher_is_better=False).evaluate(batch_size=100)
print(f"MRR {result['mrr']:.3f}, hits@3 {result['hits@3']:.3f}")
