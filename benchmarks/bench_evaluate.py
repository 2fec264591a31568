"""How fast the evaluation is: against the bare matrix products of its questions, and against other programs.

    python benchmarks/bench_evaluate.py [--only TEXT ...] [--repeats 3] [--data FOLDER] [--results FILE] [--list]

Each entry is measured in a process of its own and put into the JSON file of results in place of its earlier self, with
the machine, the commit and the date; `make_page.py` makes the page from it. Splits are made up by `made_up_split.py`
and kept in FOLDER, vectors are standard normal numbers of seed 0. Other programs get the same split and vectors in an
environment of their own, which is made by the first run from the pins in `peers/`. Whatever is measured, the bare
products of `yardstick.py` are timed right before and right after it.

Entries that say `trained` need FOLDER/SIZE.npz, which `train_vectors.py` makes, and are passed over without it.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yardstick
from make_page import FORMAT, RESULTS
from threadpoolctl import threadpool_info

HERE = Path(__file__).resolve().parent
PARTS = ("train", "val", "test")
THREADS = 2
DIMENSION = 200
FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is measured.

    Attributes:
        kind: `ours`, `load`, `peer` or `peer load`.
        size: of the split.
        model: with d numbers for each entity; `complex` and `rotate` have 2 d.
        triples: test triples that are run; 0 for all.
        dimension: d.
        first_pass: of ours: `float32` or `int8`.
        vectors: `normal` or `trained`.
        share: of the bare products that is timed.
        repeats: where fewer than asked for are enough.
        peer: the other program.
        kept: of `load`: whether the index of an earlier run is there.
        rows: of `peer load`: training triples that are read; 0 for all.
    """

    kind: str
    size: str
    model: str = ""
    triples: int = 0
    dimension: int = DIMENSION
    first_pass: str = "float32"
    vectors: str = "normal"
    share: float = 1.0
    repeats: int = 99
    peer: str = ""
    kept: bool = False
    rows: int = 0

    @property
    def name(self):
        """As it stands in the results."""
        marks = {
            "test triples": f"{self.triples:,} triples" if self.triples and self.kind == "ours" else "",
            "vectors": self.vectors if self.vectors != "normal" else "",
            "first pass": self.first_pass if self.first_pass != "float32" else "",
            "kept": "kept" if self.kept else "",
        }
        return " ".join(filter(None, [self.kind, self.size, self.peer, self.model, *marks.values()]))


def list_entries():
    """Every entry, in the order of measuring."""
    ours = [Entry(kind="ours", size="small", model=model) for model in MODELS]
    for form, repeats in {"distmult": 2, "transe-l2": 1, "complex": 1}.items():
        ours.append(Entry(kind="ours", size="hq", model=form, triples=20_000, share=0.2, repeats=repeats))
    for size, rest in {"small": {}, "hq": {"triples": 20_000, "share": 0.2, "repeats": 2}}.items():
        for first_pass in ("float32", "int8"):
            options = {"model": "distmult", "first_pass": first_pass, "vectors": "trained", **rest}
            ours.append(Entry(kind="ours", size=size, **options))
    ours.append(Entry(kind="ours", size="hq", model="distmult", share=0.1, repeats=1))
    loads = [Entry(kind="load", size="hq", kept=kept) for kept in (False, True)]
    loads += [Entry(kind="peer load", size="hq", peer=peer, rows=2_000_000) for peer in ("pykeen", "old way")]
    peers = [
        Entry(kind="peer", size="small", peer=peer, model=form, triples=triples, repeats=2)
        for peer, triples in {"pykeen": 160, "torchkge": 96, "old way": 0, "ogb": 0}.items()
        for form in ("distmult", "transe-l2", "complex")
    ]
    tiny = [Entry(kind="ours", size="tiny", model="distmult", dimension=16)]  # of the tests, measured only if named
    return ours + loads + peers + tiny


