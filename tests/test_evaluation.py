"""Exact filtered ranks: against a naive calculation, against the cases, and against broken models."""

import json
import math
import resource
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from openbiolink.dataset import PARTS, from_labelled, read_dataset
from openbiolink.errors import InputError, ScoreError
from openbiolink.evaluation import baseline, evaluate, metric_rows, render_table
from openbiolink.evaluation.candidates import Candidates
from openbiolink.metrics import TIES
from oracles import ranking as oracle

NAN = float("nan")
SIDES = ("head", "tail")
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def as_labels(rows):
    return [tuple(row) for row in rows]


@st.composite
def worlds(draw):
    """A small graph with repeated triples, a score for every triple there could be, and options."""
    entities = [f"e{number}" for number in range(draw(st.integers(1, 6)))]
    relations = ["r", "q"][: draw(st.integers(1, 2))]
    triple = st.tuples(st.sampled_from(entities), st.sampled_from(relations), st.sampled_from(entities))
    parts = {part: draw(st.lists(triple, min_size=part == "test", max_size=8)) for part in PARTS}
    dtype = draw(st.sampled_from([np.float32, np.float64, np.float16, np.int64, np.int8, np.bool_]))
    shape = (len(entities), len(relations), len(entities))
    flat = draw(st.lists(st.integers(0, 3), min_size=math.prod(shape), max_size=math.prod(shape)))
    options = {
        "filter_parts": draw(st.lists(st.sampled_from(PARTS), unique=True)),
        "higher_is_better": draw(st.booleans()),
        "batch_size": draw(st.integers(1, 9)),
    }
    return entities, relations, parts, np.array(flat).reshape(shape).astype(dtype), options


def matrices(scores):
    """A scorer of two matrices from a table of scores by head, relation, tail."""
    return lambda batch: (scores[:, batch[:, 1], batch[:, 2]].T, scores[batch[:, 0], batch[:, 1]])


def four(scores, *, rows=0, own=0):
    """A scorer of four arrays from such a table, with rows too many and nonsense in the ignored columns."""

    def score_batch(batch):
        head, tail = (np.array(side, copy=True) for side in matrices(scores)(batch))
        every = np.arange(len(batch))
        positive = head[every, batch[:, 0]].copy()
        head[every, batch[:, 0]] = tail[every, batch[:, 2]] = own
        more = np.zeros((rows, len(scores)), scores.dtype)
        return positive, np.concatenate([head, more]), positive, np.concatenate([tail, more])

    return score_batch


def naive_counts(world, left_out=()):
    entities, relations, parts, scores, options = world
    known = {triple for part in options["filter_parts"] for triple in parts[part]} | {*left_out}
    place = {label: number for number, label in enumerate(entities)}
    number = {label: number for number, label in enumerate(relations)}
    found = []
    for head, relation, tail in parts["test"]:
        row = scores[:, number[relation], :].astype(float)
        answer = row[place[head], place[tail]]
        for side in SIDES:

            def score(entity, row=row, side=side, ends=(place[head], place[tail])):
                other = place[entity]
                return row[other, ends[1]] if side == "head" else row[ends[0], other]

            found.append(
                oracle.counts(
                    (head, relation, tail),
                    side,
                    entities,
                    known,
                    score=score,
                    answer_score=answer,
                    higher_is_better=options["higher_is_better"],
                )
            )
    return found


def load(world):
    entities, relations, parts, _, _ = world
    return from_labelled(**parts, entities=entities, relations=relations)


