"""Relations that say the same twice, found from the data: inverse, near-duplicate, contained, and full of all pairs.

All overlaps come from one pass: the triples are grouped by their unordered pair of nodes, and each pair has a
signature, the set of relations that join it and which way. There are few different signatures however many pairs, so
what every two relations have in common is added up from these and their counts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.audit.context import HELD_OUT, IN_CONTEXT, conclude
from openbiolink.audit.rules import Rule, gain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from openbiolink.audit.context import Context
    from openbiolink.audit.finding import Finding
    from openbiolink.engines import Engine

Codes = npt.NDArray[np.int64]

LISTED = 50  # relations, or pairs of them, that a finding lists


def compare_relations(engine: Engine, context: Context) -> None:
    """Measure what every two relations have in common, and note what says what; to be called once, before the checks.

    Reads `implies` and what `rules.make_queries` made. Makes two tables.

    `overlap` (a, b, flipped, shared, a_pairs, b_pairs): the ordered pairs of nodes that relation a shares with b, or
    with b turned round where `flipped`, if two or more; with a = b only flipped.

    `copying` (kind, special, general, flipped): a triple of `special` says one of `general`, turned round where
    `flipped`, as `declared` by the schema, because the relation is found `symmetric`, or by a check of this module.
    """
    engine.put("overlap", _overlaps(engine))
    threshold = f"CAST('{context.threshold}' AS DOUBLE)"
    alike = f"shared / (a_pairs + b_pairs - shared) >= {threshold}"
    within = f"shared / a_pairs >= {threshold}"
    engine.make(
        "copying",
        f"""
        SELECT CASE WHEN a = b THEN 'symmetric' WHEN NOT ({alike}) THEN 'contained_relation'
            WHEN flipped THEN 'inverse_relation' ELSE 'near_duplicate_relation' END AS kind,
            a AS special, b AS general, flipped
        FROM overlap WHERE {within}
        UNION ALL SELECT 'declared' AS kind, special, general, flipped
        FROM implies WHERE flipped OR special <> general
        """,
    )


def symmetric_relations(engine: Engine) -> tuple[str, ...]:
    """Names of the relations of two pairs or more that mostly hold both ways, sorted; reads `copying`."""
    found = engine.rows("""
        SELECT relation.name FROM copying JOIN relation ON relation.id = copying.special
        WHERE kind = 'symmetric' ORDER BY relation.id
    """)
    return tuple(str(name) for (name,) in found)


def copies(condition: str) -> str:
    """A query of the distinct triples (h, r, t) that context triples say, by the rows of `copying` of a condition."""
    return f"""
        SELECT DISTINCT CASE WHEN flipped THEN triple.t ELSE triple.h END AS h, general AS r,
            CASE WHEN flipped THEN triple.h ELSE triple.t END AS t
        FROM triple JOIN (SELECT DISTINCT special, general, flipped FROM copying WHERE {condition}) AS copying
            ON copying.special = triple.r
        WHERE {IN_CONTEXT} AND triple.h <> triple.t
    """


def find_inverse_relations(engine: Engine, context: Context) -> Finding:
    """Rows of two relations that are each other's inverse, whose counterpart stands in another part."""
    return _find_copied(engine, context, "inverse_relation", "relations that are others turned round")


def find_near_duplicate_relations(engine: Engine, context: Context) -> Finding:
    """Rows of two relations that join about the same pairs, whose counterpart stands in another part."""
    return _find_copied(engine, context, "near_duplicate_relation", "relations that join the same pairs as others")


def find_contained_relations(engine: Engine, context: Context) -> Finding:
    """Held-out rows of a relation whose pairs include those of another, where that row stands in another part."""
    return _find_copied(engine, context, "contained_relation", "relations that include others")