ENVIRONMENT = {"old way": "pykeen", "pykeen": "pykeen", "torchkge": "torchkge", "ogb": "ogb"}
MODELS = {
    "distmult": ("distmult", 1, {}),
    "complex": ("complex", 2, {}),
    "transe-l2": ("transe", 1, {"norm": 2}),
    "transe-l1": ("transe", 1, {"norm": 1}),
    "rotate": ("rotate", 2, {}),
    "rescal": ("rescal", 1, {}),
}


def make_vectors(entry, data, entities, relations):
    """Vectors of entities and of relations, float32."""
    if entry.vectors == "trained":
        arrays = np.load(data / f"{entry.size}.npz")
        return arrays["e"], arrays["r"]
    rng, (_, parts, _) = np.random.default_rng(0), MODELS[entry.model]
    size = entry.dimension * parts
    table = rng.standard_normal((entities, size), dtype=np.float32)
    width = {"rotate": entry.dimension, "rescal": size * size}.get(entry.model, size)
    return table, rng.standard_normal((relations, width), dtype=np.float32)


def make_model(entry, data, dataset):
    from openbiolink.evaluation.vectors import MODELS as KINDS

    kind, _, options = MODELS[entry.model]
    return KINDS[kind](*make_vectors(entry, data, dataset.num_entities, dataset.num_relations), **options)


def find_backend(first_pass):
    if first_pass == "float32":
        return None
    from openbiolink.evaluation.quantised import quantised_backend

    return quantised_backend()


def count_questions(dataset, triples):
    from openbiolink.evaluation.fused import list_questions
    from openbiolink.evaluation.result import SIDES

    return sum(len(list_questions(dataset, triples, side, np.arange(len(triples))).given) for side in SIDES)


def first_triples(dataset, number):
    """The data set with fewer test triples; what is filtered stays what it was."""
    parts = dataset.train, dataset.valid, dataset.test[:number]
    return replace(dataset, test=parts[2], index=replace(dataset.index, parts=parts))


def measure_ours(entry, data, repeats):
    """Facts of `evaluate` with a model given as vectors; loading and compiling are not timed."""
    from openbiolink.dataset import load_dataset
    from openbiolink.evaluation import evaluate

    dataset = load_dataset(data / entry.size, index=True)
    total = len(dataset.test)
    dataset = first_triples(dataset, entry.triples or total)
    model, backend = make_model(entry, data, dataset), find_backend(entry.first_pass)
    options = {"unseen": "keep", "threads": THREADS, "backend": backend}
    evaluate(model, first_triples(dataset, 50), **options)
    table, found = model.candidates["tail"], []
    facts = yardstick.measure(
        lambda: found.append(evaluate(model, dataset, **options)),
        queries=count_questions(dataset, dataset.test),
        table=table,
        repeats=min(repeats, entry.repeats),
        share=entry.share,
    )
    same = all((one.better == found[0].better).all() and (one.equal == found[0].equal).all() for one in found)
    held = table.nbytes + sum(part.nbytes for part in (dataset.train, dataset.valid, dataset.test))
    if backend is not None:
        plain = evaluate(model, dataset, **{**options, "backend": None})
        same &= (plain.better == found[0].better).all() and (plain.equal == found[0].equal).all()
    return {
        **facts,
        "triples": {"run": len(dataset.test), "total": total, "scale": 1.0},
        "threads": THREADS,
        "held_mb": round(held / 1e6, 1),
        "same_ranks": bool(same),
        "mrr": round(found[0].metrics()["mrr"], 6),
    }


def measure_load(entry, data, repeats, folder):
    """Facts of `load_dataset(index=True)`: from the files, or from the index that an earlier process has kept."""
    rows = link_parts(data / entry.size, folder, 0)
    if entry.kept:
        run_child(entry, data, 1, folder, load_only=True)
    found = []
    for _ in range(min(repeats, entry.repeats)):
        for old in () if entry.kept else folder.glob("*.bin"):
            old.unlink()
        found.append(run_child(entry, data, 1, folder, load_only=True))
    pairs = [(one["wall"], one["cpu"]) for one in found]
    return {
        "seconds": yardstick.by_clock(pairs),
        "median": yardstick.medians(pairs),
        "triples": {"run": rows, "total": rows, "scale": 1.0},
        "peak_mb": max(one["peak_mb"] for one in found),
        "before_mb": found[0]["before_mb"],
    }


