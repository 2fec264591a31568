"""The modules for HuggingFace `evaluate`: the numbers of the plain functions, no network, nothing rewritten."""

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from browser import find_browser, open_page
from conftest import ROOT
from offline_card import blocks_of
from openbiolink import huggingface
from openbiolink.errors import InputError
from openbiolink.metrics.ranking import summary, tally_ranks
from openbiolink.metrics.relation_extraction import score_relations

HOME = ROOT / "src" / "openbiolink" / "huggingface"
LAWS = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ACID = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
FIELDS = [*ACID]
TEN = [1, 3, 5, 10, 20, 2, 1, 8, 15, 1]


def card_of(name):
    return (HOME / name / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """`evaluate.load`, which keeps its files in a folder of its own and may not ask for others."""
    with pytest.MonkeyPatch.context() as patch:
        home = str(tmp_path_factory.mktemp("hf"))
        patch.setenv("HF_HOME", home)
        patch.setenv("HF_HUB_OFFLINE", "1")
        evaluate = pytest.importorskip("evaluate", reason="pip install 'openbiolink[huggingface]' to try the modules")
        yield lambda name: evaluate.load(huggingface.path(name), cache_dir=home)  # it may be imported already


@pytest.fixture(scope="module")
def module(load):
    return load("relation_extraction")


@pytest.fixture(scope="module")
def ranks_module(load):
    return load("link_prediction_ranks")


def refused(module, **given):
    """The one line of error."""
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        module.compute(**given)
    return str(caught.value)


# ------------------------------------------------------------------------------------------------- where they are


def run_card(card, folder, home):
    """Run the code of a card in a folder, in a fresh process without a network; how many statements there were."""
    env = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "tests" / "offline_card.py"), str(card)],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.split()[0])


def test_the_card_of_relations_runs_offline_where_the_module_was_installed(tmp_path):
    folder = huggingface.install(tmp_path / "here")
    assert folder == tmp_path / "here" / "Ikala-allen" / "relation_extraction"
    assert run_card(folder / "README.md", tmp_path / "here", tmp_path / "hf") == 21


def test_the_card_of_ranks_runs_offline_anywhere(tmp_path):
    assert run_card(HOME / "link_prediction_ranks" / "README.md", tmp_path, tmp_path / "hf") == 7


@pytest.mark.real
def test_the_card_has_every_line_of_code_of_the_published_one(shared):
    (seed,) = (shared / "seeds").glob("002_*.txt")
    published = blocks_of(seed.read_text(encoding="utf-8"))
    assert len(published) == 4
    ours = blocks_of(card_of("relation_extraction"))
    for block in published:
        assert "".join(f"{line.rstrip()}\n" for line in block.splitlines()) in ours


@pytest.mark.parametrize("name", huggingface.MODULES)
def test_every_module_is_a_whole_space(name):
    folder = Path(huggingface.path(name))
    kept = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert kept == {f"{name}.py", "README.md", "app.py", "requirements.txt"}
    _, front, _ = card_of(name).split("---\n", 2)
    facts = dict(re.findall(r"^(\w+): (.*)$", front, flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert facts["title"] == name
    assert facts["license"] == project["license"].lower()
    assert facts["app_file"] == "app.py"
    assert f">={facts['python_version'].strip(chr(34))}" == project["requires-python"]
    assert f"gradio=={facts['sdk_version']}\n" in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "tags:\n- evaluate\n- metric\n" in front


def test_the_citation_of_the_card_is_that_of_the_module(load):
    for name in huggingface.MODULES:
        (entry,) = re.findall(r"```bibtex\n(.*?)```", card_of(name), flags=re.DOTALL)
        assert " ".join(load(name).citation.split()) == " ".join(entry.split())


def test_an_unknown_module_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"'relations' .*link_prediction_ranks, relation_extraction"):
        huggingface.path("relations")


def test_a_second_copy_takes_the_place_of_the_first(tmp_path):
    copy = huggingface.install(tmp_path)
    (copy / "app.py").unlink()
    (copy / "__pycache__").mkdir()
    assert huggingface.install(str(tmp_path)) == copy
    (copy / "README.md").write_text("changed", encoding="utf-8")
    with pytest.raises(InputError, match=r"README\.md is not as this version writes it.*overwrite=True"):
        huggingface.install(tmp_path)
    assert (copy / "README.md").read_text(encoding="utf-8") == "changed"
    assert huggingface.install(tmp_path, overwrite=True) == copy
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == {
        name: (HOME / "relation_extraction" / name).read_bytes()
        for name in ("README.md", "app.py", "requirements.txt", "relation_extraction.py")
    }


def test_a_place_with_other_files_stays_as_it_is(tmp_path):
    (tmp_path / "Ikala-allen" / "relation_extraction").mkdir(parents=True)
    notes = tmp_path / "Ikala-allen" / "relation_extraction" / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds notes\.txt"):
        huggingface.install(tmp_path)
    assert [*notes.parent.iterdir()] == [notes]


def test_a_copy_is_whole_or_absent(tmp_path, monkeypatch):
    copied, copy = [], shutil.copyfile

    def fail_at_the_third(source, target):
        if len(copied) == 2:
            raise OSError(28, "No space left on device")
        copied.append(copy(source, target))

    monkeypatch.setattr(shutil, "copyfile", fail_at_the_third)
    with pytest.raises(InputError, match="No space left"):
        huggingface.install(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.name != "Ikala-allen"] == []


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "here").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="choose another folder"):
        huggingface.install(tmp_path / "here")


