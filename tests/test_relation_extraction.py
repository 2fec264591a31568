"""Scores of relations: the definition, in whatever order and parts documents come, and nothing dropped unseen."""

import json
import math
import time
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction import (
    RelationScorer,
    bootstrap_relations,
    check_document,
    compare_relations,
    iter_errors,
    score_relations,
)
from openbiolink.metrics.relation_extraction.matching import largest_pairing
from oracles import relation_extraction as oracle

TYPES = ["causes", "treats", "interacts"]
WIDE = "\uff41"  # a full-width a
ENTITY_TYPES = ["drug", "disease"]
quick = settings(deadline=None, max_examples=25)

spans = st.tuples(st.integers(0, 6), st.integers(1, 3)).map(lambda span: [span[0], span[0] + span[1]])
relations = st.fixed_dictionaries(
    {
        "head": st.sampled_from(["a", "A", "b", "a  b"]),
        "head_type": st.sampled_from(ENTITY_TYPES),
        "type": st.sampled_from(TYPES),
        "tail": st.sampled_from(["a", "b", WIDE, "a b"]),
        "tail_type": st.sampled_from(ENTITY_TYPES),
        "head_span": spans,
        "tail_span": spans,
        "head_id": st.sampled_from("xyz"),
        "tail_id": st.sampled_from("xyz"),
        "score": st.sampled_from([0.25, 0.5, 0.75]),
    }
)
corpora = st.lists(st.tuples(st.lists(relations, max_size=5), st.lists(relations, max_size=5)), min_size=1, max_size=4)
names = st.lists(st.sampled_from(TYPES), max_size=2, unique=True)


@st.composite
def option_sets(draw):
    """Options that agree with each other."""
    mode = draw(st.sampled_from(["strict", "boundaries", "relaxed"]))
    match = None if mode == "relaxed" else draw(st.sampled_from(["text", "span", "id"]))
    found = {
        "mode": mode,
        "match": match,
        "symmetric": draw(names),
        "scale": draw(st.sampled_from(["percent", "fraction"])),
    }
    if match == "text":
        found["normalise"] = draw(st.lists(st.sampled_from(["case", "blanks", "unicode"]), unique=True))
    found["threshold"] = draw(st.sampled_from([None, 0.5]))
    only = draw(st.sampled_from([None, None, ["treats"], ["treats", "prevents"]]))
    if only is None:
        found["leave_out"] = draw(names)
        found["types_from"] = draw(st.sampled_from(["union", "references"]))
    return found | {"relation_types": only}


def split(corpus):
    """(predictions, references) as the functions take them."""
    return {"predictions": [found for found, _ in corpus], "references": [wanted for _, wanted in corpus]}


