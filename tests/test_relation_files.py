"""Relations in files of seven formats, the pairing of documents, and the command that scores them."""

import gzip
import json
import random
import re
import subprocess
import sys
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from browser import find_browser, open_page
from conftest import ROOT
from openbiolink.cli import app
from openbiolink.errors import InputError, visible
from openbiolink.metrics.relation_extraction import RelationScorer, iter_errors, score_relations
from openbiolink.metrics.relation_extraction.pairing import pair_documents
from openbiolink.metrics.relation_extraction.readers import (
    FORMATS,
    read_both,
    read_facts,
    read_relations,
    recognise,
)
from openbiolink.metrics.relation_extraction.table import HEADER, errors_table
from openbiolink.report.relations import render_relations_page

EXAMPLES = ROOT / "examples" / "data" / "relation_extraction"
PAIRS = {
    "json": ("references.json", "predictions.json"),
    "jsonl": ("references.jsonl", "predictions.jsonl"),
    "dygie": ("dygie.jsonl", "dygie.jsonl"),
    "spert": ("spert-references.json", "spert-predictions.json"),
    "docred": ("docred-references.json", "docred-predictions.json"),
    "brat": ("brat-references", "brat-predictions"),
    "pubtator": ("references.pubtator", "predictions.pubtator"),
}
TREATS = {"head": "a", "head_type": "drug", "type": "treats", "tail": "x", "tail_type": "disease"}
HOSTILE = "<script>alert(1)</script>&\"'[bold]\t\x1b[31m\u202e"


def command(*words):
    line = [sys.executable, "-m", "openbiolink", "metrics", "relations", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, encoding="utf-8")


def invoke(*words):
    """The command in this process, which is quicker."""
    return CliRunner().invoke(app, ["metrics", "relations", *map(str, words)], prog_name="openbiolink")


def scores(*words):
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def refused(*words):
    done = invoke(*words)
    assert isinstance(done.exception, InputError)
    assert done.stdout == ""
    assert "\n" not in str(done.exception)
    return str(done.exception)


def scored(references, predictions, **options):
    """The result of two readers' documents."""
    scorer = RelationScorer(**options)
    for name, wanted, found in pair_documents(references, predictions, by_position=True):
        scorer.add(prediction=found, reference=wanted, document=name)
    return scorer.result()


def read(path, **options):
    notes = []
    return [*read_relations(path, note=notes.append, **options)], notes


