"""The schemes that go by relations, pairs, dates and sources: each keeps its promise, none leaks or loses a row."""

import datetime as dt
import random
import re
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.engines import open_engine
from openbiolink.errors import InputError
from openbiolink.split import (
    BranchSplit,
    ColdSplit,
    ComponentSplit,
    DateSplit,
    DegreeSplit,
    InductiveSplit,
    PairSplit,
    SemiInductiveSplit,
    SourceSplit,
    StratifiedSplit,
)
from openbiolink.split.provenance import days_of, shared_content
from openbiolink.split.schemes import assign_negatives
from oracles.leakage import find_leaks, read_rows, read_split
from split_graphs import (
    NODES,
    PAIRS,
    by_shares,
    contents_of_two_orders,
    family_of,
    find_lost,
    made_up_rows,
    parts_before_and_after,
    placed_rows,
    reasons,
    run_command,
    share_of,
    split,
    write,
)

EXCLUDED = {"down": "up", "up": "down"}
DATES = ["2018", "2019-12-31", "2020", "2020-02", "2020-02-29", "2020-03-01", "2020-06", "2021-01", "2022"]
CUTS = st.sampled_from([("2020-02", None), ("2020-03-01", "2019"), ("2021", "2021"), ("2022", "2020-02-29")])
SHARES = st.sampled_from([(0.3, 0.2), (0.15, 0.05), (0.0, 0.4), (0.4, 0.0)])
SOURCES = ["", "A", "B", "C", "B;A", "C;B"]
SOME = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FEW = settings(SOME, max_examples=3)


@st.composite
def graphs(draw):
    """Edges of several sources, true negatives, and dates of some of them and of other things."""
    shuffler = random.Random(draw(st.integers(0, 2**32)))
    edges, negatives, others = (
        [(*row[:4], shuffler.choice(SOURCES)) for row in made_up_rows(shuffler, number)]
        for number in (draw(st.integers(15, 90)), draw(st.integers(0, 30)), 2)
    )
    edges += [("NA", "r", "7", "", source) for source in "ABC"]  # one row in the end, so that every source is there
    dated = [row for row in edges + negatives if shuffler.random() < 0.8] + others
    return edges, negatives, [(*row[:3], shuffler.choice(DATES)) for row in dated]


GRAPHS = graphs()


@st.composite
def schemes(draw):
    """A scheme with options, as a function of the file of dates."""
    given = {"seed": draw(st.integers(-1, 5)), "directed": draw(st.sampled_from([True, False]))}
    (test, validation), cuts, minimum = draw(SHARES), draw(CUTS), draw(st.integers(0, 3))
    shares = given | {"test_fraction": test, "validation_fraction": validation}
    return draw(
        st.sampled_from(
            [
                lambda _: StratifiedSplit(**shares, minimum=minimum),
                lambda _: PairSplit(**shares),
                lambda dates: DateSplit(**given, dates=dates, tn_dates=dates, cut=cuts[0], validation_cut=cuts[1]),
                lambda _: SourceSplit(**given, test_sources=("A",), validation_sources=("B",)),
                lambda _: SourceSplit(**given, test_sources=("A", "C"), mixed="train"),
            ]
        )
    )


def pair_of(triple):
    return tuple(sorted((triple[0], triple[2])))


# What every scheme promises


@SOME
@given(GRAPHS, schemes())
def test_nothing_is_lost_and_nothing_leaks(graph, choose):
    with TemporaryDirectory() as name:
        scheme = choose(write(Path(name), "dates.tsv", graph[2]))
        found = split(Path(name), scheme, *graph[:2])
        assert find_lost(found, *graph[:2]) == []
        assert find_leaks(found.folder, directed=scheme.directed) == []


