"""Ranks by themselves: from scores, in pieces, in files, in processes; curves, intervals, and other programs."""

import gzip
import json
import subprocess
import sys
import zipfile
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from comparisons import COMPARISONS
from openbiolink.cli import app
from openbiolink.errors import InputError, ScoreError
from openbiolink.metrics import (
    RankingEvaluator,
    all_metrics,
    average_tied,
    bootstrap_ranks,
    compare_ranks,
    hits_at,
    hits_at_k,
    hits_curve,
    iter_rank_rows,
    iter_ranks,
    mean_rank,
    metrics_from_chunks,
    metrics_parallel,
    mrr,
    plot_hits_curve,
    ranking_metrics,
    ranks_from_scores,
    read_ranks,
    show_hits_curve,
    summary,
    tally_ranks,
)
from openbiolink.metrics.rank_files import PART, parse_rank
from oracles import ranking as oracle

halves = st.integers(2, 200).map(lambda doubled: doubled / 2)
rank_lists = st.lists(halves, min_size=1, max_size=60)
TUTORIAL = [1, 3, 5, 10, 20, 2, 1, 8, 15, 1]


def whole(ranks, ks=(1, 3, 10)):
    return summary(tally_ranks(ranks), ks)


def run(*words):
    return CliRunner().invoke(app, ["metrics", "ranks", *map(str, words)], prog_name="openbiolink")


# ways to the same number


@pytest.mark.parametrize("metric", COMPARISONS)
@pytest.mark.parametrize("size", [1, 7, 400])
def test_other_programs_agree(metric, size):
    ranks = np.random.default_rng(size).geometric(0.15, size).tolist()
    ways = {name: way(ranks) for name, way in COMPARISONS[metric].items() if name != "ranx"}
    assert ways == pytest.approx(dict.fromkeys(ways, ways["naive"]), rel=1e-6)  # torchmetrics counts in float32
    assert ways["ours"] == pytest.approx(ways["naive"], rel=1e-13)


def test_a_wrong_metric_would_be_seen():
    with pytest.raises(AssertionError):
        assert COMPARISONS["hits@3"]["ours"]([1, 4]) == COMPARISONS["hits@10"]["pykeen"]([1, 4])


@given(rank_lists, st.integers(1, 7), st.randoms(use_true_random=False))
def test_pieces_equal_the_whole_to_the_last_bit(ranks, pieces, random):
    expected = whole(ranks)
    cut = [ranks[place::pieces] for place in range(pieces)]  # some are empty
    random.shuffle(cut)
    assert metrics_from_chunks(cut) == expected
    assert metrics_from_chunks(map(np.array, cut)) == expected
    assert metrics_from_chunks(iter(ranks), chunk_size=pieces) == expected
    assert metrics_parallel(ranks, workers=pieces) == expected
    merged = RankingEvaluator()
    for piece in cut:
        one = RankingEvaluator()
        one.add_batch(piece)
        merged.merge(RankingEvaluator.from_state(json.loads(json.dumps(one.state()))))
    assert merged.result() == expected
    one_by_one = RankingEvaluator()
    for rank in ranks:
        one_by_one.add(rank)
    assert one_by_one.result() == expected
    assert one_by_one.num_ranks == len(ranks) == expected["count"]


@given(st.lists(st.tuples(halves, st.sampled_from("ab"), st.sampled_from(["head", "tail"])), min_size=1))
def test_groups_are_the_metrics_of_their_ranks(rows):
    evaluator = RankingEvaluator(by=("relation", "side"))
    ranks, relations, sides = zip(*rows, strict=True)
    evaluator.add_batch(ranks, relation=relations, side=sides)
    found = evaluator.result()
    groups = {(group.pop("relation"), group.pop("side")): group for group in found["groups"]}
    assert groups == {
        key: whole([rank for rank, *of in rows if tuple(of) == key]) for key in sorted({(b, c) for _, b, c in rows})
    }
    assert sum(group["count"] for group in groups.values()) == found["count"] == len(rows)
    assert found["macro"]["mrr"] == pytest.approx(sum(group["mrr"] for group in groups.values()) / len(groups))
    assert {name: found[name] for name in whole(ranks)} == whole(ranks)


