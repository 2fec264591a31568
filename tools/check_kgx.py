"""Read the KGX files of a graph folder with KGX and check them by the Biolink Model; for an environment of its own.

    PYTHON tools/check_kgx.py FOLDER

with a Python that has tests/kgx-requirements.txt. Checked without network: KGX's own reader takes every row; KGX's
validator finds no error, with the model and the prefixes of the package `biolink-model`; each row is an instance of the
class that its category names, in that package's Pydantic classes, which know required slots and permitted values; and
each predicate's domain and range hold the categories of its ends. Not checked, since it is on the web only: whether an
`infores` is registered, whether identifiers resolve, and the newest release of the model.
The last line of the output is a JSON object with the counts.
"""

import json
import sys
from collections import Counter
from pathlib import Path

# Predicates whose domain leaves genes out, though annotations of genes are what they were made for.
OF_GENES_TOO = frozenset({"biolink:enables", "biolink:participates_in"})
MODEL_FILES = ("schema/biolink_model.yaml", "prefixmaps/biolink_model_prefix_map.json")


def load_model() -> object:
    """The model as KGX knows it, from the files that are installed; KGX would fetch them when it is imported."""
    import biolink_model
    from bmt import Toolkit

    schema, prefixes = (Path(next(iter(biolink_model.__path__))) / name for name in MODEL_FILES)
    Toolkit.__init__.__defaults__ = (str(schema), {"predicate mappings": []})
    from kgx.config import get_logger, jsonld_context_map
    from kgx.utils.kgx_utils import get_toolkit

    get_logger().setLevel("ERROR")
    jsonld_context_map["biolink"] = json.loads(prefixes.read_text(encoding="utf-8"))
    return get_toolkit()


def read_rows(folder: Path, kind: str) -> list:
    """The nodes or edges of a folder as KGX reads them."""
    from kgx.source import TsvSource
    from kgx.transformer import Transformer

    source = TsvSource(Transformer())
    path = folder / f"kgx_{kind}.tsv"
    rows = list(source.parse(filename=str(path), format="tsv"))
    lines = path.read_text(encoding="utf-8").count("\n") - 1
    if len(rows) != lines or None in rows:
        sys.exit(f"{path.name}: KGX reads {len([row for row in rows if row])} of {lines} rows")
    return rows


def check_with_validator(nodes: list, edges: list) -> None:
    """What KGX's validator checks of each record."""
    from kgx.validator import Validator

    validator = Validator(verbose=True)
    for node in nodes:
        validator.analyse_node(*node)
    for edge in edges:
        validator.analyse_edge(*edge)
    errors = validator.get_errors("Error")
    if errors:
        sys.exit(f"KGX's validator: {json.dumps(errors)[:2000]}")


def check_classes(nodes: list, edges: list) -> None:
    """Each row as an instance of its class; columns of ours that the model does not have are left out."""
    from biolink_model.datamodel import pydanticmodel_v2 as model

    for *_, said in (*nodes, *edges):
        categories = said["category"] if isinstance(said["category"], list) else [said["category"]]
        for category in categories:
            known = getattr(model, category.removeprefix("biolink:"))
            cells = {name: cell for name, cell in said.items() if name in known.model_fields}
            left = said.keys() - cells.keys() - {"score", "source", "date"}
            if left:
                sys.exit(f"{category} has no slot for {sorted(left)}: {said}")
            known(**cells | {"category": [category]})


def check_ends(toolkit: object, nodes: list, edges: list) -> None:
    """Domain and range of each predicate."""
    from kgx.utils.kgx_utils import camelcase_to_sentencecase

    categories = {node: {camelcase_to_sentencecase(one.removeprefix("biolink:")) for one in said["category"]}
                  for node, said in nodes}  # fmt: skip
    above = {one: set(toolkit.get_ancestors(one, mixin=True)) for one in set().union(*categories.values())}
    for subject, object_, _, said in edges:
        slot = toolkit.get_element(said["predicate"])
        for end, wanted in ((subject, slot.domain), (object_, slot.range)):
            # Every term of an ontology is an "ontology class", whatever else it is.
            spared = end == subject and said["predicate"] in OF_GENES_TOO
            if (
                wanted not in {None, "ontology class"}
                and not spared
                and not any(wanted in above[one] for one in categories[end])
            ):
                sys.exit(f"{said['predicate']} wants a {wanted}, {end} is {sorted(categories[end])}")


def main() -> None:
    """Check the folder named on the command line."""
    folder = Path(sys.argv[1])
    toolkit = load_model()
    nodes, edges = read_rows(folder, "nodes"), read_rows(folder, "edges")
    known = {node for node, _ in nodes}
    lost = [end for edge in edges for end in edge[:2] if end not in known]
    if lost or len(known) != len(nodes):
        sys.exit(f"nodes are repeated, or absent: {lost[:3]}")
    check_with_validator(nodes, edges)
    check_classes(nodes, edges)
    check_ends(toolkit, nodes, edges)
    predicates = Counter(said["predicate"] for *_, said in edges)
    print(json.dumps({"nodes": len(nodes), "edges": len(edges), "predicates": dict(sorted(predicates.items()))}))


if __name__ == "__main__":
    main()