@settings(deadline=None, max_examples=150)
@given(worlds())
def test_counts_and_metrics_equal_the_naive_ones(world):
    dataset, scores, options = load(world), world[3], world[4]
    expected = naive_counts(world)
    for scorer in (matrices(scores), four(scores, rows=3, own=1)):
        found = evaluate(scorer, dataset, unseen="keep", **options)
        assert list(zip(found.better.ravel().tolist(), found.equal.ravel().tolist(), strict=True)) == expected
        for ties in TIES:
            ranks = [oracle.rank(better, equal, ties) for better, equal in expected]
            sides = {"head": ranks[0::2], "tail": ranks[1::2], "both": ranks}
            for side, wanted in sides.items():
                assert found.ranks(side, ties=ties).tolist() == wanted
                assert found.metrics(side, ties=ties) == pytest.approx(oracle.metrics(wanted), rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(worlds(), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_of_known_triples_matters(world, random):
    entities, relations, parts, scores, options = world
    first = evaluate(matrices(scores), load(world), unseen="keep", **options).to_dict()
    mixed = {part: random.sample(rows, len(rows)) for part, rows in parts.items()}
    mixed["train"] += mixed["train"]
    again = evaluate(matrices(scores), load((entities, relations, mixed, scores, options)), unseen="keep", **options)
    for key in ("metrics", "by_relation", "ranked_triples"):
        assert json.dumps(first[key]) == json.dumps(again.to_dict()[key])


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_relations_add_up_to_the_whole(world):
    result = evaluate(matrices(world[3]), load(world), unseen="keep", **world[4])
    whole = result.to_dict()
    shares = {name: len(result.ranks(relation=name)) for name in whole["by_relation"]}
    assert sum(shares.values()) == len(result.ranks()) == 2 * whole["ranked_triples"]
    for ties in TIES:
        for side in ("head", "tail", "both"):
            for name, value in whole["metrics"][ties][side].items():
                parts = [whole["by_relation"][r][ties][side][name] * share for r, share in shares.items()]
                assert sum(parts) / sum(shares.values()) == pytest.approx(value)
    assert "NaN" not in json.dumps(whole)
    assert "Infinity" not in json.dumps(whole)


def read_case(cases, case):
    content = json.loads(next(cases.glob(f"{case}-*.json")).read_text())
    dataset = from_labelled(
        **{part: as_labels(content[part]) for part in PARTS},
        entities=content["entities"],
        relations=content["relations"],
    )
    head, tail = (
        np.array([[NAN if score is None else score for score in row] for row in content[side]], float)
        for side in ("head_scores", "tail_scores")
    )
    return dataset, lambda batch: (head[: len(batch)], tail[: len(batch)]), content["higher_is_better"]


def check(result, expected, ties):
    for side in ("head", "tail", "both"):
        wanted = dict(expected[side])
        assert sorted(result.ranks(side, ties=ties)) == sorted(wanted.pop("ranks"))
        assert result.to_dict()["metrics"][ties][side] == pytest.approx(wanted, abs=1e-9)


def test_all_scores_equal(cases):
    dataset, scorer, _ = read_case(cases, "c32")
    result = evaluate(scorer, dataset, unseen="keep")
    for ties, expected in json.loads((cases / "expected.json").read_text())["c32"].items():
        check(result, expected, ties)
    assert result.ties == "realistic"
    assert result.metrics() == result.metrics(ties="realistic")


def test_nan_scores_are_refused(cases):
    dataset, scorer, _ = read_case(cases, "c33")
    with pytest.raises(ScoreError, match=r"^NaN or infinity among the head and tail scores of test triple \(A, r, B\)"):
        evaluate(scorer, dataset, unseen="keep")


def test_filter_needs_valid(cases):
    dataset, scorer, _ = read_case(cases, "c34")
    filters = {"raw": (), "train_test_only": ("train", "test"), "filtered": PARTS}
    for name, expected in json.loads((cases / "expected.json").read_text())["c34"].items():
        check(evaluate(scorer, dataset, filter_parts=filters[name], unseen="keep"), expected, "realistic")


def test_distances(cases):
    dataset, scorer, higher_is_better = read_case(cases, "c35")
    assert higher_is_better is False
    expected = json.loads((cases / "expected.json").read_text())["c35"]
    right = evaluate(scorer, dataset, higher_is_better=higher_is_better, unseen="keep")
    check(right, expected["lower_is_better"], "realistic")
    check(evaluate(scorer, dataset, unseen="keep"), expected["wrong_direction"], "realistic")


def test_unseen_test_triples(cases):
    dataset = read_dataset(**{part: cases / f"c30-unseen-in-test-{part}.tsv" for part in PARTS})
    ones = matrices(np.ones((dataset.num_entities, dataset.num_relations, dataset.num_entities)))
    with pytest.raises(InputError, match=r"2 of 3 test triples .* \(1 by an entity, 1 by a relation\)"):
        evaluate(ones, dataset)
    dropped = evaluate(ones, dataset, unseen="drop").to_dict()
    assert "2 of 3 test triples left out" in dropped["notes"][0]
    assert (dropped["test_triples"], dropped["ranked_triples"], dropped["left_out"]) == (3, 1, 2)
    assert list(dropped["by_relation"]) == ["r1"]
    kept = evaluate(ones, dataset, unseen="keep").to_dict()
    assert (kept["ranked_triples"], kept["left_out"], kept["notes"]) == (3, 0, [])
    assert list(kept["by_relation"]) == ["r1", "r9"]
    with pytest.raises(InputError, match="choose one of refuse, drop, keep"):
        evaluate(ones, dataset, unseen="ignore")
    alone = from_labelled(train=[("a", "r", "b")], valid=[], test=[("a", "r", "z")])
    with pytest.raises(InputError, match="1 of 1 test triples left out, none to evaluate"):
        evaluate(matrices(np.ones((3, 1, 3))), alone, unseen="drop")


def test_no_test_triples(cases):
    dataset = read_dataset(**{part: cases / f"c37-empty-test-{part}.tsv" for part in PARTS})
    with pytest.raises(InputError, match="no test triples"):
        evaluate(baseline("degree", dataset), dataset)


MANY_ENTITIES = """
import json, resource, sys
from pathlib import Path
import numpy as np
from openbiolink.dataset import load_dataset
from openbiolink.evaluation import evaluate
recipe, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
random = np.random.default_rng(recipe["seed"])
E, R = recipe["num_entities"], recipe["num_relations"]
def triples(count):
    return zip(*(random.integers(0, most, count).tolist() for most in (E, R, E)))
def lines(rows):
    return "".join(f"e{h:06d}\\tr{r:02d}\\te{t:06d}\\n" for h, r, t in rows)
every = [(e, e % R, (e + 1) % E) for e in range(E)]
(folder / "train.txt").write_text(lines(every) + lines(triples(recipe["num_train"] - E)))
(folder / "valid.txt").write_text("")
(folder / "test.txt").write_text(lines(triples(recipe["num_test"])))
dataset = load_dataset(folder)
assert dataset.num_entities == E
entity = np.arange(E, dtype=np.int64) * 2654435761
query = 0
def score_batch(batch):
    global query
    sides = []
    for _ in range(2):
        block = np.empty((len(batch), E), np.float32)
        for row in block:
            row[:] = (entity + query * 40503) % 1000003
            row /= 1000003
            query += 1
        sides.append(block)
    return sides
result = evaluate(score_batch, dataset, batch_size=recipe["batch_size"])
known = {tuple(triple) for part in (dataset.train, dataset.test) for triple in part.tolist()}
for row in (0, 150, len(result.triples) - 1):
    h, r, t = result.triples[row].tolist()
    start = row // 100 * 200 + row % 100
    for column, answer, number in ((0, h, start), (1, t, start + 100)):
        scores = np.float32((entity + number * 40503) % 1000003) / np.float32(1000003)
        others = [e for e in range(E) if e != answer and ((e, r, t) if column == 0 else (h, r, e)) not in known]
        better = int((scores[others] > scores[answer]).sum())
        equal = int((scores[others] == scores[answer]).sum())
        assert (better, equal) == (result.better[row, column], result.equal[row, column])
status = Path("/proc/self/status")  # getrusage would count what the process that began this one held
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if status.exists():
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0])
print(json.dumps({"peak": peak, **result.metrics()}))
"""


def test_many_entities_in_little_memory(cases, tmp_path):
    recipe = cases / "c38-many-entities-recipe.json"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", MANY_ENTITIES, str(recipe), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    unit = 1 if sys.platform == "darwin" else 1024
    assert found["peak"] * unit < 1_200_000_000
    assert found["mean_rank"] == pytest.approx(100_000, rel=0.05)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


GRAPH = from_labelled(
    train=[("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d")],
    valid=[("a", "r", "c")],
    test=[("a", "r", "d"), ("b", "r", "d")],
)


def test_a_perfect_model_is_perfect_and_a_constant_one_is_not():
    scores = np.zeros((4, 1, 4))
    scores[GRAPH.test[:, 0], 0, GRAPH.test[:, 2]] = 1
    perfect = evaluate(matrices(scores), GRAPH)
    for ties in TIES:
        assert set(perfect.metrics(ties=ties).values()) == {1.0}
    constant = evaluate(matrices(np.zeros((4, 1, 4))), GRAPH)
    assert constant.metrics()["mrr"] < 1
    assert constant.metrics()["hits@1"] < 1


def test_nan_counts_only_where_it_would_be_ranked():
    table = np.arange(16.0).reshape(4, 1, 4)
    wanted = evaluate(matrices(table), GRAPH).to_dict()
    filtered = table.copy()
    filtered[0, 0, 1] = filtered[0, 0, 2] = NAN  # (a, r, b) and (a, r, c) are known answers of (a, r, ?)
    assert evaluate(matrices(filtered), GRAPH).to_dict()["metrics"] == wanted["metrics"]
    own = evaluate(four(table, own=NAN), GRAPH)
    assert own.to_dict()["metrics"] == wanted["metrics"]
    candidate = table.copy()
    candidate[1, 0, 0] = NAN  # (b, r, a) is no known answer of (b, r, ?)
    with pytest.raises(ScoreError, match=r"NaN or infinity among the tail scores of test triple \(b, r, d\)"):
        evaluate(matrices(candidate), GRAPH)
    answer = table.copy()
    answer[1, 0, 3] = NAN
    with pytest.raises(ScoreError, match=r"NaN or infinity among the head and tail scores of test triple \(b, r, d\)"):
        evaluate(matrices(answer), GRAPH)


def test_a_nan_answer_without_competitors_is_refused():
    only = from_labelled(train=[("a", "r", "a")], valid=[], test=[("a", "r", "a")])
    with pytest.raises(ScoreError, match="NaN"):
        evaluate(matrices(np.full((1, 1, 1), NAN)), only)
    assert evaluate(matrices(np.ones((1, 1, 1))), only).metrics()["mrr"] == 1.0


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf])
@pytest.mark.parametrize("filter_parts", [PARTS, ("train",), ()])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_what_is_not_finite_counts_as_left_out_at_triples_of_the_graph_and_is_refused_elsewhere(
    value, filter_parts, higher_is_better
):
    table = np.random.default_rng(0).permutation(16).astype(float).reshape(4, 1, 4)
    options = {"higher_is_better": higher_is_better}
    wanted = evaluate(matrices(table), GRAPH, **options)
    known = {tuple(triple) for part in PARTS for triple in GRAPH.part(part).tolist()}

    def blanked(batch):
        head, tail = (np.array(side) for side in matrices(table)(batch))
        for row, (h, r, t) in enumerate(batch.tolist()):
            for other in range(4):
                if other != h and (other, r, t) in known:
                    head[row, other] = value
                if other != t and (h, r, other) in known:
                    tail[row, other] = value
        return head, tail

    found = evaluate(blanked, GRAPH, filter_parts=filter_parts, batch_size=1, **options)
    assert found.better.tolist() == wanted.better.tolist()
    assert found.equal.tolist() == wanted.equal.tolist()
    for column in (0, 3):  # no known answer of (b, r, ?), and the answer itself
        wrong = table.copy()
        wrong[1, 0, column] = value
        with pytest.raises(ScoreError, match=r"^NaN or infinity among the .*tail scores of test triple \(b, r, d\)"):
            evaluate(matrices(wrong), GRAPH, filter_parts=filter_parts, **options)


