"""Two models by the old interface, of the same form as the documented examples: `python examples_of_old.py NAME`.

Where a folder or file is asked for it has the name that the documentation prints.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
from dglke.models.infer import ScoreInfer
from dglke.utils import load_model_config

from openbiolink.evaluation.dataLoader import DataLoader
from openbiolink.evaluation.evaluation import Evaluator

FOLDER = "G:\\ckpts\\TransE_l2_FB15k_0"
ENTITIES, RELATIONS = "G:\\triples\\entities.tsv", "G:\\triples\\relations.tsv"
PREDICTIONS = "G:\\prediction.txt"
HEADS, TAILS, UNTRACED = True, False, False


class Translating(Evaluator):
    def __init__(self):
        super().__init__(DataLoader("HQ_DIR", entity_to_id_path=ENTITIES, relation_to_id_path=RELATIONS))
        inference = ScoreInfer(-1, load_model_config(Path(FOLDER, "config.json")), FOLDER)
        inference.load_model()
        self.score = inference.model.score_func
        self.vectors = inference.model.entity_emb(self.entities.long())
        self.vectors.share_memory_()
        self.directions = inference.model.relation_emb(self.relations.long())

    def score_batch(self, batch):
        head, tail = self.vectors[batch[:, 0], :], self.vectors[batch[:, 2], :]
        ids = batch[:, 1].long()
        relation = self.directions[ids]
        edges = SimpleNamespace(src={"emb": head}, data={"emb": relation}, dst={"emb": tail})
        own = self.score.edge_func(edges)["score"]
        sizes = (1, len(batch), self.num_neg)
        many, fixed = self.score.create_neg_prepare(HEADS)(ids, 1, self.vectors, tail, -1, UNTRACED)
        heads = self.score.create_neg(HEADS)(many, relation, fixed, *sizes).squeeze(0)
        fixed, many = self.score.create_neg_prepare(TAILS)(ids, 1, head, self.vectors, -1, UNTRACED)
        tails = self.score.create_neg(TAILS)(fixed, relation, many, *sizes).squeeze(0)
        return own, heads, own, tails


class Listed(Evaluator):
    """Scores of a file by triple; a triple with an empty list is left out, and what is not listed has 0."""

    def __init__(self):
        super().__init__(DataLoader("HQ_DIR"))
        with Path(PREDICTIONS).open() as stream:
            lines = [line.strip() for line in stream]
        self.lists = {}
        for triple, heads, tails in zip(lines[0::3], lines[1::3], lines[2::3], strict=True):
            if "Heads:" not in (heads, tails) and "Tails:" not in (heads, tails):
                head, relation, tail = triple.split(" ")
                ids = (self.dl.entity_to_id[head], self.dl.relation_to_id[relation], self.dl.entity_to_id[tail])
                self.lists[ids] = [self.read(line) for line in (heads, tails)]

    def read(self, line):
        cells = line.partition(" ")[2].split("\t")
        return {self.dl.entity_to_id[cells[place]]: float(cells[place + 1]) for place in range(0, len(cells), 2)}

    def score_batch(self, batch):
        own = [torch.zeros(len(batch)), torch.zeros(len(batch))]
        others = [torch.zeros((100, self.num_neg)), torch.zeros((100, self.num_neg))]
        for row, triple in enumerate(batch.tolist()):
            for side, listed in enumerate(self.lists.get(tuple(triple), [])):
                answer = triple[2 * side]
                own[side][row] = listed.get(answer, 0.0)
                for entity, score in listed.items():
                    if entity != answer:
                        others[side][row, entity] = score
        return own[0], others[0], own[1], others[1]


if __name__ == "__main__":
    if sys.argv[-1] == "dglke":
        print(json.dumps(Translating().evaluate(100, -1)))
    else:
        print(json.dumps(Listed().evaluate(100, 1, filtering=False)))