@FEW
@given(GRAPHS, schemes(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_byte(graph, choose, shuffler):
    with TemporaryDirectory() as name:
        scheme = choose(write(Path(name), "dates.tsv", graph[2]))
        first, second = contents_of_two_orders(scheme, graph[:2], shuffler)
        assert first == second
        mixed = choose(write(Path(name), "dates.tsv", shuffler.sample(graph[2], len(graph[2]))))
        assert placed_rows(split(Path(name), mixed, *graph[:2]).folder) == placed_rows(
            split(Path(name), scheme, *graph[:2]).folder
        )


@FEW
@given(GRAPHS, schemes(), PAIRS)
def test_an_unrelated_relation_moves_no_edge(graph, choose, pairs):
    with TemporaryDirectory() as name:
        scheme = choose(write(Path(name), "dates.tsv", graph[2]))
        before, after = parts_before_and_after(scheme, graph[:2], pairs)
    both = before.keys() & after.keys()
    assert {key: before[key] for key in both} == {key: after[key] for key in both}


LOOPS_ALONE = (
    StratifiedSplit(),
    PairSplit(),
    DegreeSplit(),
    ComponentSplit(),
    SemiInductiveSplit(types=("GENE",)),
    InductiveSplit(),
    ColdSplit(),
    BranchSplit(roots=("NCBIGENE:1",)),
)


@pytest.mark.parametrize("scheme", LOOPS_ALONE, ids=lambda scheme: scheme.name)
def test_a_graph_of_loops_gives_empty_parts(tmp_path, scheme):
    found = split(tmp_path, scheme, [("NCBIGENE:1", "IS_A", "NCBIGENE:1", "", "A")])
    assert {name for name, entry in found.manifest["outputs"].items() if entry.get("rows")} == {"removed_edges.tsv"}


# Negatives that follow positives


@pytest.mark.parametrize(("seed", "symmetric"), [(1, True), (42, False)])
def test_negatives_follow_their_contrary_or_the_shares_of_the_positives(seed, symmetric):
    """The rule worked out again, a row at a time."""
    shuffler = random.Random(seed)
    names = [f"n{number}" for number in range(60)]
    relations = ["down", "other", "up"]
    drawn = [tuple(map(shuffler.choice, (names, relations[:2], names))) for _ in range(900)]
    keys = sorted(set(drawn))
    positives = {key: shuffler.choice(["test", "test", "validation", "train", "train", None]) for key in keys[::2]}
    negatives = list(keys[1::2])
    negatives += [(t, "up", h) if shuffler.random() < 0.5 else (h, "up", t) for h, r, t in positives if r == "down"]
    negatives = sorted(set(negatives))
    rows = [(True, key) for key in positives] + [(False, key) for key in negatives]
    columns = {
        "h": np.array([names.index(key[0]) for _, key in rows], np.int32),
        "r": np.array([relations.index(key[1]) for _, key in rows], np.int32),
        "t": np.array([names.index(key[2]) for _, key in rows], np.int32),
        "positive": np.array([sign for sign, _ in rows]),
    }
    with open_engine() as engine:
        engine.put("node", {"id": np.arange(len(names), dtype=np.int32), "name": names})
        engine.put(
            "relation",
            {
                "id": np.arange(3, dtype=np.int32),
                "name": relations,
                "family": ["down", "other", "down"],
                "undirected": np.array([symmetric and name in EXCLUDED for name in relations]),
                "excludes": np.array([2, -1, 0], np.int32),
            },
        )
        filler = {"score": [""] * len(rows), "source": [""] * len(rows), "curated": np.ones(len(rows), np.bool_)}
        engine.put("edge", columns | filler)
        parts = [positives[key] or "" if sign else "" for sign, key in rows]
        engine.put("asked", columns | {"part": parts})
        engine.view(
            "placed",
            """SELECT h, r, t, positive, CASE WHEN part <> '' THEN part END AS part,
                      CASE WHEN part = '' THEN 'left out' END AS reason FROM asked WHERE positive""",
        )
        assign_negatives(engine, seed)
        found = engine.rows("SELECT h, r, t, positive, part, reason FROM assigned")
    got = {(sign, (names[h], relations[r], names[t])): (part, why) for h, r, t, sign, part, why in found}
    assert len(found) == len(got) == len(rows)
    counts = {name: Counter(part for key, part in positives.items() if key[1] == name and part) for name in relations}

    def expected(triple):
        head, relation, tail = triple
        for contrary in ((head, EXCLUDED.get(relation), tail), (tail, EXCLUDED.get(relation), head))[: 1 + symmetric]:
            if contrary in positives:
                return positives[contrary], None if positives[contrary] else "left out"
        family = "other" if relation == "other" else "down"
        low, high = sorted((head, tail))
        share = share_of(f"{seed} negative", low, family, high)
        total = sum(counts[relation].values())
        if not total:
            return "train", None
        return by_shares(share, *(Fraction(counts[relation][part], total) for part in ("test", "validation"))), None

    assert {key[1]: part for key, part in got.items() if not key[0]} == {key: expected(key) for key in negatives}
    assert {key[1]: part[0] for key, part in got.items() if key[0]} == positives
    assert {part for key, (part, _) in got.items() if not key[0]} == {"test", "validation", "train", None}


# Relations in the same shares


def quota(units, test, validation, minimum):
    """How many units are tested and validated, counted with decimal fractions."""
    sizes = []
    for fraction in (test, validation):
        wanted = max(minimum, int(Fraction(str(fraction)) * units + Fraction(1, 2))) if fraction else 0
        sizes.append(min(wanted, units - 1 - sum(sizes)))
    return sizes


def expected_strata(folder, scheme):
    """{(sign, triple): part} of all rows, by sorting the units of every relation by their hashes."""
    units = defaultdict(list)
    for sign, triple in placed_rows(folder).keys() | reasons(folder):
        units[pair_of(triple), family_of(triple)].append((sign, triple))
    strata = defaultdict(list)
    for (pair, family), rows in units.items():
        best = max(sign for sign, _ in rows)
        first = min(triple[1] for sign, triple in rows if sign == best)
        strata[best, first].append((share_of(scheme.seed, pair[0], family, pair[1]), rows))
    expected = {}
    for content in strata.values():
        content.sort()
        test, validation = quota(len(content), scheme.test_fraction, scheme.validation_fraction, scheme.minimum)
        for place, (_, rows) in enumerate(content):
            part = "test" if place < test else "validation" if place < test + validation else "train"
            expected |= dict.fromkeys(rows, part)
    return expected


@SOME
@given(GRAPHS, st.sampled_from([(0.3, 0.2), (0.15, 0.05), (0.0, 0.4), (0.5, 0.0)]), st.integers(0, 3))
def test_every_relation_is_held_out_in_the_same_share(graph, shares, minimum):
    scheme = StratifiedSplit(test_fraction=shares[0], validation_fraction=shares[1], minimum=minimum, seed=minimum)
    with TemporaryDirectory() as name:
        folder = split(Path(name), scheme, *graph[:2]).folder
        placed, expected = placed_rows(folder), expected_strata(folder, scheme)
    assert placed == {key: expected[key] for key in placed}


def test_quotas_by_hand():
    scheme = StratifiedSplit(test_fraction=0.15, validation_fraction=0.05)
    assert [scheme.quota(units) for units in (1, 2, 3, 9, 10, 30)] == [(0, 0), (1, 1), (1, 2), (1, 2), (2, 3), (5, 7)]
    assert replace(scheme, minimum=0).quota(9) == (1, 1)
    assert replace(scheme, minimum=4).quota(7) == (4, 6)
    assert replace(scheme, test_fraction=0.0, minimum=4).quota(7) == (0, 4)


def test_a_small_relation_is_tested_where_chance_would_leave_it_out(tmp_path):
    nodes = dict.fromkeys((f"NCBIGENE:{number}" for number in range(40)), "GENE")
    names = list(nodes)
    edges = [(a, "big", b, "", "") for place, a in enumerate(names) for b in names[:place]]
    edges += [(a, "small", b, "", "") for a, b in pairwise(names[:7])]
    found = split(tmp_path, StratifiedSplit(test_fraction=0.05, validation_fraction=0.05), edges, nodes=nodes)
    relations = found.manifest["relations"]
    assert [relations["small"][part] for part in ("test", "validation", "train")] == [1, 1, 4]
    assert [relations["big"][part] for part in ("test", "validation", "train")] == [39, 39, 702]


# Pairs


@SOME
@given(GRAPHS, st.sampled_from([(0.3, 0.2), (0.05, 0.4), (0.0, 0.4)]), st.integers(-1, 3))
def test_no_pair_is_in_two_parts(graph, shares, seed):
    scheme = PairSplit(test_fraction=shares[0], validation_fraction=shares[1], seed=seed)
    with TemporaryDirectory() as name:
        placed = placed_rows(split(Path(name), scheme, *graph[:2]).folder)
    parts = defaultdict(set)
    for (_, triple), part in placed.items():
        parts[pair_of(triple)].add(part)
        assert part == by_shares(share_of(seed, *pair_of(triple)), *shares)
    assert all(len(found) == 1 for found in parts.values())


# Dates


def first_and_last(text):
    """The days that a date can mean, by trying all days there are near it."""
    days = [dt.date(int(text[:4]), 1, 1) + dt.timedelta(days=number) for number in range(366)]
    fitting = [day for day in days if day.isoformat().startswith(text)]
    return min(fitting), max(fitting)


def expected_date_part(texts, cut, validation_cut):
    if not texts:
        return "train"
    begins, ends = min(first_and_last(text)[0] for text in texts), max(first_and_last(text)[1] for text in texts)
    known = first_and_last(cut)[1]
    learned = first_and_last(validation_cut or cut)[1]
    spans = {"train": (dt.date.min, learned), "validation": (learned, known), "test": (known, dt.date.max)}
    inside = [part for part, (low, high) in spans.items() if low < begins and ends <= high]
    return inside[0] if inside else None


@SOME
@given(GRAPHS, CUTS)
def test_training_ends_at_the_cut(graph, cuts):
    edges, negatives, dates = graph
    with TemporaryDirectory() as name:
        path = write(Path(name), "dates.tsv", dates)
        scheme = DateSplit(dates=path, tn_dates=path, cut=cuts[0], validation_cut=cuts[1])
        found = split(Path(name), scheme, edges, negatives)
        placed = placed_rows(found.folder)
        removed = read_rows(found.folder / "removed_edges.tsv")
    stated = defaultdict(set)
    for row in dates:
        stated[row[:3]].add(row[3])
    stated.default_factory = None
    curated = {row[:3] for row in negatives}
    for (sign, triple), part in placed.items():
        if sign or (triple in curated and triple in stated):
            assert part == expected_date_part(stated.get(triple), *cuts)
    learned = first_and_last(cuts[1] or cuts[0])[1]
    in_training = [triple for (sign, triple), part in placed.items() if sign and part == "train"]
    assert all(first_and_last(text)[1] <= learned for triple in in_training for text in stated.get(triple, ()))
    straddling = {
        (int(row[4]), row[:3]): row[6].partition(":")[2] for row in removed if row[6].startswith("date_straddles_cut:")
    }
    for (sign, triple), reason in straddling.items():
        if sign or triple in stated:
            assert expected_date_part(stated[triple], *cuts) is None
            assert reason == "/".join(sorted({min(stated[triple]), max(stated[triple])}))
    facts = {row[:3] for row in edges if row[0] != row[2]}
    known = {row[:3] for row in edges}
    details = found.manifest["details"]
    assert details["last_training_day"] == learned.isoformat()
    assert details["undated_edges"] == len([triple for triple in facts if triple not in stated])
    unused = sum(row[:3] not in known for row in dates) + sum(row[:3] not in curated for row in dates)
    assert details["dates_without_edge"] == unused
    assert (f"{unused} rows of the dates are of no edge of the graph" in found.manifest["notes"]) == (unused > 0)
    assert set(found.manifest["inputs"]) == {"edges", "tn_edges", "nodes", "dates", "tn_dates"}
    assert found.manifest["options"]["dates"] == "dates.tsv"


def dated_graph(folder):
    """Ten genes in a ring, of which every edge has the date of its place."""
    nodes = dict.fromkeys((f"NCBIGENE:{number}" for number in range(10)), "GENE")
    names = list(nodes)
    edges = [(names[place], "r", names[(place + step) % 10], "", "") for step in (1, 3) for place in range(10)]
    texts = ["2019", "2020", "2020-05", "2020-06-30", "2020-07", "2021", "2020-07-01", "2020-01-01", "", ""]
    rows = [(*edge[:3], text) for edge, text in zip(edges, texts, strict=False) if text]
    return nodes, edges, write(folder, "edge_dates.tsv", rows)


def test_dates_by_hand(tmp_path):
    nodes, edges, path = dated_graph(tmp_path)
    scheme = DateSplit(dates=path, cut="2020-06-30", validation_cut="2020-05")
    found = split(tmp_path, scheme, edges, nodes=nodes)
    placed = placed_rows(found.folder)
    parts = [placed.get((1, edge[:3])) for edge in edges]
    assert parts == ["train", None, "train", "validation", "test", "test", "test", "train", *["train"] * 12]
    [removed] = read_rows(found.folder / "removed_edges.tsv")
    assert removed[6] == "date_straddles_cut:2020"
    assert "12 edges have no date and stay in training" in found.manifest["notes"]
    assert found.manifest["details"] == {
        "last_training_day": "2020-05-31",
        "last_validation_day": "2020-06-30",
        "undated_edges": 12,
        "dates_without_edge": 0,
        "split_directions": 0,
    }


def test_directions_of_an_edge_with_two_dates_are_told(tmp_path):
    nodes, edges, path = dated_graph(tmp_path)
    pair = [("NCBIGENE:1", "GENE_GENE", "NCBIGENE:5"), ("NCBIGENE:5", "GENE_GENE", "NCBIGENE:1")]
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.writelines("\t".join((*ends, year)) + "\n" for ends, year in zip(pair, ("2001", "2024"), strict=True))
    edges += [(*ends, "", "") for ends in pair]
    found = split(tmp_path, DateSplit(dates=path, cut="2020"), edges, nodes=nodes)
    assert placed_rows(found.folder)[1, pair[0]] == "train"
    assert [row[6] for row in read_rows(found.folder / "removed_edges.tsv") if row[:3] == pair[1]] == ["reverse"]
    assert found.manifest["details"]["split_directions"] == 1
    assert any(line.startswith("1 held-out edges of symmetric relations") for line in found.manifest["notes"])


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2020", ("2020-01-01", "2020-12-31")),
        ("2019-02", ("2019-02-01", "2019-02-28")),
        ("2020-02", ("2020-02-01", "2020-02-29")),
        ("2020-12", ("2020-12-01", "2020-12-31")),
        ("2020-12-31", ("2020-12-31", "2020-12-31")),
        *((text, None) for text in ("", "20", "0000", "2020-13", "2020-00", "2021-02-29", "2020-1-1", "2020-01-00")),
        *((text, None) for text in ("٢٠٢٠", "2020-01-01T00", "2020-01-01\n", " 2020", "2020/01", "2020-01-01-01")),
    ],
)
def test_what_a_date_can_mean(text, days):
    assert days_of(text) == days


