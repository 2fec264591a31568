"""The clean-up of a split: nothing given away stays, and nothing goes but for a row that stays."""

import tomllib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from openbiolink.engines import open_engine
from openbiolink.schema import read_schema
from openbiolink.split.leakage import clean_up, keep_rows, write_rules
from oracles.implied import consequences, levels_above

DECLARED = """
[relation]
top = {}
mid = { parent = "top" }
turned = { parent = "~mid" }
forth = { parent = "mid", inverse = "back" }
back = {}
both = { symmetric = true, parent = "top" }
"""
RELATIONS = tomllib.loads(DECLARED)["relation"]
NAMES = sorted(RELATIONS)
NODES = [f"n{number}" for number in range(5)]
LEARNT = [("n3", relation, "n4") for relation in NAMES]  # in training, so that no relation is unseen
PARTS = ["train", "validation", "test"]


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    path = tmp_path_factory.mktemp("schema") / "schema.toml"
    path.write_text(DECLARED, encoding="utf-8")
    return read_schema(path)


triples = st.tuples(st.sampled_from(NODES[:3]), st.sampled_from(NAMES), st.sampled_from(NODES[:3])).filter(
    lambda triple: triple[0] != triple[2]
)
signed = st.tuples(triples, st.booleans())


def without_contradiction(rows):
    """Without the negatives that a positive implies."""
    true = {implied for triple, positive in rows if positive for implied in consequences(RELATIONS, triple)}
    return {(triple, positive): part for (triple, positive), part in rows.items() if positive or triple not in true}


def clean(schema, rows):
    """What stays and what goes of {(triple, positive): part}: the same, and with reasons instead of parts."""
    table = [(*triple, positive, part) for (triple, positive), part in rows.items()]
    table += [(*triple, True, "train") for triple in LEARNT]
    with open_engine("embedded") as engine:
        engine.put("node", {"id": np.arange(len(NODES), dtype=np.int32), "name": NODES})
        depths = np.array([levels_above(RELATIONS, name) for name in NAMES], dtype=np.int32)
        engine.put("relation", {"id": np.arange(len(NAMES), dtype=np.int32), "name": NAMES, "depth": depths})
        engine.put(
            "given",
            {
                "h": np.array([NODES.index(row[0]) for row in table], dtype=np.int32),
                "r": np.array([NAMES.index(row[1]) for row in table], dtype=np.int32),
                "t": np.array([NODES.index(row[2]) for row in table], dtype=np.int32),
                "positive": np.array([row[3] for row in table], dtype=np.bool_),
                "part": [row[4] for row in table],
            },
        )
        engine.make("held_node", "SELECT id FROM node")
        absent = "CAST('' AS STRING) AS score, CAST('' AS STRING) AS source"
        engine.make(
            "removed", f"SELECT h, r, t, positive, {absent}, part, CAST('' AS STRING) AS reason FROM given WHERE false"
        )
        write_rules(engine, schema, directed=True)
        keep_rows(engine, f"SELECT h, r, t, positive, {absent}, part FROM given")
        clean_up(engine, unseen_by_design=True)
        stays = {
            ((NODES[h], NAMES[r], NODES[t]), positive): part
            for h, r, t, positive, part in engine.rows("SELECT h, r, t, positive, part FROM kept")
        }
        goes = {
            ((NODES[h], NAMES[r], NODES[t]), positive): reason
            for h, r, t, positive, reason in engine.rows("SELECT h, r, t, positive, reason FROM removed")
        }
    return stays, goes


def tells(triple):
    """What a row gives away: what it implies, and its mere reverse."""
    return {*consequences(RELATIONS, triple), triple[::-1]} - {triple}


def gives_away(triple, positive):
    """For a held-out row the triples of which one in another part gives it away, and of the context alone."""
    anywhere = {(h, r, t) for h in NODES for r in NAMES for t in NODES if triple in tells((h, r, t))}
    return anywhere, set() if positive else tells(triple) - {triple[::-1]} - anywhere


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(signed, st.sampled_from(PARTS), min_size=1, max_size=14).map(without_contradiction))
@example(
    {
        (("n0", "forth", "n1"), True): "validation",
        (("n1", "forth", "n0"), True): "test",
        (("n0", "back", "n1"), True): "train",
    }
)  # the row of test goes, and so that of validation has to stay
@example(
    {
        (("n0", "forth", "n1"), False): "test",
        (("n0", "mid", "n1"), False): "validation",
        (("n0", "top", "n1"), False): "train",
    }
)  # the special row goes before the general one would for its sake
def test_a_row_goes_only_for_one_that_stays(schema, rows):
    stays, goes = clean(schema, rows)
    assert {**dict.fromkeys(goes), **stays}.keys() == rows.keys() | {(triple, True) for triple in LEARNT}
    assert stays.keys().isdisjoint(goes)
    for row, part in rows.items():
        assert stays.get(row, part) == part
        triple, positive = row
        by_any, by_context = gives_away(triple, positive)
        evidence = {
            other
            for other in by_any | by_context
            if (place := stays.get((other, positive), part)) != part
            and (other in by_any or place == "train")
            and not (part == "test" and place == "validation" and triple in tells(other) and other in tells(triple))
        }
        if part == "train":
            assert row in stays
        elif row in stays:
            assert not evidence
        else:
            named = {other[1] for other in evidence}
            kind, _, cause = goes[row].partition(":")
            assert kind in {"reverse", "inverse", "super_relation", "implied_negative"}
            assert (cause or triple[1]) in named