def a_relation(**fields):
    return {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"} | fields


def case_of(cases, name):
    return json.loads(next(cases.glob(f"{name}*.json")).read_text(encoding="utf-8"))


def expected_of(cases):
    return json.loads((cases / "expected.json").read_text(encoding="utf-8"))


def sell(head, tail, head_type="brand"):
    return {"head": head, "head_type": head_type, "type": "sell", "tail": tail, "tail_type": "product"}


def test_scores_are_printed_to_the_digit_in_the_order_of_the_card():
    first = [sell("acme paints", "red"), sell("zeta", "red")]
    found = [sell("acmepaints", "red", "product"), sell("zeta", "red")]
    once = score_relations(predictions=[found], references=[first])
    assert str(once) == (
        "{'sell': {'tp': 1, 'fp': 1, 'fn': 1, 'p': 50.0, 'r': 50.0, 'f1': 50.0}, 'ALL': {'tp': 1, 'fp': 1, 'fn': 1, "
        "'p': 50.0, 'r': 50.0, 'f1': 50.0, 'Macro_f1': 50.0, 'Macro_p': 50.0, 'Macro_r': 50.0}}"
    )
    more = score_relations(
        predictions=[found, [sell("nu", "blue"), sell("n", "blue")]], references=[first, [sell("nu", "blue")]]
    )
    assert str(more) == (
        "{'sell': {'tp': 2, 'fp': 2, 'fn': 1, 'p': 50.0, 'r': 66.66666666666667, 'f1': 57.142857142857146}, 'ALL': "
        "{'tp': 2, 'fp': 2, 'fn': 1, 'p': 50.0, 'r': 66.66666666666667, 'f1': 57.142857142857146, 'Macro_f1': "
        "57.142857142857146, 'Macro_p': 50.0, 'Macro_r': 66.66666666666667}}"
    )


def test_the_known_cases_have_the_numbers_worked_out_by_hand(cases):
    expected = expected_of(cases)
    for name in ("c46", "c48", "c53"):
        assert score_relations(**case_of(cases, name)) == expected[name]
    assert score_relations(**case_of(cases, "c47")) == expected["c47"]["union"]
    assert score_relations(**case_of(cases, "c47"), types_from="references") == expected["c47"]["references_only"]
    for mode in ("strict", "boundaries"):
        assert score_relations(**case_of(cases, "c49"), mode=mode) == expected["c49"][mode]
    for name, scores in expected["c51"].items():
        assert score_relations(**case_of(cases, f"c51-re-nothing-there-{name.replace('_', '-')}")) == scores


@pytest.mark.parametrize(
    ("name", "field"),
    [("bad-fields-number", "head"), ("bad-fields-missing-key", "tail_type"), ("bad-fields-null", "type")],
)
def test_what_is_no_relation_is_refused_with_its_place(cases, name, field):
    given = case_of(cases, f"c52-re-{name}")
    with pytest.raises(InputError, match=f"predictions, document 0, relation 1: .*'{field}'"):
        score_relations(**given)
    with pytest.raises(InputError, match=f"references, document 'd7', relation 1: .*'{field}'"):
        RelationScorer().add(prediction=[], reference=given["predictions"][0], document="d7")
    with pytest.raises(InputError, match=f"x, document 0, relation 1: .*'{field}'"):
        check_document(given["predictions"][0], side="x", document=0)


def test_the_lengths_of_both_sides_are_told(cases):
    with pytest.raises(InputError, match="2 predictions and 3 references"):
        score_relations(**case_of(cases, "c50"))
    with pytest.raises(InputError, match="no documents"):
        score_relations(predictions=[], references=[])
    with pytest.raises(InputError, match="no documents"):
        RelationScorer().result()


@pytest.mark.parametrize(
    ("predictions", "references", "told"),
    [
        ([[a_relation(head=True)]], [[]], "relation 0: field 'head' is True"),
        ([[a_relation(head=["a"])]], [[]], "field 'head' is .*list"),
        ([[a_relation(type="")]], [[]], "field 'type' is ''"),
        ([[]], [[a_relation(type="ALL")]], "references, document 0, relation 0: field 'type' is 'ALL'"),
        ([a_relation()], [[]], "predictions, document 0: is .*expected a list of relations"),
        ([None], [[]], "predictions, document 0: is None"),
        ([["text"]], [[]], "relation 0: is 'text'"),
        ("text", [[]], "predictions are 'text'"),
        (None, [[]], "predictions are None"),
        ({"d1": []}, [[]], "by id, the other"),
        ({"d1": []}, {"d1": [], "d2": []}, "predictions have no document 'd2'"),
        ({"d1": [], "d2": []}, {"d1": []}, "references have no document 'd2'"),
    ],
)
def test_what_is_no_corpus_is_refused(predictions, references, told):
    for refuse in (score_relations, bootstrap_relations):
        with pytest.raises(InputError, match=told) as caught:
            refuse(predictions=predictions, references=references)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=told):
        list(iter_errors(predictions=predictions, references=references, types_from="references"))
    with pytest.raises(InputError, match=f"first system: .*{told}"):
        compare_relations(first=predictions, second=predictions, references=references)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mode": "soft"}, "mode='soft' does not exist; choose one of strict, boundaries, relaxed"),
        ({"match": "name"}, "match='name'"),
        ({"scale": "permille"}, "scale='permille'"),
        ({"types_from": "both"}, "types_from='both'"),
        ({"mode": "relaxed", "match": "id"}, "choose one of the two"),
        ({"mode": "relaxed", "match": "text"}, "match='text' texts; choose one of the two"),
        ({"match": ""}, "match='' does not exist"),
        ({"mode": "relaxed"}, "field 'head_span' is None"),
        ({"match": "span"}, "field 'head_span' is None"),
        ({"match": "id"}, "field 'head_id' is None"),
        ({"normalise": ["lower"]}, "normalise='lower'"),
        ({"normalise": ["case"], "match": "id"}, "compares none"),
        ({"relation_types": "treats"}, "is one text"),
        ({"relation_types": []}, "names no type"),
        ({"relation_types": ["ALL"]}, "relation_types holds 'ALL'"),
        ({"relation_types": ["a"], "leave_out": ["a"]}, "in relation_types and in leave_out"),
        ({"relation_types": ["a"], "types_from": "references"}, "give one of them"),
        ({"threshold": math.nan}, "threshold=nan"),
        ({"threshold": True}, "threshold=True"),
        ({"known_facts": [("a", "treats")]}, "known_facts, fact 0"),
        ({"known_facts": [("a", "treats", 5)]}, "known_facts, fact 0"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    with pytest.raises(InputError, match=told):
        score_relations(predictions=[[a_relation()]], references=[[a_relation()]], **options)


@pytest.mark.parametrize("span", [None, [1], [1, 1], [2, 1], [-1, 2], [0.0, 1], [True, 2], "01"])
def test_spans_are_two_whole_numbers(span):
    wrong = a_relation(head_span=[0, 1], tail_span=span)
    assert score_relations(predictions=[[wrong]], references=[[wrong]])["ALL"]["tp"] == 1
    with pytest.raises(InputError, match="relation 0: field 'tail_span'"):
        score_relations(predictions=[[wrong]], references=[[wrong]], mode="relaxed")


def test_names_that_no_relation_has_are_told():
    scorer = RelationScorer(symmetric=["treats", "y"], leave_out=["causes", "x", "z"])
    scorer.add(prediction=[a_relation(type="causes")], reference=[a_relation()])
    told = [line for line in scorer.result().notes if "spelling" in line]
    assert told == [
        "leave_out: no relation has the type 'x' or 'z'; check the spelling",
        "symmetric: no relation has the type 'y'; check the spelling",
    ]


def test_scores_may_be_whole_numbers_of_any_length():
    given = {"predictions": [[a_relation(score=10**400), a_relation(head="b", score=-(10**5000))]], "references": [[]]}
    assert score_relations(**given, threshold=10**400)["ALL"]["fp"] == 1
    with pytest.raises(InputError, match="a value too long to show"):
        score_relations(predictions=[[a_relation(type=10**5000)]], references=[[]])


@pytest.mark.parametrize("score", [None, math.inf, "0.5", True])
def test_scores_matter_only_where_there_is_a_threshold(score):
    given = {"predictions": [[a_relation(score=score)]], "references": [[a_relation()]]}
    assert score_relations(**given)["ALL"]["tp"] == 1
    with pytest.raises(InputError, match="predictions, document 0, relation 0: field 'score'"):
        score_relations(**given, threshold=0.5)


@quick
@given(corpora, option_sets())
def test_scores_are_their_definition(corpus, options):
    given = split(corpus)
    found, wanted = score_relations(**given, **options), oracle.score(**given, **options)
    assert list(found) == list(wanted)
    for name, row in wanted.items():
        assert list(found[name]) == list(row)
        assert found[name] == pytest.approx(row, rel=1e-12)
        assert all(type(value) in {int, float} and math.isfinite(value) for value in found[name].values())
    assert oracle.plain(**given)["ALL"].items() <= score_relations(**given)["ALL"].items()


@quick
@given(corpora, option_sets(), st.randoms(use_true_random=False))
def test_order_parts_and_form_change_nothing(corpus, options, random):
    scorer = RelationScorer(**options)
    scorer.add_batch(**split(corpus))
    whole = scorer.result().as_document()
    errors = [asdict(one) for one in iter_errors(**split(corpus), **options)]
    shuffled = [(random.sample(found, len(found)), random.sample(wanted, len(wanted))) for found, wanted in corpus]
    assert [asdict(one) for one in iter_errors(**split(shuffled), **options)] == errors
    random.shuffle(shuffled)
    cut = random.randint(0, len(corpus))
    parts = [RelationScorer(**options), RelationScorer(**options)]
    for found, wanted in shuffled[:cut]:
        parts[0].add(prediction=iter(found), reference=tuple(wanted))
    parts[1].add_batch(**split(shuffled[cut:]))
    through_json = RelationScorer.from_state(json.loads(json.dumps(parts[1].state())))
    through_json.merge(parts[0])
    assert json.dumps(through_json.result().as_document()) == json.dumps(whole)
    by_id = {side: {f"d{place}": one for place, one in enumerate(of)} for side, of in split(corpus).items()}
    by_id["predictions"] = dict(reversed(by_id["predictions"].items()))
    assert score_relations(**by_id, **options) == whole["scores"]
    scorer.reset()
    assert scorer.documents == 0
    scorer.add_batch(**split(corpus))
    assert scorer.result().as_document() == whole


@quick
@given(corpora, option_sets().filter(lambda options: options.get("types_from") != "references"))
def test_the_laws_of_counts_hold(corpus, options):
    given = split(corpus) | options | {"threshold": None}
    found = score_relations(**given)
    swapped = score_relations(**given | {"predictions": given["references"], "references": given["predictions"]})
    scorer = RelationScorer(**options | {"threshold": None})
    scorer.add_batch(**split(corpus))
    result = scorer.result()
    for name, row in found.items():
        other = swapped[name]
        assert (row["tp"], row["fp"], row["fn"]) == (other["tp"], other["fn"], other["fp"])
        assert (row["p"], row["r"], row["f1"]) == (other["r"], other["p"], other["f1"])
        assert row["tp"] + row["fn"] == result.support[name]
    errors = list(iter_errors(**given))
    assert sum(one.reference is not None for one in errors) == found["ALL"]["fn"]
    assert sum(one.prediction is not None for one in errors) == found["ALL"]["fp"]
    wrong = Counter((one.reference["type"], one.prediction["type"]) for one in errors if one.kind == "wrong type")
    assert wrong == Counter(result.confusion)
    turned = iter_errors(**given | {"predictions": given["references"], "references": given["predictions"]})
    back = Counter((one.prediction["type"], one.reference["type"]) for one in turned if one.kind == "wrong type")
    assert sum(back.values()) == sum(wrong.values())
    weights = [one.support for one in result.counts.values()]
    if sum(weights):
        rows = [found[name] for name in result.types]
        mean = sum(weight * row["f1"] for weight, row in zip(weights, rows, strict=True)) / sum(weights)
        assert result.weighted["f1"] == pytest.approx(mean)
    assert result.macro == {name: found["ALL"][f"Macro_{name}"] for name in ("p", "r", "f1")}


@quick
@given(corpora, names)
def test_looser_modes_find_no_less(corpus, symmetric):
    of_text = {"a": "drug", "A": "drug", "b": "disease", "a  b": "disease", WIDE: "drug", "a b": "drug"}
    typed = [
        tuple([one | {"head_type": of_text[one["head"]], "tail_type": "drug"} for one in side] for side in document)
        for document in corpus
    ]
    found = {
        (mode, match): score_relations(**split(typed), mode=mode, match=match, symmetric=symmetric)["ALL"]["tp"]
        for mode, match in (("strict", "text"), ("boundaries", "text"), ("strict", "span"), ("relaxed", "span"))
    }
    assert found["strict", "span"] <= found["relaxed", "span"]
    if not symmetric:  # a text has one entity type at each end, so that boundaries make no repeats of different ones
        assert found["strict", "text"] <= found["boundaries", "text"]


@quick
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=5))
def test_pairings_are_as_large_as_can_be(table):
    rows, columns = range(len(table)), range(5)
    pairs = largest_pairing(rows, columns, lambda row, column: table[row][column])
    assert all(table[row][column] for row, column in pairs)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert len(pairs) == oracle.most_pairs(list(rows), list(columns), lambda row, column: table[row][column])