def dump(path, *values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def fault(path, **options):
    with pytest.raises(InputError) as caught:
        [*read_relations(path, **options)]
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Formats


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_relations_give_the_same_scores_in_every_format(name):
    references, predictions = (EXAMPLES / one for one in PAIRS[name])
    assert recognise(references) == recognise(predictions) == name
    (wanted, said), (found, other) = read(references), read(predictions, side="predictions", entities=references)
    assert said == other == []
    if name == "jsonl":
        found.reverse()
    for match in {"text", FORMATS[name].match}:
        rows = scored(wanted, found, match=match).scores()
        assert {key: (row["tp"], row["fp"], row["fn"]) for key, row in rows.items()} == {
            "associated_with": (0, 0, 1),
            "causes": (0, 0, 1),
            "inhibits": (1, 0, 0),
            "treats": (1, 2, 0),
            "ALL": (2, 2, 2),
        }
    assert [one["score"] for _, relations in found for one in relations if "score" in one] == (
        [] if name in {"brat", "pubtator"} else [0.98, 0.61, 0.93, 0.42]
    )
    assert [name is None for name, _ in wanted] == [name == "json"] * 3


def test_texts_and_spans_of_the_examples_are_those_of_the_sentences():
    for name in ("dygie", "spert", "docred", "brat", "pubtator"):
        first = read(EXAMPLES / PAIRS[name][0])[0][0][1][0]
        assert (first["head"], first["head_type"], first["tail"], first["tail_type"]) == (
            "Velmorin",
            "Drug",
            "quiet fever",
            "Disease",
        )
        tokens = name not in {"brat", "pubtator"}
        assert (first["head_span"], first["tail_span"]) == (([0, 1], [2, 4]) if tokens else ([0, 8], [18, 29]))
        if not tokens:
            assert (first["head_id"], first["tail_id"]) == ("C:01", "D:01")


def test_a_file_with_both_sides_is_one_file(tmp_path):
    for name in ("both.json", "dygie.jsonl"):
        wanted, found = read_both(EXAMPLES / name)
        assert scored(wanted, found).total.tp == 2
    for name in ("references.json", "references.jsonl", "brat-references"):
        with pytest.raises(InputError, match="does not hold both"):
            read_both(EXAMPLES / name)
    record = json.loads((EXAMPLES / "dygie.jsonl").read_text().splitlines()[0])
    del record["predicted_relations"]
    path = dump(tmp_path / "gold.jsonl", record)
    with pytest.raises(InputError, match=r"gold\.jsonl, line 1: has no field 'predicted_relations'"):
        [*read_both(path)[1]]
    assert any("has no predicted_relations" in line for line in read(path, side="predictions")[1])


@pytest.mark.parametrize("name", ["json", "jsonl", "dygie", "spert", "docred", "pubtator"])
def test_line_ends_marks_blank_lines_and_packing_change_nothing(name, tmp_path):
    path = EXAMPLES / PAIRS[name][0]
    noisy = path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n"
    for place, content in (("noisy", b"\xef\xbb\xbf" + noisy), ("packed.gz", gzip.compress(noisy))):
        other = tmp_path / f"{place}{path.suffix}" if place == "noisy" else tmp_path / place
        other.write_bytes(content)
        assert recognise(other) == name
        assert read(other)[0] == read(path)[0]


@given(
    st.lists(st.lists(st.sampled_from(["a", "b|", "Ä β", "x\\t"]), min_size=5, max_size=5), max_size=4), st.booleans()
)
@settings(max_examples=25, deadline=None)
def test_what_is_written_as_json_lines_is_read_again(tmp_path_factory, rows, with_ids):
    keys = ("head", "head_type", "type", "tail", "tail_type")
    given_documents = [[dict(zip(keys, row, strict=True))] for row in rows] or [[]]
    path = tmp_path_factory.mktemp("lines") / "some.jsonl"
    lines = [{"relations": one} | ({"id": str(at)} if with_ids else {}) for at, one in enumerate(given_documents)]
    dump(path, *lines)
    names = [str(at) if with_ids else None for at in range(len(given_documents))]
    assert read(path)[0] == [*zip(names, given_documents, strict=True)]
    whole = dump(path.with_suffix(".json"), given_documents)
    assert [one for _, one in read(whole)[0]] == given_documents


def test_a_confidence_is_a_score_and_other_fields_stay(tmp_path):
    path = dump(tmp_path / "a.jsonl", {"relations": [TREATS | {"confidence": 0.5, "why": "x"}]})
    assert read(path)[0][0][1] == [TREATS | {"confidence": 0.5, "why": "x", "score": 0.5}]
    path = dump(tmp_path / "b.jsonl", {"relations": [TREATS | {"confidence": 0.5, "score": 0.25}]})
    assert read(path)[0][0][1][0]["score"] == 0.25


# Ends that no entity describes


def dygie(**changes):
    record = {
        "doc_key": "d",
        "sentences": [["a", "b"], ["c"]],
        "ner": [[[0, 1, "X"]], [[2, 2, "Y"]]],
        "relations": [[[0, 1, 2, 2, "r"]], []],
    }
    return record | changes


def test_predictions_may_have_ends_that_are_no_entities_and_references_may_not(tmp_path):
    path = dump(
        tmp_path / "a.jsonl",
        dygie(predicted_ner=[[], [[2, 2, "Y", 1.0]]], predicted_relations=[[[0, 1, 2, 2, "r", 2.5]]]),
    )
    (document,), notes = read(path, side="predictions")
    assert document == (
        "d",
        [
            {
                "type": "r",
                "score": 2.5,
                "head": "a b",
                "head_span": [0, 2],
                "head_type": "",
                "tail": "c",
                "tail_span": [2, 3],
                "tail_type": "Y",
            }
        ],
    )
    assert len(notes) == 1
    assert "1 head or tail" in notes[0]
    wrong = fault(dump(tmp_path / "b.jsonl", dygie(ner=[[], [[2, 2, "Y"]]])))
    assert "b.jsonl, line 1, relation 0: the head 'a b' is none" in wrong
    lines = ["1|t|A b.", "1|a|", "1\t0\t1\tA\tX\tM:1", "1\tr\tM:1\tM:2"]
    path = tmp_path / "c.pubtator"
    path.write_text("\n".join(lines))
    (document,), notes = read(path, side="predictions")
    assert (document[1][0]["tail"], document[1][0]["tail_type"]) == ("M:2", "")
    assert "1 head or tail" in notes[0]
    assert "c.pubtator, line 4: the tail 'M:2' is none" in fault(path)


def test_entities_of_several_types_and_none_are_told(tmp_path):
    several = dygie(ner=[[[0, 1, "X"], [0, 1, "A"]], [[2, 2, "Y"]]])
    (document,), notes = read(dump(tmp_path / "a.jsonl", several))
    assert document[1][0]["head_type"] == "A|X"
    assert "1 entity of several types" in notes[0]
    bare = dygie()
    del bare["ner"]
    (document,), notes = read(dump(tmp_path / "b.jsonl", bare))
    assert document[1][0]["head_type"] == ""
    assert "has no entities (ner)" in notes[0]
    assert "line 2: has no field 'ner'" in fault(dump(tmp_path / "c.jsonl", dygie(), bare | {"doc_key": "e"}))


def test_a_concept_is_described_by_its_first_mention_that_is_of_it_alone(tmp_path):
    path = tmp_path / "a.txt"
    mentions = ["0\t3\tA B\tX\tM:1,M:2", "8\t9\tC\tY\tv|c.1A>G", "20\t21\tQ\tX\tM:2", "10\t11\tB\tX\tM:2"]
    relations = ["r\tM:2\tv|c.1A>G\tNovel", "r\tM:1\tM:2"]
    path.write_text("7|t|A B and C.\n" + "".join(f"7\t{line}\n" for line in mentions + relations))
    (document,), _ = read(path)
    assert [(one["head"], one["tail"]) for one in document[1]] == [("B", "C"), ("A B", "B")]


def test_a_fact_is_known_by_any_name_of_an_entity_of_docred(tmp_path):
    names = [[{"name": "a", "type": "X"}, {"name": "A", "type": "X"}], [{"name": "b", "type": "Y"}]]
    path = dump(tmp_path / "a.json", docred(vertexSet=names))
    for fact, known in ((("A", "r", "b"), 1), (("a", "r", "b"), 1), (("A", "r", "a"), 0), (("A", "s", "b"), 0)):
        documents, _ = read(path)
        assert scored(documents, documents, match="id", known_facts=[fact]).ign["known"] == known


def test_brat_knows_roles_events_pieces_and_other_lines(tmp_path):
    path = tmp_path / "a.ann"
    (tmp_path / "a.txt").write_text("one two three")
    path.write_text(
        "T1\tX 0 3;8 13\tone three\nT2\tY 4 7\tother\nE1\tY:T2 Theme:T1\n#1\tNote T1\thm\n*\tEquiv T1 T2\n"
        "R1\tr Arg2:T2 Arg1:T1\t\nR2\ts Agent:E1 Theme:T1\n"
    )
    (document,), notes = read(path)
    assert [(one["type"], one["head"], one["tail"], one["head_span"]) for one in document[1]] == [
        ("r", "one three", "other", [0, 13]),
        ("s", "other", "one three", [4, 7]),
    ]
    assert document[0] is None
    assert "3 lines of something else" in notes[0]
    assert "1 entity with another text" in notes[1]
    (tmp_path / "more.txt").write_text("")
    assert any("1 .txt file without" in line for line in read(tmp_path)[1])


# What is refused

BAD = {
    "is no JSON": ("a.jsonl", '{"relations": []}\n{"relations": [\n', "line 2"),
    "expected an object": ("b.jsonl", '{"relations": []}\n[]\n', "line 2"),
    "has no field 'relations'": ("c.jsonl", '{"id": "d"}\n', "line 1"),
    "comes twice in one object": ("d.jsonl", '{"id": "d", "id": "e", "relations": []}\n', "line 1"),
    "comes again": ("e.jsonl", '{"id": "d", "relations": []}\n\n{"id": "d", "relations": []}\n', "line 3"),
    "unlike that in": ("f.jsonl", '{"id": "d", "relations": []}\n{"relations": []}\n', "line 2"),
    "field 'id'": ("g.jsonl", '{"id": true, "relations": []}\n', "line 1"),
    "is no number of JSON": ("h.jsonl", '{"relations": [], "x": NaN}\n', "line 1"),
    "relation 0: has no field": ("i.jsonl", '{"id": "d", "relations": [{"head": "a"}]}\n', "document 'd'"),
    "expected a list": ("j.json", '{"relations": [], "id": "x", "other": 1}\n'.replace("[]", "3"), "line 1"),
    "relation 1: is None": ("k.json", json.dumps([[TREATS, None]]), "document 0"),
    "in no format": ("l.txt", "head tail\n", "l.txt"),
    "is not UTF-8": ("m.json", b"[\n[],\n\xff]", "line 3"),
}


@pytest.mark.parametrize("why", BAD)
def test_a_bad_line_is_named_with_its_place(why, tmp_path):
    name, content, place = BAD[why]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = fault(path)
    assert str(path) in message
    assert why in message
    assert place in message


def spert(**changes):
    return [
        {
            "tokens": ["a", "b"],
            "entities": [{"type": "X", "start": 0, "end": 1}, {"type": "Y", "start": 1, "end": 2}],
            "relations": [{"type": "r", "head": 0, "tail": 1}],
        }
        | changes
    ]


def docred(**changes):
    return [
        {
            "title": "d",
            "vertexSet": [[{"name": "a", "type": "X"}], [{"name": "b", "type": "Y"}]],
            "labels": [{"h": 0, "t": 1, "r": "r"}],
        }
        | changes
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (spert(relations=[{"type": "r", "head": 2, "tail": 1}]), "document 0, relation 0, field 'head': is 2"),
        (spert(relations=[{"type": "r", "head": -1, "tail": 1}]), "field 'head': is -1"),
        (spert(relations=[{"type": "r", "head": True, "tail": 1}]), "field 'head': is True"),
        (spert(relations=[{"type": 3, "head": 0, "tail": 1}]), "field 'type': is 3"),
        (spert(relations=[7]), "document 0, relation 0: is 7"),
        (spert(tokens=["a"]), "the tail is of tokens 1 up to 2"),
        (spert(tokens=["a", 1]), "field 'tokens': is 1"),
        (spert(entities={}), "field 'entities': is {}"),
        (docred(labels=[{"h": 0, "t": 2, "r": "r"}]), "document 0, relation 0, field 't': is 2"),
        (docred(labels=[{"h": 0, "t": 1}]), "has no field 'r'"),
        (docred(vertexSet=[[], []]), "entity 0: has no mention"),
        (docred(title=None), "field 'title': is None"),
        (docred() * 2, "document 'd' comes again"),
        ([{"title": "d", "h_idx": 0, "t_idx": 1, "r": "r"}], "predictions of DocRED have no entities"),
    ],
)
def test_bad_documents_of_whole_files_are_named(content, message, tmp_path):
    path = dump(tmp_path / "a.json", content)
    assert f"{path}" in (found := fault(path))
    assert message in found


