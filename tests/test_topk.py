"""Ranks from top-k files: what is not listed ties, what is wrong is named, nothing is skipped."""

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.dataset import PARTS, from_labelled
from openbiolink.errors import InputError
from openbiolink.evaluation import evaluate_topk
from openbiolink.evaluation.topk import iter_topk
from oracles import ranking as oracle

SIDES = ("head", "tail")
ENTITIES = ["a", "b", "c", "d", "e"]
GRAPH = from_labelled(
    train=[("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "r", "e")],
    valid=[("a", "r", "c")],
    test=[("a", "r", "d"), ("b", "r", "d")],
)
GOOD = "a r d\nHeads: a\t0.9\tb\t0.5\nTails: e\t0.7\td\t0.7\tb\t0.9\t\nb r d\nHeads:\nTails:d\t1e-3\n"


def write(path, text):
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def block(triple, heads, tails):
    lists = ("\t".join(f"{entity}\t{score}" for entity, score in listed) for listed in (heads, tails))
    return " ".join(triple) + "\nHeads: {}\nTails: {}\n".format(*lists)


@st.composite
def worlds(draw):
    triple = st.tuples(st.sampled_from(ENTITIES), st.sampled_from("rq"), st.sampled_from(ENTITIES))
    parts = {part: draw(st.lists(triple, min_size=part == "test", max_size=6)) for part in PARTS}
    listed = st.dictionaries(st.sampled_from(ENTITIES), st.sampled_from([-1.5, 0, 0.25, 1]), max_size=5)
    inside = st.dictionaries(st.sampled_from(parts["test"]), st.tuples(listed, listed))
    outside = st.dictionaries(
        triple.filter(lambda row: row not in parts["test"]), st.tuples(listed, listed), max_size=2
    )
    options = {
        "filter_parts": draw(st.lists(st.sampled_from(PARTS), unique=True)),
        "higher_is_better": draw(st.booleans()),
    }
    return parts, draw(inside), draw(outside), options


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds())
def test_counts_equal_those_of_a_model_that_scores_the_unlisted_worst(tmp_path, world):
    parts, inside, outside, options = world
    every = {**outside, **inside}
    blocks = [block(triple, *(lists.items() for lists in every[triple])) for triple in sorted(every)]
    path = write(tmp_path / "top.txt", "".join(blocks))
    dataset = from_labelled(**parts, entities=ENTITIES, relations=["q", "r"])
    if not inside:
        with pytest.raises(InputError, match=r"top\.txt: holds none of the \d+ test triples"):
            evaluate_topk(path, dataset, unseen="keep", **options)
        return
    result = evaluate_topk(path, dataset, unseen="keep", **options)
    known = {triple for part in options["filter_parts"] for triple in parts[part]}
    worst = -100 if options["higher_is_better"] else 100
    missing = dict.fromkeys(SIDES, 0)
    for row, triple in enumerate(parts["test"]):
        for column, side in enumerate(SIDES):
            listed = inside.get(triple, ({}, {}))[column]
            scores = oracle.listed_scores(listed, ENTITIES, worst)
            answer = triple[0] if side == "head" else triple[2]
            missing[side] += answer not in listed
            expected = oracle.counts(
                triple,
                side,
                ENTITIES,
                known,
                score=scores.get,
                answer_score=scores[answer],
                higher_is_better=options["higher_is_better"],
            )
            assert (result.better[row, column], result.equal[row, column]) == expected
    assert result.not_listed == missing
    left = [note for note in result.notes if "no test triples" in note]
    assert left == ([f"top.txt: triples that are no test triples and were ignored: {len(outside)}"] if outside else [])


def test_case_of_gaps(cases):
    test = [tuple(line.split("\t")) for line in (cases / "c36-topk-file-gaps-test.tsv").read_text().splitlines()]
    dataset = from_labelled(train=[], valid=[], test=test)
    result = evaluate_topk(cases / "c36-topk-file-gaps-predictions.txt", dataset, unseen="keep")
    assert result.not_listed == {"head": 2, "tail": 1}
    assert len(result.ranks()) == 6
    listed = {"head": [2], "tail": [0, 2]}
    ranks = {side: [result.ranks(side)[row] for row in rows] for side, rows in listed.items()}
    assert ranks == {"head": [1.0], "tail": [2.0, 1.0]}
    expected = json.loads((cases / "expected.json").read_text())["c36"]["not_found_adds_0"]
    found = [1.0, 2.0, 1.0]
    assert sum(1 / rank for rank in found) / 6 == pytest.approx(expected["mrr"], abs=1e-9)
    for k in (1, 3, 10):
        assert sum(rank <= k for rank in found) / 6 == pytest.approx(expected[f"hits@{k}"], abs=1e-9)
    # of six entities, unlisted answers tie with all candidates that are not listed
    assert result.ranks("head", ties="optimistic").tolist() == [1, 3, 1]
    assert result.ranks("head", ties="pessimistic").tolist() == [6, 6, 1]
    assert result.ranks("tail", ties="optimistic").tolist() == [2, 2, 1]
    assert result.ranks("tail", ties="pessimistic").tolist() == [2, 6, 1]


def test_known_answers_are_left_out_and_forms_are_free(tmp_path):
    result = evaluate_topk(write(tmp_path / "plain.txt", GOOD), GRAPH)
    # (a, r, b) is known, so only e, with the same score, competes with d in the first list of tails
    assert result.better.tolist() == [[0, 0], [0, 0]]
    assert result.equal.tolist() == [[0, 1], [2, 0]]
    assert result.not_listed == {"head": 1, "tail": 0}
    assert result.notes == ("plain.txt: answers that are not listed and tie with all unlisted candidates: 1",)
    assert result.model == "plain.txt"
    packed = tmp_path / "packed.txt.gz"
    windows = GOOD.replace("\n", "\r\n").replace("b r d", "\r\n\r\nb\tr\td").encode()
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + windows))
    again = evaluate_topk(packed, GRAPH, model_name="mine").to_dict()
    assert again.pop("model") == "mine"
    assert again.pop("notes") == [note.replace("plain.txt", "packed.txt.gz") for note in result.notes]
    assert again == {name: value for name, value in result.to_dict().items() if name not in {"model", "notes"}}