def test_a_date_that_is_none_is_refused_with_its_line(tmp_path):
    nodes, edges, path = dated_graph(tmp_path)
    (tmp_path / "manifest.json").write_text('{"options": {"separator": "\\t"}}', encoding="utf-8")
    for wrong in ("2020-02-30", "", "yesterday"):
        write(tmp_path, path.name, [(*edges[0][:3], "2020"), (*edges[1][:3], wrong)])
        with pytest.raises(InputError, match=rf"edge_dates.tsv, line 2: '{wrong}' is no date; dates are YYYY"):
            split(tmp_path, DateSplit(dates=path, cut="2020"), edges, nodes=nodes)
    write(tmp_path, path.name, [edges[0][:3]])
    with pytest.raises(InputError, match="line 1"):
        split(tmp_path, DateSplit(dates=path, cut="2020"), edges, nodes=nodes)
    assert not (tmp_path / "out").exists()


# Sources


@SOME
@given(
    GRAPHS,
    st.sampled_from([(("A",), ()), (("A", "C"), ("B",)), (("B",), ("A",))]),
    st.sampled_from(["remove", "train"]),
)
def test_no_source_is_in_two_parts(graph, held, mixed):
    edges, negatives, _ = graph
    scheme = SourceSplit(test_sources=held[0], validation_sources=held[1], mixed=mixed)
    with TemporaryDirectory() as name:
        found = split(Path(name), scheme, edges, negatives)
        rows = {
            (part, sign, row[:3]): row[5] for (part, sign), rows in read_split(found.folder).items() for row in rows
        }
        removed = read_rows(found.folder / "removed_edges.tsv")
    part_of = dict.fromkeys(held[0], "test") | dict.fromkeys(held[1], "validation")

    def parts_of(cell):
        names = cell.removeprefix("CONTRASTIVE:").split(";")
        return {part_of.get(source, "train") for source in names}

    for (part, sign, _), cell in rows.items():
        if sign or (cell.partition(":")[0] != "GENERATED" and cell not in {"", "CONTRASTIVE:"}):
            parts = parts_of(cell)
            assert parts == {part} or (mixed == "train" and len(parts) > 1 and part == "train")
    for row in removed:
        if row[6].startswith("mixed_sources:"):
            assert mixed == "remove"
            assert len(parts_of(row[6].removeprefix("mixed_sources:"))) > 1
            # A negative without a source goes with its contrary, for the reason of that one.
            assert row[6] == f"mixed_sources:{row[5]}" or row[5] == "CONTRASTIVE:"
    sources = defaultdict(set)
    for row in edges:
        if row[0] != row[2]:
            sources[row[:3]] |= set(row[4].split(";")) - {""}
    assert found.manifest["details"]["mixed_edges"] == sum(len(parts_of(";".join(s))) > 1 for s in sources.values())
    assert found.manifest["details"]["sources"]["test"] == {
        name: sum(name in names for names in sources.values()) for name in sorted(held[0])
    }


