"""How fast metrics of ranks and of extracted relations are, and whether other programs find the same.

    python benchmarks/bench_metrics.py [--repeats 5] [--data FOLDER] [--results FILE] [--page-only]

Writes results/metrics.json and metrics.md. The table of programs is that of `tests/comparisons.py`, which the tests
read too. ranx runs in an environment of its own, made in FOLDER by the first run from the pins in `peers/ranx.txt`,
since it compiles for most of a minute. Medians of some repeats, all in one run.
"""

import argparse
import gzip
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import venv
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS, PAGE = HERE / "results" / "metrics.json", HERE / "metrics.md"
FORMAT = "openbiolink-benchmark-metrics/1"
MILLION = 1_000_000
PEER_RANKS = 20_000
DOCUMENTS, RELATIONS = 100_000, 5
STREAMED = 100 * MILLION
MACHINE = """\
- {processor}, {cores} cores, Python {python}, NumPy {numpy}
- commit `{commit}`, {date}, load before: {load}"""
PEERS_NOTE = """
Times are relative to ours in the same run. PyKEEN and we take the ranks as they are; what another program is fed is
made from the ranks before and not timed. `naive` is the definition in plain Python.
"""
RELATIONS_NOTE = """
`naive` is the loop that one would write first (`plain` in `tests/oracles/relation_extraction.py`), which checks no more
than that texts are texts; both find the same numbers. *From files* is the command on two JSONL files,
matched by id, with starting Python.
"""
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]