def test_triples_that_are_absent_or_foreign_are_noted(tmp_path):
    notes = []
    text = "a r d\nHeads: a\t1\nTails: d\t1\na q a\nHeads:\nTails:\n".replace(" q ", " r ")
    result = evaluate_topk(write(tmp_path / "top.txt", text), GRAPH, note=notes.append)
    assert result.not_listed == {"head": 1, "tail": 1}
    assert result.equal.tolist() == [[0, 0], [2, 3]]
    assert (
        notes
        == list(result.notes)
        == [
            "top.txt: answers that are not listed and tie with all unlisted candidates: 2",
            "top.txt: test triples that it lacks, so that neither answer is listed: 1",
            "top.txt: triples that are no test triples and were ignored: 1",
        ]
    )
    with pytest.raises(InputError, match=r"empty\.txt: holds none of the 2 test triples"):
        evaluate_topk(write(tmp_path / "empty.txt", ""), GRAPH)


def test_repeated_test_triples_have_one_block_and_count_each(tmp_path):
    twice = from_labelled(train=[("a", "r", "b")], valid=[], test=[("b", "r", "a"), ("b", "r", "a")])
    result = evaluate_topk(write(tmp_path / "top.txt", "b r a\nHeads: a\t1\nTails: a\t1\n"), twice)
    assert result.better.tolist() == [[1, 0], [1, 0]]
    assert result.not_listed == {"head": 2, "tail": 0}


def test_unseen_test_triples(tmp_path):
    graph = from_labelled(train=[("a", "r", "b")], valid=[], test=[("b", "r", "a"), ("z", "r", "a")])
    path = write(tmp_path / "top.txt", "z r a\nHeads: z\t1\nTails:\nb r a\nHeads: b\t1\nTails: a\t1\n")
    with pytest.raises(InputError, match="1 of 2 test triples are unseen"):
        evaluate_topk(path, graph)
    dropped = evaluate_topk(path, graph, unseen="drop")
    assert dropped.notes == ("1 of 2 test triples left out: training lacks their entity or relation",)
    assert (dropped.left_out, len(dropped.triples), dropped.not_listed) == (1, 1, {"head": 0, "tail": 0})
    assert len(evaluate_topk(path, graph, unseen="keep").triples) == 2


