"""An independent check of a split on disk: pure Python, a row at a time, nothing of the package.

What relations imply is written down here a second time, from the definition of the relations.
"""

import hashlib
import json
from collections import Counter, defaultdict
from itertools import product

ACTIONS = ("ACTIVATION", "BINDING", "CATALYSIS", "EXPRESSION", "INHIBITION", "REACTION")
SYMMETRIC = {"GENE_GENE", "GENE_BINDING_GENE", "GENE_PTMOD_GENE"}
PARENT = {  # relation -> (super-relation, whether head and tail change places)
    **{f"GENE_{action}_GENE": ("GENE_GENE", False) for action in (*ACTIONS, "PTMOD")},
    **{f"DRUG_{action}_GENE": ("GENE_DRUG", True) for action in (*ACTIONS, "PREDBIND")},
    "GENE_BINDACT_GENE": ("GENE_BINDING_GENE", False),
    "GENE_BINDINH_GENE": ("GENE_BINDING_GENE", False),
    "DRUG_BINDACT_GENE": ("DRUG_BINDING_GENE", False),
    "DRUG_BINDINH_GENE": ("DRUG_BINDING_GENE", False),
    "GENE_OVEREXPRESSED_ANATOMY": ("GENE_EXPRESSED_ANATOMY", False),
    "GENE_UNDEREXPRESSED_ANATOMY": ("GENE_EXPRESSED_ANATOMY", False),
}
FILES = {"train": "train", "validation": "val", "test": "test"}
HELD_OUT = ("validation", "test")
HEADED = {"changes.tsv"}  # tables with a header


def read_rows(path):
    """The rows of a tab-separated file as tuples, comments, blank lines, BOM and CR left out."""
    text = path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return [tuple(line.split("\t")) for line in lines if line.strip() and not line.startswith("#")]


def read_split(folder):
    """{(part, sign): rows}; sign is 1 for positives and 0 for negatives; an inference graph is there if its file is."""
    rows = {}
    inference = {"inference": "inference"} if (folder / "inference_sample.csv").exists() else {}
    for part, name in (FILES | inference).items():
        rows[part, 1] = read_rows(folder / f"{name}_sample.csv")
        negatives = folder / f"negative_{name}_sample.csv"
        rows[part, 0] = read_rows(negatives) if negatives.exists() else []
    return rows


def consequences(triple, *, directed=True):
    """Every other triple that follows from one, by walking one step at a time."""
    found, waiting = {triple}, [triple]
    while waiting:
        head, relation, tail = waiting.pop()
        steps = []
        if relation in SYMMETRIC or not directed:
            steps.append((tail, relation, head))
        if relation in PARENT:
            parent, flipped = PARENT[relation]
            steps.append((tail, parent, head) if flipped else (head, parent, tail))
        for step in steps:
            if step not in found:
                found.add(step)
                waiting.append(step)
    return found - {triple}


def find_leaks(folder, *, directed=True, unseen=()):
    """One line for everything that a row of one part gives away about a held-out row of another.

    The nodes of `unseen` may be missing from training.
    """
    rows = read_split(folder)
    place, leaks = {}, []
    for (part, sign), content in rows.items():
        for row in content:
            key = (sign, row[:3])
            if key in place:
                leaks.append(f"twice: {key} in {place[key]} and {part}")
            place[key] = part
    for (sign, triple), part in place.items():
        head, relation, tail = triple
        if head == tail:
            leaks.append(f"loop: {triple} in {part}")
        other = place.get((sign, (tail, relation, head)))
        if other is not None and other != part:
            leaks.append(f"reverse: {triple} in {part}, its reverse in {other}")
        for implied in consequences(triple, directed=directed):
            other = place.get((sign, implied))
            if other is None or other == part:
                continue
            if other in HELD_OUT:
                leaks.append(f"super-relation: {triple} in {part} implies {implied} in {other}")
            if sign == 0 and part in HELD_OUT:
                leaks.append(f"negative: {implied} in {other} excludes {triple} in {part}")
    return leaks + _find_true_negatives_that_hold(place, directed) + _find_unseen(rows, unseen)


def _find_true_negatives_that_hold(place, directed):
    true = {triple for sign, triple in place if sign}
    true |= {implied for triple in true for implied in consequences(triple, directed=directed)}
    return [f"true: negative {triple}" for sign, triple in place if not sign and triple in true]


def _find_unseen(rows, unseen):
    context = rows["train", 1] + rows.get(("inference", 1), [])
    nodes = {node for row in context for node in (row[0], row[2])} | set(unseen)
    relations = {row[1] for row in context}
    return [
        f"unseen: {row[:3]} in {part}"
        for (part, _), content in rows.items()
        if part in HELD_OUT
        for row in content
        if row[0] not in nodes or row[2] not in nodes or row[1] not in relations
    ]