# --------------------------------------------------------------------------------------------------- relations


def read_case(cases, name):
    return json.loads((cases / name).read_text(encoding="utf-8"))


def test_relations_offline_are_those_of_the_case(cases, module):
    given, expected = read_case(cases, "c53-re-hf-offline.json"), read_case(cases, "expected.json")["c53"]
    assert module.compute(**given) == expected
    module.add_batch(**given)
    assert module.compute() == expected
    for prediction, reference in zip(given["predictions"], given["references"], strict=True):
        module.add(prediction=prediction, reference=reference)
    assert module.compute() == expected


@pytest.mark.parametrize(
    ("name", "field"), [("number", "head"), ("missing-key", "tail_type"), ("null", "type")], ids=str
)
def test_bad_fields_are_refused_before_anything_is_rewritten(cases, module, name, field):
    given = read_case(cases, f"c52-re-bad-fields-{name}.json")
    said = refused(module, **given)
    assert said.startswith("predictions, document 0, relation 1: ")
    assert f"'{field}'" in said
    assert refused(module, predictions=given["references"], references=given["predictions"]).startswith("references")
    good = {"predictions": [[ACID]], "references": [[ACID]]}
    assert module.compute(**good)["ALL"]["tp"] == 1


@pytest.mark.parametrize("bad", [5, 2.5, True, None, ["a"], b"a", np.int64(1), "half \ud800"], ids=repr)
@pytest.mark.parametrize("field", FIELDS)
def test_what_is_no_text_is_refused_wherever_it_stands(module, field, bad):
    wrong = ACID | {field: bad}
    for side, other in (("predictions", "references"), ("references", "predictions")):
        given = {side: [[ACID], [ACID, wrong]], other: [[ACID], [ACID]]}
        said = refused(module, **given)
        assert f"{side}, document 1, relation 1" in said
        assert repr(field) in said
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            module.add_batch(**given)
        module.add_batch(predictions=[[ACID]], references=[[ACID]])
        with pytest.raises(ValueError, match=f"{side}, document 1, relation 1"):
            module.add(**{side[:-1]: [ACID, wrong], other[:-1]: [ACID]})
        assert module.compute()["ALL"] == score_relations(predictions=[[ACID]], references=[[ACID]])["ALL"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"predictions": [[ACID]], "references": [[ACID], []]}, "1 prediction and 2 references"),
        ({"predictions": [[ACID]]}, "references are None"),
        ({"predictions": [ACID], "references": [[ACID]]}, "predictions, document 0"),
        ({"predictions": [[5]], "references": [[ACID]]}, "predictions, document 0, relation 0"),
        ({"predictions": [[ACID | {"type": "ALL"}]], "references": [[]]}, "'type' is 'ALL'"),
        ({"predictions": [], "references": []}, "there are no documents"),
        ({}, "there are no documents; give"),
        ({"predictions": [[]], "references": [[ACID]], "mode": "exact"}, "mode='exact'"),
        ({"predictions": [[]], "references": [[ACID]], "mode": "relaxed"}, "references, document 0, relation 0: "),
    ],
)
def test_other_mistakes_are_one_line_and_leave_nothing_behind(module, given, said):
    for _ in range(2):
        assert said in refused(module, **given)
        assert [*Path(module.data_dir).glob("*.arrow")] == []
    assert module.compute(predictions=[[ACID], []], references=[[ACID], [ACID]])["ALL"]["r"] == 50.0