def test_long_chains_are_paired_without_recursion():
    places = list(range(3000))
    pairs = largest_pairing(places, places[1:], lambda one, other: other in {one, one + 1})
    assert len(pairs) == 2999


def test_relaxed_pairs_are_one_to_one_and_as_many_as_can_be():
    tail = {"tail_span": [90, 91]}
    wide, first = a_relation(head_span=[0, 10], **tail), a_relation(head_span=[0, 1], **tail)
    last = a_relation(head_span=[9, 10], **tail)
    row = score_relations(predictions=[[wide, last]], references=[[wide, first]], mode="relaxed")["ALL"]
    assert (row["tp"], row["fp"], row["fn"]) == (2, 0, 0)
    row = score_relations(predictions=[[first, last]], references=[[wide]], mode="relaxed")["ALL"]
    assert (row["tp"], row["fp"], row["fn"]) == (1, 1, 0)
    beside = a_relation(head_span=[1, 2], **tail)
    for far in (last, beside):
        assert score_relations(predictions=[[far]], references=[[first]], mode="relaxed")["ALL"]["tp"] == 0


@pytest.mark.parametrize(
    ("predicted", "wanted", "options"),
    [
        # two spans for one reference, and repeats that differ in what is not compared
        ([{"head_span": [0, 1]}, {"head_span": [1, 2]}], [{"head_span": [0, 2]}], {"mode": "relaxed"}),
        ([{"head_type": "food"}, {"head_type": "drug"}], [{"tail": "fever"}], {"mode": "boundaries"}),
        ([{"head": "cdcbbedbdd"}], [{"head": "cdcbdbdbed"}, {"head": "x"}], {}),
    ],
)
def test_errors_name_the_same_relations_whatever_the_order(predicted, wanted, options):
    predicted, wanted = ([a_relation(**{"tail_span": [5, 6]} | one) for one in side] for side in (predicted, wanted))
    once = list(iter_errors(predictions=[predicted], references=[wanted], **options))
    assert list(iter_errors(predictions=[predicted[::-1]], references=[wanted[::-1]], **options)) == once
    swapped = Counter(one.kind for one in iter_errors(predictions=[wanted], references=[predicted], **options))
    assert swapped["near miss"] == sum(one.kind == "near miss" for one in once)