def test_a_true_negative_whose_reverse_is_in_training_is_not_tested(tmp_path):
    people = dict.fromkeys("abcdefgh", "PERSON")
    edges = [(one, "knows", other, "", source) for one, other in pairwise("abcdefgh") for source in ("A",)]
    edges = [(*row[:4], "B") if place % 2 else row for place, row in enumerate([*edges, ("h", "knows", "a", "", "B")])]
    negatives = [("a", "knows", "d", "", "A"), ("d", "knows", "a", "", "B"), ("b", "knows", "e", "", "B")]
    found = split(tmp_path, SourceSplit(test_sources=("A",)), edges, negatives, nodes=people)
    removed = {row[:3]: row[6] for row in read_rows(found.folder / "removed_edges.tsv") if row[5] in {"A", "B"}}
    assert removed["a", "knows", "d"] == "reverse"
    assert placed_rows(found.folder)[0, ("d", "knows", "a")] == "train"
    assert find_leaks(found.folder) == []


def test_a_source_that_no_edge_has_is_refused(tmp_path):
    genes = NODES["GENE"][:5]
    edges = [(node, "r", "7", "", f"S{place};T") for place, node in enumerate(genes)]
    with pytest.raises(
        InputError, match=r"--test-source 's1' is the source of no edge; there are S0, S1, S2, S3, S4, T$"
    ):
        split(tmp_path, SourceSplit(test_sources=("S1", "s1")), edges)
    with pytest.raises(InputError, match=r"--val-source 'Z' is the source of no edge"):
        split(tmp_path, SourceSplit(test_sources=("S1",), validation_sources=("Z",)), edges)
    with pytest.raises(InputError, match="no edge names any"):
        split(tmp_path, SourceSplit(test_sources=("S1",)), [row[:3] for row in edges])
    many = [(node, "r", "7", "", f"S{place};T{place};U{place}") for place, node in enumerate(genes)]
    with pytest.raises(InputError, match=r"S0, S1, S2, S3, S4, T0, T1, T2, T3, T4 and 5 more$"):
        split(tmp_path, SourceSplit(test_sources=("V",)), many)


