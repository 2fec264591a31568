"""Make the page of benchmarks from the raw results.

    python benchmarks/make_page.py [RESULTS] [--folder FOLDER]

Writes README.md and ratios.svg into FOLDER, the one of this program by default. The same results give the same bytes.
"""

import argparse
import json
import math
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "evaluate.json"
FORMAT = "openbiolink-benchmark/1"
PEERS = {
    "pykeen": "PyKEEN 1.11.1, `RankBasedEvaluator`, batches of 32",
    "torchkge": "TorchKGE 0.17.7, `LinkPredictionEvaluator`, batches of 32",
    "old way": "the method of the first OpenBioLink's evaluator, mended, batches of 100",
    "ogb": "OGB 1.3.6, `Evaluator('ogbl-biokg')` on all candidates, batches of 100",
}
LOADERS = {
    "pykeen": "PyKEEN 1.11.1, `TriplesFactory` and filter index of both sides",
    "old way": "the method of the first OpenBioLink's loader, mended",
}
MODELS = {
    "distmult": "DistMult",
    "complex": "ComplEx",
    "transe-l2": "TransE-L2",
    "transe-l1": "TransE-L1",
    "rotate": "RotatE",
    "rescal": "RESCAL",
}
SPLITS = {"small": "20,000 entities", "hq": "184,732 entities", "tiny": "2,000 entities"}
WHOLE = "ours hq distmult"
PART = "20,000 triples"
AT_MOST, AT_LEAST = "≤", "≥"
NOT_MEASURED = (
    ("LibKGE, Marius", "on no package registry"),
    ("AmpliGraph", "needs TensorFlow, an environment of its own size for one row; left out"),
    ("DGL-KE", "its last package is of 2021 and needs a DGL of that time"),
    ("PyKEEN and TorchKGE at 184,732 entities", "they would take more than a day; their ratio is at 20,000 entities"),
    ("GPU", "the machine has none; that the counts are the same there is a test"),
)
MADE = """
Made by `python benchmarks/make_page.py` from `results/evaluate.json`, which `python benchmarks/bench_evaluate.py`
measures. All numbers are of exact filtered ranks of both sides.
"""
PEERS_NOTE = """
*Times ours* is the quotient of the two ratios to the products. Ranks are compared under the peer's own tie rule; they
differ where float32 rounding decides between scores that are all but equal. The old and OGB's way are given scores that
are one matrix product for each batch, which flatters them.
"""
LOAD_NOTE = """
The files were in the cache of the system. A scale above 1 says that fewer training rows were read; times are scaled,
peaks are not.
"""
HOW = """\
Splits are made up by `made_up_split.py`; vectors are standard normal numbers of seed 0, or, where a row says *trained*,
those of a DistMult of `train_vectors.py`. The *bare products* are the float32 matrix products of the different
questions with all entities, on both cores, their results thrown away, cut into blocks in the fastest of six ways
(`yardstick.py`). They are timed right before and right after each measurement, in the same process; a ratio is the
median of the quotients with their mean. So a ratio says how far from the limit of the machine a program is, and can be
compared between machines; seconds cannot. Loading and compiling are not timed, nor is what a peer prepares (model,
dictionaries and masks of known answers). Peaks are those of the whole process while it was measured, Python and
libraries included.
"""


def make_page(results):
    """The page in Markdown."""
    entries, machine = results["entries"], results["machine"]
    dates, commits = ({entry[key] for entry in entries.values()} for key in ("date", "commit"))
    loads = sorted(entry["load_average"] or 0 for entry in entries.values()) or [0]
    facts = [
        f"{machine['processor']}, {machine['cores']} cores ({', '.join(machine['flags'])}), {machine['memory_gb']} GB",
        f"Python {machine['python']}, NumPy {machine['numpy']}, {machine['blas']}, {machine['system']}",
        f"commit {', '.join(f'`{one}`' for one in sorted(commits))} (+: with changes), {' to '.join(span(dates))}",
        f"load of the machine before each measurement: {loads[0]} to {loads[-1]} (of other programs above 1 or so)",
    ]
    parts = [
        "# How fast the evaluation is",
        MADE.strip(),
        "\n".join(f"- {fact}" for fact in facts),
        "## Targets",
        table(("target", "wanted", "measured", ""), target_rows(entries), "lrrl"),
        "![ratios](ratios.svg)",
        "## Against the bare products",
        ours_table(entries),
        first_pass(entries),
        "## Against other programs",
        peer_table(entries),
        PEERS_NOTE.strip(),
        "## Loading 9.3 million rows, with both filter indexes",
        load_table(entries),
        LOAD_NOTE.strip(),
        "## How it was measured",
        HOW.strip(),
        "## What was not measured",
        table(("what", "why"), [*NOT_MEASURED, *absent_rows(entries)], "ll"),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def span(days):
    return sorted({min(days), max(days)}) if days else ["never"]


def table(head, rows, align):
    """A table in Markdown; nothing where it has no rows."""
    rows = list(rows)
    if not rows:
        return "Not measured."
    marks = ["---:" if one == "r" else "---" for one in align]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, marks, *rows))


