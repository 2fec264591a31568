"""Scores of extracted relations by the definition, with lists and loops: slow, and nothing of the package in it."""

import unicodedata
from fractions import Fraction
from itertools import combinations, permutations, product


def clean(text, ways):
    if "unicode" in ways:
        text = unicodedata.normalize("NFKC", text)
    if "case" in ways:
        text = text.casefold()
        if "unicode" in ways:
            text = unicodedata.normalize("NFKC", text)
    if "blanks" in ways:
        text = " ".join(text.split())
    return text


def ends_of(relation, options):
    """(what is compared of the head, its type), and the same of the tail."""
    ending = {"text": "", "span": "_span", "id": "_id"}[options.get("match") or "text"]
    if options.get("mode") == "relaxed":
        ending = "_span"
    ends = []
    for end in ("head", "tail"):
        value = relation[end + ending]
        value = tuple(value) if ending == "_span" else value
        value = clean(value, options.get("normalise", ())) if ending == "" else value
        ends.append((value, "" if options.get("mode") == "boundaries" else relation[end + "_type"]))
    return ends


def same(one, other, options):
    """Whether two relations of one type are the same."""
    if one["type"] != other["type"]:
        return False
    a, b = ends_of(one, options), ends_of(other, options)
    ways = [b, b[::-1]] if one["type"] in options.get("symmetric", ()) else [b]
    if options.get("mode") != "relaxed":
        return a in ways
    return any(
        all(x[1] == y[1] and max(x[0][0], y[0][0]) < min(x[0][1], y[0][1]) for x, y in zip(a, way, strict=True))
        for way in ways
    )


def equal(one, other, options):
    """Whether two relations are repeats of each other."""
    if one["type"] != other["type"]:
        return False
    a, b = ends_of(one, options), ends_of(other, options)
    return a == b or (one["type"] in options.get("symmetric", ()) and a == b[::-1])


def those_that_count(relations, side, options):
    kept = []
    for relation in relations:
        threshold = options.get("threshold")
        if side == "predictions" and threshold is not None and relation.get("score", threshold) < threshold:
            continue
        if relation["type"] in options.get("leave_out", ()):
            continue
        if options.get("relation_types") is not None and relation["type"] not in options["relation_types"]:
            continue
        if not any(equal(relation, other, options) for other in kept):
            kept.append(relation)
    return kept


def most_pairs(left, right, fits):
    """The size of the largest one-to-one pairing, by trying all of them."""
    short, long, turned = (left, right, False) if len(left) <= len(right) else (right, left, True)
    best = 0
    for size in range(len(short), 0, -1):
        for chosen in combinations(short, size):
            for others in permutations(long, size):
                if all(fits(b, a) if turned else fits(a, b) for a, b in zip(chosen, others, strict=True)):
                    return size
    return best


def ratio(above, below):
    return Fraction(above, below) if below else Fraction(0)


def scores_of(tp, fp, fn, whole):
    p, r = ratio(tp, tp + fp), ratio(tp, tp + fn)
    f1 = 2 * p * r / (p + r) if p + r else Fraction(0)
    return {"tp": tp, "fp": fp, "fn": fn, "p": float(whole * p), "r": float(whole * r), "f1": float(whole * f1)}


def score(predictions, references, **options):
    """The dict that `score_relations` gives."""
    documents = [
        (those_that_count(found, "predictions", options), those_that_count(wanted, "references", options))
        for found, wanted in zip(predictions, references, strict=True)
    ]
    of_references = {one["type"] for _, wanted in documents for one in wanted}
    types = {one["type"] for found, _ in documents for one in found} | of_references
    if options.get("types_from") == "references":
        types = of_references
    if options.get("relation_types") is not None:
        types = set(options["relation_types"])
    whole = 1 if options.get("scale") == "fraction" else 100
    rows, exact = {}, {"p": [], "r": [], "f1": []}
    for name in sorted(types):
        tp = fp = fn = 0
        for found, wanted in documents:
            own = [one for one in found if one["type"] == name]
            true = [one for one in wanted if one["type"] == name]
            right = most_pairs(own, true, lambda a, b: same(a, b, options))
            tp, fp, fn = tp + right, fp + len(own) - right, fn + len(true) - right
        rows[name] = scores_of(tp, fp, fn, whole)
        for key, value in (
            ("p", ratio(tp, tp + fp)),
            ("r", ratio(tp, tp + fn)),
            ("f1", ratio(2 * tp, 2 * tp + fp + fn)),
        ):
            exact[key].append(whole * value)
    total = scores_of(*(sum(row[key] for row in rows.values()) for key in ("tp", "fp", "fn")), whole)
    for key in ("f1", "p", "r"):
        total[f"Macro_{key}"] = float(sum(exact[key]) / len(rows)) if rows else 0.0
    return rows | {"ALL": total}


def plain(predictions, references):
    """Strict scores in plain Python as one would write them first: the loop that speed is compared with."""
    counts = {}
    for found, wanted in zip(predictions, references, strict=True):
        keys = [
            {
                (one["type"], one["head"], one["head_type"], one["tail"], one["tail_type"])
                for one in side
                if all(isinstance(one[name], str) for name in ("type", "head", "head_type", "tail", "tail_type"))
            }
            for side in (found, wanted)
        ]
        for name in {key[0] for side in keys for key in side}:
            own, true = ({key for key in side if key[0] == name} for side in keys)
            row = counts.setdefault(name, [0, 0, 0])
            row[0] += len(own & true)
            row[1] += len(own - true)
            row[2] += len(true - own)
    rows = {name: scores_of(*counts[name], 100) for name in sorted(counts)}
    return rows | {"ALL": scores_of(*(sum(row[place] for row in counts.values()) for place in range(3)), 100)}


def chance_of_difference(references, first, second, metric, **options):
    """The exact p of all ways to change the predictions of two systems, document by document."""

    def difference(one, other):
        return score(other, references, **options)["ALL"][metric] - score(one, references, **options)["ALL"][metric]

    seen, further, ways = abs(difference(first, second)), 0, 0
    for swaps in product((False, True), repeat=len(references)):
        one = [b if swap else a for swap, a, b in zip(swaps, first, second, strict=True)]
        other = [a if swap else b for swap, a, b in zip(swaps, first, second, strict=True)]
        further += abs(difference(one, other)) >= seen - 1e-9
        ways += 1
    return further / ways