def test_what_was_added_outlives_a_wrong_option(module):
    module.add(prediction=[ACID], reference=[ACID])
    assert "scale='per mille'" in refused(module, scale="per mille")
    assert module.compute(scale="fraction")["ALL"]["f1"] == 1.0


def test_what_can_be_gone_through_once_is_taken_as_lists_are(module):
    documents = [[ACID, ACID | {"head": "ibuprofen"}], [ACID]]
    array = np.empty(2, dtype=object)
    array[:] = documents
    wanted = score_relations(predictions=documents, references=documents)
    for predictions in ((iter(document) for document in documents), array, tuple(map(tuple, documents))):
        assert module.compute(predictions=predictions, references=documents) == wanted
    by_id = {"a": documents[0], "b": documents[1]}
    assert module.compute(predictions=by_id, references=dict(reversed(by_id.items()))) == wanted


texts = st.sampled_from(["a", "b", "a b", "磷脂", '"a"', "5", ""])
spans = st.sampled_from([[0, 1], [0, 2], [1, 3], (5, 9)])
relations = st.fixed_dictionaries(
    {
        "head": texts,
        "head_type": texts,
        "type": st.sampled_from(["r", "s", "no_relation"]),
        "tail": texts,
        "tail_type": texts,
        "head_span": spans,
        "tail_span": spans,
    },
    optional={
        "score": st.sampled_from([0, 0.25, 1.0]),
        "head_id": st.sampled_from(["X:1", "X:2", 7]),
        "page": st.integers(),
    },
)
documents = st.lists(
    st.tuples(st.lists(relations, max_size=4), st.lists(relations, max_size=4)), min_size=1, max_size=4
)
options = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["strict", "boundaries", "relaxed"]),
        "match": st.sampled_from(["text", "span", "id"]),
        "types_from": st.sampled_from(["union", "references"]),
        "symmetric": st.just(["s"]),
        "leave_out": st.just(["no_relation"]),
        "scale": st.sampled_from(["percent", "fraction"]),
        "threshold": st.just(0.5),
    },
)


@LAWS
@given(pairs=documents, options=options, data=st.data())
def test_the_numbers_are_those_of_the_plain_function_whichever_way_they_come(module, pairs, options, data):
    predictions, references = [one for one, _ in pairs], [other for _, other in pairs]
    try:
        expected = score_relations(predictions=predictions, references=references, **options)
    except InputError as error:
        assert refused(module, predictions=predictions, references=references, **options) == str(error)
        return
    found = module.compute(predictions=predictions, references=references, **options)
    assert found == expected
    assert repr(found) == repr(expected)
    cut = data.draw(st.integers(0, len(pairs)))
    for prediction, reference in pairs[:cut]:
        module.add(prediction=prediction, reference=reference)
    if cut < len(pairs):
        module.add_batch(predictions=predictions[cut:], references=references[cut:])
    assert module.compute(**options) == expected


# -------------------------------------------------------------------------------------------------------- ranks


@LAWS
@given(ranks=st.lists(st.integers(2, 40).map(lambda doubled: doubled / 2) | st.just(math.inf), min_size=1, max_size=9))
def test_the_numbers_of_ranks_are_those_of_the_plain_function(ranks_module, ranks):
    expected = summary(tally_ranks(ranks), (1, 4))
    assert ranks_module.compute(ranks=ranks, ks=(1, 4)) == expected
    assert ranks_module.compute(ranks=np.array(ranks), ks=[1, 4]) == expected
    for rank in ranks:
        ranks_module.add(rank=rank)
    assert ranks_module.compute(ks=(1, 4)) == expected


