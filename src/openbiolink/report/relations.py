"""Scores of relation extraction as one page that needs no network, no script and no other file."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError, visible
from openbiolink.files import write_text
from openbiolink.metrics.relation_extraction.mistakes import KINDS
from openbiolink.metrics.relation_extraction.scoring import FORMAT
from openbiolink.metrics.relation_extraction.settings import TOTAL
from openbiolink.report import page_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from openbiolink.metrics.relation_extraction.mistakes import RelationError

SHOWN = 50  # errors of a kind, and pairs of wrong types, that the page shows
HEAD = 400  # bytes from the start of a page that name its format


def check_relations_page(path: Path) -> None:
    """Refuse a path where something else than such a page would be overwritten.

    Raises:
        InputError: it is a folder, or a file that is no page of relation scores.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file name; give one in it")
    if path.is_file():
        with path.open("rb") as stream:
            begins = stream.read(HEAD)
        if begins and FORMAT.encode() not in begins:
            raise InputError(f"{path}: exists and is no page of relation scores; choose another name")


def write_relations_page(document: Mapping[str, Any], errors: Sequence[RelationError], path: Path) -> None:
    """Write the page; it is there whole or as it was before.

    Args:
        document: of `RelationResult.as_document`; it may have `files`, `intervals` and `comparison` as well, as
            `openbiolink metrics relations --json` prints them.
        errors: of `iter_errors`.
        path: where to.

    Raises:
        InputError: as `check_relations_page`, or nothing can be written there.
    """
    check_relations_page(path)
    write_text(path, render_relations_page(document, errors))


def render_relations_page(document: Mapping[str, Any], errors: Sequence[RelationError]) -> str:
    """The page as text; the same scores give the same bytes. Arguments as `write_relations_page`."""
    found = _visible(document)
    rows = {name: row for name, row in found["scores"].items() if name != TOTAL}
    of_kind = {kind: [one for one in errors if one.kind == kind] for kind in KINDS}
    return (
        page_environment()
        .get_template("relations.html.jinja")
        .render(
            found=found,
            settings={name.replace("_", " "): value for name, value in found["settings"].items()},
            rows=rows,
            total=found["scores"][TOTAL],
            support=list(found["support"].values()),
            bars=[(name, [row["tp"], row["fp"], row["fn"]]) for name, row in rows.items()],
            digits=2 if found["settings"]["scale"] == "percent" else 4,
            confusion=sorted(found["confusion"], key=lambda row: (-row["count"], row["reference"], row["predicted"])),
            kinds=[(kind, len(ones), [_error(one) for one in ones[:SHOWN]]) for kind, ones in of_kind.items()],
            shown=SHOWN,
            format=FORMAT,
            version=version("openbiolink"),
        )
    )


def _visible(value: Any) -> Any:
    """The same with all its texts, also names of entries, made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_visible(name): _visible(one) for name, one in value.items()}
    return [_visible(one) for one in value] if isinstance(value, list | tuple) else value


def _error(one: RelationError) -> dict[str, Any]:
    return {
        "document": visible(str(one.document)),
        "reference": _visible(one.reference),
        "prediction": _visible(one.prediction),
        "differs": ", ".join(one.differs).replace("_", " "),
    }