def list_targets(entries):
    """Every target: its text, at most or at least, the number, what was measured (None if it was not), the unit."""
    found = []
    for size in ("small", "hq"):
        for model, wanted in {"distmult": 1.3, "transe-l2": 1.4, "complex": 1.4}.items():
            name = f"ours {size} {model}" + (f" {PART}" if size == "hq" else "")
            text = f"{MODELS[model]}, {SPLITS[size]}: times the bare products"
            found.append((text, AT_MOST, wanted, value(entries, name, "ratio", "wall"), ""))
    text = "DistMult, whole test set of 401,901 triples, 184,732 entities: times the bare products"
    found.append((text, AT_MOST, 1.35, value(entries, WHOLE, "ratio", "wall"), ""))
    found.append(("the same: memory above vectors and triples", AT_MOST, 600, above(entries.get(WHOLE)), " MB"))
    for peer, wanted in {"pykeen": 50, "old way": 4, "ogb": 4}.items():
        for model in ("distmult", "transe-l2", "complex"):
            text = f"{PEERS[peer].split(',')[0]}, {MODELS[model]}, 20,000 entities: times ours"
            found.append((text, AT_LEAST, wanted, times_ours(entries, peer, model), ""))
    for name, text, limit in (("load hq", "loading and both indexes", 6), ("load hq kept", "from the kept index", 0.5)):
        found.append((f"9.3 million rows, {text}", AT_MOST, limit, value(entries, name, "median", "wall"), " s"))
    found.append(("the same, first time: peak of memory", AT_MOST, 1000, value(entries, "load hq", "peak_mb"), " MB"))
    return found


def target_rows(entries):
    for text, sign, wanted, got, unit in list_targets(entries):
        if got is None:
            yield text, f"{sign} {wanted}{unit}", "-", "not measured"
        else:
            met = got <= wanted if sign == AT_MOST else got >= wanted
            yield text, f"{sign} {wanted}{unit}", f"{number(got)}{unit}", "met" if met else "**not met**"


def value(entries, name, *keys):
    found = entries.get(name)
    for key in keys:
        found = found and found[key]
    return found


def above(entry):
    """The peak of memory above vectors and triples, in MB."""
    return entry and entry["peak_mb"] - entry["held_mb"]


def times_ours(entries, peer, model, clock="wall"):
    theirs, ours = entries.get(f"peer small {peer} {model}"), entries.get(f"ours small {model}")
    return theirs and ours and theirs["ratio"][clock] / ours["ratio"][clock]


def number(found):
    """A number with three digits that say something."""
    if found >= 100:
        return f"{found:,.0f}"
    return f"{found:.1f}" if found >= 10 else f"{found:.2f}"


def ours_table(entries):
    head = ("split", "model", "triples", "x products", "by CPU", "s", "CPU s", "products s", "peak MB", "above MB")
    rows = [
        (
            SPLITS[entry["size"]],
            " ".join(filter(None, [MODELS[entry["model"]], str(entry["dimension"]), *kind_of(entry)])),
            f"{entry['triples']['run']:,}",
            f"**{number(entry['ratio']['wall'])}**",
            number(entry["ratio"]["cpu"]),
            number(entry["median"]["wall"]),
            number(entry["median"]["cpu"]),
            number(median(entry["products"]["seconds"]["wall"])),
            number(entry["peak_mb"]),
            number(above(entry)),
        )
        for entry in entries.values()
        if entry["kind"] == "ours"
    ]
    return table(head, rows, "llrrrrrrrr")


def kind_of(entry):
    """What is not usual about an entry of ours."""
    if entry["vectors"] != "normal":
        yield f"*{entry['vectors']}*"
    if entry["first_pass"] != "float32":
        yield f"first pass {entry['first_pass']}"