def test_symmetric_relations_count_once_in_either_order():
    there = a_relation(type="interacts", tail="warfarin", tail_type="drug")
    back = there | {"head": "warfarin", "tail": "aspirin"}
    given = {"predictions": [[there, back]], "references": [[back]]}
    assert score_relations(**given)["ALL"]["fp"] == 1
    scorer = RelationScorer(symmetric=["interacts"])
    scorer.add_batch(**given)
    row = scorer.result().scores()["ALL"]
    assert (row["tp"], row["fp"], row["fn"]) == (1, 0, 0)
    assert scorer.result().repeats == {"predictions": 1, "references": 0}


def test_what_does_not_count_is_counted_and_told():
    predicted = [a_relation(score=0.2), a_relation(type="no_relation"), a_relation(type="causes"), a_relation()]
    given = {
        "predictions": [[*predicted, a_relation()]],
        "references": [[a_relation(), a_relation(type="no_relation")]],
    }
    scorer = RelationScorer(threshold=0.5, leave_out=["no_relation"], types_from="references")
    scorer.add_batch(**given)
    result = scorer.result()
    assert result.left_out == {
        "below_threshold": {"predictions": {"treats": 1}},
        "left_out": {"predictions": {"no_relation": 1}, "references": {"no_relation": 1}},
        "outside_reference_types": {"predictions": {"causes": 1}},
    }
    assert result.repeats == {"predictions": 1, "references": 0}
    assert result.scores()["ALL"]["fp"] == 0
    told = "\n".join(result.notes)
    for part in (
        "causes (1)",
        "no_relation (1)",
        "below the threshold",
        "1 repeat inside a document was",
        "causes",
        "3 relations have no score",
    ):
        assert part in told
    scorer = RelationScorer(relation_types=["treats", "prevents"])
    scorer.add_batch(**given)
    assert scorer.result().types == ("prevents", "treats")
    assert scorer.result().left_out["outside_relation_types"]["predictions"] == {"causes": 1, "no_relation": 1}
    empty = RelationScorer()
    empty.add(prediction=[], reference=[])
    assert "nothing was scored" in empty.result().notes[0]