def load_once(folder):
    """One measurement of `measure_load`, in a process of its own."""
    from openbiolink.dataset import load_dataset

    start = yardstick.reset_peak()
    wall, busy = yardstick.clock(lambda: load_dataset(folder, index=True))
    return {"wall": wall, "cpu": busy, "peak_mb": round(yardstick.peak_memory(), 1), "before_mb": round(start, 1)}


def link_parts(split, folder, rows):
    """Put the files of a split into a folder, the training part cut after some rows; returns the number of rows."""
    total = 0
    for part in PARTS:
        source, target = split / f"{part}_sample.csv", folder / f"{part}_sample.csv"
        if rows and part == "train":
            with source.open("rb") as stream, target.open("wb") as out:
                for line, _ in zip(stream, range(rows), strict=False):
                    out.write(line)
        else:
            target.symlink_to(source.resolve())
        with source.open("rb") as stream:
            total += sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b""))
    return total


def measure_peer_load(entry, data, _, folder):
    """Facts of another program's loading of the same files."""
    total = link_parts(data / entry.size, folder, entry.rows)
    files = {part: str(folder / f"{part}_sample.csv") for part in PARTS}
    return run_peer(entry, "peer_evaluators.py", {"files": files, "rows": total}, folder)


def measure_peer(entry, data, repeats, folder):
    """Facts of another program's ranks on the same split and vectors, compared with ours."""
    ours = replace(entry, kind="ours", triples=0, peer="")
    arrays = folder.parent / f"{ours.name.replace(' ', '-')}.npz"  # the same for all peers
    if not arrays.is_file():
        run_child(ours, data, 1, folder, arrays=str(arrays))
    task = {"arrays": str(arrays), "model": entry.model, "triples": entry.triples}
    return run_peer(entry, "peer_evaluators.py", {**task, "repeats": min(repeats, entry.repeats)}, folder)


def write_arrays(entry, data, file):
    """Write what a peer gets, and our counts to compare its ranks with."""
    from openbiolink.dataset import load_dataset
    from openbiolink.evaluation import evaluate

    dataset = load_dataset(data / entry.size, index=True)
    found = evaluate(make_model(entry, data, dataset), dataset, unseen="keep", threads=THREADS)
    entities, relations = make_vectors(entry, data, dataset.num_entities, dataset.num_relations)
    np.savez(
        file,
        **{part: dataset.part(part) for part in ("train", "valid", "test")},
        entities=entities,
        relations=relations,
        better=found.better,
        equal=found.equal,
        queries=count_questions(dataset, dataset.test),
    )
    return {}


def run_peer(entry, script, task, folder):
    """Run a script in the environment of a peer; gives its facts."""
    out, python = folder / "peer.json", find_environment(ENVIRONMENT[entry.peer])
    task |= {"peer": entry.peer, "out": str(out)}
    run([python, HERE / script, json.dumps(task)])
    return json.loads(out.read_text())


def find_environment(name):
    """The Python of an environment of its own, made from the pins where it is not there."""
    folder = HERE / ".peers" / name
    python, ready = folder / "bin" / "python", folder / "ready.txt"
    pins = HERE / "peers" / f"{name}.txt"
    if not ready.is_file() or ready.read_text() != pins.read_text():
        print(f"  makes the environment of {name}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", pins])
        ready.write_text(pins.read_text())
    return python


def run_child(entry, data, repeats, folder, **extra):
    """Measure an entry in a process of its own."""
    out = folder / "facts.json"
    task = {"entry": asdict(entry), "data": str(data), "repeats": repeats, "folder": str(folder), **extra}
    run([sys.executable, __file__, "--child", json.dumps({**task, "out": str(out)})])
    return json.loads(out.read_text())