def timed(call, repeats):
    """The median of some runs in seconds, and what the last one gave."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds), found


def measure_ranks(folder, repeats):
    """One pass over a million ranks, in memory and in files."""
    from openbiolink.metrics import hits_at, mrr, ranking_metrics, read_ranks

    ranks = np.random.default_rng(0).integers(1, 1000, MILLION)
    listed, halves = ranks.tolist(), ranks / 2 + 0.5
    wide = np.random.default_rng(4).integers(1, 184_733, MILLION)
    files = {
        "text file": folder / "ranks.txt",
        "text file, gzip": folder / "ranks.txt.gz",
        "TSV, by relation and side": folder / "ranks.tsv",
    }
    text = "".join(f"{rank}\n" for rank in listed)
    files["text file"].write_text(text)
    files["text file, gzip"].write_bytes(gzip.compress(text.encode(), 6))
    rows = (f"{rank}\tr{rank % 30}\t{'head' if rank % 2 else 'tail'}\n" for rank in listed)
    files["TSV, by relation and side"].write_text("rank\trelation\tside\n" + "".join(rows))
    calls = {
        "array of whole ranks up to 1,000": lambda: ranking_metrics(ranks),
        "array of halves up to 500": lambda: ranking_metrics(halves),
        "array of whole ranks up to 184,732": lambda: ranking_metrics(wide),
        "array of halves up to 184,732": lambda: ranking_metrics(wide / 2 + 0.5),
        "array of whole ranks up to 10 million": lambda: ranking_metrics(wide * 54),
        "list": lambda: ranking_metrics(listed),
        "MRR alone, array": lambda: mrr(ranks),
        "Hits@10 alone, array": lambda: hits_at(ranks, 10),
        "MRR in a Python loop over the list": lambda: sum(1 / rank for rank in listed) / MILLION,
        "Hits@10 in a Python loop over the list": lambda: sum(rank <= 10 for rank in listed) / MILLION,
        **{
            name: lambda path=path, by=("relation", "side") if "TSV" in name else (): read_ranks(path, by=by).result()
            for name, path in files.items()
        },
    }
    return {name: timed(call, repeats)[0] for name, call in calls.items()}


def measure_stream(folder):
    """A hundred million ranks from a file, in one process and in two; the peak is that of the largest one."""
    path = folder / "many.txt"
    if not path.exists():
        part = "".join(f"{rank}\n" for rank in np.random.default_rng(1).geometric(0.001, MILLION)).encode()
        with path.open("wb") as stream:
            for _ in range(STREAMED // MILLION):
                stream.write(part)
    found = {}
    for workers in (1, 2):
        done = subprocess.run(
            [sys.executable, __file__, "--stream", path, str(workers)], capture_output=True, text=True, check=True
        )
        found[f"{workers} process{'es' if workers > 1 else ''}"] = json.loads(done.stdout)
    return found


def stream(path, workers):
    from openbiolink.metrics import read_ranks

    begin = time.perf_counter()
    count = read_ranks(path, workers=workers).result()["count"]
    status = Path("/proc/self/status").read_text(encoding="utf-8")  # getrusage would count what the parent had
    own = int(status.partition("VmHWM:")[2].split()[0])
    peak = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024
    return {"seconds": time.perf_counter() - begin, "peak_mb": peak, "ranks": count}


def measure_peers(ways, repeats):
    """Every metric of the same ranks by every program there is: numbers and seconds."""
    from comparisons import COMPARISONS

    ranks = np.random.default_rng(2).geometric(0.15, PEER_RANKS)
    found = {}
    for metric, programs in COMPARISONS.items():
        for name in ways:
            if name in programs:
                given = ranks.tolist() if name == "naive" else ranks
                programs[name](given)  # compiles, and makes the input that the program wants
                seconds, value = timed(lambda way=programs[name], given=given: way(given), repeats)
                found.setdefault(metric, {})[name] = {"value": value, "seconds": seconds}
    return found


def measure_ranx(folder, repeats):
    place = folder / "ranx"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        pins = HERE / "peers" / "ranx.txt"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", pins], check=True)
    done = subprocess.run([python, __file__, "--ranx", str(repeats)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def make_documents():
    """References and predictions, most of them right."""
    rng = np.random.default_rng(3)
    entities, kinds = rng.integers(0, 40, (DOCUMENTS, RELATIONS, 2)), rng.integers(0, 6, (DOCUMENTS, RELATIONS))
    wrong = rng.random((DOCUMENTS, RELATIONS)) < 0.2

    def relation(head, tail, kind):
        return {
            "head": f"gene {head}",
            "head_type": "GENE",
            "type": f"r{kind}",
            "tail": f"drug {tail}",
            "tail_type": "DRUG",
        }

    references, predictions = [], []
    for document in range(DOCUMENTS):
        rows = list(zip(entities[document].tolist(), kinds[document].tolist(), wrong[document].tolist(), strict=True))
        references.append([relation(*pair, kind) for pair, kind, _ in rows])
        predictions.append([relation(pair[0], pair[1] + 40 * off, kind) for pair, kind, off in rows])
    return references, predictions


def measure_relations(folder, repeats):
    """A hundred thousand documents of five relations, against the definition in plain Python."""
    from openbiolink.metrics.relation_extraction import score_relations
    from oracles import relation_extraction as oracle

    references, predictions = make_documents()
    calls = {
        "ours": lambda: score_relations(predictions=predictions, references=references),
        "naive": lambda: oracle.plain(predictions, references),
    }
    found = {name: timed(call, repeats) for name, call in calls.items()}
    for kind, row in found["naive"][1].items():
        assert all(np.isclose(row[name], found["ours"][1][kind][name], rtol=1e-13) for name in row), kind
    seconds = {name: median for name, (median, _) in found.items()}
    paths = {side: folder / f"{side}.jsonl" for side in ("references", "predictions")}
    for side, documents in (("references", references), ("predictions", predictions)):
        with paths[side].open("w") as stream:
            stream.writelines(json.dumps({"id": str(n), "relations": one}) + "\n" for n, one in enumerate(documents))
    command = [sys.executable, "-m", "openbiolink", "metrics", "relations", "--json"]
    command += [word for side, path in paths.items() for word in (f"--{side}", path)]
    seconds["from files"] = timed(lambda: subprocess.run(command, capture_output=True, check=True), repeats)[0]
    return seconds


def make_page(results):
    """The page in Markdown."""
    machine, ranks, relations = results["machine"], results["ranks"], results["relations"]
    rows = [(name, f"{1000 * seconds:,.1f} ms") for name, seconds in ranks.items()]
    streams = [
        (name, f"{one['ranks']:,}", f"{one['seconds']:.1f} s", f"{one['peak_mb']} MB")
        for name, one in results["stream"].items()
    ]
    peers = []
    for metric, programs in results["peers"].items():
        ours = programs["ours"]
        for name, one in programs.items():
            apart = abs(one["value"] - ours["value"])
            times = "1" if name == "ours" else f"{one['seconds'] / ours['seconds']:,.1f}"
            peers.append((metric, name, f"{one['value']:.6f}", f"{apart:.0e}" if apart else "0", times))
    parts = [
        "# How fast metrics are",
        "Made by `python benchmarks/bench_metrics.py` from what it measured.",
        MACHINE.format(commit=results["commit"], date=results["date"], load=results["load"], **machine),
        "## A million ranks",
        table(("from", "median"), rows, "lr"),
        f"## {STREAMED:,} ranks from a text file",
        table(("with", "ranks", "time", "peak of the largest process"), streams, "lrrr"),
        f"## Other programs, on the same {PEER_RANKS:,} ranks",
        PEERS_NOTE.strip(),
        table(("metric", "program", "value", "apart from ours", "times our time"), peers, "llrrr"),
        f"## {DOCUMENTS:,} documents of {RELATIONS} relations",
        table(("", "median"), [(name, f"{seconds:.2f} s") for name, seconds in relations.items()], "lr"),
        RELATIONS_NOTE.strip(),
    ]
    return "\n\n".join(parts) + "\n"


def table(head, rows, align):
    marks = ["---:" if one == "r" else "---" for one in align]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, marks, *rows))


def describe_machine():
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, default=HERE / ".data")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page-only", action="store_true")
    options = parser.parse_args()
    if not options.page_only:
        options.data.mkdir(parents=True, exist_ok=True)
        git = ["git", "-C", str(ROOT)]
        commit = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        peers = measure_peers(("ours", "naive", "pykeen", "torchmetrics"), options.repeats)
        for metric, programs in measure_ranx(options.data, options.repeats).items():
            peers[metric] |= programs
        results = {
            "format": FORMAT,
            "machine": describe_machine(),
            "commit": commit.stdout.strip(),
            "date": datetime.now(UTC).date().isoformat(),
            "load": f"{os.getloadavg()[0]:.1f}",
            "ranks": measure_ranks(options.data, options.repeats),
            "stream": measure_stream(options.data),
            "peers": peers,
            "relations": measure_relations(options.data, min(options.repeats, 3)),
        }
        options.results.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(make_page(json.loads(options.results.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--stream"]:
        print(json.dumps(stream(sys.argv[2], int(sys.argv[3]))))
    elif sys.argv[1:2] == ["--ranx"]:
        print(json.dumps(measure_peers(("ranx",), int(sys.argv[2]))))
    else:
        main()