def test_facts_known_from_training_leave_precision_alone():
    known, new, wrong = a_relation(), a_relation(tail="fever"), a_relation(tail="cough")
    facts = [("Aspirin", "treats", "pain"), ("aspirin", "treats", "cough")]
    given = {"predictions": [[known, new, wrong]], "references": [[known, new, a_relation(tail="ache")]]}
    scorer = RelationScorer(known_facts=facts, normalise=["case"], scale="fraction")
    scorer.add_batch(**given)
    ign = scorer.result().ign
    assert ign == {"known": 1, "p": 1 / 2, "r": 2 / 3, "f1": pytest.approx(4 / 7)}
    assert scorer.result().micro["p"] == 2 / 3
    assert score_relations(**given, known_facts=[])["ALL"]["p"] == score_relations(**given)["ALL"]["p"]
    again = RelationScorer.from_state(scorer.state(), known_facts=reversed(facts))
    assert again.result() == scorer.result()
    for facts_given in (None, facts[:1]):
        with pytest.raises(InputError, match="known_facts"):
            RelationScorer.from_state(scorer.state(), known_facts=facts_given)
    by_id = RelationScorer(known_facts=[("D1", "treats", "D2")], match="id")
    by_id.add(prediction=[a_relation(head_id="D1", tail_id="D2")], reference=[a_relation(head_id="D1", tail_id="D2")])
    assert by_id.result().ign["known"] == 1