def test_predictions_of_docred_are_of_documents_that_there_are(tmp_path):
    gold = dump(tmp_path / "gold.json", docred() + docred(title="e", labels=[]))
    found = dump(tmp_path / "found.json", [{"title": "e", "h_idx": 1, "t_idx": 0, "r": "r"}])
    documents, _ = read(found, side="predictions", entities=gold)
    assert [(name, [one["head"] for one in relations]) for name, relations in documents] == [("d", []), ("e", ["b"])]
    wrong = dump(tmp_path / "wrong.json", [{"title": "f", "h_idx": 1, "t_idx": 0, "r": "r"}])
    assert "relation 0: document 'f' is not in" in fault(wrong, entities=gold)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"relations": [[[0, 1, 2, 3, "r"]]]},
            "relation 0: the tail is of tokens 2 up to 4 (excluded), but of those there are 3",
        ),
        ({"relations": [[[1, 0, 2, 2, "r"]]]}, "relation 0: the head is of tokens 1 up to 1"),
        ({"relations": [[[0, 1, 2, "r"]]]}, "relation 0: [0, 1, 2, 'r'] is not"),
        ({"relations": [[0]]}, "field 'relations': is 0"),
        ({"ner": [[[0, 1]]]}, "field 'ner': [0, 1] is not"),
        ({"sentences": [["a", "b"], [3]]}, "field 'sentences': is 3"),
        ({"sentences": "ab"}, "field 'sentences': is 'ab'"),
    ],
)
def test_bad_lines_of_dygie_are_named(changes, message, tmp_path):
    path = dump(tmp_path / "a.jsonl", dygie(doc_key="c"), dygie(**changes))
    assert f"{path}, line 2" in (found := fault(path))
    assert message in found


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ann", "T1\tX 0 3\n", "line 1: 'T1\\tX 0 3' is not T1<tab>"),
        ("a.ann", "T1\tX 3 3\ta\n", "line 1: T1 has no character"),
        ("a.ann", "T1\tX 0 1\ta\nT1\tX 0 1\ta\n", "line 2: T1 comes again"),
        ("a.ann", "T1\tX 0 1\ta\n\nR1\tr Arg1:T1 Arg2:T2\n", "line 3: there is no T2"),
        ("a.ann", "R1\tr Arg1:T1\n", "line 1: 'R1\\tr Arg1:T1' is not R1<tab>"),
        ("a.pubtator", "1|t|a\n1\t0\t1\ta\n", "line 2: is no mention"),
        ("a.pubtator", "1|t|a\n2\t0\t1\ta\tX\tM\n", "line 2: is of another document than '1'"),
        ("a.pubtator", "1|t|a\n1\t1\t1\ta\tX\tM\n", "line 2: the mention has no character"),
        ("a.pubtator", "1|t|a\n\n1|t|a\n", "line 3: document '1' comes again"),
        ("a.pubtator", "1|t|a\n\n1\tr\tM\tN\n", "line 3: '1\\tr\\tM\\tN' is not id|t|title"),
    ],
)
def test_bad_lines_of_texts_are_named(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    assert f"{path}, {message}" in fault(path)


def test_files_that_are_not_there_and_formats_that_do_not_exist(tmp_path):
    for name in ("absent.json", "absent.ann"):
        assert "no such file" in fault(tmp_path / name)
    assert "folder without .ann files" in fault(tmp_path)
    assert "format 'xml' does not exist" in fault(EXAMPLES / "both.json", format="xml")
    with pytest.raises(InputError, match="line 1"):
        [*read_relations(EXAMPLES / "references.jsonl", format="dygie")]


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_another_format_is_an_error_never_a_score_of_nothing(name):
    for other, pair in PAIRS.items():
        for side, path in zip(("references", "predictions"), pair, strict=True) if other != name else ():
            message = fault(EXAMPLES / path, format=name, side=side, entities=EXAMPLES / PAIRS[name][0])
            assert str(EXAMPLES / path) in message


KINDS_OF_BRAT = ["E1\tT:T1", "E1\tT:T1 Role:T1", "A1\tSure T1", "A1\tHow T1 much more", "M1\tNegation T1"]
KINDS_OF_BRAT += ["N1\tReference T1 C:1\tx", "#1\tNote T1\tany thing", "#1\tNote R1", "*\tEquiv T1 T1", "", " "]
NO_BRAT = ["garbage", " R1\ttreats Arg1:T1 Arg2:T1", "r1\ttreats Arg1:T1 Arg2:T1", "E1\tT", "E1 T:T1", "A1\tSure"]
NO_BRAT += ["M1", "N1\tReference T1", "# remark", "*\tEquiv", "*", "Event", "{}", "[]", "1|t|A title"]


@pytest.mark.parametrize("line", KINDS_OF_BRAT + NO_BRAT)
def test_lines_of_brat_are_of_kinds_that_brat_has(line, tmp_path):
    path = tmp_path / "a.ann"
    path.write_text(f"T1\tX 0 1\ta\n{line}\nR9\tr Arg1:T1 Arg2:T1\n")
    if line in NO_BRAT:
        for place in (path, tmp_path):
            assert f"{path}, line 2: {line!r} is not " in fault(place)
    else:
        assert len(read(path)[0][0][1]) == 1


def test_what_a_format_has_and_a_relation_does_not_is_counted(tmp_path):
    path = tmp_path / "a.ann"
    path.write_text("T1\tX 0 1;4 5\ta b\nT2\tX 0 1\ta\nR1\tr Arg1:T1 Arg2:T2\n")
    (document,), notes = read(path)
    assert document[1][0]["head_span"] == [0, 5]
    assert notes == [f"{path}: 1 entity in several pieces, each with a span from its first character to its last"]
    path = tmp_path / "a.pubtator"
    path.write_text("1|t|A b.\n1|a|C d.\n1\t0\t1\tA\tX\tM:1\n1\t5\t6\tc\tX\tM:2\n1\tr\tM:1\tM:2\tNovel\n")
    _, notes = read(path)
    assert len(notes) == 1
    assert "1 mention with another text than title and abstract" in notes[0]


def test_predictions_of_nothing_are_none_of_each_document_of_docred(tmp_path):
    wanted = EXAMPLES / "docred-references.json"
    nothing = dump(tmp_path / "nothing.json", [])
    for more in ((), ("--format", "docred"), ("--against", EXAMPLES / "docred-predictions.json")):
        found = scores("--references", wanted, "--predictions", nothing, *more)
        assert (found["documents"], found["formats"]["predictions"]) == (3, "docred")
        total = found["scores"]["ALL"]
        assert (total["tp"], total["fp"], total["fn"]) == (0, 0, 4)


@pytest.mark.parametrize("name", ["json", "jsonl", "spert", "pubtator"])
def test_an_empty_file_of_predictions_is_refused_where_documents_should_be_in_it(name, tmp_path):
    path = tmp_path / EXAMPLES.joinpath(PAIRS[name][1]).name
    path.write_text("[]" if path.suffix == ".json" else "")
    wanted = EXAMPLES / PAIRS[name][0]
    assert str(path) in refused("--references", wanted, "--predictions", path)
    assert "have document" in (told := refused("--references", wanted, "--predictions", path, "--format", name)) or (
        "0 predictions and 3 references" in told
    )


def test_documents_with_other_texts_are_no_pair(tmp_path):
    spert_files = [EXAMPLES / one for one in PAIRS["spert"]]
    turned = dump(tmp_path / "turned.json", json.loads(spert_files[1].read_text())[::-1])
    words = ("--references", spert_files[0], "--by-position", "--predictions")
    told = refused(*words, turned)
    assert f"{spert_files[0]} and {turned}: document 'made-up-1' has one text in the references and another" in told
    assert "document 'made-up-1'" in refused(*words, spert_files[1], "--against", turned)
    bare = [{name: value for name, value in one.items() if name != "orig_id"} for one in spert()]
    other = [one | {"tokens": ["a", "c"]} for one in bare]
    paths = [dump(tmp_path / f"{at}.json", [*bare, *one]) for at, one in enumerate((bare, other))]
    assert scores("--references", paths[0], "--predictions", paths[0])["scores"]["ALL"]["tp"] == 2
    assert "document 1 has one text" in refused("--references", paths[0], "--predictions", paths[1])
    wanted = dump(tmp_path / "wanted.jsonl", dygie())
    found = dump(tmp_path / "found.jsonl", dygie(sentences=[["a", "b"], ["d"]]))
    assert "document 'd' has one text" in refused("--references", wanted, "--predictions", found)
    for folder, text in (("one", "a b"), ("two", "a  b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(text)
        (tmp_path / folder / "x.ann").write_text("T1\tX 0 1\ta\nR1\tr Arg1:T1 Arg2:T1\n")
    assert "document 'x' has" in refused("--references", tmp_path / "one", "--predictions", tmp_path / "two")
    (tmp_path / "two" / "x.txt").unlink()
    assert scores("--references", tmp_path / "one", "--predictions", tmp_path / "two")["scores"]["ALL"]["tp"] == 1


def test_spans_of_tokens_are_not_those_of_characters():
    words = ("--by-position", "--references", EXAMPLES / "dygie.jsonl", "--predictions", EXAMPLES / "brat-predictions")
    assert scores(*words)["settings"]["match"] == "text"
    for more in (("--match", "span"), ("--mode", "relaxed")):
        assert "spans of references (dygie) are of tokens and predictions (brat) are of characters" in (
            refused(*words, *more)
        )


def test_lines_of_pubtator_are_told_what_they_are(tmp_path):
    path = tmp_path / "a.pubtator"
    for line in ("garbage", "1\tr", "1\t" + "9" * 5000 + "\t1\ta\tX\tM"):
        path.write_text(f"1|t|a\n{line}\n")
        assert f"{path}, line 2: is no mention" in fault(path)


def test_nothing_is_said_of_a_file_that_is_something_else(tmp_path):
    notes = []
    for path, field in (
        (EXAMPLES / "references.jsonl", "sentences"),
        (dump(tmp_path / "a.jsonl", {"sentences": [["a"]]}), "relations"),
    ):
        with pytest.raises(InputError, match=f"has no field '{field}'"):
            [*read_relations(path, format="dygie", side="predictions", note=notes.append)]
    assert notes == []


def test_numbers_of_any_length_and_the_field_that_a_score_is_from(tmp_path):
    long = TREATS | {"score": 10**400}
    path = dump(tmp_path / "long.json", {"references": [[TREATS]], "predictions": [[long, TREATS | {"head": "b"}]]})
    found = scores(path, "--threshold", "0.5")
    assert found["scores"]["ALL"]["tp"] == 1
    assert found["without_score"] == {"treats": 1}
    assert any("1 relation has no score" in line for line in found["notes"])
    assert str(10**400) in errors_table(iter_errors(predictions=[[long]], references=[[]]))
    for field in ("score", "confidence"):
        path = dump(tmp_path / f"{field}.json", {"references": [[]], "predictions": [[TREATS | {field: "high"}]]})
        told = refused(path, "--threshold", "0.5")
        assert f"{path}: predictions, document 0, relation 0: field {field!r} is 'high'" in told
    path = dump(tmp_path / "spert.json", spert(relations=[{"type": "r", "head": 0, "tail": 1, "confidence": []}]))
    assert "field 'confidence' is []" in refused("--references", path, "--predictions", path, "--threshold", "1")
    path = dump(tmp_path / "a.jsonl", dygie(relations=[[[0, 1, 2, 2, "r", "high"]]]))
    assert "[0, 1, 2, 2, 'r', 'high'] is not" in fault(path)


def test_deep_or_huge_json_is_refused_not_a_crash(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    assert "is no JSON that can be read" in fault(path)
    path.write_text('{"relations": [], "n": ' + "9" * 5000 + "}")
    assert "is no JSON that can be read" in fault(path, format="jsonl")


def places_in(value, path=()):
    """The path to every value inside a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from places_in(one, (*path, key))


def replaced(value, path, by):
    if not path:
        return by
    copy = {**value} if isinstance(value, dict) else [*value]
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@pytest.mark.parametrize("name", ["json", "jsonl", "dygie", "spert", "docred"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_file_with_any_wrong_value_is_read_or_refused(name, data, tmp_path_factory):
    """No other exception is raised, whatever is in the place of whatever."""
    side = data.draw(st.sampled_from([0, 1]))
    path = EXAMPLES / PAIRS[name][side]
    text = path.read_text()
    content = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    place = data.draw(st.sampled_from([one for one in places_in(content) if one]))
    wrong = data.draw(
        st.sampled_from([None, True, -1, 10**30, 0.5, "", "treats", [], {}, [[]], [None], {"relations": 1}])
    )
    other = tmp_path_factory.mktemp("any") / path.name
    changed = replaced(content, place, wrong)
    dump(other, *(changed if path.suffix == ".jsonl" else [changed]))
    for sort in (None, name):
        try:
            documents = [
                *read_relations(
                    other, format=sort, side=("references", "predictions")[side], entities=EXAMPLES / PAIRS[name][0]
                )
            ]
        except InputError as error:
            assert str(error).startswith(str(other))
        else:
            assert all(isinstance(one["type"], str) for _, relations in documents for one in relations)


@pytest.mark.parametrize("name", ["brat", "pubtator"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_text_file_with_any_wrong_cell_is_read_or_refused(name, data, tmp_path_factory):
    path = EXAMPLES / {"brat": "brat-predictions/made-up-1.ann", "pubtator": "predictions.pubtator"}[name]
    parts = re.split(r"([\t\n |:])", path.read_text())
    at = data.draw(st.integers(0, len(parts) - 1))
    parts[at] = data.draw(st.sampled_from(["", "\t", "\n", "²", "-1", "T2", "99999999999999999999", "|", ":", "Arg1"]))
    other = tmp_path_factory.mktemp("any") / path.name
    other.write_text("".join(parts), encoding="utf-8")
    try:
        documents = [*read_relations(other, format=name, side="predictions")]
    except InputError as error:
        assert str(error).startswith(str(other))
    else:
        assert all(one["type"] for _, relations in documents for one in relations)


# Pairs of documents


@given(st.sets(st.integers(0, 50), min_size=1), st.randoms())
@settings(max_examples=25, deadline=None)
def test_documents_of_one_id_are_paired_in_any_order(ids, order):
    references = [(str(one), [one]) for one in ids]
    predictions = [(str(one), [-one]) for one in ids]
    order.shuffle(references)
    order.shuffle(predictions)
    pairs = [*pair_documents(references, predictions)]
    assert sorted(pairs) == sorted((str(one), [one], [-one]) for one in ids)
    lost = references.pop()[0]
    with pytest.raises(InputError, match=f"only the predictions have document '{lost}'"):
        [*pair_documents(references, predictions)]
    with pytest.raises(InputError, match=f"only the references have document '{lost}'"):
        [*pair_documents(predictions, references)]


def test_pairs_come_as_soon_as_both_are_there():
    asked = []

    def documents(side):
        for number in range(3):
            asked.append((side, number))
            yield str(number), []

    pairs = pair_documents(documents("r"), documents("p"))
    next(pairs)
    assert asked == [("r", 0), ("p", 0)]


def test_documents_are_not_paired_where_it_is_not_clear_how():
    with pytest.raises(InputError, match="the other has none"):
        [*pair_documents([("a", [])], [(None, [])])]
    assert [*pair_documents([("a", [])], [(None, [])], by_position=True)] == [("a", [], [])]
    with pytest.raises(InputError, match="2 predictions and 1 reference,"):
        [*pair_documents([(None, [])], [(None, [])] * 2)]
    with pytest.raises(InputError, match="references: document 'a' comes twice"):
        [*pair_documents([("a", []), ("a", [])], [("b", []), ("a", [])])]
    assert [*pair_documents([], [])] == []


# Facts


def test_facts_are_read_from_tables_and_from_relations(tmp_path):
    fact = ("Velmorin", "treats", "quiet fever")
    assert read_facts(EXAMPLES / "known-facts.tsv") == {fact}
    for name in ("references.jsonl", "docred-references.json", "references.pubtator", "brat-references"):
        assert fact in read_facts(EXAMPLES / name)
    assert ("C:01", "treats", "D:01") in read_facts(EXAMPLES / "references.pubtator")
    assert ("0", "treats", "1") not in read_facts(EXAMPLES / "docred-references.json")
    names = docred(vertexSet=[[{"name": "a", "type": "X"}, {"name": "A", "type": "X"}], [{"name": "b", "type": "Y"}]])
    assert read_facts(dump(tmp_path / "d.json", names)) == {("a", "r", "b"), ("A", "r", "b")}
    packed = tmp_path / "a.ann.gz"
    packed.write_bytes(gzip.compress((EXAMPLES / "brat-references" / "made-up-1.ann").read_bytes()))
    assert fact in read_facts(packed)
    path = tmp_path / "bad.tsv"
    path.write_text("a\tr\tb\n\na\tr\n")
    with pytest.raises(InputError, match=r"bad\.tsv, line 3: has 2 columns, expected head, type, tail"):
        read_facts(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tr\n", "line 1: has 2 columns, expected head, type, tail"),
        ("a\tr\tb\tc\n", "line 1: has 4 columns"),
        ("a\n", "line 1: has 1 column,"),
        ("a\tr\tb\na\t\tb\n", "line 2: has an empty column"),
        ("", "line 1: has no columns"),
        ("\n\n", "line 1: has no columns"),
    ],
)
def test_tables_of_facts_have_three_columns(text, message, tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_text(text)
    assert f"{path}, {message}" in refused(EXAMPLES / "both.json", "--known-facts", path)


def test_a_header_of_facts_is_no_fact(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_text("head\ttype\ttail\na\tr\tb\nhead\ttype\ttail\n")
    assert read_facts(path) == {("a", "r", "b"), ("head", "type", "tail")}
    path.write_text("head\ttype\ttail\n")
    assert read_facts(path) == set()


# The command


def test_the_cases_through_the_command(cases):
    wrong = refused(cases / "c50-re-length-mismatch.json")
    assert "2 predictions and 3 references" in wrong
    expected = {"both-empty": (0, 0), "no-predictions": (0, 1), "no-references": (1, 0)}
    for name, (fp, fn) in expected.items():
        found = scores(cases / f"c51-re-nothing-there-{name}.json")
        zeros = dict.fromkeys(("p", "r", "f1", "Macro_f1", "Macro_p", "Macro_r"), 0.0)
        assert found["scores"]["ALL"] == {"tp": 0, "fp": fp, "fn": fn} | zeros
        assert any("nothing was scored" in line for line in found["notes"]) == (name == "both-empty")
    fields = {"number": "head", "missing-key": "tail_type", "null": "type"}
    for name, field in fields.items():
        path = cases / f"c52-re-bad-fields-{name}.json"
        wrong = refused(path)
        assert f"{path}: predictions, document 0, relation 1: " in wrong
        assert f"field '{field}'" in wrong
    content = json.loads((cases / "c53-re-hf-offline.json").read_text(encoding="utf-8"))
    assert scores(cases / "c53-re-hf-offline.json")["scores"] == score_relations(**content)
    wanted, found = (cases / f"c54-re-jsonl-ids-{side}.jsonl" for side in ("references", "predictions"))
    total = scores("--references", wanted, "--predictions", found)["scores"]["ALL"]
    assert (total["tp"], total["fp"], total["fn"], total["f1"]) == (2, 0, 0, 100.0)
    good, bad = (cases / f"c55-re-jsonl-noise-{name}.jsonl" for name in ("good", "bad"))
    assert scores("--references", good, "--predictions", good)["documents"] == 2
    assert f"{bad}, line 3: " in refused("--references", good, "--predictions", bad)


def test_an_id_of_one_file_alone_or_one_that_comes_twice_is_named(cases, tmp_path):
    wanted = cases / "c54-re-jsonl-ids-references.jsonl"
    lines = (cases / "c54-re-jsonl-ids-predictions.jsonl").read_text().splitlines(keepends=True)
    path = tmp_path / "found.jsonl"
    path.write_text("".join(lines[:-1]))
    assert "only the references have document 'd1'" in refused("--references", wanted, "--predictions", path)
    path.write_text("".join([*lines, lines[0]]))
    wrong = refused("--references", wanted, "--predictions", path)
    assert "line 4: document 'd2' comes again" in wrong
    assert "line 1" in wrong


def test_every_option_means_what_it_means_in_the_library(tmp_path):
    rng = random.Random(7)
    kinds = ["treats", "causes", "binds", "no_relation"]

    def some():
        ends = [(f"{word} {rng.choice('Xx')}", rng.choice("AB")) for word in rng.choices("abc", k=2)]
        (head, head_type), (tail, tail_type) = ends
        kind = rng.choice(kinds)
        return {
            "head": head,
            "head_type": head_type,
            "type": kind,
            "tail": tail,
            "tail_type": tail_type,
            "score": rng.randrange(10) / 10,
        }

    both = {side: [[some() for _ in range(6)] for _ in range(20)] for side in ("references", "predictions")}
    path = dump(tmp_path / "both.json", both)
    facts = [("a x", "treats", "b x"), ("b X", "causes", "c X")]
    table = tmp_path / "facts.tsv"
    table.write_text("".join("\t".join(one) + "\n" for one in facts))
    options = {
        "mode": "boundaries",
        "relation_types": ["treats", "causes"],
        "symmetric": ["causes"],
        "scale": "fraction",
        "normalise": ["case", "blanks"],
        "threshold": 0.3,
    }
    words = "--mode boundaries --types treats,causes --symmetric causes --scale fraction --normalise case,blanks"
    found = scores(path, *words.split(), "--threshold", "0.3", "--known-facts", table)
    result = RelationScorer(**options, known_facts=facts)
    result.add_batch(**both)
    assert found["scores"] == score_relations(**both, **options)
    assert found["ign"] == result.result().ign
    assert found["settings"] == result.settings.as_document()
    words = "--types-from references --leave-out no_relation --bootstrap 20 --seed 3 --errors"
    errors = tmp_path / "errors.tsv"
    found = scores(path, *words.split(), errors)
    options = {"types_from": "references", "leave_out": ["no_relation"]}
    assert found["scores"] == score_relations(**both, **options)
    assert errors.read_text(encoding="utf-8") == errors_table(iter_errors(**both, **options))
    assert {"micro_f1", "macro_f1"} <= {*found["intervals"]}
    assert (found["seed"], found["resamples"]) == (3, 20)


def test_the_table_names_mode_and_types_and_the_page_and_errors_are_written(tmp_path):
    page, errors = tmp_path / "page.html", tmp_path / "errors.tsv"
    words = (EXAMPLES / "both.json", "--html", page, "--errors", errors, "--against", EXAMPLES / "references.json")
    for _ in range(2):
        done = invoke(*words)
        assert done.exit_code == 0, done.exception
        assert "mode strict, heads and tails by text; documents: 3; relation types: 4" in done.stdout
        assert re.search(r"ALL \(micro\) +│ +2 │ +2 │ +2 │ +50.00 │ +50.00 │ +50.00 │ +4 ", done.stdout)
        assert re.search(r"micro f1 +│ -50.00", done.stdout)
        rows = [line.split("\t") for line in errors.read_text().splitlines()]
        assert tuple(rows[0]) == HEADER
        assert [row[1] for row in rows[1:]] == ["wrong type", "missing", "spurious"]
        assert "How many relations were found" in page.read_text(encoding="utf-8")
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    for option in ("--html", "--errors"):
        assert str(other) in refused(EXAMPLES / "both.json", option, other)
        assert str(tmp_path) in refused(EXAMPLES / "both.json", option, tmp_path)
    assert other.read_text() == "mine"


def test_options_that_do_nothing_are_told_or_refused():
    path = EXAMPLES / "both.json"
    for option, name in (("--leave-out", "leave_out"), ("--symmetric", "symmetric"), ("--types", "relation_types")):
        notes = scores(path, option, "treats,zz")["notes"]
        assert [line for line in notes if "zz" in line] == [
            f"{name}: no relation has the type 'zz'; check the spelling"
        ]
    told = refused(path, "--mode", "relaxed", "--match", "text")
    assert told == "mode='relaxed' compares spans, match='text' texts; choose one of the two"
    for number in ("1", "9", "100001"):
        assert f"resamples={number} is too " in refused(path, "--bootstrap", number)
    assert scores(path, "--bootstrap", "10")["resamples"] == 10


def test_errors_of_documents_name_the_file_of_their_side(tmp_path):
    files = [EXAMPLES / one for one in PAIRS["jsonl"]]
    words = ("--references", files[0], "--predictions", files[1])
    told = refused(*words, "--match", "span")
    assert re.match(rf"{re.escape(str(files[1]))}: predictions, document '[^']+', relation 0: field 'head_span'", told)
    short = tmp_path / "short.json"
    short.write_text(json.dumps(json.loads((EXAMPLES / "predictions.json").read_text())[:2]))
    wanted = EXAMPLES / "references.json"
    told = refused("--references", wanted, "--predictions", short)
    assert told.startswith(f"{wanted} and {short}: 2 predictions and 3 references")
    assert refused("--references", files[0], "--predictions", wanted).startswith(f"{files[0]} and {wanted}: one of")
    lines = files[1].read_text().splitlines(keepends=True)
    lost = tmp_path / "lost.jsonl"
    lost.write_text("".join(lines[1:]))
    assert refused("--references", files[0], "--predictions", lost).startswith(
        f"{files[0]} and {lost}: only the references"
    )
    against = dump(tmp_path / "against.json", [[TREATS | {"score": "high"}], [], []])
    words = ("--references", wanted, "--predictions", EXAMPLES / "predictions.json", "--threshold", "0.5")
    assert refused(*words, "--against", against).startswith(f"{against}: predictions, document 0, relation 0: field")


def test_outputs_are_places_of_their_own(tmp_path):
    source = tmp_path / "both.json"
    source.write_bytes((EXAMPLES / "both.json").read_bytes())
    same, link, hard, dangling = (tmp_path / name for name in ("e.tsv", "link.json", "hard.json", "dangling"))
    link.symlink_to(source)
    hard.hardlink_to(source)
    dangling.symlink_to(same)
    for option in ("--html", "--errors"):
        for path in (source, link, hard, tmp_path / "x" / ".." / "both.json"):
            assert "which is read" in refused(source, option, path)
        assert "is a file, expected a folder" in refused(source, option, source / "page.html")
    for other in (same, dangling, tmp_path / "x" / ".." / "e.tsv"):
        assert "choose another name for one" in refused(source, "--errors", same, "--html", other)
    assert not same.exists()
    assert source.read_bytes() == (EXAMPLES / "both.json").read_bytes()


def test_nothing_is_written_when_the_input_is_bad(cases, tmp_path):
    page, errors = tmp_path / "page.html", tmp_path / "errors.tsv"
    refused(cases / "c52-re-bad-fields-null.json", "--html", page, "--errors", errors)
    assert [*tmp_path.iterdir()] == []


def test_wrong_words_are_one_line_and_status_2():
    words = {
        ("--mode", "exact"): "'exact' is not one of",
        ("--bootstrap", "-1"): "--bootstrap",
        ("--threshold", "nan"): "threshold=nan",
        ("--predictions", "x"): "give one file",
    }
    for more, message in words.items():
        done = command(EXAMPLES / "both.json", *more)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert done.stderr.startswith("Error: ")
        assert message in done.stderr
    assert "nothing to score" in refused()
    spert = [EXAMPLES / name for name in PAIRS["spert"]]
    assert "--by-position" in refused("--references", spert[0], "--predictions", spert[1])
    assert scores("--references", spert[0], "--predictions", spert[1], "--by-position")["settings"]["match"] == "span"


# Hostile texts


def hostile():
    relation = {"head": HOSTILE, "head_type": "\n", "type": HOSTILE, "tail": "a\\b", "tail_type": "\ud800"}
    return {"references": {HOSTILE: [relation, TREATS]}, "predictions": {HOSTILE: [relation | {"type": "é\r"}]}}


def test_texts_of_any_kind_are_text_in_the_page_the_table_and_on_the_screen(tmp_path):
    path = dump(tmp_path / "both.json", hostile())
    page, errors = tmp_path / "page.html", tmp_path / "errors.tsv"
    done = command(path, "--html", page, "--errors", errors, "--leave-out", "x\x1b[31m\u202e")
    assert done.returncode == 0, done.stderr
    assert r"x\x1b[31m\u202e" in done.stderr
    told = command(path, "--leave-out", HOSTILE).stderr
    assert r"[bold]\t\x1b[31m\u202e (1)" in told
    assert not {*told} & {"\x1b", "\u202e"}
    assert "[bold]" in done.stdout
    html, table = page.read_text(encoding="utf-8"), errors.read_bytes().decode()
    for text in (done.stdout, done.stderr, html, table):
        assert not {*text} & {"\x1b", "\u202e", "\r", "\0"}
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    lines = table.split("\n")
    assert {line.count("\t") for line in lines[:-1]} == {len(HEADER) - 1}
    assert len(lines) == 4
    assert scores(path)["scores"] == score_relations(**hostile())
    assert invoke(path, "--json").stdout.replace("\n", "").isprintable()


@pytest.mark.skipif(find_browser() is None, reason="there is no browser")
def test_the_page_on_paper_and_on_a_narrow_screen(tmp_path):
    kinds = [f"a rather long name of a relation that nobody gives one, {number}" for number in range(40)]
    both = {"references": [[TREATS | {"type": kind} for kind in kinds]], "predictions": [[TREATS]]}
    path = tmp_path / "page.html"
    assert invoke(dump(tmp_path / "both.json", both), "--html", path).exit_code == 0
    rest = "[...document.querySelectorAll('details tbody td')]"
    with open_page(path.as_uri(), tmp_path / "profile") as page:
        page.wait("document.querySelector('footer') !== null && document.readyState === 'complete'")
        assert page.run(f"{rest}.length") > 40
        assert not page.run(f"{rest}.some(cell => cell.checkVisibility({{contentVisibilityAuto: true}}))")
        page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        table = "document.querySelector('#table-types')"
        assert page.run(f"{table}.querySelector('thead th:nth-child(2)').innerText") == "F1"
        edges = f"[...{table}.querySelectorAll('td:nth-child(2)')].map(cell => cell.getBoundingClientRect().right)"
        assert 0 < page.run(f"Math.max(...{edges})") < 400
        page.call("Emulation.clearDeviceMetricsOverride")
        page.call("Emulation.setEmulatedMedia", media="print")
        assert page.run(f"{rest}.every(cell => cell.checkVisibility({{contentVisibilityAuto: true}}))")
        assert page.run("getComputedStyle(document.querySelector('tfoot')).display") == "table-row-group"
        bars = "[...document.querySelectorAll('.stacks svg')].map(bar => bar.getBoundingClientRect().height)"
        assert page.run(f"{bars}.length") == 41
        assert page.run(f"Math.max(...{bars})") < 40
        assert page.run("getComputedStyle(document.querySelector('figure')).breakInside") == "auto"


def test_a_page_is_the_same_bytes_for_the_same_scores_in_any_order():
    both = hostile()
    pages = set()
    for turn in (1, -1):
        sides = {side: {name: relations[::turn] for name, relations in both[side].items()} for side in both}
        scorer = RelationScorer()
        scorer.add_batch(**sides)
        pages.add(render_relations_page(scorer.result().as_document(), [*iter_errors(**sides)]))
    assert len(pages) == 1


def as_written(escape):
    """What an escape of a cell stands for."""
    return escape[0].encode().decode("unicode_escape")


@given(st.text(st.characters(exclude_categories=[])))
@settings(max_examples=25, deadline=None)
def test_cells_can_be_read_back_and_visible_text_is_printable(text):
    relation = TREATS | {"head": text}
    table = errors_table(iter_errors(predictions=[[]], references=[[relation]]))
    header, row = table.removesuffix("\n").split("\n")
    cell = dict(zip(header.split("\t"), row.split("\t"), strict=True))["reference_head"]
    assert cell.isprintable()
    assert re.sub(r"\\(\\|[tnr]|x..|u....|U.{8})", as_written, cell) == text
    assert visible(text).isprintable()


# Real files


@pytest.mark.real
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_real_abstracts_against_themselves_and_with_relations_changed(shared, part, tmp_path):
    path = shared / "data" / "relation-extraction" / "scierc-dygiepp" / f"{part}.json"
    assert recognise(path) == "dygie"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    number = sum(len(one) for line in lines for one in line["relations"])
    (wanted, said), (same, _) = read(path), read(path, side="predictions")
    assert said == []
    result = scored(wanted, same, match="span")
    assert (result.total.tp, result.micro["f1"], result.repeats) == (number, 100.0, {"predictions": 0, "references": 0})
    by_text = scored(wanted, same)
    assert (by_text.total.tp + by_text.repeats["references"], by_text.micro["f1"]) == (number, 100.0)
    for name, relations in wanted:
        tokens = [*chain.from_iterable(next(line["sentences"] for line in lines if line["doc_key"] == name))]
        assert all(one["head"] == " ".join(tokens[slice(*one["head_span"])]) for one in relations)
    changed = 0
    for line in lines:
        line["predicted_ner"] = line["ner"]
        line["predicted_relations"] = [[[*one] for one in sentence] for sentence in line["relations"]]
        if sentence := next((one for one in line["predicted_relations"] if one), None):
            changed += 1
            if changed == 1:
                del sentence[0]
            else:
                sentence[0][4] = "NOT-USED"
    other = dump(tmp_path / "found.json", *lines[::-1])
    found = scores("--references", path, "--predictions", other)
    total = found["scores"]["ALL"]
    assert (total["tp"], total["fp"], total["fn"]) == (number - changed, changed - 1, changed)
    assert sum(row["count"] for row in found["confusion"]) == changed - 1
