"""Train a DistMult on a made-up split for a while, for benchmarks that need vectors that are not random.

    python benchmarks/train_vectors.py SPLIT FILE.npz [--epochs 1] [--seed 0]

Writes float32 arrays `e` (entities) and `r` (relations) of dimension 200. Both ends of a training triple are told from
512 random entities, by cross entropy and Adagrad. It needs PyTorch; numbers depend on its version and the processor.
"""

import argparse
from pathlib import Path

import numpy as np

from openbiolink.dataset import load_dataset

DIMENSION, BATCH, OTHERS, RATE, DECAY = 200, 2048, 512, 0.1, 1e-3


def train(dataset, *, epochs, seed):
    """Vectors of entities and of relations."""
    import torch
    from torch.nn.functional import cross_entropy

    torch.manual_seed(seed)
    entities = torch.nn.Parameter(torch.randn(dataset.num_entities, DIMENSION) / 10)
    relations = torch.nn.Parameter(torch.randn(dataset.num_relations, DIMENSION) / 10 + 0.5)
    optimiser = torch.optim.Adagrad([entities, relations], lr=RATE)
    triples = torch.as_tensor(dataset.train.astype(np.int64))
    first = torch.zeros(BATCH, dtype=torch.long)
    for _ in range(int(epochs * len(triples) / BATCH)):
        head, relation, tail = triples[torch.randint(len(triples), (BATCH,))].T
        head, relation, tail = entities[head], relations[relation], entities[tail]
        others = entities[torch.randint(dataset.num_entities, (OTHERS,))].T
        forth, back = head * relation, tail * relation
        right = (forth * tail).sum(dim=1, keepdim=True)
        loss = DECAY * (forth.abs() ** 3).mean()
        for asked in (forth, back):
            loss = loss + cross_entropy(torch.cat([right, asked @ others], dim=1), first)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return entities.detach().numpy(), relations.detach().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("split", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--epochs", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    vectors, relations = train(load_dataset(options.split), epochs=options.epochs, seed=options.seed)
    np.savez(options.file, e=vectors, r=relations)


if __name__ == "__main__":
    main()
