"""How long and how much memory a random split and an audit of it take, and what the old way took.

    python benchmarks/bench_split.py [m1|hq|all|NUMBER] [--repeats 3] [--folder FOLDER] [--only TEXT]

Makes up a graph (`made_up_graph.py`) unless FOLDER holds it already, and runs `openbiolink split rand` without and
with negatives, `openbiolink audit` of both results and, up to OLD_WAY_EDGES edges, the same splits in the way of the
earlier program, each in a process of its own and all of them in every repeat. Prints the medians and ranges of wall
time, CPU time and peak memory, and how many times as long the old way took.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
OLD_WAY_EDGES = 2_000_000
COLUMNS = ["id1", "edgeType", "id2", "qscore", "source"]
TRIPLE = COLUMNS[:3]
ROUNDS = 101
NODE_TYPE = {
    "NCBIGENE": "GENE",
    "GO": "GO",
    "DOID": "DIS",
    "PUBCHEM.COMPOUND": "DRUG",
    "HP": "PHENOTYPE",
    "REACTOME": "PATHWAY",
    "UBERON": "ANATOMY",
}
WITHOUT = ("--no-neg-train-val", "--no-neg-test")


def measure(command):
    """Run a command; returns its wall seconds, CPU seconds and peak memory in MiB, those of its children included.

    The peak of a process counts what its parent held when it was started, so this program imports nothing large.
    """
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            sys.exit(f"{' '.join(map(str, command))}\n{output.read().decode()[-2000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def steps(graph, folder, *, old_way):
    """Name → command of everything that is measured; a split leaves its files for the audit after it."""
    openbiolink = Path(sys.executable).with_name("openbiolink")
    edges, nodes, true_negatives = (graph / name for name in ("edges.csv", "nodes.csv", "TN_edges.csv"))
    found = {}
    for kind, flags in {"without negatives": WITHOUT, "with negatives": ()}.items():
        place = folder / kind.replace(" ", "_")
        command = [openbiolink, "-p", place, "split", "rand", "--edges", edges, "--nodes", nodes, "--overwrite"]
        found[f"split {kind}"] = [*command, *(flags or ("--tn-edges", true_negatives))]
        found[f"audit {kind}"] = [openbiolink, "audit", place / "train_test_data"]
        if old_way:
            command = [sys.executable, __file__, "--old-way", folder / "old", "--folder", graph]
            found[f"old way {kind}"] = [*command, *(() if flags else ("--negatives",))]
    return found


def split_the_old_way(graph, folder, *, negatives, share=0.05, seed=42):
    """Split as the first OpenBioLink did in its directed random split: frames of text, joined by pandas.

    Its steps: sorted frames; negatives for all positives; triples that come twice are dropped; a sample of all rows
    is the test set, without what the rest implies, as it is or reversed, and without unseen nodes; what reverses a test
    row leaves the rest; a shuffled share of the rest is the validation set, which is cleaned against training in the
    same way; the test set loses the nodes that training has lost meanwhile. Super-relations are of one level, negatives
    may be true in reverse, and dropped rows go nowhere, as it was then.

    Where it was slow for a reason of its own it is so here: differences are outer joins, parents are looked up row by
    row, and text is Python objects, since it runs with pandas below 2 only. Kept out is what stops it or only wastes
    time: appending to frames, which pandas cannot do any more, the crash on an empty set, joins that count on the
    positions of rows, and turning ids that are text into text before each join.
    """
    import random

    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    edges = read_the_old_way(graph / "edges.csv", value=1)
    false = read_the_old_way(graph / "TN_edges.csv", value=0)
    nodes = pd.read_csv(graph / "nodes.csv", sep="\t", names=["id", "nodeType"], dtype=object).sort_values(
        ["id", "nodeType"]
    )
    if negatives:
        edges = pd.concat([edges, *sample_the_old_way(edges, false, nodes, seed)], ignore_index=True)
    edges = edges.drop_duplicates(subset=TRIPLE, keep=False).reset_index(drop=True)
    test = edges.sample(frac=share, random_state=seed)
    rest = edges.drop(list(test.index.values))
    known = set(rest["id1"].tolist() + rest["id2"].tolist())
    test = without_nodes(without_implied(test, rest), set(nodes["id"].tolist()) - known)
    rest = without_reversed(rest, test).reset_index(drop=True)
    places = list(range(len(rest)))
    random.Random(seed).shuffle(places)
    border = int(len(rest) * share)
    validation, train = rest.iloc[places[:border]], rest.iloc[places[border:]]
    validation = without_nodes(validation, known - set(train["id1"].tolist() + train["id2"].tolist()))
    train = without_reversed(train, validation)
    validation = without_implied(validation, train)
    lost = known - set(train["id1"].tolist() + train["id2"].tolist())
    test = without_nodes(test, lost)
    (folder / "removed_test_nodes.csv").write_text("\n".join(lost))
    for name, rows in {"train": train, "val": validation, "test": test}.items():
        write_the_old_way(folder, name, rows, negatives=negatives)


def read_the_old_way(path, *, value):
    """The rows of a file of edges, sorted by all columns."""
    import pandas as pd

    rows = pd.read_csv(path, sep="\t", names=COLUMNS, dtype=dict.fromkeys([*TRIPLE, "source"], object))
    return rows.assign(value=value).sort_values(COLUMNS).reset_index(drop=True)


def without_reversed(rows, others):
    """The rows whose reverse, of the same relation and sign, is not among the others."""
    turned = others.rename(columns={"id1": "id2", "id2": "id1"})
    marked = rows.merge(turned, how="left", on=TRIPLE, suffixes=("", "_other"))
    marked = marked.drop_duplicates()
    return marked.loc[marked["value"] != marked["value_other"], rows.columns]


def without_implied(rows, others):
    """The rows that are not super-relations of others with the same sign, nor reverses of these."""
    implied = others.assign(edgeType=others["edgeType"].apply(_parent)).drop_duplicates(subset=TRIPLE)
    both = rows.merge(implied, how="outer", on=[*TRIPLE, "value"], suffixes=("", "_other"), indicator=True)
    left = both[both["_merge"] == "left_only"][rows.columns].drop_duplicates(keep=False)
    return without_reversed(left.drop_duplicates(subset=TRIPLE), implied)


def without_nodes(rows, nodes):
    """The rows with no end among the nodes."""
    gone = rows[rows["id1"].isin(nodes) | rows["id2"].isin(nodes)]
    return rows.drop(list(gone.index.values))


def _parent(relation):
    """The super-relation of one level above, as the old program had it; without one, the relation itself."""
    start, *middle, end = relation.split("_")
    if middle and end == "GENE":
        return {"GENE": "GENE_GENE", "DRUG": "GENE_DRUG"}[start]
    return "GENE_EXPRESSED_ANATOMY" if relation.endswith("EXPRESSED_ANATOMY") else relation


def write_the_old_way(folder, name, rows, *, negatives):
    """Write the rows of one set, positives and negatives apart, and its nodes with the types of their prefixes."""
    import pandas as pd

    for value, start in ((1, ""), (0, "negative_"))[: 1 + negatives]:
        chosen = rows.loc[rows["value"] == value, [*TRIPLE, "qscore", "value", "source"]]
        chosen.to_csv(folder / f"{start}{name}_sample.csv", sep="\t", index=False, header=False)
    nodes = pd.DataFrame({"id": list(set(rows["id1"].tolist() + rows["id2"].tolist()))})
    nodes["nodeType"] = [NODE_TYPE[prefix] for prefix, _ in nodes["id"].str.split(":")]
    nodes.to_csv(folder / f"{name}_nodes.csv", sep="\t", index=False, header=False)


def sample_the_old_way(edges, false, nodes, seed):
    """Yield, for each relation between two types, as many negatives as positives: true ones, then random pairs."""
    key = _meta_edge(edges)
    for name in sorted(key.unique()):
        positive, true = edges[key == name], false[_meta_edge(false) == name]
        if len(positive) <= len(true):
            yield true.sample(n=len(positive), random_state=seed)
        else:
            yield true
            yield draw_the_old_way(positive, true, nodes, name=name, seed=seed)


def _meta_edge(edges):
    ends = (edges[end].str.split(":").map(lambda pieces: NODE_TYPE[pieces[0]]) for end in ("id1", "id2"))
    return next(ends) + " " + edges["edgeType"] + " " + next(ends)


def draw_the_old_way(positive, true, nodes, *, name, seed):
    """Random pairs of nodes of two types until there are enough that are neither positive nor true negatives."""
    import pandas as pd

    head, relation, tail = name.split()
    pools = {end: nodes.loc[nodes["nodeType"] == kind, "id"] for end, kind in (("id1", head), ("id2", tail))}
    known, drawn, wanted = pd.concat([positive, true])[TRIPLE], pd.DataFrame(columns=TRIPLE), len(positive) - len(true)
    for turn in range(ROUNDS):
        missing = wanted - len(drawn)
        if not missing:
            break
        seeds = {"id1": seed + turn, "id2": seed + turn + 100}
        pairs = pd.DataFrame(
            {end: pools[end].sample(missing, replace=True, random_state=seeds[end]).tolist() for end in pools},
            dtype=object,
        )
        both = known.merge(pairs.assign(edgeType=relation), how="outer", on=TRIPLE, indicator=True)
        fresh = both.loc[both["_merge"] == "right_only", TRIPLE].drop_duplicates()
        drawn, known = pd.concat([drawn, fresh], ignore_index=True), pd.concat([known, fresh])
    return drawn.assign(qscore=None, source="GENERATED", value=0)


def tell(figures):
    """Print a table of the figures (wall, CPU, peak of every repeat) by step, and the ratios of old to new."""
    print(f"{'':28s} {'wall s':>22s} {'CPU s':>22s} {'peak MiB':>10s}")
    middle = {}
    for name, repeats in figures.items():
        wall, busy, peak = zip(*repeats, strict=True)
        middle[name] = statistics.median(wall), statistics.median(busy)
        cells = (f"{statistics.median(row):.1f} [{min(row):.1f}-{max(row):.1f}]" for row in (wall, busy))
        print(f"{name:28s} {next(cells):>22s} {next(cells):>22s} {max(peak):10,.0f}")
    for kind in ("without negatives", "with negatives"):
        if {f"old way {kind}", f"split {kind}"} <= middle.keys():
            wall, busy = (a / b for a, b in zip(middle[f"old way {kind}"], middle[f"split {kind}"], strict=True))
            print(f"{kind}: the old way took {wall:.1f} times the wall time and {busy:.1f} times the CPU time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", nargs="?", default="m1", metavar="SIZE", help="m1, hq, all or a number of edges")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="of the graph; kept, while a temporary one is not")
    parser.add_argument("--old-way", type=Path, help="only split the old way into here (used by the program itself)")
    parser.add_argument("--negatives", action="store_true", help="of --old-way")
    parser.add_argument("--only", default="", metavar="TEXT", help="the steps whose name holds this text")
    options = parser.parse_args()
    if options.old_way is not None:
        split_the_old_way(options.folder, options.old_way, negatives=options.negatives)
        return
    with tempfile.TemporaryDirectory() as name:
        graph = options.folder or Path(name) / "graph"
        if not (graph / "nodes.csv").is_file():
            make = [sys.executable, HERE / "made_up_graph.py", options.size, graph]
            print("graph made up: {:.1f} s, {:.1f} s of CPU, {:,.0f} MiB".format(*measure(make)))
        with (graph / "edges.csv").open("rb") as stream:
            edges = sum(1 for _ in stream)
        print(f"{edges:,} edges, {os.cpu_count()} processors, {options.repeats} repeats")
        wanted = steps(graph, Path(name), old_way=edges <= OLD_WAY_EDGES)
        figures = {step: [] for step in wanted if options.only in step}
        for _ in range(options.repeats):
            for step, repeats in figures.items():
                repeats.append(measure(wanted[step]))
        tell(figures)


if __name__ == "__main__":
    main()
