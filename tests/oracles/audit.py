"""Every check of an audit by its definition, in plain Python over rows of labels: slow, obvious, and of no package.

A check is two questions. `hit(part, triple)`: is a row of this part what the check looks for? `rule(triple)`: does
a model that copies what was found predict this triple? Counts follow from the first, ranks from the second.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from oracles import ranking

PARTS = ("train", "inference", "valid", "test")
CONTEXT = ("train", "inference")
HELD_OUT = ("valid", "test")


def turn(triple):
    head, relation, tail = triple
    return tail, relation, head


def is_loop(triple):
    return triple[0] == triple[2]


def consequences(triple, schema):
    """The triple and all that follows from it, by walking one declared step at a time.

    `schema`: relation → {"symmetric": bool, "parent": name, "~" before it where the ends change places,
    "inverse": name, "transitive": bool}, every key optional.
    """
    found, waiting = {triple}, [triple]
    while waiting:
        head, relation, tail = waiting.pop()
        declared = schema.get(relation, {})
        steps = {(tail, other, head) for other, entry in schema.items() if entry.get("inverse") == relation}
        if "inverse" in declared:
            steps.add((tail, declared["inverse"], head))
        if declared.get("symmetric"):
            steps.add((tail, relation, head))
        if parent := declared.get("parent", ""):
            steps.add((tail, parent[1:], head) if parent.startswith("~") else (head, parent, tail))
        waiting += steps - found
        found |= steps
    return found


class Graph:
    """The rows of a split, and the sets that the definitions speak of.

    Attributes:
        rows: (part, triple) of every positive row, repeats and all.
        place: triple → the parts that hold it.
        context: the distinct triples that a model may learn from; `plain` are those without loops.
        pairs: relation → its distinct ordered pairs, of all parts, loops left out.
    """

    def __init__(self, parts, negatives, schema, threshold):
        self.rows = [(part, tuple(row)) for part in PARTS for row in parts.get(part, ())]
        self.negatives = [(part, tuple(row)) for part in PARTS for row in (negatives or {}).get(part, ())]
        self.schema, self.threshold = schema or {}, Fraction(str(threshold))
        self.number, self.place, self.pairs = Counter(), defaultdict(set), defaultdict(set)
        for part, triple in self.rows:
            self.number[triple] += 1
            self.place[triple].add(part)
            if not is_loop(triple):
                self.pairs[triple[1]].add((triple[0], triple[2]))
        self.entities = sorted({end for triple in self.place for end in (triple[0], triple[2])})
        self.context = {triple for part, triple in self.rows if part in CONTEXT}
        self.plain = {triple for triple in self.context if not is_loop(triple)}

    def elsewhere(self, part, triple):
        """Whether another part than this one holds a triple, which is no loop."""
        return not is_loop(triple) and bool(self.place.get(triple, set()) - {part})

    def reaches(self, share, whole):
        return Fraction(share, whole) >= self.threshold

    @cached_property
    def overlaps(self):
        """{(a, b, turned): pairs that a has in common with b, or with b turned}, for relations a and b, a not b."""
        of_pair, shared = defaultdict(set), Counter()
        for relation, pairs in self.pairs.items():
            for pair in pairs:
                of_pair[pair].add(relation)
        for (head, tail), relations in of_pair.items():
            shared.update((*two, False) for two in permutations(relations, 2))
            shared.update((a, b, True) for a in relations for b in of_pair.get((tail, head), ()) if a != b)
        return shared


# The checks: graph → (hit, rule, more numbers)


def find_duplicates(graph):
    def across(part, triple):
        return bool(graph.place[triple] - {part})

    more = {
        "repeats": len(graph.rows) - len(graph.place),
        "across": sum(across(*row) for row in graph.rows),
    }
    return lambda _, triple: graph.number[triple] > 1, graph.context.__contains__, more


def find_loops(graph):
    relations = {triple[1] for triple in graph.context if is_loop(triple)}
    return lambda _, triple: is_loop(triple), lambda triple: is_loop(triple) and triple[1] in relations, {}


def find_reversed(graph):
    return (
        lambda part, triple: graph.elsewhere(part, turn(triple)),
        {turn(triple) for triple in graph.plain}.__contains__,
        {"symmetric_relations": symmetric_relations(graph)},
    )


def symmetric_relations(graph):
    return {
        relation
        for relation, pairs in graph.pairs.items()
        if len(pairs) > 1 and graph.reaches(sum((tail, head) in pairs for head, tail in pairs), len(pairs))
    }


def find_super_relations(graph):
    def others(triple):
        return {found for found in consequences(triple, graph.schema) if found[1] != triple[1]}

    parts = defaultdict(set)  # triple → parts with a row of another relation that implies it
    for triple, places in graph.place.items():
        if not is_loop(triple):
            for implied in others(triple):
                parts[implied] |= places
    rule = {implied for triple in graph.plain for implied in others(triple)}
    return lambda part, triple: part in HELD_OUT and bool(parts.get(triple, set()) - {part}), rule.__contains__, {}


def like_relations(graph, *, turned):
    """{(a, b), (b, a), …} of relations with about the same pairs."""
    size = {relation: len(pairs) for relation, pairs in graph.pairs.items()}
    return {
        (a, b)
        for (a, b, way), both in graph.overlaps.items()
        if way == turned and both > 1 and graph.reaches(both, size[a] + size[b] - both)
    }


def contained_relations(graph):
    """{(a, b, turned)} where the pairs of a are among those of b, but not the other way round."""
    like = {(*two, turned) for turned in (False, True) for two in like_relations(graph, turned=turned)}
    return {
        (a, b, turned)
        for (a, b, turned), both in graph.overlaps.items()
        if both > 1 and graph.reaches(both, len(graph.pairs[a])) and (a, b, turned) not in like
    }


def copying(graph, implications):
    """Hit and rule where a row of `a` says one of `b`, for every (a, b, turned)."""
    above, below = defaultdict(set), defaultdict(set)
    for a, b, turned in implications:
        above[a].add((b, turned))
        below[b].add((a, turned))

    def partner(triple, relation, turned):
        head, _, tail = triple
        return (tail, relation, head) if turned else (head, relation, tail)

    def hit(part, triple):
        return any(graph.elsewhere(part, partner(triple, a, turned)) for a, turned in below[triple[1]])

    rule = {partner(triple, b, turned) for triple in graph.plain for b, turned in above[triple[1]]}
    return hit, rule.__contains__


def find_inverse_relations(graph):
    like = {(*two, True) for two in like_relations(graph, turned=True)}
    return *copying(graph, like), {"pairs": {(a, b, turned) for a, b, turned in like if a < b}}


def find_near_duplicate_relations(graph):
    like = {(*two, False) for two in like_relations(graph, turned=False)}
    return *copying(graph, like), {"pairs": {(a, b, turned) for a, b, turned in like if a < b}}


def find_contained_relations(graph):
    contained = contained_relations(graph)
    hit, rule = copying(graph, contained)
    return lambda part, triple: part in HELD_OUT and hit(part, triple), rule, {"pairs": contained}


def find_same_pairs(graph):
    of_pair = defaultdict(set)
    for triple, places in graph.place.items():
        of_pair[frozenset({triple[0], triple[2]})] |= {(part, triple[1]) for part in places}
    joined = {frozenset({triple[0], triple[2]}) for triple in graph.plain}

    def hit(part, triple):
        others = of_pair[frozenset({triple[0], triple[2]})]
        return not is_loop(triple) and any(one != part and name != triple[1] for one, name in others)

    return hit, lambda triple: frozenset({triple[0], triple[2]}) in joined, {}


def find_cartesian_relations(graph):
    def ends(pairs):
        return {head for head, _ in pairs}, {tail for _, tail in pairs}

    found = set()
    for relation, pairs in graph.pairs.items():
        heads, tails = ends(pairs)
        if min(len(heads), len(tails)) > 1 and graph.reaches(len(pairs), len(heads) * len(tails)):
            found.add(relation)
    seen = {name: ends({(h, t) for h, relation, t in graph.plain if relation == name}) for name in found}

    def rule(triple):
        head, relation, tail = triple
        return relation in found and head in seen[relation][0] and tail in seen[relation][1]

    return lambda _, triple: triple[1] in found and not is_loop(triple), rule, {"relations": found}


def find_transitive(graph):
    declared = {name for name, entry in graph.schema.items() if entry.get("transitive")}
    inverses = {(name, entry["inverse"]) for name, entry in graph.schema.items() if "inverse" in entry}
    declared |= {two[0] for two in inverses if two[1] in declared} | {two[1] for two in inverses if two[0] in declared}
    implied = set()
    for name in declared:
        after = defaultdict(set)
        for head, relation, tail in graph.plain:
            if relation == name:
                after[head].add(tail)
        for head in list(after):
            reached, waiting = set(), list(after[head])  # by two steps or more
            while waiting:
                for tail in after.get(waiting.pop(), set()) - reached:
                    reached.add(tail)
                    waiting.append(tail)
            implied |= {(head, name, tail) for tail in reached}
    hit = lambda part, triple: part in HELD_OUT and not is_loop(triple) and triple in implied  # noqa: E731
    return hit, implied.__contains__, {}


def find_unseen_entities(graph):
    seen = {end for triple in graph.context for end in (triple[0], triple[2])}
    hit = lambda part, triple: part in HELD_OUT and not {triple[0], triple[2]} <= seen  # noqa: E731
    return hit, None, {"entities": len(set(graph.entities) - seen)} | per_part(graph, hit)


def find_unseen_relations(graph):
    seen = {triple[1] for triple in graph.context}
    hit = lambda part, triple: part in HELD_OUT and triple[1] not in seen  # noqa: E731
    return hit, None, {"relations": len({triple[1] for triple in graph.place} - seen)} | per_part(graph, hit)


def per_part(graph, hit):
    return {name: sum(part == name and hit(part, triple) for part, triple in graph.rows) for name in HELD_OUT}


def components(triples):
    """The components of an undirected graph, as sets of nodes."""
    near, found, seen = defaultdict(set), [], set()
    for head, _, tail in triples:
        near[head].add(tail)
        near[tail].add(head)
    for start in near:
        if start not in seen:
            one, waiting = {start}, [start]
            while waiting:
                new = near[waiting.pop()] - one
                one |= new
                waiting += new
            seen |= one
            found.append(one)
    return found


def find_component_drift(graph):
    context = components(graph.plain)
    whole = components(triple for triple in graph.place if not is_loop(triple))
    number = {node: place for place, nodes in enumerate(context) for node in nodes}

    def hit(part, triple):
        if part not in HELD_OUT or is_loop(triple):
            return False
        ends = {number.get(triple[0]), number.get(triple[2])}
        return len(ends) > 1 or None in ends

    return hit, None, {"context": shape(context), "all": shape(whole)}


def shape(found):
    nodes = sum(map(len, found))
    return {"components": len(found), "nodes": nodes, "largest": max(map(len, found), default=0) / max(nodes, 1)}


CHECKS = {
    "duplicate": find_duplicates,
    "loop": find_loops,
    "reversed": find_reversed,
    "super_relation": find_super_relations,
    "inverse_relation": find_inverse_relations,
    "near_duplicate_relation": find_near_duplicate_relations,
    "contained_relation": find_contained_relations,
    "same_pair": find_same_pairs,
    "cartesian_relation": find_cartesian_relations,
    "transitive": find_transitive,
    "unseen_entity": find_unseen_entities,
    "unseen_relation": find_unseen_relations,
    "component_drift": find_component_drift,
}


# Numbers


def mean_reciprocal_rank(graph, triples, score):
    """Over both sides of the triples, filtered by all parts, realistic ties; None without triples.

    `score` maps a triple to a number. Every candidate of every query is scored, one at a time.
    """
    values = {}
    for triple in set(triples):
        for side in ("head", "tail"):

            def scored(entity, triple=triple, side=side):
                head, relation, tail = triple
                return score((entity, relation, tail) if side == "head" else (head, relation, entity))

            of_answer = score(triple)
            found = ranking.counts(
                triple, side, graph.entities, graph.place.keys(), score=scored, answer_score=of_answer
            )
            values[triple, side] = 1 / ranking.rank(*found, "realistic")
    terms = [values[triple, side] for triple in triples for side in ("head", "tail")]
    return sum(terms) / len(terms) if terms else None


def copies(graph):
    """What the copy baseline predicts: the rules of the checks that find copies."""
    declared = {name for name, entry in graph.schema.items() if entry.get("symmetric")}
    symmetric = declared | symmetric_relations(graph)
    turned = find_reversed(graph)[1]
    checks = (find_inverse_relations, find_near_duplicate_relations, find_contained_relations, find_super_relations)
    rules = [check(graph)[1] for check in checks]
    return lambda triple: (triple[1] in symmetric and turned(triple)) or any(rule(triple) for rule in rules)


def degree(graph):
    """How many context triples each end of a triple is part of; the fixed end adds the same to all candidates."""
    number = Counter(end for triple in graph.context for end in {triple[0], triple[2]})
    return lambda triple: number[triple[0]] + number[triple[2]]


def frequency(graph):
    """How many context triples of the relation have this head, and this tail; the fixed end adds the same to all."""
    number = Counter((side, triple[1], triple[side]) for triple in graph.context for side in (0, 2))
    return lambda triple: number[0, triple[1], triple[0]] + number[2, triple[1], triple[2]]


def collisions(graph):
    """Of negatives with what holds: negative rows, test rows contradicted, rows by part of the two."""
    implied = defaultdict(set)  # triple → parts with a row that implies it
    for triple, places in graph.place.items():
        for found in consequences(triple, graph.schema):
            implied[found] |= places
    between = Counter((part, other) for part, triple in graph.negatives for other in implied.get(triple, ()))
    negative = {triple for _, triple in graph.negatives}
    test = [triple for part, triple in graph.rows if part == "test"]
    return {
        "count": sum(triple in implied for _, triple in graph.negatives),
        "test_affected": sum(not negative.isdisjoint(consequences(triple, graph.schema)) for triple in test),
        "parts": {f"{part}, {other}": rows for (part, other), rows in between.items()},
    }


def audit(parts, *, negatives=None, schema=None, threshold=0.8, ranks=True):
    """{check: its numbers} of a split.

    Args:
        parts: part → rows (head, relation, tail); parts may be absent.
        negatives: the same of rows that do not hold.
        schema: as for `consequences`.
        threshold: of shares of pairs, exactly this decimal number.
        ranks: whether to work out the mean reciprocal ranks, which is only fit for few queries or entities.
    """
    graph = Graph(parts, negatives, schema, threshold)
    result = {"negative_collision": collisions(graph)}
    for name, check in CHECKS.items():
        hit, rule, more = check(graph)
        found = [(part, triple) for part, triple in graph.rows if hit(part, triple)]
        result[name] = {"count": len(found), "test_affected": sum(part == "test" for part, _ in found), **more}
        if ranks and rule is not None:
            result[name] |= split_ranks(graph, hit, rule)
    if ranks:
        test = [triple for part, triple in graph.rows if part == "test"]
        rule = copies(graph)
        result["copy_baseline"] = {
            "test_affected": sum(map(rule, test)),
            "mrr": mean_reciprocal_rank(graph, test, rule),
        }
        result["copy_baseline"] |= split_ranks(graph, lambda _, triple: rule(triple), rule)
        result["degree_baseline"] = {"mrr": mean_reciprocal_rank(graph, test, degree(graph))}
        result["frequency_baseline"] = {"mrr": mean_reciprocal_rank(graph, test, frequency(graph))}
    return result


def split_ranks(graph, hit, rule):
    test = [triple for part, triple in graph.rows if part == "test"]
    affected = [triple for triple in test if hit("test", triple)]
    others = [triple for triple in test if not hit("test", triple)]
    return {
        "mrr_affected": mean_reciprocal_rank(graph, affected, rule),
        "mrr_unaffected": mean_reciprocal_rank(graph, others, rule),
    }