@pytest.mark.parametrize("value", [NAN, np.inf])
@pytest.mark.parametrize("chosen", [[0, 1, 3], [1, 2, 3], [0, 3], []])
def test_what_is_left_out_was_a_candidate_before(value, chosen):
    """A known triple outside the set of candidates is not taken out a second time."""
    sets = Candidates(
        kind="subset",
        names=("some",),
        sets=(np.array(chosen, np.int64),),
        of=dict.fromkeys(SIDES, np.zeros(1, np.int64)),
        sums=("",),
        relations=GRAPH.relations,
    )
    table = np.random.default_rng(1).permutation(16).astype(float).reshape(4, 1, 4)
    blank = table.copy()
    blank[0, 0, 1:3] = value  # (a, r, b) and (a, r, c) are known answers of (a, r, ?)
    wanted = evaluate(matrices(table), GRAPH, candidates=sets)
    found = evaluate(matrices(blank), GRAPH, candidates=sets, filter_parts=())
    row = int(np.flatnonzero(GRAPH.test[:, 0] == 0)[0])
    for counted in ("better", "equal", "candidates"):
        assert getattr(found, counted)[row, 1] == getattr(wanted, counted)[row, 1]


@settings(deadline=None, max_examples=25)
@given(worlds(), st.data())
def test_every_candidate_is_counted_or_left_out(world, data):
    """The counts of raw ranks with some known triples blanked are the naive ones without those triples."""
    entities, relations, parts, scores, options = world
    known = sorted({triple for part in PARTS for triple in parts[part]})
    blank = data.draw(st.lists(st.sampled_from(known), unique=True))
    value = data.draw(st.sampled_from([NAN, np.inf, -np.inf]))
    table = scores.astype(np.float64)
    for head, relation, tail in blank:
        table[entities.index(head), relations.index(relation), entities.index(tail)] = value

    def score_batch(batch):  # the answers keep their scores, as with `filter_scores`
        head, tail = (np.array(side) for side in matrices(table)(batch))
        own = scores[batch[:, 0], batch[:, 1], batch[:, 2]]
        every = np.arange(len(batch))
        head[every, batch[:, 0]] = tail[every, batch[:, 2]] = own
        return head, tail

    found = evaluate(score_batch, load(world), unseen="keep", **options)
    expected = naive_counts(world, left_out=blank)
    assert list(zip(found.better.ravel().tolist(), found.equal.ravel().tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.zeros((n, 4)), "scored with ndarray; expected two matrices"),
        (lambda n: (np.zeros((n, 4)),) * 3, "scored with 3 values; expected two matrices"),
        (lambda n: (np.zeros((n - 1, 4)), np.zeros((n, 4))), r"head scores have shape \(1, 4\); expected \(2, 4\)"),
        (lambda n: (np.zeros((n, 4)), np.zeros((n, 3))), r"tail scores have shape \(2, 3\); expected \(2, 4\)"),
        (lambda n: (np.zeros((n, 4)), np.zeros(n)), r"tail scores have shape \(2,\); expected \(2, 4\)"),
        (
            lambda n: (np.zeros(n), np.zeros((n, 4)), np.zeros((n, 1)), np.zeros((n, 4))),
            r"positive tail scores .*\(2,\)",
        ),
        (lambda n: (np.zeros(n), np.zeros((n, 4)), np.zeros(n), np.zeros((n, 5))), "negative tail scores"),
        (lambda n: ([[1, 2, 3, 4], [1]], np.zeros((n, 4))), "head scores are ragged"),
        (lambda n: (np.full((n, 4), None), np.zeros((n, 4))), "head scores have type object"),
        (lambda n: (np.zeros((n, 4)), np.zeros((n, 4), complex)), "tail scores have type complex128"),
        (lambda n: (np.zeros((n, 4)), np.zeros((n, 4), np.uint64)), "tail scores have type uint64"),
        (lambda n: (None, None), "head scores have type object"),
    ],
)
def test_scores_of_a_wrong_form_are_refused(answer, message):
    with pytest.raises(ScoreError, match=message):
        evaluate(lambda batch: answer(len(batch)), GRAPH)


