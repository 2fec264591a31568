"""What differs between two slices of a graph, and what of it should be looked at before a split by time is trusted.

Sources change over the years: edges vanish, scores get another scale, identifiers another form, a new mapping file
brings twice as many edges. None of that is news about biology, and all of it looks like it. `compare_slices` counts
what can be counted, as rows of `changes.tsv`, and adds a warning to those that may be such a change:

    edges, true_negatives   of a relation and source: in each slice, vanished, appeared, with another score
    relation                edges of a relation
    scores                  of a relation and source: range, median and share of numbers among scores
    nodes                   of a type
    retyped                 nodes of two types
    prefix                  nodes whose id has the prefix
    id_form                 nodes whose id has the prefix and form, where only one slice has them
    input, setting          what the manifests beside both slices say of sources and options

An edge in both slices belongs to its earlier source, so that the numbers of a relation add up over its sources.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import CHANGE_COLUMNS
from openbiolink.graph.diff import compare_inputs, compare_settings
from openbiolink.split.graph_files import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from openbiolink.engines import Engine
    from openbiolink.schema import Schema
    from openbiolink.split.graph_files import GraphFiles

JUMP = 0.5  # sources grow by less from one release to the next; a new source or mapping file adds more
SCALE = 5.0  # shares, percent and thousandths are factors of 10 apart; the median of one scale moves by less
NUMBERS = 0.1  # of all scores: when so many more of them are numbers, they mean something else
FORM = 0.05  # of the ids of a prefix: every release has some odd ones, a new form has many
MOST_PREFIXES = 1000  # of ids that only look as if they had prefixes there may be as many as nodes
SHOWN = 20
KINDS = ("edges", "true_negatives")
COUNTS = ("earlier", "present", "vanished", "appeared", "score_changed")
GRAPH_FORMAT = "openbiolink-graph/"

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz123456789"
STAND_INS = "A" * 26 + "a" * 26 + "0" * 9
HALVINGS = 6  # of runs of like characters, enough for 64 of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing in the two slices.

    Attributes:
        what: the kind of thing, see above.
        name: of a relation, node type, prefix, form, input or setting.
        source: of edges and scores: what the source column says.
        earlier: how many there are in the earlier slice, or how it is there, in words.
        present: the same in the later one.
        vanished: how many only the earlier slice has; None where that is not asked.
        appeared: how many only the later one has.
        score_changed: how many have another score; numbers that are spelled differently are the same.
        warning: what may be wrong, in one line; empty where nothing seems to be.
    """

    what: str
    name: str
    source: str = ""
    earlier: int | str
    present: int | str
    vanished: int | None = None
    appeared: int | None = None
    score_changed: int | None = None
    warning: str = ""


def compare_slices(engine: Engine, graph: GraphFiles, before: GraphFiles, *, schema: Schema) -> tuple[Change, ...]:
    """Everything that is counted, in the order of the list above and by name.

    Args:
        engine: with the tables that `read_graph` makes of two slices.
        graph: the files of the later slice.
        before: those of the earlier one.
        schema: knows prefixes.
    """
    edges = tuple(_compare_edges(engine))
    return (
        *edges,
        *_compare_relations(edges),
        *_compare_scores(engine),
        *_compare_nodes(engine),
        *_compare_ids(engine, schema),
        *_compare_manifests(graph, before),
    )


def put_changes(engine: Engine, changes: Sequence[Change]) -> None:
    """Make the table `change` of text, with the attributes of `Change`."""
    rows = [asdict(change) for change in changes]
    engine.put(
        "change", {name: ["" if row[name] is None else str(row[name]) for row in rows] for name in CHANGE_COLUMNS}
    )


def describe_changes(changes: Sequence[Change]) -> dict[str, Any]:
    """For the manifest: the sums over all edges and true negatives, and everything that has a warning."""
    return {
        **{kind: _sums(changes, kind) for kind in KINDS},
        "warnings": [
            {name: value for name, value in asdict(change).items() if value is not None}
            for change in changes
            if change.warning
        ],
    }