def test_an_evaluator_starts_anew_and_keeps_to_its_groups():
    evaluator = RankingEvaluator(ks=[5], by="side")
    with pytest.raises(InputError, match="expected one for each of: side"):
        evaluator.add(1)
    with pytest.raises(InputError, match="2 labels of side for 1 ranks"):
        evaluator.add_batch([1], side=["head", "tail"])
    with pytest.raises(InputError, match="there are no ranks"):
        evaluator.result()
    evaluator.add(7, side="head")
    with pytest.raises(InputError, match="give both the same"):
        evaluator.merge(RankingEvaluator(ks=[5]))
    assert evaluator.result()["hits@5"] == 0.0
    evaluator.reset()
    assert evaluator.num_ranks == 0
    with pytest.raises(InputError, match="rank 2 of 2 is 0"):
        evaluator.add_batch([1, 0], side="head")
    assert evaluator.num_ranks == 0
    with pytest.raises(InputError, match="names the same grouping twice"):
        RankingEvaluator(by=("side", "side"))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other/1"},
        {"groups": [{"labels": [], "ranks": [2, 1], "counts": [1, 1], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [1], "counts": [0], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [0], "counts": [1], "not_found": 0}]},
        {"groups": [{"labels": ["x"], "ranks": [1], "counts": [1], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [1], "counts": [1], "not_found": -1}]},
        {"groups": [{"labels": []}]},
        {"groups": [{"labels": [], "ranks": [1, 2], "counts": [1.5, 2], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [1, 2], "counts": ["1", "2"], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [1, 2], "counts": [1, True], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [1], "counts": [10**30], "not_found": 0}]},
        {"groups": [{"labels": [], "ranks": [1], "counts": [1], "not_found": 10**30}]},
        {"groups": [{"labels": [], "ranks": [1, float("inf")], "counts": [1, 1], "not_found": 0}]},
        {"groups": 3},
        {"ks": [0]},
    ],
)
def test_a_damaged_state_is_refused(change):
    evaluator = RankingEvaluator()
    evaluator.add(2)
    with pytest.raises(InputError):
        RankingEvaluator.from_state(evaluator.state() | change)


def test_memory_grows_with_different_ranks_only():
    evaluator = RankingEvaluator()
    for _ in range(50):
        evaluator.add_batch(np.tile(np.arange(1, 101), 1000))
    assert len(json.dumps(evaluator.state())) < 3000
    assert evaluator.num_ranks == 5_000_000


def test_a_rank_is_not_larger_than_its_number_of_candidates():
    for ranks, candidates, fault in [
        ([1, 50, 100, 10], [5] * 4, "3 ranks are 10 or worse, but 0 queries have as many candidates"),
        ([6, 6], [5, 9], "2 ranks are 6 or worse, but 1 queries"),
        ([1, float("inf")], [5, 5], "1 ranks are inf or worse"),
    ]:
        with pytest.raises(InputError, match=fault):
            all_metrics(ranks, np.array(candidates))
    assert all_metrics([9, 1.5], np.array([2, 9]))["mean_rank"] == 5.25


def test_names_of_groups_are_none_of_the_result():
    for name in ("count", "mrr", "hits@7", "groups"):
        with pytest.raises(InputError, match="is the name of a number of the result"):
            RankingEvaluator(by=[name])
    for ks in (3, "13", (0,), (1.5,)):
        with pytest.raises(InputError, match="whole number"):
            RankingEvaluator(ks)
        with pytest.raises(InputError, match="whole number"):
            ranking_metrics([1], ks)
    with pytest.raises(InputError, match="has counted no ranks"):
        RankingEvaluator().merge({"count": 1})
    with pytest.raises(InputError, match=r"^chunk 2: rank 2 of 2 is 0;"):
        metrics_from_chunks([1, 2, 3, 0], chunk_size=2)
    for workers in (1, 2):
        with pytest.raises(InputError, match="there are no ranks"):
            metrics_parallel([], workers=workers)


@pytest.mark.parametrize("size", [0, -1, True, 2.5])
def test_sizes_and_workers_are_whole_numbers(size):
    with pytest.raises(InputError, match="whole number of at least 1"):
        metrics_from_chunks([1], chunk_size=size)
    with pytest.raises(InputError, match="whole number of at least 1"):
        metrics_parallel([1], workers=size)


