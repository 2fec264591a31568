"""A naive builder of whatever a catalogue declares: loops over rows, in the order in which people would read it.

Declarations are the dictionaries of a TOML file, rows are dictionaries of cells. What `oracles.graph` says of rows,
scores, ties and identifiers holds here too, and:

* A row is listed in another table where some row of it has the same cells in the columns named, and meets the
  conditions.
* The date of an edge is the smallest, as text, over all rows that give the edge, kept or not. A cell may hold several
  dates; what is no date of the calendar is none.
* The name of a node comes from the first declaration that has one: the smallest that stands with the node's own id,
  else the smallest of the ids that it stands for.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

from oracles.graph import NUMBER, OBSOLETE, OK, UNMAPPED_HEAD, UNMAPPED_TAIL, VALID, bare, calendar_date, curie

Row = Mapping[str, str]
Edge = tuple[str, str, str]
FATES = {OBSOLETE: "obsolete", UNMAPPED_HEAD: "unmapped_head", UNMAPPED_TAIL: "unmapped_tail", 8: "self_loop"}
BLANKS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]+")


@dataclass
class Declared:
    """What a graph should hold: edges with score and label, dates, names, and the ledger."""

    edges: dict[bool, dict[Edge, tuple[str, str]]] = field(default_factory=lambda: {False: {}, True: {}})
    dates: dict[bool, dict[Edge, str]] = field(default_factory=lambda: {False: {}, True: {}})
    rules: dict[bool, dict[Edge, str]] = field(default_factory=lambda: {False: {}, True: {}})
    names: dict[str, str] = field(default_factory=dict)
    ledger: dict[str, dict[str, int]] = field(default_factory=dict)
    impossible: dict[str, int] = field(default_factory=dict)  # rule → rows with what is no date


@dataclass
class World:
    """The declarations, the rows of each source and what each ontology says to use: id → live id or nothing."""

    declared: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, list[Row]]
    ontologies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def meets(self, row: Row, condition: Mapping[str, Any]) -> bool:
        if "listed_in" in condition:
            listed = condition["listed_in"]
            return any(
                all(row[ours] == other[theirs] for ours, theirs in listed["columns"].items())
                and self.meets_all(other, listed.get("where", ()))
                for other in self.rows[listed["source"]]
            )
        cell = row[condition["column"]]
        if "one_of" in condition:
            return cell in condition["one_of"]
        if "none_of" in condition:
            return cell not in condition["none_of"]
        if "matches" in condition:
            return re.search(condition["matches"], cell) is not None
        if "token" in condition:
            return condition["token"].upper() in [piece.strip().upper() for piece in cell.split("|")]
        value = number(bare(cell))
        return value is not None and value > condition["above"]

    def meets_all(self, row: Row, conditions: Iterable[Mapping[str, Any]]) -> bool:
        return all(self.meets(row, condition) for condition in conditions)

    def follow_map(self, name: str, identifier: str) -> set[str]:
        mapping = self.declared["map"][name]
        return {
            value
            for row in self.rows[mapping["source"]]
            if self.meets_all(row, mapping.get("where", ()))
            for key in pieces(mapping["key"], row)
            for value in pieces(mapping["value"], row)
            if key == identifier and value
        }

    def identify(self, end: Mapping[str, Any], row: Row) -> set[tuple[str, int, bool]]:
        """Each identifier that a cell stands for: the id, its fate, and whether it stands for another one."""
        found = set()
        for start in pieces(end, row):
            reached, fate = {start}, OK if start else UNMAPPED_HEAD
            for via in end.get("via", ()):
                if fate == OK:
                    following = set().union(*(self.follow_map(via, one) for one in reached if one))
                    reached, fate = (following, OK) if following else (reached, UNMAPPED_HEAD)
            for one in reached:
                live, own = one, fate
                if "ontology" in end and fate == OK:
                    live = self.ontologies[end["ontology"]].get(one, one)
                    live, own = (live, OK) if live else (one, OBSOLETE)
                if own == OK and not VALID[end["type"]].fullmatch(live):
                    own = UNMAPPED_HEAD
                found.add((live, own, live != one))
        return found


def pieces(cell: Mapping[str, Any], row: Row) -> set[str]:
    """The identifiers in a cell; an empty one where nothing is found."""
    texts = row[cell["column"]].split(cell["split"]) if "split" in cell else [row[cell["column"]]]
    return {curie(bare(text), cell.get("prefix", "")) for text in texts}


def number(text: str) -> float | None:
    value = float(text) if NUMBER.fullmatch(text) else inf
    return value if isfinite(value) else None


def dates_in(when: Mapping[str, str], row: Row) -> tuple[str, bool]:
    """The earliest date in a cell, and whether the cell holds what is no date."""
    pattern = when.get("pattern", r"(\d{4})-(\d{2})-(\d{2})")
    matches = list(re.finditer(pattern, row[when["column"]], re.ASCII))
    found = [calendar_date([part for part in match.groups() if part]) for match in matches]
    unlike = not matches and bool(bare(row[when["column"]]))
    return min(filter(None, found), default=""), "" in found or unlike


def needs(declared: Mapping[str, Mapping[str, Any]], reader: Mapping[str, Any], ends: Iterable[Mapping]) -> set[str]:
    """The sources that a rule or a name reads."""
    sources: set[str] = {reader["source"]}
    waiting = [*reader.get("where", ()), reader.get("negation"), *reader.get("quality", {}).values()]
    for end in ends:
        for via in end.get("via", ()):
            sources.add(declared["map"][via]["source"])
            waiting += declared["map"][via].get("where", ())
        sources |= {end["ontology"]} if "ontology" in end else set()
    while waiting:
        listed = (waiting.pop() or {}).get("listed_in")
        if listed:
            sources.add(listed["source"])
            waiting += listed.get("where", ())
    return sources


def build_declared(world: World, *, quality: str, directed: bool, symmetric: set[str]) -> Declared:
    """Build all rules of the declarations, edge by edge, and name the nodes."""
    expected = Declared()
    groups: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name, rule in world.declared["rule"].items():
        groups[rule["relation"], rule.get("negative", False)].append(name)
    for (relation, negative), names in groups.items():
        both = relation in symmetric
        given = _give_edges(world, expected, names, quality=quality, symmetric=both)
        for (head, tail), rows in given.items():
            *_, best = min(rows)
            label = world.declared["rule"][best["rule"]]["label"]
            stated = min((one[-1]["date"] for one in rows if one[-1]["date"]), default="")
            for pair in [(head, tail), (tail, head)][: 2 if both and directed else 1]:
                edge = (pair[0], relation, pair[1])
                expected.edges[negative][edge] = (best["score"], label)
                expected.rules[negative][edge] = best["rule"]
                if stated:
                    expected.dates[negative][edge] = stated
        kept = {(one["rule"], one["place"]) for rows in given.values() for one in [min(rows)[-1]]}
        giving = {(one["rule"], one["place"]) for rows in given.values() for *_, one in rows}
        for rule, place in giving:
            counts = expected.ledger[rule]
            reason = "kept" if (rule, place) in kept else "duplicate"
            counts[reason] = counts.get(reason, 0) + 1
    expected.names = name_nodes(world, {end for part in expected.edges.values() for edge in part for end in edge[::2]})
    return expected


def _give_edges(world: World, expected: Declared, names: list[str], *, quality: str, symmetric: bool) -> dict:
    """Each pair of nodes → the rows that give it, each as a key by which the smallest is kept, and what it says."""
    given: dict[tuple[str, str], list[tuple]] = defaultdict(list)
    for number_of_rule, name in enumerate(names):
        rule, counts = world.declared["rule"][name], {"read": 0}
        expected.ledger[name] = counts
        for place, row in enumerate(world.rows[rule["source"]]):
            counts["read"] += 1
            reason, score, rank = _judge(world, rule, row, quality)
            stated, wrong = dates_in(rule["date"], row) if "date" in rule else ("", False)
            if wrong and reason in {"", "below_quality"}:
                expected.impossible[name] = expected.impossible.get(name, 0) + 1
            if not reason:
                heads, tails = world.identify(rule["head"], row), world.identify(rule["tail"], row)
                pairs, fate = _pair(heads, tails, symmetric=symmetric)
                reason = "" if pairs else FATES[fate]
                cells = (row[rule["head"]["column"]], row[rule["tail"]["column"]])
                says = {"rule": name, "place": place, "score": score, "date": stated}
                for pair in pairs:
                    given[pair].append((rank, score, number_of_rule, *cells, place, says))
            if reason:
                counts[reason] = counts.get(reason, 0) + 1
    return given


def _judge(world: World, rule: Mapping[str, Any], row: Row, quality: str) -> tuple[str, str, float]:
    """Why a row is left out before its identifiers are looked at, its score, and the rank of that."""
    if "negation" in rule and world.meets(row, rule["negation"]):
        return "negated", "", 0
    for condition in rule.get("where", ()):
        if not world.meets(row, condition):
            return f"filtered:{condition['reason']}", "", 0
    level = rule.get("quality", {}).get(quality)
    score, rank = "", inf
    words = rule.get("score", {}).get("best_first")
    if words:
        score = bare(row[rule["score"]["column"]])
        rank = [*words, score].index(score) + 1
    elif "score" in rule:
        score = bare(row[rule["score"]["column"]])
        score = "" if score in {"", "NA", "-"} else score
        value = number(score)
        if score and value is None:
            return "filtered:bad_score", "", 0
        if not score and level:
            return "filtered:no_score", "", 0
        rank = inf if value is None else -value
    return ("below_quality" if level and not world.meets(row, level) else ""), score, rank


def _pair(heads: set, tails: set, *, symmetric: bool) -> tuple[set[tuple[str, str]], int]:
    pairs, fates = set(), []
    for head, head_fate, _ in heads:
        for tail, tail_fate, _ in tails:
            if OBSOLETE in {head_fate, tail_fate}:
                fates.append(OBSOLETE)
            elif head_fate or tail_fate:
                fates.append(UNMAPPED_HEAD if head_fate else UNMAPPED_TAIL)
            elif head == tail:
                fates.append(8)
            else:
                pairs.add((min(head, tail), max(head, tail)) if symmetric else (head, tail))
    return pairs, min(fates, default=OK)


def name_nodes(world: World, nodes: set[str]) -> dict[str, str]:
    """The name of each node that has one."""
    rules = world.declared["rule"].values()
    used = set().union(*(needs(world.declared, rule, (rule["head"], rule["tail"])) for rule in rules))
    types = {rule[side]["type"] for rule in rules for side in ("head", "tail")}
    names: dict[str, str] = {}
    for entry in world.declared.get("name", {}).values():
        if entry["node"]["type"] not in types or not needs(world.declared, entry, [entry["node"]]) <= used:
            continue
        found: dict[str, set[tuple[bool, str]]] = defaultdict(set)
        for row in world.rows[entry["source"]]:
            text = BLANKS.sub(" ", row[entry["text"]]).strip(" ")
            if text not in {"", "-"} and world.meets_all(row, entry.get("where", ())):
                meant = [(one, moved) for one, fate, moved in world.identify(entry["node"], row) if fate == OK]
                if len({one for one, _ in meant}) == 1:
                    found[meant[0][0]].add((all(moved for _, moved in meant), text))
        names = {node: min(texts)[1] for node, texts in found.items() if node in nodes} | names
    return names