def tell_changes(changes: Sequence[Change]) -> Iterator[str]:
    """The same in sentences, of every kind the first ones."""
    for kind in KINDS:
        if any((sums := _sums(changes, kind)).values()):
            yield (
                f"{sums['vanished']} of {sums['earlier']} {_words(kind)} of the earlier slice have vanished (listed in "
                f"vanished_edges.csv), {sums['appeared']} of {sums['present']} in the present one are new, "
                f"{sums['score_changed']} have another score"
            )
    warnings: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.warning:
            warnings[change.what].append(change.warning)
    for what, lines in warnings.items():
        yield from lines[:SHOWN]
        if len(lines) > SHOWN:
            yield f"{len(lines) - SHOWN} more warnings about {_words(what)} (listed in changes.tsv)"


def _sums(changes: Sequence[Change], kind: str) -> dict[str, int]:
    return {name: sum(getattr(change, name) for change in changes if change.what == kind) for name in COUNTS}


def _counts(numbers: Iterable[int]) -> dict[str, int]:
    """Counts by their names, as many as there are; engines give some as other kinds of numbers.

    >>> _counts([5, 6, 1])
    {'earlier': 5, 'present': 6, 'vanished': 1}
    """
    return dict(zip(COUNTS, map(int, numbers), strict=False))


def _words(what: str) -> str:
    return what.replace("_", " ")


def _compare_edges(engine: Engine) -> Iterator[Change]:
    for kind, table in zip(KINDS, ("positive", "true_negative"), strict=True):
        same = "old.h = now.h AND old.r = now.r AND old.t = now.t"
        rows = engine.rows(f"""
            SELECT name, source, count_if(earlier), count_if(present), count_if(earlier AND lone),
                count_if(present AND lone), count_if(rescored)
            FROM (SELECT old.r, old.source, true AS earlier, false AS present, now.h IS NULL AS lone,
                      coalesce(old.score <> now.score AND
                          coalesce(finite_number(old.score) <> finite_number(now.score), true), false) AS rescored
                  FROM old_{table} old LEFT JOIN {table} now ON {same}
                  UNION ALL
                  SELECT now.r, coalesce(old.source, now.source), false, true, old.h IS NULL, false
                  FROM {table} now LEFT JOIN old_{table} old ON {same}) slices
            JOIN relation ON relation.id = r GROUP BY name, source ORDER BY name, source
        """)
        for name, source, *numbers in rows:
            counts = _counts(numbers)
            warning = (
                f"{name} of {source or 'no source'}: {counts['vanished']} of {counts['earlier']} {_words(kind)} "
                f"vanished, {counts['appeared']} appeared, {counts['score_changed']} changed their score"
            )
            doubtful = counts["vanished"] or counts["score_changed"]
            yield Change(what=kind, name=name, source=source, warning=warning if doubtful else "", **counts)


def _compare_relations(edges: Sequence[Change]) -> Iterator[Change]:
    """Sums over the sources of each relation, of edges alone."""
    for name in sorted({change.name for change in edges if change.what == KINDS[0]}, key=str.encode):
        sums = _sums([change for change in edges if change.name == name], KINDS[0])
        warning = _warn_of_jump(f"relation {name}", "edges", sums["earlier"], sums["present"])
        yield Change(what="relation", name=name, source="", warning=warning, **sums)


def _warn_of_jump(name: str, things: str, earlier: int, present: int) -> str:
    """A warning where a number is more than that much greater or smaller, empty otherwise.

    >>> _warn_of_jump("type GENE", "nodes", 100, 149), _warn_of_jump("type GENE", "nodes", 100, 49)
    ('', 'type GENE: 100 nodes earlier, 49 now (-51 %)')
    """
    if not earlier or not present:
        slice_ = "earlier" if earlier else "present"
        return f"{name} is in the {slice_} slice only: {earlier or present} {things}" if earlier or present else ""
    grown = present / earlier - 1
    return f"{name}: {earlier} {things} earlier, {present} now ({grown:+.0%})".replace("%", " %") * (abs(grown) >= JUMP)