def test_a_scorer_is_as_it_was_after_an_error():
    scorer = RelationScorer()
    scorer.add(prediction=[a_relation()], reference=[])
    before = scorer.state()
    with pytest.raises(InputError, match="document 2, relation 0"):
        scorer.add_batch(predictions=[[a_relation(), a_relation()], [{}]], references=[[], []])
    with pytest.raises(InputError, match="references, document 1"):
        scorer.add(prediction=[a_relation(), a_relation()], reference=[None])
    assert scorer.state() == before
    with pytest.raises(InputError, match="scorers differ in mode: 'strict' and 'boundaries'"):
        scorer.merge(RelationScorer(mode="boundaries"))
    with pytest.raises(InputError, match="no state"):
        RelationScorer.from_state({})
    for damage in ({"counts": {"treats": [2, 1, 1, 0]}}, {"counts": None}, {"confusion": [["a"]]}, {"settings": {}}):
        with pytest.raises(InputError, match="damaged"):
            RelationScorer.from_state(before | damage)


WRONG_COUNTS = [-1, 1.5, 1.0, math.nan, math.inf, 10**30, True, None, "1", [1]]


def test_a_state_holds_whole_numbers_that_agree():
    wanted, found = [a_relation(), a_relation(head="b")], [a_relation(), a_relation(head="b", type="causes")]
    scorer = RelationScorer(threshold=0.5, known_facts=[("aspirin", "treats", "pain")])
    scorer.add(prediction=[*found, found[0], a_relation(score=0.1)], reference=wanted)
    state, facts = scorer.state(), [("aspirin", "treats", "pain")]
    assert state["counts"] == {"causes": [0, 1, 0, 0], "treats": [1, 1, 2, 1]}
    assert state["confusion"] == [["treats", "causes", 1]]
    assert RelationScorer.from_state(state, known_facts=facts).result() == scorer.result()
    damages = [{"documents": wrong} for wrong in [*WRONG_COUNTS, 0]]
    for place in range(4):
        for wrong in WRONG_COUNTS:
            numbers = [*state["counts"]["treats"]]
            numbers[place] = wrong
            damages.append({"counts": state["counts"] | {"treats": numbers}})
    damages += [{"confusion": [["treats", "causes", wrong]]} for wrong in [*WRONG_COUNTS, 0, 2]]
    damages += [{"dropped": [["repeats", "predictions", "treats", wrong]]} for wrong in [*WRONG_COUNTS, 0]]
    damages += [{"confusion": [pair]} for pair in (["treats", "treats", 1], ["x", "causes", 1], ["treats", 3, 1])]
    damages += [{"confusion": state["confusion"] * 2}, {"dropped": state["dropped"] * 2}]
    damages += [{"dropped": [what]} for what in (["why", "predictions", "x", 1], ["repeats", "other", "x", 1])]
    damages += [
        {"counts": state["counts"] | more} for more in ({"ALL": [0, 1, 0, 0]}, {"x": [0, 0, 0, 0]}, {"x": [1, 1, 1]})
    ]
    damages += [
        {"counts": state["counts"] | {"treats": numbers}} for numbers in ([3, 2, 3, 0], [2, 3, 1, 0], [1, 1, 2, 2])
    ]
    for damage in damages:
        with pytest.raises(InputError, match="damaged"):
            RelationScorer.from_state(state | damage, known_facts=facts)


