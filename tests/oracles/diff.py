"""What changed between two graphs, by sets of Python. Imports nothing of the package.

A graph is a dictionary: `edges` and `negatives` map (head, relation, tail) to (score, source), `types` maps ids to
types and `names` ids to names.
"""

from collections import Counter, defaultdict


def ends_of(graph):
    return {end for rows in (graph["edges"], graph["negatives"]) for head, _, tail in rows for end in (head, tail)}


def nodes_of(graph):
    return dict.fromkeys(ends_of(graph), "") | graph["types"]


def by_name(graph):
    """(type, name) → id, where one node only has it."""
    found = defaultdict(list)
    for node, kind in nodes_of(graph).items():
        if graph["names"].get(node):
            found[kind, graph["names"][node]].append(node)
    return {key: nodes[0] for key, nodes in found.items() if len(nodes) == 1}


def by_neighbours(graph, nodes, renamed):
    """(type, neighbourhood) → id, among some nodes, where one of them only has it and it has two neighbours."""
    around = defaultdict(set)
    for sign, rows in ((1, graph["edges"]), (0, graph["negatives"])):
        for head, relation, tail in rows:
            around[head].add((sign, relation, "out", renamed.get(tail, tail)))
            around[tail].add((sign, relation, "in", renamed.get(head, head)))
    found = defaultdict(list)
    for node in nodes:
        if len({item[3] for item in around[node]}) > 1:
            found[nodes_of(graph)[node], frozenset(around[node])].append(node)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


def same_nodes(first, second):
    """Id of the first graph → (id of the second, rule)."""
    one, other = nodes_of(first), nodes_of(second)
    lost, gained = one.keys() - other.keys(), other.keys() - one.keys()
    named, named_now = by_name(first), by_name(second)
    pairs = {
        named[key]: (named_now[key], "name")
        for key in named.keys() & named_now.keys()
        if named[key] in lost and named_now[key] in gained
    }
    renamed = {new: old for old, (new, _) in pairs.items()}
    known = by_neighbours(first, lost - pairs.keys(), {})
    known_now = by_neighbours(second, gained - renamed.keys(), renamed)
    return pairs | {known[key]: (known_now[key], "neighbours") for key in known.keys() & known_now.keys()}


def compare_nodes(first, second):
    """Type → counts of first, second, kept, reidentified, lost, gained."""
    pairs = {old: new for old, (new, _) in same_nodes(first, second).items()}
    one, other = set(nodes_of(first).items()), set(nodes_of(second).items())
    found = defaultdict(Counter)
    for node, kind in one:
        found[kind]["first"] += 1
        found[kind]["kept" if (node, kind) in other else "reidentified" if node in pairs else "lost"] += 1
    for node, kind in other:
        found[kind]["second"] += 1
        found[kind]["gained"] += (node, kind) not in one and node not in pairs.values()
    return {kind: {name: counts[name] for name in counts if counts[name]} for kind, counts in found.items()}


def compare_edges(first, second):
    """(negative, relation, source) → counts."""
    pairs = {old: new for old, (new, _) in same_nodes(first, second).items()}
    found = defaultdict(Counter)
    for negative, kind in ((False, "edges"), (True, "negatives")):
        left = dict(second[kind])
        for (head, relation, tail), (score, source) in first[kind].items():
            counts = found[negative, relation, source]
            counts["first"] += 1
            new = (pairs.get(head, head), relation, pairs.get(tail, tail))
            if new not in left:
                counts["lost"] += 1
                continue
            score_now, source_now = left.pop(new)
            counts["kept" if new == (head, relation, tail) else "reidentified"] += 1
            counts["score_changed"] += score != score_now
            counts["source_changed"] += source != source_now
        for (_, relation, _), (_, source) in left.items():
            found[negative, relation, source]["gained"] += 1
        for (_, relation, _), (_, source) in second[kind].items():
            found[negative, relation, source]["second"] += 1
    return {key: {name: counts[name] for name in counts if counts[name]} for key, counts in found.items()}