def test_content_that_reaches_training_by_another_source_is_told(tmp_path):
    assert shared_content(["GenCC"], ["ClinGen"]) == [
        "held-out source GenCC is derived from ClinGen, which is in training"
    ]
    assert shared_content(["ClinGen"], ["GenCC"]) == [
        "GenCC, which is in training, is derived from held-out source ClinGen"
    ]
    assert shared_content(["STITCH"], ["STRING", "SIDER"]) == [
        "held-out source STITCH and STRING, which is in training, are both derived from KEGG, PubMed"
    ]
    edges = [(node, "r", "7", "", "CTD" if node == "NCBIGENE:1" else "Reactome") for node in NODES["GENE"]]
    edges += [(node, "r", "007", "", "Reactome") for node in NODES["GENE"]]
    found = split(tmp_path, SourceSplit(test_sources=("CTD",)), edges)
    assert "held-out source CTD is derived from Reactome, which is in training" in found.manifest["notes"]
    assert found.manifest["details"]["shared_content"] == shared_content(["CTD"], ["Reactome"])
    assert placed_rows(found.folder)[1, ("NCBIGENE:1", "r", "7")] == "test"


# Options, and the command line made of them


@pytest.mark.parametrize(
    ("scheme", "wrong", "message"),
    [
        (StratifiedSplit, {"test_fraction": 1.0}, r"test_fraction \(--test-frac\) is 1.0"),
        (StratifiedSplit, {"minimum": -1}, r"minimum \(--min\) is -1"),
        (PairSplit, {"validation_fraction": 0.96}, "leave nothing to train on"),
        (PairSplit, {"negatives_test": "no"}, r"negatives_test \(--no-neg-test\) is 'no', expected True or False"),
        (PairSplit, {"negatives_train_validation": 0}, r"negatives_train_validation \(--no-neg-train-val\) is 0"),
        (DateSplit, {"dates": Path("d"), "cut": "2020-2"}, r"cut \(--cut\) is '2020-2', expected YYYY"),
        (
            DateSplit,
            {"dates": Path("d"), "cut": "2020-11", "validation_cut": "2020"},
            r"validation_cut \(--val-cut\) is 2020, later than cut \(--cut\), 2020-11",
        ),
        (SourceSplit, {"test_sources": ()}, r"test_sources \(--test-source\) is empty"),
        (SourceSplit, {"test_sources": ("A",), "validation_sources": ("A",)}, "'A' is a test source and a validation"),
        (SourceSplit, {"test_sources": ("A",), "mixed": "test"}, r"mixed \(--mixed\) is 'test'"),
    ],
)
def test_options_out_of_range_are_refused(scheme, wrong, message):
    with pytest.raises(InputError, match=message):
        scheme(**wrong)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (SemiInductiveSplit(types=("gene",)), "--type 'gene'"),
        (SemiInductiveSplit(types=("GENE",), relations=("isa",)), "--relation 'isa'"),
        (InductiveSplit(types=("gene",)), "--type 'gene'"),
        (ColdSplit(relations=("isa",)), "--relation 'isa'"),
        (BranchSplit(roots=("1",)), "--root '1'"),
        (BranchSplit(roots=("NCBIGENE:1",), validation_roots=("1",)), "--val-root '1'"),
        (BranchSplit(roots=("NCBIGENE:1",), hierarchies=("isa",)), "--hierarchy 'isa'"),
        (SourceSplit(test_sources=("B",)), "--test-source 'B'"),
        (SourceSplit(test_sources=("A",), validation_sources=("B",)), "--val-source 'B'"),
        (DateSplit(dates=Path("dates.tsv"), cut="2020"), "dates.tsv, line 1: 'soon' is no date"),
        (DateSplit(dates=Path("edges.csv"), cut="2020"), "edges.csv"),
        (DateSplit(dates=Path("nowhere.tsv"), cut="2020"), "nowhere.tsv: no such file"),
        (DateSplit(dates=Path("good.tsv"), tn_dates=Path("dates.tsv"), cut="2020"), "dates.tsv, line 1"),
    ],
)
def test_what_is_misspelt_is_refused_before_negatives_are_drawn(tmp_path, monkeypatch, scheme, message):
    def draw(*_, **__):
        raise AssertionError("negatives are drawn")

    monkeypatch.setattr("openbiolink.split.schemes.make_negatives", draw)
    monkeypatch.chdir(tmp_path)
    edges = [("NCBIGENE:1", "IS_A", "NCBIGENE:2", "", "A")]
    write(tmp_path, "dates.tsv", [(*edges[0][:3], "soon")])
    write(tmp_path, "good.tsv", [(*edges[0][:3], "2019")])
    with pytest.raises(InputError, match=re.escape(message)):
        split(tmp_path, scheme, edges)
    with pytest.raises(AssertionError, match="negatives are drawn"):
        split(tmp_path, DateSplit(dates=Path("good.tsv"), cut="2020"), edges)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process; returns status, output and messages."""
    return partial(run_command, monkeypatch, capsys)


def test_every_option_of_a_scheme_is_an_option_of_its_command(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    options = {
        "stratified": ["--test-frac SHARE", "--val SHARE", "--min NUMBER", "--negatives <uniform|degree|hard>"],
        "pairs": ["--test-frac SHARE", "--val SHARE", "--seed NUMBER"],
        "dates": ["--dates FILE", "--cut DATE", "--val-cut DATE", "--tn-dates FILE"],
        "source": ["--test-source NAME", "--val-source NAME", "--mixed <remove|train>"],
    }
    listed = command("split", "--help")[1]
    for scheme, expected in options.items():
        assert f"  {scheme} " in listed
        status, out, _ = command("split", scheme, "--help")
        assert status == 0
        assert [option for option in expected if option not in out] == []


def test_the_command_splits_by_source_and_date(command, tmp_path):
    nodes, edges, dates = dated_graph(tmp_path)
    rows = [(*edge[:4], "B" if place < 3 else "A") for place, edge in enumerate(edges)]
    graph = [
        *("--edges", write(tmp_path, "edges.csv", rows)),
        *("--nodes", write(tmp_path, "nodes.csv", nodes.items())),
    ]
    status, _, err = command("-p", tmp_path, "split", "source", *graph, "--test-source", "B")
    assert (status, "test: 3 positive" in err) == (0, True)
    dating = ["--dates", dates, "--cut", "2020-06-30", "--val-cut", "2020-05"]
    status, out, err = command("-p", tmp_path, "split", "dates", *graph, *dating, "--overwrite", "--no-neg-test")
    assert status == 0
    assert "test: 3 positive, 0 negative" in err
    assert out.strip() == str(tmp_path / "train_test_data")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dates", "--cut", "2020"], "Missing option '--dates'"),
        (["dates", "--dates", "edge_dates.tsv"], "Missing option '--cut'"),
        (["dates", "--dates", "edge_dates.tsv", "--cut", "soon"], "cut (--cut) is 'soon'"),
        (["dates", "--dates", "nowhere.tsv", "--cut", "2020"], "nowhere.tsv: no such file"),
        (["source"], "Missing option '--test-source'"),
        (["source", "--test-source", "Z"], "--test-source 'Z' is the source of no edge; no edge names any"),
        (["source", "--test-source", "Z", "--mixed", "leave"], "'leave' is not one of 'remove', 'train'"),
        (["stratified", "--min", "-1"], "minimum (--min) is -1"),
        (["pairs", "--test-frac", "1"], "test_fraction (--test-frac) is 1.0"),
    ],
)
def test_wrong_options_are_one_line_and_status_2(command, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    nodes, edges, _ = dated_graph(tmp_path)
    write(tmp_path, "edges.csv", edges)
    write(tmp_path, "nodes.csv", nodes.items())
    status, out, err = command("split", words[0], "--edges", "edges.csv", "--nodes", "nodes.csv", *words[1:])
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert err.count("Error:") == 1
    assert not (tmp_path / "train_test_data").exists()