def test_lower_is_better(tmp_path):
    path = write(tmp_path / "top.txt", "a r d\nHeads: a\t0.1\te\t0.5\nTails: e\t0.2\td\t0.3\nb r d\nHeads:\nTails:\n")
    assert evaluate_topk(path, GRAPH).better[0].tolist() == [1, 0]
    assert evaluate_topk(path, GRAPH, higher_is_better=False).better[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a r\n", "line 1: 'a r' is no triple"),
        ("a  r d\n", "line 1: 'a  r d' is no triple"),
        ("Heads: a\t1\n", "line 1: 'Heads: a.t1' is no triple"),
        ("x r d\n", "line 1: entity 'x' is not in the data set"),
        ("a x d\n", "line 1: relation 'x' is not in the data set"),
        ("a r x\n", "line 1: entity 'x' is not in the data set"),
        ("a r d\n", "the file ends before the 'Heads:' line of its last triple"),
        ("a r d\nHeads:\n", "the file ends before the 'Tails:' line of its last triple"),
        ("a r d\nTails:\nHeads:\n", "line 2: 'Tails:' where the 'Heads:' line of a triple should be"),
        ("a r d\nHeads:\n\nb r d\nHeads:\n", "line 4: 'b r d' where the 'Tails:' line of a triple should be"),
        ("a r d\nHeads: a\t1\tb\nTails:\n", "line 2: 3 cells; expected pairs"),
        ("a r d\nHeads:\nTails: a\t1\t\t\n", "line 3: 3 cells; expected pairs"),
        ("a r d\nHeads: a 1 b\nTails:\n", "line 2: 3 cells; expected pairs"),
        ("a r d\nHeads: x\t1\nTails:\n", "line 2: candidate 'x' is not in the data set"),
        ("a r d\nHeads:\nTails: b\t1\ta\t1\tb\t2\n", "line 3: candidate 'b' is listed twice"),
        ("a r d\nHeads: a\tnan\nTails:\n", "line 2: score 'nan' is not a finite decimal number"),
        ("a r d\nHeads: a\tinf\nTails:\n", "line 2: score 'inf' is not a finite"),
        ("a r d\nHeads: a\t1e999\nTails:\n", "line 2: score '1e999' is not a finite"),
        ("a r d\nHeads: a\t1_0\nTails:\n", "line 2: score '1_0' is not a finite"),
        ("a r d\nHeads: a\t \nTails:\n", "line 2: score ' ' is not a finite"),
        ("a r d\nHeads: a\t\N{FULLWIDTH DIGIT ONE}\nTails:\n", "line 2: score .* is not a finite"),
        (GOOD + "a r d\nHeads:\nTails:\n", r"line 7: triple \(a, r, d\) was given in line 1 already"),
        ("a r b\nHeads:\nTails:\n" * 2, r"line 4: triple \(a, r, b\) was given in line 1 already"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError, match=rf"top\.txt.*{message}") as caught:
        evaluate_topk(write(tmp_path / "top.txt", text), GRAPH)
    assert "\n" not in str(caught.value)


def test_labels_with_blanks_need_tabs(tmp_path):
    graph = from_labelled(train=[("a b", "r", "c")], valid=[], test=[("c", "r", "a b")])
    path = write(tmp_path / "top.txt", "c\tr\ta b\nHeads: c\t1\nTails: a b\t1\n")
    assert evaluate_topk(path, graph).metrics()["mrr"] == 1.0
    with pytest.raises(InputError, match="by tabs, where labels hold blanks"):
        evaluate_topk(write(path, "c r a b\nHeads:\nTails:\n"), graph)


def test_no_such_file_and_progress(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        evaluate_topk(tmp_path / "absent.txt", GRAPH)
    told = []
    evaluate_topk(write(tmp_path / "top.txt", GOOD), GRAPH, progress=lambda *step: told.append(step))
    assert told == [("rank", 0, 2), ("rank", 1, 2), ("rank", 2, 2)]


def test_blocks_are_read_one_after_another(tmp_path):
    blocks = iter_topk(write(tmp_path / "top.txt", GOOD + "broken\n"), GRAPH)
    first = next(blocks)
    assert GRAPH.label(first.triple) == ("a", "r", "d")
    assert first.lists["tail"].entities.tolist() == [4, 3, 1]
    assert first.lists["tail"].scores.tolist() == [0.7, 0.7, 0.9]
    assert len(next(blocks).lists["head"].entities) == 0
    with pytest.raises(InputError, match="line 7"):
        next(blocks)


def test_a_list_may_be_separated_by_blanks(tmp_path):
    graph = from_labelled(train=[("a", "r", "b"), ("b", "r", "c")], valid=[], test=[("a", "r", "c")])
    tabs = write(tmp_path / "tabs.txt", "a r c\nHeads: b\t0.9\ta\t0.8\nTails: c\t0.5\n")
    blanks = write(tmp_path / "blanks.txt", "a r c\nHeads: b    0.9  a       0.8\nTails: c 0.5\n")
    ranks = [evaluate_topk(path, graph).ranks().tolist() for path in (tabs, blanks)]
    assert ranks[0] == ranks[1] == [1.0, 1.0]