def median(numbers):
    ordered = sorted(numbers)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def first_pass(entries):
    """What a first pass of low precision takes of the time without it, both as ratios to the products."""
    lines = []
    for name, entry in entries.items():
        plain = entries.get(name.replace(f" {entry.get('first_pass')}", ""))
        if entry["kind"] == "ours" and entry["first_pass"] != "float32" and plain:
            share = entry["ratio"]["wall"] / plain["ratio"]["wall"]
            same = "the same ranks" if entry["same_ranks"] else "**other ranks**"
            what = f"{MODELS[entry['model']]}, {SPLITS[entry['size']]}, {entry['triples']['run']:,} triples"
            what += f", {entry['vectors']} vectors, first pass in {entry['first_pass']}"
            lines.append(f"- {what}: {number(share)} of the time without it, {same}")
    return "\n".join(lines)


def peer_table(entries):
    head = ("program", "model", "times ours", "x products", "s for all", "CPU s", "run", "peak MB", "ranks that differ")
    rows = []
    for peer, text in PEERS.items():
        for model, title in MODELS.items():
            entry, times = entries.get(f"peer small {peer} {model}"), times_ours(entries, peer, model)
            if entry:
                differ = entry["differ"]
                rows.append(
                    (
                        text,
                        title,
                        f"**{number(times)}**" if times else "-",
                        number(entry["ratio"]["wall"]),
                        number(entry["median"]["wall"]),
                        number(entry["median"]["cpu"]),
                        f"{entry['triples']['run']:,} of {entry['triples']['total']:,}",
                        number(entry["peak_mb"]),
                        f"{differ['ranks']:,} of {differ['of']:,}, by at most {differ['most']:g} ({differ['ties']})",
                    )
                )
    return table(head, rows, "llrrrrrrl")


def load_table(entries):
    head = ("loader", "times ours", "s", "CPU s", "scale", "peak MB")
    first, rows = entries.get("load hq"), []
    names = {"load hq": "ours", "load hq kept": "ours, from the kept index"}
    for name, text in {**names, **{f"peer load hq {peer}": text for peer, text in LOADERS.items()}}.items():
        if entry := entries.get(name):
            times = f"**{number(entry['median']['wall'] / first['median']['wall'])}**" if first else "-"
            seconds = (number(entry["median"][clock]) for clock in ("wall", "cpu"))
            rows.append((text, times, *seconds, number(entry["triples"]["scale"]), number(entry["peak_mb"])))
    return table(head, rows, "lrrrrr")


def absent_rows(entries):
    """Programs that the results have nothing of."""
    for peer, text in PEERS.items():
        if not any(entry["kind"] == "peer" and entry["peer"] == peer for entry in entries.values()):
            yield text, "it did not install or run on the machine"


def make_chart(results):
    """Bars of the ratios to the bare products at 20,000 entities, DistMult, on a logarithmic scale, as SVG."""
    entries = results["entries"]
    names = {"ours": "ours small distmult", **{peer: f"peer small {peer} distmult" for peer in PEERS}}
    found = {label: entries[name]["ratio"]["wall"] for label, name in names.items() if name in entries}
    bars = {"bare products": 1.0, **dict(sorted(found.items(), key=lambda row: row[1]))}
    width, left, step = 640, 130, 26
    scale = (width - left - 60) / math.log10(max(10, *bars.values()) * 2)
    size, title = f'width="{width}" height="{step * len(bars) + 40}"', "time as a multiple of the bare products"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">',
        f'<text x="{left}" y="18">{title} (DistMult, 20,000 entities; log scale)</text>',
    ]
    for place, (label, ratio) in enumerate(bars.items()):
        top, length = 30 + step * place, scale * math.log10(2 * ratio)
        colour = {"ours": "#1b7837", "bare products": "#999999"}.get(label, "#4575b4")
        lines += [
            f'<text x="{left - 8}" y="{top + 14}" text-anchor="end">{label}</text>',
            f'<rect x="{left}" y="{top}" width="{length:.1f}" height="18" fill="{colour}"/>',
            f'<text x="{left + length + 6:.1f}" y="{top + 14}">{number(ratio)}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def read_results(path):
    """The results, their entries in the order of their names."""
    results = json.loads(path.read_text(encoding="utf-8"))
    if results["format"] != FORMAT:
        raise SystemExit(f"{path}: has format {results['format']}, expected {FORMAT}; measure anew")
    return {**results, "entries": dict(sorted(results["entries"].items()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, default=HERE)
    options = parser.parse_args()
    results = read_results(options.results)
    (options.folder / "README.md").write_text(make_page(results), encoding="utf-8")
    (options.folder / "ratios.svg").write_text(make_chart(results), encoding="utf-8")


if __name__ == "__main__":
    main()
