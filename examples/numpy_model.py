"""A model that is one NumPy function: DistMult, with vectors that were never trained."""

from pathlib import Path

import numpy as np

from openbiolink.dataset import load_dataset
from openbiolink.evaluation import evaluate

dataset = load_dataset(Path(__file__).parent / "data" / "tiny")
random = np.random.default_rng(seed=1)
entity = random.normal(size=(dataset.num_entities, 8))
relation = random.normal(size=(dataset.num_relations, 8))


def distmult(batch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Score every entity as head, and every entity as tail, of each triple of the batch."""
    head, name, tail = entity[batch[:, 0]], relation[batch[:, 1]], entity[batch[:, 2]]
    return (name * tail) @ entity.T, (head * name) @ entity.T


result = evaluate(distmult, dataset).metrics()
print(f"MRR {result['mrr']:.3f}, hits@3 {result['hits@3']:.3f}")