@pytest.mark.parametrize(
    ("changes", "kind", "differs", "options"),
    [
        ({"type": "causes"}, "wrong type", ("type",), {}),
        ({"head_type": "food"}, "wrong entity type", ("head_type",), {}),
        ({"head": "pain", "head_type": "disease", "tail": "aspirin", "tail_type": "drug"}, "reversed", None, {}),
        ({"head": "Asp irin"}, "near miss", ("head",), {}),
        ({"tail": "chest pain", "tail_type": "symptom"}, "near miss", ("tail", "tail_type"), {}),
        ({"head": "asprin"}, "near miss", ("head",), {}),
        ({"head": "ibuprofen"}, None, None, {}),
        ({"head_span": [1, 3]}, "near miss", ("head_span",), {"match": "span"}),
        ({"head_span": [4, 6]}, None, None, {"match": "span"}),
        ({"head_span": [1, 3], "type": "causes"}, "wrong type", ("type",), {"mode": "relaxed"}),
        ({"head_span": [1, 3], "tail_type": "x"}, "wrong entity type", ("tail_type",), {"mode": "relaxed"}),
        ({"head_id": "D9"}, None, None, {"match": "id"}),
        (
            {"type": "causes", "head": "pain", "head_type": "disease", "tail": "aspirin", "tail_type": "drug"},
            "wrong type",
            ("type",),
            {"symmetric": ["treats"]},
        ),
    ],
)
def test_errors_have_the_kind_that_is_closest_to_right(changes, kind, differs, options):
    wanted = a_relation(head_span=[0, 2], tail_span=[7, 8], head_id="D1", tail_id="D2", note="kept out")
    errors = list(iter_errors(predictions={"d": [wanted | changes]}, references={"d": [wanted]}, **options))
    if kind is None:
        assert [one.kind for one in errors] == ["missing", "spurious"]
        assert errors[0].prediction is None
        assert errors[1].reference is None
    else:
        assert [one.kind for one in errors] == [kind]
        assert differs is None or errors[0].differs == differs
        assert errors[0].prediction["head"] == changes.get("head", "aspirin")
    assert {one.document for one in errors} == {"d"}
    assert "note" not in (errors[0].reference or {})


@settings(deadline=None, max_examples=10)
@given(corpora, st.randoms(use_true_random=False))
def test_intervals_depend_on_seed_and_counts_alone(corpus, random):
    options = {"seed": 3, "resamples": 50, "types_from": random.choice(["union", "references"])}
    found = bootstrap_relations(**split(corpus), **options)
    scores = score_relations(**split(corpus), types_from=options["types_from"])["ALL"]
    for name, one in found.items():
        family, score = name.split("_")
        assert one.value == scores[score if family == "micro" else f"Macro_{score}"]
        assert one.low <= one.high
        if len(corpus) == 1:
            assert one.low == one.high == pytest.approx(one.value)
    random.shuffle(corpus)
    assert bootstrap_relations(**split(corpus), **options) == found


