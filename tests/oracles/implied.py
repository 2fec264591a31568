"""What follows from one edge, a triple and a step at a time, out of tables as they are written in a TOML file."""


def steps(declared, triple, *, directed):
    """The triples that follow from one at once.

    Args:
        declared: relation name -> its keys, as tomllib gives them.
        triple: head, relation, tail.
        directed: False where every relation counts as symmetric.
    """
    head, relation, tail = triple
    for name, keys in declared.items():
        if name == relation and keys.get("symmetric"):
            yield tail, relation, head
        if name == relation and "parent" in keys:
            parent = keys["parent"]
            yield (tail, parent[1:], head) if parent[0] == "~" else (head, parent, tail)
        if name == relation and "inverse" in keys:
            yield tail, keys["inverse"], head
        if keys.get("inverse") == relation:
            yield tail, name, head
    if not directed:
        yield tail, relation, head


def consequences(declared, triple, *, directed=True):
    """{triple: number of steps to it} of all that follow from one, itself (0 steps) too."""
    found = {triple: 0}
    for count in range(1, 1000):
        last = [one for one, needed in found.items() if needed == count - 1]
        new = {after for one in last for after in steps(declared, one, directed=directed)} - found.keys()
        if not new:
            return found
        found |= dict.fromkeys(new, count)
    raise AssertionError("no end")


def levels_above(declared, relation):
    """The most super-relations that are above each other and above a relation, which may stand for its inverse."""
    same = {relation, declared.get(relation, {}).get("inverse", relation)}
    same |= {name for name, keys in declared.items() if keys.get("inverse") == relation}
    above = [declared[name]["parent"].lstrip("~") for name in same if "parent" in declared.get(name, {})]
    return max((1 + levels_above(declared, parent) for parent in above), default=0)


def contradiction(declared):
    """Why tables of relations make no sense; None where they do. Ends are not looked at."""
    names = {*declared}
    for keys in declared.values():
        names |= {keys[key].lstrip("~") for key in ("parent", "inverse", "excludes") if key in keys}
    for name in names:
        keys = declared.get(name, {})
        inverses = {keys["inverse"]} if "inverse" in keys else set()
        inverses |= {other for other in declared if declared[other].get("inverse") == name}
        if len(inverses) > 1 or name in inverses or (inverses and keys.get("symmetric")):
            return f"inverses of {name}"
        if "parent" in keys:
            parent = keys["parent"].lstrip("~")
            if name in {relation for _, relation, _ in consequences(declared, (1, parent, 2))}:
                return f"{name} is above itself"
        implied = consequences(declared, (1, name, 2))
        for head, relation, tail in implied:
            if (head, declared.get(relation, {}).get("excludes"), tail) in implied:
                return f"{name} contradicts itself"
    return None