def test_what_was_not_found_adds_nothing():
    found = whole([1, float("inf"), 2, float("inf")])
    assert found == {
        "count": 4, "not_found": 2, "mrr": 0.375, "mean_rank": None, "median_rank": None,
        "hits@1": 0.25, "hits@3": 0.5, "hits@10": 0.5,
    }  # fmt: skip
    assert mrr([float("inf")]) == 0.0
    assert mean_rank([1, float("inf")]) == float("inf")
    assert metrics_from_chunks([[1, float("inf")], [2, float("inf")]]) == found
    assert whole([1, 1, float("inf")])["median_rank"] == 1.0


def test_series_and_tensors_are_ranks():
    import pandas as pd
    import torch

    for kind in (pd.Series, torch.tensor, tuple, np.array):
        assert ranking_metrics(kind(TUTORIAL)) == ranking_metrics(TUTORIAL)
    for wrong in ("123", None, 3, {1, 2}, {1: 2}, np.ma.array([1, 2, 99], mask=[0, 0, 1])):
        for metric in (ranking_metrics, mrr, RankingEvaluator().add_batch):
            with pytest.raises(ValueError, match=r"^ranks are "):
                metric(wrong)
    assert mrr([Decimal(2), Fraction(3, 2), 10**30]) == pytest.approx((1 / 2 + 2 / 3) / 3)
    with pytest.raises(InputError, match="cannot be read as numbers"):
        mrr([10**400])
    with pytest.raises(InputError, match=r"rank 2 of 3 is 'two'"):
        ranking_metrics([1, "two", 3])
    with pytest.raises(InputError, match=r"rank 1 of 2 is True"):
        ranking_metrics([True, 3])
    with pytest.raises(InputError, match="object"):
        ranking_metrics(pd.Series([1, None, "x"], dtype=object))


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=30), st.sampled_from([1, 2, 3]))
def test_counting_without_sorting_is_counting(ranks, divisor):
    values = np.array(ranks) / divisor + (1 if divisor > 1 else 0)
    assert whole(values) == whole(values.tolist()) == whole(values[::-1])
    assert whole(values)["mrr"] == pytest.approx(oracle.metrics(values.tolist())["mrr"], rel=1e-13)


# ranks from scores


@given(
    st.integers(1, 6).flatmap(
        lambda size: st.lists(
            st.tuples(
                st.lists(st.integers(-2, 2), min_size=size, max_size=size),
                st.integers(0, size - 1),
                st.lists(st.booleans(), min_size=size, max_size=size),
            ),
            min_size=1,
            max_size=5,
        )
    ),
    st.sampled_from(["optimistic", "realistic", "pessimistic", "average"]),
    st.booleans(),
)
def test_ranks_from_scores_are_counted_places(rows, ties, higher):
    scores, places, masks = (np.array(part) for part in zip(*rows, strict=True))
    expected = []
    for row, place, mask in rows:
        others = [score for other, score in enumerate(row) if other != place and not mask[other]]
        better = sum((score > row[place]) == higher and score != row[place] for score in others)
        equal = sum(score == row[place] for score in others)
        expected.append(oracle.rank(better, equal, ties))
    assert ranks_from_scores(scores, places, masks, ties, higher_is_better=higher).tolist() == expected


def test_scores_that_cannot_be_ranked_are_refused():
    with pytest.raises(ScoreError, match=r"the score at \(0, 1\) is NaN"):
        ranks_from_scores([[1.0, float("nan")]], [0])
    assert ranks_from_scores([[1.0, float("nan")]], [0], mask=[[False, True]]).tolist() == [1.0]
    assert ranks_from_scores([3.0, 4.0], 0) == 2.0
    for scores, places, fault in [
        ([[1, 2]], [2], r"true_index is 2 at \(0,\), of 2 candidates"),
        ([[1, 2], [1, 2]], [0, -1], r"true_index is -1 at \(1,\), of 2 candidates"),
        ([[1, 2]], [0.5], "of type float64"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), [0], "masked array"),
        ([[1, 2]], [0, 1], r"shape \(1, 2\)"),
        ([["a", "b"]], [0], "type <U1"),
    ]:
        with pytest.raises(InputError, match=fault):
            ranks_from_scores(scores, places)
    with pytest.raises(InputError, match="mask has shape"):
        ranks_from_scores([[1, 2]], [0], mask=[[True]])
    with pytest.raises(InputError, match="is not a tie rule"):
        ranks_from_scores([[1, 2]], [0], ties="best")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_shared_places_are_their_mean(scores):
    places = [1 + sum(other > score for other in scores) for score in scores]
    means = [1 + sum(other > score for other in scores) + (scores.count(score) - 1) / 2 for score in scores]
    assert average_tied(places) == means
    assert sum(means) == len(scores) * (len(scores) + 1) / 2