@pytest.mark.parametrize("bad", [[0], [1, -1], [math.nan], [True], ["1"], [None], [[1]], "12", 5, None, []], ids=repr)
def test_what_is_no_rank_is_refused_before_it_is_rewritten(ranks_module, bad):
    assert refused(ranks_module, ranks=bad)
    assert refused(ranks_module, ranks=TEN, ks=[0]) == "k=0 in hits@k; expected a whole number of at least 1"
    assert ranks_module.compute(ranks=TEN) == summary(tally_ranks(TEN))


# -------------------------------------------------------------------------------------------------------- pages


def app_of(name):
    """The program of a page, as a module; Gradio is not needed before the page is built."""
    spec = importlib.util.spec_from_file_location(f"app_of_{name}", HOME / name / "app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    return app


def shown_by_the_card(name):
    """What the first example of a card prints."""
    return blocks_of(card_of(name))[0].splitlines()[-1]


def test_the_page_of_relations_scores_its_example():
    app = app_of("relation_extraction")
    rows, text = app.score(app.REFERENCES, app.PREDICTIONS, "strict")
    assert text == shown_by_the_card("relation_extraction")
    assert rows[0] == ["sell", "1", "1", "1", "50.00", "50.00", "50.00"]
    assert rows[-1] == ["mean over types", "", "", "", "50.00", "50.00", "50.00"]
    assert app.score("[[]]", "[[}]", "strict") == (
        [],
        "Error: predictions, line 1, column 3: no JSON (Expecting value); mend it",
    )
    assert app.score("[" * 100_000, "[]", "strict")[1].startswith("Error: references")
    assert (
        "document 0, relation 1"
        in app.score(app.REFERENCES, app.PREDICTIONS.replace('"tinadaviespigments"', "5"), "strict")[1]
    )
    assert "head_span" in app.score(app.REFERENCES, app.PREDICTIONS, "relaxed")[1]  # fmt: skip


def test_the_page_of_ranks_scores_its_example():
    app = app_of("link_prediction_ranks")
    rows, text = app.score(app.RANKS, "1, 3 10")
    assert text == shown_by_the_card("link_prediction_ranks")
    assert rows[:2] == [["count", "10"], ["mrr", "0.4375"]]
    assert app.score("1 inf", "1")[0][3] == ["mean_rank", "-"]
    for ranks, ks in (("1 x", "1"), ("1_0", "1"), ("0", "1"), ("", "1"), ("1", "0"), ("1", "2.5"), ("nan", "1")):
        assert app.score(ranks, ks)[1].startswith("Error: ")


GUARD = """
import runpy, sys
def refuse(event, args):
    if event in {"socket.connect", "socket.getaddrinfo"}:
        host = args[1][0] if event == "socket.connect" and isinstance(args[1], tuple) else args[0]
        if host not in {"127.0.0.1", "localhost", "::1"}:
            raise PermissionError(f"{event} {args}")
sys.addaudithook(refuse)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
BUTTON = "[...document.querySelectorAll('button')].find(button => button.innerText.trim() === 'Score')"
RESULT = "[...document.querySelectorAll('textarea')].map(area => area.value).find(value => value.startsWith('{'))"


@pytest.mark.parametrize("name", huggingface.MODULES)
def test_the_page_scores_its_example_in_a_browser(name, tmp_path):
    if find_browser() is None:
        pytest.skip("NO BROWSER: install Chromium to try the pages")
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT / "src"), "HF_HOME": str(tmp_path / "hf")}
    command = [sys.executable, "-c", GUARD, str(HOME / name / "app.py")]
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        try:
            said = next((line for line in server.stdout if "Running on local URL" in line), "")
            (url,) = re.findall(r"http://127\.0\.0\.1:\d+", said)
            with open_page(url, tmp_path / "profile") as page:
                page.wait(f"{BUTTON} !== undefined")
                page.run(f"{BUTTON}.click()")
                assert page.wait(RESULT) == shown_by_the_card(name)
                shown = page.wait("document.body.innerText")
                assert all(word in shown for word in (["sell", "50.00"] if "relation" in name else ["mrr", "0.4375"]))
                assert {asked for asked in page.asked if not asked.startswith((url, "data:", "blob:"))} == set()
        finally:
            server.terminate()