def find_unjustified(folder, *, fractions, directed=True):
    """One line for every row that was removed from a part although nothing there or elsewhere asks for it."""
    rows = read_split(folder)
    place = {(sign, row[:3]): part for (part, sign), content in rows.items() for row in content}
    nodes = {node for row in rows["train", 1] for node in (row[0], row[2])}
    relations = {row[1] for row in rows["train", 1]}
    special = defaultdict(set)  # the rows that imply a triple
    for sign, triple in place:
        for implied in consequences(triple, directed=directed):
            special[sign, implied].add(triple)
    removed, faults = read_rows(folder / "removed_edges.tsv"), []
    true = {triple for sign, triple in place if sign} | {row[:3] for row in removed if row[4] == "1"}
    true |= {implied for triple in true for implied in consequences(triple, directed=directed)}
    for row in removed:
        triple, sign, (reason, _, cause) = row[:3], int(row[4]), row[6].partition(":")
        part = expected_part(triple, **fractions)
        unseen = [node for node in (row[0], row[2]) if node not in nodes]
        below = {other[1] for other in special[sign, triple] if place[sign, other] != part}
        implied = {other for other in consequences(triple, directed=directed) if (0, other) in place}
        above = {other[1] for other in implied if sign == 0 and place[0, other] != part}
        justified = {
            "self_loop": row[0] == row[2],
            "unseen_node": bool(unseen) and cause == ",".join(unseen),
            "unseen_relation": cause == row[1] and row[1] not in relations,
            # The special negative that is named may have gone later, because of another one that counts here.
            "super_relation": cause in below or (sign == 0 and bool(below | above)),
            "implied_negative": cause in above,
            "conflict": sign == 0 and triple in true,
        }
        cleaned = reason in {"unseen_node", "unseen_relation", "super_relation", "implied_negative"}
        if not justified.get(reason, sign == 0) or (part == "train" and cleaned):
            faults.append(f"removed from {part} without need: {row}")
    return faults


def expected_part(triple, *, seed, test, validation):
    """The part that the hash of an edge says."""
    low, high = sorted((triple[0], triple[2]))
    family = {"GENE_UNDEREXPRESSED_ANATOMY": "GENE_OVEREXPRESSED_ANATOMY"}.get(triple[1], triple[1])
    digest = hashlib.md5("\t".join((str(seed), low, family, high)).encode()).hexdigest()
    share = int(digest[:15], 16) / 2**60
    return "test" if share < test else "validation" if share < test + validation else "train"


def find_faults(folder, *, edges, tn_edges, nodes, options):
    """One line for everything that is lost, invented, miscounted, in the wrong part or out of order."""
    rows = read_split(folder)
    removed = read_rows(folder / "removed_edges.tsv")
    entered = {1: {row[:3] for row in edges}, 0: {row[:3] for row in tn_edges}}
    faults = find_losses(folder, edges=edges, tn_edges=tn_edges)
    for (part, sign), content in rows.items():
        for row in content:
            wanted = expected_part(row, **options)
            if wanted != part:
                faults.append(f"in {part} instead of {wanted}: {row}")
            if row[4] != str(sign):
                faults.append(f"value: {row}")
            if sign == 0 and row[:3] not in entered[0] and (row[3], row[5]) != ("", "GENERATED"):
                faults.append(f"source of a drawn negative: {row}")
    never = ("negatives_off", "surplus_negative", "untyped_node", "conflict", "self_loop")
    for row in removed:
        if row[4] == "0" and row[:3] not in entered[0] and row[6].partition(":")[0] in never:
            faults.append(f"a drawn negative that is not to be listed: {row}")
    kinds = {row[0]: row[1] for row in nodes}
    return faults + _find_wrong_nodes(folder, rows, kinds) + _find_wrong_unseen(folder, rows, removed, options)


def find_losses(folder, *, edges, tn_edges):
    """One line for everything that is lost, invented, in two places, miscounted or out of order."""
    rows = read_split(folder)
    removed = read_rows(folder / "removed_edges.tsv")
    entered = {1: {row[:3] for row in edges}, 0: {row[:3] for row in tn_edges}}
    faults = []
    for sign in (1, 0):
        left = Counter(row[:3] for (_, other), content in rows.items() if other == sign for row in content)
        left.update(row[:3] for row in removed if row[4] == str(sign))
        curated = {triple: number for triple, number in left.items() if sign or triple in entered[0]}
        faults += [f"lost: {sign} {triple}" for triple in entered[sign] - curated.keys()]
        faults += [f"invented: {triple}" for triple in curated.keys() - entered[sign]]
        faults += [f"in two places: {sign} {triple}" for triple, number in left.items() if number > 1]
    return faults + _find_disorder(folder) + _find_miscounts(folder, rows)