def _compare_scores(engine: Engine) -> Iterator[Change]:
    rows = engine.rows("""
        SELECT name, source, present, total, numbers, least, middle, greatest
        FROM (SELECT present, r, source, sum(n) AS total,
                  sum(CASE WHEN number IS NULL THEN 0 ELSE n END) AS numbers, min(number) AS least,
                  min(CASE WHEN 2 * reached >= all_of_them THEN number END) AS middle, max(number) AS greatest
              FROM (SELECT present, r, source, number, n,
                        sum(n) OVER (PARTITION BY present, r, source, number IS NULL ORDER BY number) AS reached,
                        sum(n) OVER (PARTITION BY present, r, source, number IS NULL) AS all_of_them
                    FROM (SELECT false AS present, r, source, finite_number(score) AS number, count(*) AS n
                          FROM old_positive GROUP BY r, source, finite_number(score)
                          UNION ALL
                          SELECT true, r, source, finite_number(score), count(*)
                          FROM positive GROUP BY r, source, finite_number(score)) counted) ordered
              GROUP BY present, r, source) summed
        JOIN relation ON relation.id = r ORDER BY name, source, present
    """)
    found: dict[tuple[str, str], dict[bool, Scores]] = defaultdict(dict)
    for name, source, present, total, numbers, *values in rows:
        found[name, source][present] = Scores(int(total), int(numbers), *values)
    for (name, source), slices in found.items():
        if any(scores.numbers for scores in slices.values()):
            earlier, present = (slices.get(side, Scores(0, 0, None, None, None)) for side in (False, True))
            faults = list(earlier.faults(present))
            change = Change(
                what="scores", name=name, source=source, earlier=earlier.in_words(), present=present.in_words()
            )
            warning = (
                f"scores of {name} of {source or 'no source'} may be on another scale ({' and '.join(faults)}): "
                f"{change.earlier} earlier, {change.present} now"
            )
            yield replace(change, warning=warning if faults else "")


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one slice: how many there are, how many of them are numbers, and the least, middle and greatest."""

    total: int
    numbers: int
    least: float | None
    middle: float | None
    greatest: float | None

    def in_words(self) -> str:
        """For a table or a warning."""
        if not self.total:
            return "none"
        if self.least is None:
            return "no numbers"
        return (
            f"from {self.least:g} to {self.greatest:g}, median {self.middle:g}, {self.numbers} of {self.total} numbers"
        )

    def faults(self, other: Scores) -> Iterator[str]:
        """By what the scores of a later slice differ so much that they may mean something else."""
        if not self.total or not other.total:
            return
        if self.least is not None and other.least is not None:
            measures = {
                "median": (self.middle, other.middle),
                "range": (self._reach(), other._reach()),
            }
            yield from (name for name, (one, two) in measures.items() if _is_rescaled(one or 0.0, two or 0.0))
        if abs(self.numbers / self.total - other.numbers / other.total) >= NUMBERS:
            yield "share of numbers"

    def _reach(self) -> float:
        """The greatest distance from 0."""
        return max(abs(self.least or 0.0), abs(self.greatest or 0.0))


def _is_rescaled(one: float, other: float) -> bool:
    """Whether two numbers are of unlike sign, or one is several times the other; 0 tells nothing of a scale.

    >>> _is_rescaled(0.5, 500), _is_rescaled(-1, 1), _is_rescaled(0.5, 0.9), _is_rescaled(0, 0.9)
    (True, True, False, False)
    """
    low, high = sorted((abs(one), abs(other)))
    return low > 0 and (high / low >= SCALE or (one < 0) != (other < 0))


def _compare_nodes(engine: Engine) -> Iterator[Change]:
    counts = engine.rows("""
        SELECT kind.name, count_if(earlier), count_if(present), count_if(earlier AND NOT present),
            count_if(present AND NOT earlier)
        FROM (SELECT node, kind, bool_or(place = 0) AS earlier, bool_or(place = 1) AS present
              FROM (SELECT id AS node, kind, 0 AS place FROM old_node
                    UNION ALL SELECT id, kind, 1 FROM node WHERE listed) listed
              GROUP BY node, kind) typed
        JOIN kind ON kind.id = typed.kind GROUP BY kind.name ORDER BY kind.name
    """)
    for name, *numbers in counts:
        counted = _counts(numbers)
        warning = _warn_of_jump(f"type {name}", "nodes", counted["earlier"], counted["present"])
        yield Change(what="nodes", name=name, source="", warning=warning, **counted)
    retyped = engine.rows("""
        SELECT was.name, is_now.name, count(*), min(node.name)
        FROM old_node JOIN node ON node.id = old_node.id AND node.listed AND node.kind <> old_node.kind
        JOIN kind was ON was.id = old_node.kind JOIN kind is_now ON is_now.id = node.kind
        GROUP BY was.name, is_now.name ORDER BY was.name, is_now.name
    """)
    for was, is_now, number, example in retyped:
        warning = f"{number} nodes of type {was} are of type {is_now} now, such as {example}; the latter counts"
        yield Change(what="retyped", name=f"{was} {is_now}", earlier=number, present=number, warning=warning)


def _compare_ids(engine: Engine, schema: Schema) -> Iterator[Change]:
    """Prefixes and forms of the ids of all nodes of each slice, those of true negatives among them."""
    _list_ids(engine)
    known = schema.spellings()
    counts = (
        "count_if(earlier), count_if(present), count_if(earlier AND NOT present), count_if(present AND NOT earlier)"
    )
    prefixes = engine.rows(f"""
        SELECT prefix, {counts} FROM identifier WHERE prefix <> '' GROUP BY prefix
        ORDER BY count(*) DESC, prefix LIMIT {MOST_PREFIXES}
    """)
    for name, *numbers in sorted(prefixes, key=lambda row: row[0].encode()):
        counted = _counts(numbers)
        earlier, present = counted["earlier"], counted["present"]
        warning = "" if name.upper() in known else f"prefix {name} is not one that the schema knows ({present} nodes)"
        if not earlier:
            warning = f"prefix {name} is unknown to the earlier slice: {present} nodes, whose ids may have changed"
        elif not present:
            warning = f"prefix {name} is unknown to the present slice: {earlier} nodes, whose ids may have changed"
        yield Change(what="prefix", name=name, source="", warning=warning, **counted)
    yield from _compare_forms(engine)
    engine.drop("identifier")


def _list_ids(engine: Engine) -> None:
    """Make `identifier` (name, prefix, form, earlier, present): the ids of all nodes of each slice.

    The form of `REACTOME:R-HSA-109582` is `A-A-0`, that of `HP:0000118`, whose zeros say how long it must be,
    `0000000`. Ids without a colon have an empty prefix.
    """
    nodes = """
        SELECT id, 0 AS place FROM old_node UNION SELECT h, 0 FROM old_true_negative
        UNION SELECT t, 0 FROM old_true_negative UNION SELECT id, 1 FROM node WHERE listed
        UNION SELECT h, 1 FROM true_negative UNION SELECT t, 1 FROM true_negative
    """
    collapsed = "letters"
    for sign in "0Aa":
        for _ in range(HALVINGS):
            collapsed = f"replace({collapsed}, '{sign}{sign}', '{sign}')"
    engine.make(
        "identifier",
        f"""
        SELECT name, prefix, earlier, present, CASE
            WHEN collapsed = '0' AND length(local) > 1 AND substr(local, 1, 1) = '0' THEN letters
            ELSE collapsed END AS form
        FROM (SELECT name, prefix, local, earlier, present, letters, {collapsed} AS collapsed
              FROM (SELECT name, prefix, local, earlier, present,
                        translate(local, '{LETTERS}', '{STAND_INS}') AS letters
                    FROM (SELECT name, earlier, present,
                              CASE WHEN name LIKE '%:%' THEN split_part(name, ':', 1) ELSE '' END AS prefix,
                              CASE WHEN name LIKE '%:%' THEN substr(name, length(split_part(name, ':', 1)) + 2)
                                   ELSE name END AS local
                          FROM node JOIN (SELECT id, bool_or(place = 0) AS earlier, bool_or(place = 1) AS present
                                          FROM ({nodes}) ends GROUP BY id) slices ON slices.id = node.id) parted
                   ) spelled) formed
        """,
    )


def _compare_forms(engine: Engine) -> Iterator[Change]:
    """The forms that many ids of a prefix have in one slice, and none in the other, though it has the prefix."""
    rows = engine.rows(f"""
        SELECT forms.prefix, form, forms.earlier, forms.present, example
        FROM (SELECT prefix, form, count_if(earlier) AS earlier, count_if(present) AS present, min(name) AS example
              FROM identifier GROUP BY prefix, form) forms
        JOIN (SELECT prefix, count_if(earlier) AS earlier, count_if(present) AS present
              FROM identifier GROUP BY prefix) whole ON whole.prefix = forms.prefix
        WHERE whole.earlier > 0 AND whole.present > 0
            AND (forms.earlier = 0 AND forms.present >= CAST({FORM} AS DOUBLE) * whole.present
                 OR forms.present = 0 AND forms.earlier >= CAST({FORM} AS DOUBLE) * whole.earlier)
        ORDER BY forms.prefix, form
    """)
    for prefix, form, earlier, present, example in rows:
        which = "earlier" if earlier else "present"
        named = f"ids of {prefix}" if prefix else "ids without prefix"
        warning = f"{named} look like {form} in the {which} slice only: {earlier or present} nodes, such as {example}"
        name = f"{prefix}:{form}" if prefix else form
        yield Change(what="id_form", name=name, earlier=int(earlier), present=int(present), warning=warning)


def _compare_manifests(graph: GraphFiles, before: GraphFiles) -> Iterator[Change]:
    if (graph.tn_edges is None) != (before.tn_edges is None):
        which = "earlier" if graph.tn_edges is None else "present"
        sides = [str(files.tn_edges is not None).lower() for files in (before, graph)]
        warning = f"only the {which} slice comes with true negatives"
        yield Change(what="setting", name="tn_edges", earlier=sides[0], present=sides[1], warning=warning)
    first, second = (read_manifest(files.edges) for files in (before, graph))
    if not all(str(manifest.get("format")).startswith(GRAPH_FORMAT) for manifest in (first, second)):
        return
    facts: dict[str, list[tuple[str, Any, Any]]] = defaultdict(list)
    for change in compare_inputs(first, second):
        name, _, fact = change.what.partition(": ")
        facts[name].append((fact or "sha256", change.first, change.second))
    for name, found in facts.items():
        sides = ["; ".join(f"{fact} {values[side]}" for fact, *values in found if values[side]) for side in (0, 1)]
        differs = f"differs between the slices ({', '.join(fact for fact, *_ in found)})"
        if not all(sides):
            differs = f"is used by the {'earlier' if sides[0] else 'present'} slice only"
        warning = f"source file {name} {differs}"
        yield Change(what="input", name=name, earlier=sides[0], present=sides[1], warning=warning)
    for setting in compare_settings(first, second):
        values = [json.dumps(value, ensure_ascii=False) for value in (setting.first, setting.second)]
        warning = f"the manifests of the slices differ in {setting.what}"
        yield Change(what="setting", name=setting.what, earlier=values[0], present=values[1], warning=warning)