def _find_copied(engine: Engine, context: Context, check: str, title: str) -> Finding:
    """The finding of a check by its rows of `copying`; reads `mixed` too."""
    chosen = f"(SELECT special, general, flipped FROM copying WHERE kind = '{check}')"
    counterpart = f"""
        JOIN {chosen} AS copying ON copying.general = own.r
        JOIN mixed AS other ON other.r = copying.special AND other.part <> own.part
            AND other.h = CASE WHEN flipped THEN own.t ELSE own.h END
            AND other.t = CASE WHEN flipped THEN own.h ELSE own.t END
    """
    key = "own.part, own.h, own.r, own.t"
    # A row of the including relation gives nothing away about one that training has already.
    which = f"WHERE own.{HELD_OUT}" if check == "contained_relation" else ""
    rows = f"SELECT {key}, min(own.n) AS n FROM mixed AS own {counterpart} {which} GROUP BY {key}"
    engine.make(f"affected_{check}", rows)
    because = f"""
        SELECT {key}, min(relation.name || CASE WHEN flipped THEN ' joins them the other way round in '
            ELSE ' joins them too in ' END || other.part) AS because
        FROM shown AS own {counterpart} JOIN relation ON relation.id = copying.special GROUP BY {key}
    """
    return conclude(
        engine,
        context,
        check,
        title=title,
        severity="warning",
        because=because,
        gain=gain(engine, check, Rule(predicted=copies(f"kind = '{check}'"))),
        details=_list_pairs(engine, check),
    )


def _list_pairs(engine: Engine, check: str) -> dict[str, Any]:
    """What overlaps, the most alike first, at most `LISTED`, and how many there are."""
    mutual = check != "contained_relation"
    share = "shared / (a_pairs + b_pairs - shared)" if mutual else "shared / a_pairs"
    rows = engine.rows(f"""
        SELECT a.name, b.name, overlap.flipped, shared, a_pairs, b_pairs, {share} AS share
        FROM copying
        JOIN overlap ON overlap.a = special AND overlap.b = general AND overlap.flipped = copying.flipped
        JOIN relation AS a ON a.id = special JOIN relation AS b ON b.id = general
        WHERE kind = '{check}' AND (special < general OR {not mutual})
        ORDER BY share DESC, special, general, overlap.flipped
    """)
    names = ("relation", "other", "turned", "shared", "pairs", "other_pairs", "jaccard" if mutual else "containment")
    return {"number": len(rows), "pairs": [dict(zip(names, row, strict=True)) for row in rows[:LISTED]]}


def find_cartesian_relations(engine: Engine, context: Context) -> Finding:
    """Rows of relations that join nearly every head with nearly every tail, two or more of each.

    Reads the tables of an audit and those of `rules.make_queries`. Makes and drops `dense`.
    """
    engine.make(
        "dense",
        f"""
        WITH edge AS (SELECT h, r, t FROM known WHERE h <> t),
        heads AS (SELECT r, count(*) AS heads, sum(size) AS pairs
            FROM (SELECT r, h, count(*) AS size FROM edge GROUP BY r, h) AS one GROUP BY r),
        tails AS (SELECT r, count(*) AS tails FROM (SELECT DISTINCT r, t FROM edge) AS one GROUP BY r)
        SELECT heads.r, CAST(pairs AS BIGINT) AS pairs, heads, tails, pairs / (heads * tails) AS density
        FROM heads JOIN tails ON tails.r = heads.r
        WHERE heads > 1 AND tails > 1 AND pairs / (heads * tails) >= CAST('{context.threshold}' AS DOUBLE)
        """,
    )
    check = "cartesian_relation"
    engine.make(f"affected_{check}", "SELECT part, h, r, t, n FROM triple SEMI JOIN dense USING (r) WHERE h <> t")
    rows = engine.rows("""
        SELECT name, pairs, heads, tails, density FROM dense JOIN relation ON relation.id = r ORDER BY density DESC, r
    """)
    names = ("relation", "pairs", "heads", "tails", "density")
    finding = conclude(
        engine,
        context,
        check,
        title="relations that join nearly every head with nearly every tail",
        severity="warning",
        because="""
            SELECT part, h, shown.r, t, 'its relation has ' || CAST(pairs AS STRING) || ' of the pairs of ' ||
                CAST(heads AS STRING) || ' heads and ' || CAST(tails AS STRING) || ' tails' AS because
            FROM shown JOIN dense ON dense.r = shown.r
        """,
        gain=gain(engine, check, Rule(form="product", predicted="SELECT r FROM dense")),
        details={"number": len(rows), "relations": [dict(zip(names, row, strict=True)) for row in rows[:LISTED]]},
    )
    engine.drop("dense")
    return finding


