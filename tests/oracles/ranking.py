"""Ranks and metrics by their definitions, in plain Python over labels: slow, obvious, and of no package."""

import math


def competitors(triple, side, entities, known):
    """The entities that compete with the answer: all but the answer and the other known answers."""
    head, relation, tail = triple
    answer = head if side == "head" else tail
    for entity in entities:
        other = (entity, relation, tail) if side == "head" else (head, relation, entity)
        if entity != answer and other not in known:
            yield entity


def counts(triple, side, entities, known, *, score, answer_score, higher_is_better=True):
    """Numbers of competitors with a better and with the same score; `score` maps an entity to its score."""
    better = equal = 0
    for entity in competitors(triple, side, entities, known):
        value = score(entity)
        if math.isnan(value) or math.isnan(answer_score):
            raise ArithmeticError("NaN")
        if value == answer_score:
            equal += 1
        elif (value > answer_score) == higher_is_better:
            better += 1
    return better, equal


def rank(better, equal, ties):
    if ties == "optimistic":
        return 1 + better
    if ties == "pessimistic":
        return 1 + better + equal
    return ((1 + better) + (1 + better + equal)) / 2


def metrics(ranks):
    total = len(ranks)
    result = {"mrr": sum(1 / value for value in ranks) / total}
    for k in (1, 3, 10):
        result[f"hits@{k}"] = len([value for value in ranks if value <= k]) / total
    result["mean_rank"] = sum(ranks) / total
    return result


def listed_scores(listed, entities, worst):
    """A score for every entity from a list of pairs; who is not listed gets the worst of all."""
    scores = dict.fromkeys(entities, worst)
    scores.update(listed)
    return scores


def degree_score(entity, train):
    return len({triple for triple in train if entity in {triple[0], triple[2]}})


def frequency_score(entity, relation, side, train):
    place = 0 if side == "head" else 2
    return len({triple for triple in train if triple[1] == relation and triple[place] == entity})


def median(ranks):
    ordered, middle = sorted(ranks), len(ranks) // 2
    return float(ordered[middle]) if len(ranks) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