def test_places_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="place 2 comes after 2 competitors, expected 3"):
        average_tied([1, 1, 2])
    with pytest.raises(InputError, match="no ranks"):
        average_tied([])


# curves


@given(rank_lists, st.integers(1, 30))
def test_the_curve_is_hits_for_every_n(ranks, top):
    curve = hits_curve(ranks, top)
    assert curve.tolist() == [hits_at_k(ranks, k=n) for n in range(1, top + 1)] == sorted(curve)
    assert curve[0] == hits_at(ranks, 1)


def test_the_curve_is_drawn_without_a_screen(tmp_path):
    code = (
        "from openbiolink.metrics import plot_hits_curve; "
        f"axes = plot_hits_curve({TUTORIAL}, 5, path='out.png'); "
        "line, = axes.get_lines(); print(line.get_ydata().tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={"MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{hits_curve(TUTORIAL, 5).tolist()}\n", done.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_plots_of_several_models_and_kinds(tmp_path):
    from matplotlib.figure import Figure

    own = Figure().add_subplot()
    axes = plot_hits_curve({"one": TUTORIAL, "two": [1, 2]}, ax=own, path=tmp_path / "out.svg")
    assert axes is own
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    first = (tmp_path / "out.svg").read_bytes()
    plot_hits_curve({"one": TUTORIAL, "two": [1, 2]}, path=tmp_path / "out.pdf")
    plot_hits_curve({"one": TUTORIAL, "two": [1, 2]}, ax=Figure().add_subplot(), path=tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == first
    with pytest.raises(InputError, match=r"no plot is written as \.docx"):
        plot_hits_curve(TUTORIAL, path=tmp_path / "out.docx")
    text = show_hits_curve({"one": TUTORIAL, "two": [1, 2]}, 3).splitlines()
    assert [line.split()[:2] for line in text if line.startswith("hits")][:3] == [
        ["hits@1", "0.3000"], ["hits@2", "0.4000"], ["hits@3", "0.5000"],
    ]  # fmt: skip


# files


def packed(tmp_path, name, content):
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(content[: len(content) // 2]) + gzip.compress(content[len(content) // 2 :]))
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("ranks.txt", content)
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["ranks.txt", "ranks.txt.gz", "ranks.zip"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_files_of_one_rank_a_line(tmp_path, name, end):
    lines = [b"\xef\xbb\xbf3", b"", b"1.5", b" 2 ", b"1e1", b"inf", b"3.0"]
    path = packed(tmp_path, name, end.join(lines))
    assert list(map(float, np.concatenate(list(iter_ranks(path))))) == [3, 1.5, 2, 10, float("inf"), 3]
    assert read_ranks(path).result() == whole([3, 1.5, 2, 10, float("inf"), 3])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(rows=st.lists(st.tuples(halves, st.sampled_from(["a b", "Ω"]), st.sampled_from(["head", "tail"])), min_size=1))
def test_columns_are_found_by_name(tmp_path, rows):
    path = tmp_path / "ranks.tsv"
    path.write_text(
        "note\tside\trank\trelation\n" + "".join(f"x\t{side}\t{rank}\t{relation}\n" for rank, relation, side in rows),
        encoding="utf-8",
    )
    expected = RankingEvaluator(by=["relation", "side"])
    ranks, relations, sides = zip(*rows, strict=True)
    expected.add_batch(ranks, relation=relations, side=sides)
    assert read_ranks(path, by=["relation", "side"]).result() == expected.result()
    assert read_ranks([path, path]).result()["count"] == 2 * len(rows)


@pytest.mark.parametrize("names", [("head_rank", "tail_rank"), ("rank_head", "rank_tail"), ("head", "tail")])
def test_a_column_for_each_side(tmp_path, names):
    path = tmp_path / "ranks.tsv"
    path.write_text(f"{names[1]}\trelation\t{names[0]}\n2\tr\t1\n4\ts\t8\n")
    found = read_ranks(path, by=("side",)).result()
    assert [(group["side"], group["mrr"]) for group in found["groups"]] == [("head", 0.5625), ("tail", 0.375)]
    both = read_ranks(path, by=("relation", "side")).result()["groups"]
    assert [(one["relation"], one["side"], one["mean_rank"]) for one in both] == [
        ("r", "head", 1.0), ("r", "tail", 2.0), ("s", "head", 8.0), ("s", "tail", 4.0),
    ]  # fmt: skip
    assert np.concatenate(list(iter_rank_rows(path))).tolist() == [[1, 2], [8, 4]]
    assert read_ranks(path, columns=[names[0]]).result()["mean_rank"] == 4.5


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("1\n0\n2\n", r"line 2: is 0, but ranks start at 1"),
        ("1\n\nnan\n2\nfour\n-3\n1_0\n", r"line 3: 'nan' is no rank \(also line 5 'four' .*; line 6 '-3' .* others\)"),
        ("+5\n", "line 1: '\\+5' names no column|line 1: '\\+5' is no rank"),
        ("\uff11\n", "is no rank"),
        ("1 2\n", "line 1: '1 2' is no rank"),
        ("3\t4\n", r"line 1: '3\\t4' names no column of ranks"),
        ("rank\trelation\n1\ta\n2\n", "line 3: has 1 columns, the header has 2"),
        ("rank\trank\n1\t2\n", "has two columns rank"),
        ("\n\n", "there are no ranks"),
        ("", "there are no ranks"),
        ("rank\tside\n", "there are no ranks"),
        ("1e999\n", "too large"),
        ("1\n2\tx\n", r"line 2: '2\\tx' is no rank"),
        ("rank\n1\t2\n", r"line 2: '1\\t2' is no rank"),
        ("# x\n1\n", "line 1: '# x' is no rank"),
        ("head_rank\n1\n", "line 1: 'head_rank' names no column of ranks"),
        ("rank\thead_rank\ttail_rank\n1\t2\t3\n", "has rank and head_rank or tail_rank; say by"),
        (f"1\n{'9' * 400}\n", "line 2: '9{40}…' is no rank"),
        ("0.99999\n", "ranks start at 1"),
    ],
)  # fmt: skip
def test_lines_that_are_wrong_are_named(tmp_path, content, fault):
    path = tmp_path / "ranks.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=fault):
        read_ranks(path)
    done = run(path)
    assert done.exit_code != 0
    assert isinstance(done.exception, InputError)


def test_columns_that_are_not_there_are_named(tmp_path):
    path = tmp_path / "ranks.tsv"
    path.write_text("rank\trelation\n1\ta\n")
    with pytest.raises(InputError, match="has no column side; there are rank, relation"):
        read_ranks(path, by=["side"])
    with pytest.raises(InputError, match="has no column x"):
        read_ranks(path, columns=["x"])
    with pytest.raises(InputError, match="asked for 3 columns"):
        read_ranks(path, columns=["rank", "relation", "rank"])
    with pytest.raises(InputError, match="asked twice for the column rank"):
        read_ranks(path, columns=["rank", "rank"])
    with pytest.raises(InputError, match="has no groups in the column of ranks rank"):
        read_ranks(path, by=["rank"])
    one = tmp_path / "one.tsv"
    one.write_text("rank\n1\n")
    with pytest.raises(InputError, match="has no groups in the column of ranks rank"):
        read_ranks(one, by=["rank"])
    path.write_bytes(b"rank\trelation\n1\ta\n\n1\t\xff\n")
    with pytest.raises(InputError, match=r"line 4: b'.xff' is not UTF-8"):
        read_ranks(path, by=["relation"])
    with pytest.raises(InputError, match="no such file"):
        read_ranks(tmp_path / "absent.txt")


@given(st.binary(max_size=40))
def test_any_bytes_are_ranks_or_refused(content):
    found = parse_rank(content)
    if isinstance(found, float):
        assert found >= 1
        assert float(content) == found


@pytest.mark.parametrize("case", ["c39", "c40", "c41", "c43", "c44", "c45"])
def test_cases_through_the_command(cases, case):
    files = sorted(path for path in cases.glob(f"{case}-*.txt") if not path.name.endswith("bad.txt"))
    expected = json.loads((cases / "expected.json").read_text())[case]
    for order in (files, files[::-1]):
        for workers in (1, 2):
            done = run(*order, "--json", "--workers", workers)
            assert done.exit_code == 0, done.output
            found = json.loads(done.stdout)
            assert found["count"] == expected.pop("n", found["count"])
            for name in expected:
                assert found[name] == pytest.approx(expected[name], abs=1e-9), name


def test_cases_that_are_refused(cases):
    for case, fault in (
        ("c42-zero-based-ranks", "line 3: is 0, but ranks start at 1"),
        ("c45-rank-file-noise-bad", "line 3: 'nan' is no rank (also line 5"),
    ):
        done = run(cases / f"{case}.txt", "--json")
        assert fault in str(done.exception)
        assert done.stdout == ""


def test_parts_of_a_large_file_are_counted_by_processes(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    ranks = rng.geometric(0.01, 40_000)
    text = tmp_path / "ranks.txt"
    text.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(b"%d" % rank for rank in ranks))
    table = tmp_path / "ranks.tsv"
    table.write_text("relation\trank\n" + "".join(f"r{rank % 3}\t{rank}\n" for rank in ranks))
    monkeypatch.setattr("openbiolink.metrics.rank_files.PART", 20_000)
    seen = []
    found = read_ranks(text, workers=2, report=lambda *step: seen.append(step)).result()
    assert found == whole(ranks)
    assert len(seen) > 2
    assert seen[-1][1] == seen[-1][2] == text.stat().st_size
    assert (
        read_ranks([table, table], by=["relation"], workers=2).result()
        == read_ranks([table, table], by=["relation"]).result()
    )
    text.write_bytes(text.read_bytes() + b"\r\nnan\r\n")
    with pytest.raises(InputError, match="line 40001: 'nan' is no rank"):
        read_ranks(text, workers=2)
    assert PART > 20_000
    text.write_text("1\n4\n")
    assert metrics_parallel(text, workers=2) == metrics_parallel([str(text)], workers=2) == whole([1, 4])


def test_a_script_without_a_guard_is_told_so(tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text("1\n")
    script = tmp_path / "script.py"
    script.write_text("from openbiolink.metrics import read_ranks\nread_ranks(['0.txt', '1.txt'], workers=2)\n")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "__main__" in done.stderr.strip().splitlines()[-1]


# intervals and comparison


@given(st.lists(st.tuples(halves, halves), min_size=2, max_size=25), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_intervals_hold_their_metric_and_do_not_follow_the_order(rows, random):
    found = bootstrap_ranks(np.array(rows), seed=3, resamples=50)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert bootstrap_ranks(np.array(shuffled), seed=3, resamples=50) == found
    plain = ranking_metrics(np.array(rows).ravel())
    for name, one in found.items():
        assert one.value == pytest.approx(plain[name])
        assert one.low <= one.high
    assert bootstrap_ranks(np.array(rows), ["mrr"], seed=3, resamples=50)["mrr"] == found["mrr"]


def test_pairs_that_depend_on_each_other_have_wider_intervals():
    half = np.random.default_rng(1).geometric(0.2, 400)
    alone = bootstrap_ranks(np.concatenate([half, half]), ["mrr"])["mrr"]
    together = bootstrap_ranks(np.stack([half, half], axis=1), ["mrr"])["mrr"]
    assert together.high - together.low > 1.2 * (alone.high - alone.low)


def test_a_comparison_is_paired():
    first = np.arange(2, 42)
    found = compare_ranks(first, first - 1)["mrr"]
    assert (found.wins, found.losses, found.ties) == (40, 0, 0)
    assert found.p == pytest.approx(1 / 1001)
    assert found.low > 0
    turned = compare_ranks(first - 1, first)["mrr"]
    assert turned.difference == -found.difference
    same = compare_ranks(first, first)["mrr"]
    assert (same.difference, same.p, same.needed) == (0.0, 1.0, None)
    with pytest.raises(InputError, match="shapes"):
        compare_ranks([1, 2], [1])
    for wrong, fault in (
        ([], "no ranks"),
        ([1, float("inf")], "leave mean_rank out"),
        ([[[1]]], "have shape"),
        ([0], "is 0"),
    ):
        with pytest.raises(InputError, match=fault):
            bootstrap_ranks(np.array(wrong))
        with pytest.raises(InputError, match=fault):
            bootstrap_ranks(wrong)


def test_intervals_of_what_was_not_found():
    found = bootstrap_ranks([1, float("inf"), 2, float("inf")], ["mrr", "hits@1"])
    assert (found["mrr"].value, found["hits@1"].value) == (0.375, 0.25)
    apart = compare_ranks([1, float("inf"), 2], [float("inf"), float("inf"), 1], ["mrr"])["mrr"]
    assert (apart.wins, apart.ties, apart.losses) == (1, 1, 1)


# the command


def test_the_command_says_what_the_library_says(tmp_path):
    path = tmp_path / "ranks.tsv"
    path.write_text("rank\trelation\tside\n1\tr\thead\n4\tr\ttail\n2\t<script>[red]\thead\n")
    done = run(path, "--by", "relation,side", "--ks", "2,5", "--json", "--plot", tmp_path / "out.png")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    expected = read_ranks(path, [2, 5], by=["relation", "side"]).result()
    assert {name: found[name] for name in expected} == expected
    assert list(found)[2:] == ["count", "mrr", "mean_rank", "median_rank", "hits@2", "hits@5", "groups", "macro"]
    assert (tmp_path / "out.png").stat().st_size > 1000
    shown = run(path, "--by", "relation", "--bootstrap", 20, "--plot", tmp_path / "out.svg").stdout
    assert "<script>[red]" in shown
    assert "95 % interval" in shown
    assert "hits@20" in shown


def test_the_command_compares_files_line_by_line(tmp_path):
    for name, ranks in (("a", [3, 5, 9]), ("b", [1, 2, 9]), ("c", [1])):
        (tmp_path / f"{name}.txt").write_text("\n".join(map(str, ranks)))
    done = run(tmp_path / "b.txt", "--against", tmp_path / "a.txt", "--json")
    found = json.loads(done.stdout)["comparison"]
    assert found["against"] == "a.txt"
    assert found["metrics"]["mrr"]["difference"] == pytest.approx(whole([1, 2, 9])["mrr"] - whole([3, 5, 9])["mrr"])
    assert found["metrics"]["mrr"]["wins"] == 2
    assert "difference from a.txt" in run(tmp_path / "b.txt", "--against", tmp_path / "a.txt").stdout
    assert "same queries" in str(run(tmp_path / "b.txt", "--against", tmp_path / "c.txt").exception)


def test_kept_ranks_are_read_too(tmp_path):
    from openbiolink import baseline, evaluate, from_labelled
    from openbiolink.evaluation.rankfile import write_ranks

    train = [(f"p{n}", "knows", f"p{n * n % 23}") for n in range(23)]
    test = [(f"p{n}", "knows", f"p{(n * n + 1) % 23}") for n in range(23)]
    graph = from_labelled(train=train, valid=[], test=test)
    result = evaluate(baseline("degree", graph), graph)
    for name in ("kept.parquet", "kept.tsv"):
        write_ranks(result, tmp_path / name)
        found = json.loads(run(tmp_path / name, "--by", "relation,side", "--json").stdout)
        assert found["mrr"] == result.metrics()["mrr"]
        assert {group["side"]: group["mrr"] for group in found["groups"]} == {
            side: result.metrics(side)["mrr"] for side in ("head", "tail")
        }
        assert "openbiolink compare" in str(run(tmp_path / name, "--bootstrap", 50).exception)
        assert "grouped by relation and side alone" in str(run(tmp_path / name, "--by", "type").exception)


def test_the_command_refuses_what_would_mislead(tmp_path):
    path = tmp_path / "ranks.tsv"
    path.write_text("rank\tcount\n1\t\x1b[31ma\ninf\tb\n")
    assert "given twice" in str(run(path, path).exception)
    assert "is the name of a number of the result" in str(run(path, "--by", "count").exception)
    assert "too few draws" in str(run(path, "--bootstrap", 1).exception)
    assert run(path, "--bootstrap", 10**9).exit_code != 0
    found = json.loads(run(path, "--bootstrap", 20, "--json").stdout)
    assert list(found["intervals"]) == ["mrr", "hits@1", "hits@3", "hits@10"]
    path.write_text("rank\tkind\n1\t\x1b[31ma\ninf\tb\n")
    assert "\x1b" not in run(path, "--by", "kind").stdout
    with pytest.raises(InputError, match="no curves"):
        plot_hits_curve({})


@pytest.mark.parametrize("ks", ["", "0", "1,x", "1.5", "-1", "\uff11"])
def test_ks_that_are_none(tmp_path, ks):
    (tmp_path / "ranks.txt").write_text("1\n")
    assert "--ks" in str(run(tmp_path / "ranks.txt", "--ks", ks).exception)