def _overlaps(engine: Engine) -> dict[str, npt.NDArray[np.generic]]:
    """The columns of `overlap`; reads `known`, makes and drops `joined`.

    A code is twice the number of a relation, one more where it goes from the greater node to the smaller.
    """
    coded = """(
        SELECT least(h, t) AS x, greatest(h, t) AS y, 2 * r + CASE WHEN h > t THEN 1 ELSE 0 END AS code
        FROM known WHERE h <> t
    ) AS coded"""
    engine.make(
        "joined", f"SELECT x, y, count(*) AS size, min(code) AS low, max(code) AS high FROM {coded} GROUP BY x, y"
    )
    sizes = np.zeros(engine.rows("SELECT 1 + max(r) FROM known")[0][0], np.int64)
    for relation, size in engine.rows("SELECT r, count(*) FROM known WHERE h <> t GROUP BY r"):
        sizes[relation] = size
    twos = engine.rows("SELECT low, high, count(*) FROM joined WHERE size = 2 GROUP BY low, high")
    more = engine.rows(f"""
        SELECT signature, count(*) FROM (
            SELECT merged_names(array_agg(CAST(code AS STRING))) AS signature
            FROM {coded} SEMI JOIN (SELECT x, y FROM joined WHERE size > 2) AS dense USING (x, y) GROUP BY x, y
        ) AS found GROUP BY signature
    """)
    engine.drop("joined")
    signatures: list[tuple[tuple[int, ...], int]] = [((low, high), count) for low, high, count in twos]
    signatures += [(tuple(map(int, text.split(";"))), count) for text, count in more]
    first, second, counts = _together(signatures, 2 * len(sizes))
    return _shared(first, second, counts, sizes)


def _together(signatures: Iterable[tuple[tuple[int, ...], int]], codes: int) -> tuple[Codes, Codes, Codes]:
    """Every two codes that occur in a signature, smaller first, each two once, and how many pairs of nodes have both.

    >>> [list(map(int, column)) for column in _together([((1, 4), 5), ((1, 4, 7), 2)], 8)]
    [[1, 1, 4], [4, 7, 7], [7, 2, 2]]
    """
    keys, weights = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for members, counts in _by_length(signatures):
        for one, other in zip(*np.triu_indices(members.shape[1], 1), strict=True):
            keys.append(members[:, one] * codes + members[:, other])
            weights.append(counts)
    different, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(place, weights=np.concatenate(weights), minlength=len(different)).astype(np.int64)
    return different // codes, different % codes, total


def _by_length(signatures: Iterable[tuple[tuple[int, ...], int]]) -> Iterator[tuple[Codes, Codes]]:
    """Signatures of one length as an array (signatures, length), each in ascending order, and their counts."""
    groups: dict[int, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
    for signature, count in signatures:
        groups[len(signature)].append((signature, count))
    for group in groups.values():
        members = np.sort(np.array([signature for signature, _ in group], np.int64), axis=1)
        yield members, np.array([count for _, count in group], np.int64)


def _shared(first: Codes, second: Codes, counts: Codes, sizes: Codes) -> dict[str, npt.NDArray[np.generic]]:
    """The columns of `overlap` from what codes occur together: two codes of two relations the one way or the other."""
    a, b, flipped = first // 2, second // 2, (first ^ second) & 1
    keys, place = np.unique((a * len(sizes) + b) * 2 + flipped, return_inverse=True)
    both = np.bincount(place, weights=counts, minlength=len(keys)).astype(np.int64)
    a, b, flipped = keys // 2 // len(sizes), keys // 2 % len(sizes), keys % 2
    both[a == b] *= 2  # a pair joined both ways by one relation is two ordered pairs
    kept = both > 1
    a, b, flipped, both = a[kept], b[kept], flipped[kept], both[kept]
    other = a != b
    left, right = np.concatenate([a, b[other]]), np.concatenate([b, a[other]])
    return {
        "a": left.astype(np.int32),
        "b": right.astype(np.int32),
        "flipped": np.concatenate([flipped, flipped[other]]).astype(bool),
        "shared": np.concatenate([both, both[other]]),
        "a_pairs": sizes[left],
        "b_pairs": sizes[right],
    }