def be_child(task):
    """What `run_child` runs."""
    entry, data = Entry(**task["entry"]), Path(task["data"])
    if "arrays" in task:
        facts = write_arrays(entry, data, task["arrays"])
    elif "load_only" in task:
        facts = load_once(Path(task["folder"]))
    else:
        facts = measure_ours(entry, data, task["repeats"])
    Path(task["out"]).write_text(json.dumps(facts))


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(command[1]).name}: {(done.stderr or done.stdout).strip()[-1000:]}")


MEASURES = {"ours": run_child, "load": measure_load, "peer": measure_peer, "peer load": measure_peer_load}


def machine():
    """What the numbers depend on."""
    facts = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").is_file() else ""
    rows = dict(line.split(":", 1) for line in facts.splitlines() if ":" in line)
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    blas = next((one for one in threadpool_info() if one["user_api"] == "blas"), {})
    return {
        "processor": rows.get("model name") or platform.processor() or platform.machine(),
        "flags": [flag for flag in FLAGS if flag in rows.get("flags", "").split()],
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 1e9, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('internal_api')} {blas.get('version')} {blas.get('architecture', '')}".strip(),
    }


def commit():
    """The commit, with a + where the sources differ from it."""
    git = ["git", "-C", str(HERE)]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    changes = [*git, "status", "--porcelain", "--", "../src"]
    changed = subprocess.run(changes, capture_output=True, text=True, check=False).stdout
    return head.stdout.strip() + ("+" if changed else "")


def measure_entry(entry, data, repeats, folder):
    """The entry of the results."""
    facts = {**asdict(entry), "commit": commit(), "date": datetime.now(UTC).date().isoformat()}
    facts["load_average"] = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    del facts["triples"], facts["repeats"], facts["share"]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        return {**facts, **MEASURES[entry.kind](entry, data, repeats, Path(name))}


def tell(facts):
    ratio, differ = facts.get("ratio"), facts.get("differ")
    text = f"  {facts['median']['wall']:.2f} s, {facts['median']['cpu']:.2f} s of CPU, peak {facts['peak_mb']:,.0f} MB"
    text += f", {ratio['wall']:.3f} times the products ({ratio['cpu']:.3f} by CPU)" if ratio else ""
    return text + (f", {differ['ranks']:,} of {differ['of']:,} ranks differ" if differ else "")


def measure_all(chosen, options, results, folder):
    """Measure the entries, and write the results anew after each."""
    for entry in chosen:
        print(entry.name, flush=True)
        split = options.data / entry.size
        if not (split / "test_sample.csv").is_file():
            run([sys.executable, HERE / "made_up_split.py", entry.size, split])
        if entry.vectors == "trained" and not (options.data / f"{entry.size}.npz").is_file():
            print(f"  passed over: no {options.data / entry.size}.npz")
            continue
        try:
            facts = measure_entry(entry, options.data, options.repeats, folder)
        except RuntimeError as error:
            print(f"  failed: {error}")
            continue
        print(tell(facts), flush=True)
        results["entries"][entry.name] = facts
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def choose(entries, texts):
    """The entries that are asked for; without a wish all but those of the tests."""
    names = {entry.name for entry in entries}
    if not texts:
        return [entry for entry in entries if entry.size != "tiny"]
    return [
        entry
        for entry in entries
        if any(entry.name == text if text in names else entry.name.startswith(text) for text in texts)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="the entry of this name, or those that begin so"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=HERE / ".data", help="of the splits; what is absent is made")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--list", action="store_true", help="name the entries and stop")
    parser.add_argument("--child", help="measure one thing (used by the program itself)")
    options = parser.parse_args()
    if options.child:
        be_child(json.loads(options.child))
        return
    chosen = choose(list_entries(), options.only)
    if options.list or not chosen:
        print(*(entry.name for entry in chosen or list_entries()), sep="\n")
        return
    results = {"format": FORMAT, "machine": machine(), "entries": {}}
    if options.results.is_file():
        old = json.loads(options.results.read_text())
        if old["machine"] != results["machine"]:
            sys.exit(f"{options.results}: is of another machine ({old['machine']}); give another file by --results")
        results = old
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        measure_all(chosen, options, results, Path(folder))


if __name__ == "__main__":
    main()