def _find_wrong_unseen(folder, rows, removed, options):
    faults = []
    seen = {node for row in rows["train", 1] for node in (row[0], row[2])}
    for part in HELD_OUT:
        lost = [row for row in removed if row[6].startswith("unseen_node:") and expected_part(row, **options) == part]
        nodes = sorted({node for row in lost for node in (row[0], row[2])} - seen)
        if [row[0] for row in read_rows(folder / f"removed_{FILES[part]}_nodes.csv")] != nodes:
            faults.append(f"removed nodes of {part}: not {nodes}")
    return faults


def _find_wrong_nodes(folder, rows, kinds):
    faults = []
    for name, parts in (("train_val_nodes.csv", ("train", "validation")), ("test_nodes.csv", ("test",))):
        listed = read_rows(folder / name)
        used = {
            node for (part, _), content in rows.items() if part in parts for row in content for node in (row[0], row[2])
        }
        if {row[0] for row in listed} != used or len(listed) != len(used):
            faults.append(f"{name}: not the nodes of {parts}")
        faults += [f"{name}: type of {row}" for row in listed if row[0] in kinds and row[1] != kinds[row[0]]]
    return faults


def _find_disorder(folder):
    faults = []
    for path in sorted(folder.iterdir()):
        if path.suffix not in {".csv", ".tsv"}:
            continue
        data = path.read_bytes()
        if b"\r" in data or (data and not data.endswith(b"\n")):
            faults.append(f"{path.name}: line ends")
        lines = [line.split(b"\t") for line in data.split(b"\n")[path.name in HEADED : -1]]
        if lines != sorted(lines):
            faults.append(f"{path.name}: not sorted")
    return faults


def _find_miscounts(folder, rows):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    faults = []
    for name, entry in manifest["outputs"].items():
        data = (folder / name).read_bytes()
        rows_of = (
            {}
            if name in {"LICENSE.txt", "croissant.json", "schema.toml"}
            else {"rows": data.count(b"\n") - (name in HEADED)}
        )
        if entry != {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} | rows_of:
            faults.append(f"manifest: {name}")
    if set(manifest["outputs"]) | {"manifest.json"} != {path.name for path in folder.iterdir()}:
        faults.append("manifest: files")
    parts = {part: {"positive": len(rows[part, 1]), "negative": len(rows[part, 0])} for part, sign in rows if sign}
    if parts.get("inference") == {"positive": 0, "negative": 0}:
        del parts["inference"]
    if manifest["counts"]["parts"] != parts:
        faults.append("manifest: parts")
    removed = {"positive": Counter(), "negative": Counter()}
    for row in read_rows(folder / "removed_edges.tsv"):
        removed["positive" if row[4] == "1" else "negative"][row[6].partition(":")[0]] += 1
    if manifest["counts"]["removed"] != removed:
        faults.append("manifest: removed")
    for name, entry in manifest["relations"].items():
        numbers = {part: sum(row[1] == name for row in rows[part, 1]) for part in parts}
        if any(entry[part] != number for part, number in numbers.items()):
            faults.append(f"manifest: {name}")
        if entry["input"] != sum(numbers.values()) + entry["removed"]:
            faults.append(f"manifest: sum of {name}")
    return faults


def find_negative_faults(folder, *, nodes, kinds, directed=True):
    """One line for every group whose negatives are too many, or too few although free pairs are left.

    A group is one relation between nodes of two types. `nodes` are those that may be drawn, `kinds` has the
    type of every node. Every negative must have been wanted in every part.
    """
    rows = read_split(folder)
    removed = read_rows(folder / "removed_edges.tsv")
    unused = ("self_loop", "conflict", "untyped_node", "surplus_negative")
    positive = [row[:3] for (_, sign), content in rows.items() if sign for row in content]
    positive += [row[:3] for row in removed if row[4] == "1" and row[6] != "self_loop"]
    negative = [row[:3] for (_, sign), content in rows.items() if not sign for row in content]
    negative += [row[:3] for row in removed if row[4] == "0" and row[6].partition(":")[0] not in unused]

    def group(triple):
        head, relation, tail = triple
        ends = (kinds[head], kinds[tail])
        return relation, *(sorted(ends) if relation in SYMMETRIC or not directed else ends)

    wanted, found = Counter(map(group, positive)), Counter(map(group, negative))
    faults = [f"too many negatives: {name}" for name in found if found[name] > wanted[name]]
    true = set(positive) | {implied for triple in positive for implied in consequences(triple, directed=directed)}
    taken = true | {(t, r, h) for h, r, t in true}  # the reverse of what is true is never drawn, whatever the relation
    taken |= set(negative) | {(t, r, h) for h, r, t in negative if r in SYMMETRIC or not directed}
    pools = defaultdict(list)
    for node, kind in nodes.items():
        pools[kind].append(node)
    for name in wanted:
        relation, head, tail = name
        free = any(x != y and (x, relation, y) not in taken for x, y in product(pools[head], pools[tail]))
        if found[name] < wanted[name] and free:
            faults.append(f"too few negatives: {name}")
    return faults