class Tensor:
    """Behaves like a tensor of PyTorch as far as an evaluation may look; 16-bit brain floats have no array."""

    def __init__(self, array, dtype="torch.float32"):
        self.array, self.dtype, self.attached, self.device = array, dtype, True, "cuda"

    def detach(self):
        detached = Tensor(self.array, self.dtype)
        detached.attached = False
        return detached

    def cpu(self):
        self.device = "cpu"
        return self

    def float(self):
        return Tensor.detach(Tensor(self.array.astype(np.float32))).cpu()

    def numpy(self):
        if self.attached or self.device != "cpu" or self.dtype == "torch.bfloat16":
            raise TypeError(self.dtype)
        return self.array


@pytest.mark.parametrize("dtype", ["torch.float32", "torch.bfloat16"])
def test_tensors_are_understood_without_pytorch(dtype, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    table = np.arange(16, dtype=np.float32).reshape(4, 1, 4)
    plain = evaluate(matrices(table), GRAPH)
    result = evaluate(lambda batch: [Tensor(scores, dtype) for scores in matrices(table)(batch)], GRAPH)
    assert result.to_dict()["metrics"] == plain.to_dict()["metrics"]


def test_answers_and_candidates_of_different_types_are_compared_as_numbers():
    table = np.arange(16, dtype=np.float32).reshape(4, 1, 4)
    mixed = [np.asarray(part, np.float64 if part.ndim == 1 else np.float32) for part in four(table)(GRAPH.test)]
    assert (
        evaluate(lambda _: mixed, GRAPH).to_dict()["metrics"] == evaluate(matrices(table), GRAPH).to_dict()["metrics"]
    )


def test_a_scorer_can_be_an_object_and_may_spoil_its_batch():
    class Model:
        def score_batch(self, batch):
            scores = matrices(np.arange(16.0).reshape(4, 1, 4))(batch.copy())
            batch[:] = 0
            return scores

    result = evaluate(Model(), GRAPH, batch_size=1)
    assert result.model == "Model"
    assert result.metrics() == evaluate(matrices(np.arange(16.0).reshape(4, 1, 4)), GRAPH).metrics()
    with pytest.raises(InputError, match="int cannot score"):
        evaluate(3, GRAPH)


def test_scores_are_left_as_they_are():
    kept = []

    def score_batch(batch):
        scores = matrices(np.arange(16.0).reshape(4, 1, 4))(batch)
        kept.append((scores, [side.copy() for side in scores]))
        return scores

    evaluate(score_batch, GRAPH, batch_size=1)
    assert len(kept) == 2
    assert all(np.array_equal(now, before) for pair in kept for now, before in zip(*pair, strict=True))


def test_options_that_do_not_exist():
    scorer = matrices(np.zeros((4, 1, 4)))
    with pytest.raises(InputError, match="choose one of optimistic, realistic, pessimistic"):
        evaluate(scorer, GRAPH, ties="average")
    with pytest.raises(InputError, match="choose among train, valid, test"):
        evaluate(scorer, GRAPH, filter_parts=("train", "dev"))
    with pytest.raises(InputError, match="choose among train, valid, test"):
        evaluate(scorer, GRAPH, filter_parts="train")
    with pytest.raises(InputError, match="batch_size=0"):
        evaluate(scorer, GRAPH, batch_size=0)
    result = evaluate(scorer, GRAPH)
    with pytest.raises(InputError, match="choose one of head, tail, both"):
        result.ranks("left")
    with pytest.raises(InputError, match="relation 'x' is not in the data set"):
        result.metrics(relation="x")


def test_progress_is_told():
    told = []
    evaluate(matrices(np.zeros((4, 1, 4))), GRAPH, batch_size=1, progress=lambda *step: told.append(step))
    assert told == [("rank", 0, 2), ("rank", 1, 2), ("rank", 2, 2)]


def test_what_the_result_says_about_itself():
    result = evaluate(baseline("degree", GRAPH), GRAPH, ties="pessimistic", filter_parts=("train",)).to_dict()
    assert result["format"] == "openbiolink-result/2"
    assert result["model"] == "degree"
    assert result["ties"] == "pessimistic"
    assert result["filter_parts"] == ["train"]
    assert result["not_listed"] == 0
    assert result["not_listed_by_side"] == {"head": 0, "tail": 0}
    assert result["dataset"]["checksum"] == GRAPH.checksum
    assert (result["dataset"]["num_entities"], result["dataset"]["num_train"]) == (4, 3)
    assert result["dataset"]["unseen"]["test"]["triples"] == 0
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_table():
    result = evaluate(baseline("frequency", GRAPH), GRAPH)
    rows = metric_rows(result, ties="optimistic")
    assert [row[:3] for row in rows] == [("all", "head", 2), ("all", "tail", 2), ("all", "both", 4), ("r", "both", 4)]
    assert rows[2][3] == result.metrics(ties="optimistic")
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(render_table(result))
    console.file.close()
    shown = console.export_text()
    assert "frequency: filtered by train, valid, test, ties realistic" in shown
    assert f"{result.metrics()['mrr']:.4f}" in shown


@settings(deadline=None, max_examples=60)
@given(worlds())
def test_baselines_count_what_they_say(world):
    entities, _, parts, _, _ = world
    dataset = load(world)
    train = set(parts["train"])
    batch = dataset.test.astype(np.int64)
    for name in ("degree", "frequency"):
        sides = baseline(name, dataset).score_batch(batch)
        for side, scores in zip(SIDES, sides, strict=True):
            for (_, relation, _), row in zip(parts["test"], scores, strict=True):
                expected = [
                    oracle.degree_score(entity, train)
                    if name == "degree"
                    else oracle.frequency_score(entity, relation, side, train)
                    for entity in entities
                ]
                assert row.tolist() == expected


def test_unknown_baseline():
    with pytest.raises(InputError, match="choose one of degree, frequency"):
        baseline("random", GRAPH)


@pytest.mark.parametrize("name", ["numpy_model", "two_matrices", "four_arrays"])
def test_examples_run_and_agree(name, capsys):
    found = runpy.run_path(str(EXAMPLES / f"{name}.py"))["result"]
    assert 0 < found["mrr"] <= 1
    assert f"{found['mrr']:.3f}" in capsys.readouterr().out
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 40