@pytest.mark.parametrize("resamples", [0, 1, 9, 100_001, True, 10.0])
def test_draws_are_neither_too_few_nor_too_many(resamples):
    with pytest.raises(InputError, match=f"resamples={resamples} is too"):
        bootstrap_relations(predictions=[[]], references=[[]], resamples=resamples)
    with pytest.raises(InputError, match=f"resamples={resamples} is too"):
        compare_relations(references=[[]], first=[[]], second=[[]], resamples=resamples)


def test_every_draw_is_scored_as_a_corpus():
    true, false = a_relation(), a_relation(type="causes")
    one, other = ([true], [true]), ([false, true], [true, a_relation(type="prevents")])
    possible = [
        oracle.score(**split(list(documents)))["ALL"] for documents in ((one, one), (one, other), (other, other))
    ]
    found = bootstrap_relations(**split([one, other]), resamples=200, confidence=0.999999)
    for name, key in (("macro_f1", "Macro_f1"), ("macro_p", "Macro_p"), ("micro_f1", "f1")):
        ends = [row[key] for row in possible]
        assert found[name].low == pytest.approx(min(ends), abs=0.1)
        assert found[name].high == pytest.approx(max(ends), abs=0.1)


def test_draws_leave_out_what_the_scores_leave_out():
    found = bootstrap_relations(
        predictions=[[a_relation(), a_relation(type="causes")]] * 3,
        references=[[a_relation()]] * 3,
        types_from="references",
    )
    assert all(one.low == one.value == one.high == 100.0 for one in found.values())


def test_the_chance_of_a_difference_is_the_share_of_all_exchanges():
    source = np.random.default_rng(5)
    pool = [a_relation(type=kind, tail=tail) for kind in TYPES for tail in ("x", "y", "z")]

    def some(of, share):
        return [one for one in of if source.random() < share]

    references = [some(pool, 0.5) for _ in range(7)]
    first, second = ([some(of, share) + some(pool, 0.1) for of in references] for share in (0.5, 0.9))
    found = compare_relations(references=references, first=first, second=second, resamples=4000)
    back = compare_relations(references=references, first=second, second=first, resamples=4000)
    for name, key in (("micro_f1", "f1"), ("macro_f1", "Macro_f1"), ("micro_p", "p")):
        exact = oracle.chance_of_difference(references, first, second, key)
        assert found[name].p == pytest.approx(exact, abs=0.03)
        assert back[name].p == found[name].p
        assert back[name].difference == -found[name].difference
        assert found[name].second == score_relations(predictions=second, references=references)["ALL"][key]
        assert found[name].low <= found[name].difference <= found[name].high
    order = source.permutation(7).tolist()
    moved = {"references": references, "first": first, "second": second}
    moved = {side: [of[place] for place in order] for side, of in moved.items()}
    assert compare_relations(**moved, resamples=4000) == found
    alike = compare_relations(references=references, first=first, second=first)
    assert alike["macro_f1"].p == 1.0
    assert alike["macro_f1"].low == alike["macro_f1"].high == 0.0


def test_a_document_of_nothing_on_either_side_has_intervals_of_nothing():
    found = bootstrap_relations(predictions=[[], []], references=[[], []])
    assert found["macro_f1"].value == found["macro_f1"].high == 0.0
    assert compare_relations(references=[[]], first=[[]], second=[[]])["micro_f1"].p == 1.0


def test_many_documents_are_scored_at_the_speed_of_a_plain_loop():
    source = np.random.default_rng(0)
    numbers = source.integers(0, 50, (20_000, 5, 4)).tolist()
    references = [
        [a_relation(head=f"h{a}", tail=f"t{b}", type=f"r{c % 8}") for a, b, c, _ in document] for document in numbers
    ]
    predictions = [
        [a_relation(head=f"h{a}", tail=f"t{b}", type=f"r{(c + (d < 9)) % 8}") for a, b, c, d in document]
        for document in numbers
    ]
    given = {"predictions": predictions, "references": references}
    seconds, results = {}, {}
    for name, score in (("own", score_relations), ("plain", oracle.plain)):
        began = time.perf_counter()
        results[name] = score(**given)
        seconds[name] = time.perf_counter() - began
    assert results["plain"]["ALL"].items() <= results["own"]["ALL"].items()
    assert seconds["own"] < max(3 * seconds["plain"], 0.6)
