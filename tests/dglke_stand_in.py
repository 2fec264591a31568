"""What the documented example imports from DGL-KE, small: TransE by Euclidean distance on saved arrays.

`ScoreInfer(device, config, path)` reads `DATASET_TransE_l2_entity.npy` and `…_relation.npy` in `load_model()`; its
`model` looks vectors up by ids and has the functions of scores, for edges and for chunks of edges with many negatives.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch


def load_model_config(path):
    return json.loads(Path(path).read_text())


def save_model(folder, entities, relations, *, gamma, dataset="OBL"):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"dataset": dataset, "model": "TransE_l2", "gamma": gamma}))
    np.save(folder / f"{dataset}_TransE_l2_entity.npy", entities)
    np.save(folder / f"{dataset}_TransE_l2_relation.npy", relations)


class EuclideanScore:
    def __init__(self, gamma):
        self.gamma = gamma

    def edge_func(self, edges):
        return {"score": self.gamma - (edges.src["emb"] + edges.data["emb"] - edges.dst["emb"]).norm(dim=-1)}

    def create_neg_prepare(self, neg_head):
        return lambda relation_ids, num_chunks, head, tail, device, trace: (head, tail)

    def create_neg(self, neg_head):
        def score(heads, relations, tails, num_chunks, chunk_size, neg_sample_size):
            many, few = (heads, tails - relations) if neg_head else (tails, heads + relations)
            few = few.reshape(num_chunks, chunk_size, -1)
            return self.gamma - torch.cdist(few, many.reshape(num_chunks, neg_sample_size, -1))

        return score


class ScoreInfer:
    def __init__(self, device, config, model_path):
        assert device == -1
        self.config, self.folder, self.model = config, Path(model_path), None

    def load_model(self):
        stem = f"{self.config['dataset']}_{self.config['model']}"
        entity, relation = (
            torch.from_numpy(np.load(self.folder / f"{stem}_{kind}.npy")) for kind in ("entity", "relation")
        )
        self.model = SimpleNamespace(
            entity_emb=lambda ids: entity[ids],
            relation_emb=lambda ids: relation[ids],
            score_func=EuclideanScore(self.config["gamma"]),
        )


def modules():
    """The modules as an import finds them, by name."""
    return {
        "dglke": SimpleNamespace(),
        "dglke.models": SimpleNamespace(),
        "dglke.models.infer": SimpleNamespace(ScoreInfer=ScoreInfer),
        "dglke.utils": SimpleNamespace(load_model_config=load_model_config),
    }
