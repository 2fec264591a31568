"""Read the BEL files of a graph folder with PyBEL and compare them; for an environment of its own.

PyBEL needs packages that the project does not, so this runs with another Python, see tests/bel-requirements.txt:

    PYTHON tools/check_bel.py FOLDER

It fails if PyBEL warns about a line, if the script and the node-link file do not give the same graph, if a true
negative reads as anything but `noCorrelation`, or if the statements are not as many as the manifest of the folder says.
The last line of its output is a JSON object with the counts.
"""

import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path


def read_both(folder: Path, name: str) -> tuple:
    """The graphs that PyBEL reads from the script and from the node-link file."""
    import pybel

    with gzip.open(folder / f"{name}.bel.gz", "rt", encoding="utf-8") as script:
        parsed = pybel.from_bel_script(script)
    return parsed, pybel.from_nodelink_gz(str(folder / f"{name}.bel.nodelink.json.gz"))


def describe_edges(graph: object) -> set:
    """Every edge with all that is said of it, except the number of its line."""
    return {
        (source.as_bel(), target.as_bel(), json.dumps({k: v for k, v in said.items() if k != "line"}, sort_keys=True))
        for source, target, said in graph.edges(data=True)
    }


def check_graph(folder: Path, name: str) -> dict:
    """The counts of one of the two graphs, after all checks."""
    parsed, linked = read_both(folder, name)
    for _, warning, _ in parsed.warnings:
        sys.exit(f"{name}.bel.gz: {warning!r}: {warning}")
    for what, one, other in (
        ("definitions", definitions_of(parsed), definitions_of(linked)),
        ("nodes", {node.as_bel() for node in parsed}, {node.as_bel() for node in linked}),
        ("edges", describe_edges(parsed), describe_edges(linked)),
    ):
        if one != other:
            examples = sorted(one ^ other)[:3] if isinstance(one, set) else (one, other)
            sys.exit(f"{name}: the {what} of the script and of the node-link file differ: {examples}")
    said = [edge for _, _, edge in parsed.edges(data=True) if "evidence" in edge]
    if name == "negative":
        relations = {edge["relation"] for edge in said} | {edge["relation"] for _, _, edge in parsed.edges(data=True)}
        unmarked = [edge for edge in said if "Negated" not in edge["annotations"]]
        if not relations <= {"noCorrelation"} or unmarked:
            sys.exit(f"negative: something is asserted: {sorted(relations)}, {unmarked[:3]}")
    return {
        "nodes": parsed.number_of_nodes(),
        "edges": parsed.number_of_edges(),
        "statements": count_statements(folder / f"{name}.bel.gz"),
        "functions": dict(sorted(Counter(node.function for node in parsed).items())),
        "relations": dict(sorted(Counter(edge["relation"] for _, _, edge in parsed.edges(data=True)).items())),
    }


def definitions_of(graph: object) -> tuple:
    """Document, namespaces and annotations."""
    lists = {name: sorted(values) for name, values in graph.annotation_list.items()}
    return graph.document, graph.namespace_pattern, graph.annotation_pattern, lists


def count_statements(path: Path) -> int:
    """Lines of a script that are neither control lines nor definitions."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return sum(not line.startswith(("SET ", "DEFINE ")) for line in lines)


def main() -> None:
    """Check the folder named on the command line."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYSTOW_HOME"] = home  # where PyBEL keeps a database
        counts = {name: check_graph(folder, name) for name in ("positive", "negative")}
    manifest = folder / "manifest.json"
    if manifest.exists():
        told = json.loads(manifest.read_text(encoding="utf-8"))["counts"]
        for name, key in (("positive", "edges"), ("negative", "tn_edges")):
            if counts[name]["statements"] != told[key]:
                sys.exit(f"{name}: {counts[name]['statements']} statements, the manifest says {told[key]} edges")
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
