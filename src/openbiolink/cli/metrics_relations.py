"""`openbiolink metrics relations`: precision, recall and F1 of extracted relations in files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from openbiolink.cli.screen import note, page_console
from openbiolink.errors import InputError, visible
from openbiolink.files import without_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from openbiolink.files import Note
    from openbiolink.metrics.relation_extraction import RelationError, RelationResult
    from openbiolink.metrics.relation_extraction.fields import Side, Unplaced
    from openbiolink.metrics.relation_extraction.pairing import Pair

RESAMPLES = 1000  # of a comparison where --bootstrap does not say how many
SCORES = ("p", "r", "f1")


def relations(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="JSON with `references` and `predictions`, or DyGIE++ with both."),
    ] = None,
    references: Annotated[Path | None, typer.Option(metavar="FILE", help="What should be found.")] = None,
    predictions: Annotated[Path | None, typer.Option(metavar="FILE", help="What was found.")] = None,
    format: Annotated[  # noqa: A002  # the word that users know
        Literal["json", "jsonl", "dygie", "spert", "docred", "brat", "pubtator"] | None,
        typer.Option(help="Of all files.", show_default="as each file says"),
    ] = None,
    mode: Annotated[
        Literal["strict", "boundaries", "relaxed"],
        typer.Option(help="Entity types count; they do not; they do, and spans need only share a place."),
    ] = "strict",
    match: Annotated[
        Literal["text", "span", "id"] | None,
        typer.Option(
            help="What of heads and tails is compared.",
            show_default="text; span of dygie, spert and brat, and in mode relaxed; id of docred and pubtator",
        ),
    ] = None,
    types: Annotated[
        str, typer.Option(metavar="TYPE,...", help="The only relation types that count.", show_default="all")
    ] = "",
    types_from: Annotated[
        Literal["union", "references"], typer.Option(help="Which types there are: of both sides, or of the references.")
    ] = "union",
    symmetric: Annotated[
        str,
        typer.Option(metavar="TYPE,...", help="Types whose head and tail may change places.", show_default="none"),
    ] = "",
    leave_out: Annotated[
        str, typer.Option(metavar="TYPE,...", help="Types that do not count, as in no_relation.", show_default="none")
    ] = "",
    normalise: Annotated[
        str,
        typer.Option(
            metavar="WAY,...", help="Differences of texts to ignore: case, blanks, unicode.", show_default="none"
        ),
    ] = "",
    scale: Annotated[Literal["percent", "fraction"], typer.Option(help="Scores up to 100 or up to 1.")] = "percent",
    threshold: Annotated[
        float | None,
        typer.Option(metavar="X", help="The lowest score that a prediction may have.", show_default="none"),
    ] = None,
    known_facts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Facts of training (TSV of head, type, tail, or relations), for `ign` scores."
        ),
    ] = None,
    by_position: Annotated[
        bool, typer.Option("--by-position", help="Pair documents in the order they have, even if there are ids.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page to read.")] = None,
    errors: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every error as a line of a TSV.")] = None,
    bootstrap: Annotated[
        int, typer.Option(metavar="N", min=0, help="Draws for 95 % intervals, 10 to 100,000; 0 for none.")
    ] = 0,
    against: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Other predictions of the same documents, to compare with.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random draws.")] = 0,
) -> None:
    """Score extracted relations against references: JSON, JSONL, DyGIE++, SpERT, DocRED, BRAT, PubTator.

    Documents are matched by id, or by position where neither file has ids. Files are read as streams where none of
    --errors, --html, --bootstrap and --against needs all documents at once.
    """
    paths = [path for path in (file, references, predictions, against, known_facts) if path is not None]
    _check_targets(html, errors, paths)
    if bootstrap or against is not None:
        from openbiolink.metrics.relation_extraction.uncertainty import check_resamples

        check_resamples(seed, bootstrap or RESAMPLES)
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        note(line)

    inputs = _open(file, references, predictions, format=format, by_position=by_position, tell=tell)
    options: dict[str, Any] = {
        "mode": mode,
        "match": "span" if mode == "relaxed" and match is None else match or inputs.match,
        "relation_types": _names(types) if types else None,
        "types_from": types_from,
        "symmetric": _names(symmetric),
        "leave_out": _names(leave_out),
        "normalise": _names(normalise),
        "scale": scale,
        "threshold": threshold,
        "known_facts": None if known_facts is None else _facts(known_facts, tell),
    }
    _check_units(inputs.formats, options["match"])
    needs_all = bool(html or errors or bootstrap or against)
    result, kept = _score(inputs, options, keep=needs_all, in_order=by_position)
    found: dict[str, Any] = result.as_document()
    found["files"] = {side: path.name for side, path in inputs.files.items()}
    found["files"] |= {"known_facts": known_facts.name} if known_facts else {}
    found["formats"] = inputs.formats
    if bootstrap or against is not None:
        other = (
            None
            if against is None
            else _read_other(
                against, kept, inputs, match=options["match"], format=format, by_position=by_position, tell=tell
            )
        )
        found |= _uncertain(kept, other, options, resamples=bootstrap, seed=seed)
    mistakes = _mistakes(kept, options) if html or errors else []
    found["notes"] = [*(without_folders(line, paths) for line in said), *found["notes"]]
    written = _write(found, mistakes, html, errors)
    if as_json:
        print(_json(found))
        return
    for table in _tables(found):
        page_console().print(table)
    for line in result.notes:
        note(line)
    for path in written:
        print(path)


class _Inputs(NamedTuple):
    """What is scored, and where it is from."""

    pairs: Iterator[Pair]
    match: str
    files: dict[Side, Path]
    formats: dict[str, str]


def _check_targets(html: Path | None, errors: Path | None, inputs: Sequence[Path]) -> None:
    """Refuse to write over an input, twice to one place or over files of another kind, before any work is done."""
    from openbiolink.metrics.relation_extraction.table import HEADER
    from openbiolink.report.relations import check_relations_page

    targets = {option: path for option, path in (("--html", html), ("--errors", errors)) if path is not None}
    for option, path in targets.items():
        _check_place(option, path, inputs)
    if html is not None and errors is not None and _is_same(html, errors):
        raise InputError(f"--html {html}: is the file of --errors {errors} as well; choose another name for one")
    if html is not None:
        check_relations_page(html)
    if errors is None:
        return
    if errors.is_dir():
        raise InputError(f"--errors {errors}: is a folder, expected a file name; give one in it")
    if errors.is_file():
        with errors.open("rb") as stream:
            begins = stream.readline(1 << 12)
        if begins and begins != ("\t".join(HEADER) + "\n").encode():
            raise InputError(f"--errors {errors}: exists and is no table of errors; choose another name")


def _check_place(option: str, path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a place that is an input, or that no folder can be made for."""
    for one in inputs:
        if _is_same(path, one):
            raise InputError(f"{option} {path}: is the file {one}, which is read; choose another name")
    above = next(one for one in path.resolve().parents if one.exists())
    if not above.is_dir():
        raise InputError(f"{option} {path}: {above} is a file, expected a folder; choose another place")


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to one place, by whatever links."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def _open(
    file: Path | None,
    references: Path | None,
    predictions: Path | None,
    *,
    format: str | None,  # noqa: A002
    by_position: bool,
    tell: Note,
) -> _Inputs:
    """The documents of one file with both sides, or of two files."""
    from openbiolink.metrics.relation_extraction.pairing import pair_texts
    from openbiolink.metrics.relation_extraction.readers import open_both, open_relations

    if file is not None and (references or predictions):
        raise InputError(f"{file}: is given beside --references or --predictions; give one file, or these two")
    both = file or (references if predictions is None else None)
    wanted: Iterable[Unplaced]
    found: Iterable[Unplaced]
    files: dict[Side, Path]
    if both is not None:
        name, wanted, found = open_both(both, format=format, note=tell)
        formats, files = {"references": name, "predictions": name}, {"references": both, "predictions": both}
    elif references is None or predictions is None:
        raise InputError("there is nothing to score; give --references and --predictions, or one file with both")
    else:
        name, wanted = open_relations(references, format=format, note=tell)
        other, found = open_relations(predictions, format=format, side="predictions", entities=references, note=tell)
        formats = {"references": name, "predictions": other}
        files = {"references": references, "predictions": predictions}
    pairs = pair_texts(wanted, found, by_position=by_position, files=files)
    return _Inputs(pairs, _way([*formats.values()]), files, formats)


def _way(formats: Sequence[str]) -> str:
    """What heads and tails of files of these formats are compared by where nobody says it."""
    from openbiolink.metrics.relation_extraction.readers import FORMATS

    ways, units = ({getattr(FORMATS[name], of) for name in formats} for of in ("match", "unit"))
    return ways.pop() if len(ways) == 1 and (ways != {"span"} or len(units) == 1) else "text"


def _check_units(formats: Mapping[str, str], match: str) -> None:
    """Refuse to compare spans of tokens with spans of characters."""
    from openbiolink.metrics.relation_extraction.readers import FORMATS

    units = {side: FORMATS[name].unit for side, name in formats.items()}
    if match == "span" and len({*units.values()} - {None}) > 1:
        shown = " and ".join(f"{side} ({formats[side]}) are of {unit}s" for side, unit in units.items())
        raise InputError(f"spans of {shown}, so they cannot be compared; say --match text, without --mode relaxed")


def _facts(path: Path, tell: Note) -> Iterable[tuple[str, str, str]]:
    from openbiolink.metrics.relation_extraction.readers import read_facts

    return read_facts(path, note=tell)


def _score(
    inputs: _Inputs, options: Mapping[str, Any], *, keep: bool, in_order: bool
) -> tuple[RelationResult, list[Pair]]:
    """The result, and the documents if they are to be kept: in the order of their ids, or in their own."""
    from openbiolink.metrics.relation_extraction import RelationScorer

    scorer = RelationScorer(**options)
    kept: list[Pair] = []
    for number, pair in enumerate(inputs.pairs):
        name, wanted, found, _ = pair
        try:
            scorer.count_document(prediction=found, reference=wanted, document=number if name is None else name)
        except InputError as error:
            raise _in_its_file(error, inputs.files) from error
        if keep:
            kept.append(pair)
    if kept and kept[0].id is not None and not in_order:
        kept.sort(key=lambda pair: str(pair.id))
    return scorer.result(), kept


def _in_its_file(error: InputError, files: Mapping[Side, Path]) -> InputError:
    """The error of a document, which names its side, with the file of that side."""
    place = next((f"{path}: " for side, path in files.items() if str(error).startswith(f"{side}, document ")), "")
    return InputError(f"{place}{error}")


def _sides(kept: Iterable[Pair]) -> dict[str, Any]:
    """References and predictions as the library takes them: by id, or in their order."""
    pairs = [*kept]
    if pairs and pairs[0].id is not None:
        return {
            "references": {pair.id: pair.references for pair in pairs},
            "predictions": {pair.id: pair.predictions for pair in pairs},
        }
    return {"references": [pair.references for pair in pairs], "predictions": [pair.predictions for pair in pairs]}


def _mistakes(kept: Iterable[Pair], options: Mapping[str, Any]) -> list[RelationError]:
    from openbiolink.metrics.relation_extraction import iter_errors

    return [*iter_errors(**_sides(kept), **options)]


def _read_other(
    against: Path,
    kept: Iterable[Pair],
    inputs: _Inputs,
    *,
    match: str,
    format: str | None,  # noqa: A002
    by_position: bool,
    tell: Note,
) -> tuple[Path, list[Pair]]:
    """The path and the documents of the predictions to compare with."""
    from openbiolink.metrics.relation_extraction.fields import Unplaced
    from openbiolink.metrics.relation_extraction.pairing import pair_texts
    from openbiolink.metrics.relation_extraction.readers import open_relations

    gold = inputs.files["references"]
    name, found = open_relations(against, format=format, side="predictions", entities=gold, note=tell)
    _check_units({"references": inputs.formats["references"], "predictions": name}, match)
    wanted = (Unplaced(pair.id, pair.references, pair.text) for pair in kept)
    files: dict[Side, Path] = {"references": gold, "predictions": against}
    return against, [*pair_texts(wanted, found, by_position=by_position, files=files)]


def _uncertain(
    kept: list[Pair],
    other: tuple[Path, list[Pair]] | None,
    options: Mapping[str, Any],
    *,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Intervals, and the comparison with other predictions."""
    from openbiolink.metrics.relation_extraction import bootstrap_relations, compare_relations

    found: dict[str, Any] = {"seed": seed, "resamples": resamples or RESAMPLES}
    sides = _sides(kept)
    if resamples:
        intervals = bootstrap_relations(**sides, **options, **found)
        found["intervals"] = {name: asdict(one) for name, one in intervals.items()}
    if other is not None:
        against = _sides(other[1])["predictions"]
        draws = {"seed": seed, "resamples": found["resamples"]}
        try:
            scores = compare_relations(
                references=sides["references"], first=against, second=sides["predictions"], **draws, **options
            )
        except InputError as error:  # of the first system, since the other was scored before
            bare = InputError(str(error).removeprefix("first system: "))
            raise _in_its_file(bare, {"predictions": other[0]}) from error
        found["comparison"] = {"against": other[0].name, "scores": {name: asdict(one) for name, one in scores.items()}}
    return found


def _write(
    found: Mapping[str, Any], mistakes: list[RelationError], html: Path | None, errors: Path | None
) -> list[Path]:
    """Write the page and the table; the paths of what was written."""
    from openbiolink.files import write_text
    from openbiolink.metrics.relation_extraction.table import errors_table
    from openbiolink.report.relations import check_relations_page, render_relations_page

    page = None if html is None else render_relations_page(found, mistakes)
    if errors is not None:
        write_text(errors, errors_table(mistakes))
    if html is not None and page is not None:
        check_relations_page(html)
        write_text(html, page)
    return [path for path in (errors, html) if path is not None]


def _json(found: Mapping[str, Any]) -> str:
    """The JSON, in which everything that is not seen, or moves what is, is an escape."""
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def _tables(found: Mapping[str, Any]) -> list[RenderableType]:
    """The scores, intervals and the comparison for the terminal."""
    from rich.table import Table
    from rich.text import Text

    settings, total = found["settings"], found["scores"]["ALL"]
    heading = (
        f"mode {settings['mode']}, heads and tails by {settings['match']}; documents: {found['documents']:,}; "
        f"relation types: {len(found['types']):,}, {_which_types(settings)}"
    )
    table = Table("type")
    for name in ("tp", "fp", "fn", *SCORES, "support"):
        table.add_column(name, justify="right")
    for name in found["types"]:
        row = found["scores"][name]
        table.add_row(Text(visible(name)), *_counts(row), *_shown(row, settings), f"{found['support'][name]:,}")
    table.add_section()
    table.add_row("ALL (micro)", *_counts(total), *_shown(total, settings), f"{found['support']['ALL']:,}")
    table.add_row("macro", "", "", "", *_shown(found["macro"], settings))
    table.add_row("weighted", "", "", "", *_shown(found["weighted"], settings))
    if found["ign"] is not None:
        table.add_row(f"ign, known: {found['ign']['known']:,}", "", "", "", *_shown(found["ign"], settings))
    tables: list[RenderableType] = [Text(heading), table]
    if "intervals" in found:
        intervals = Table("score", "value", "95 % interval")
        for name, one in found["intervals"].items():
            intervals.add_row(name.replace("_", " "), _number(one["value"], settings), _ends(one, settings))
        tables.append(intervals)
    if "comparison" in found:
        pair = found["comparison"]
        differences = Table("score", "difference", "95 % interval", "p")
        for name, one in pair["scores"].items():
            number = _number(one["difference"], settings)
            differences.add_row(name.replace("_", " "), number, _ends(one, settings), f"{one['p']:.4f}")
        tables += [Text(f"difference from {visible(pair['against'])}"), differences]
    return tables


def _which_types(settings: Mapping[str, Any]) -> str:
    if settings["relation_types"] is not None:
        return "those of --types"
    return "those of both sides" if settings["types_from"] == "union" else "those of the references"


def _counts(row: Mapping[str, int]) -> list[str]:
    return [f"{row[name]:,}" for name in ("tp", "fp", "fn")]


def _shown(row: Mapping[str, float], settings: Mapping[str, Any]) -> list[str]:
    return [_number(row[name], settings) for name in SCORES]


def _number(value: float, settings: Mapping[str, Any]) -> str:
    return f"{value:.{2 if settings['scale'] == 'percent' else 4}f}"


def _ends(one: Mapping[str, float], settings: Mapping[str, Any]) -> str:
    return f"{_number(one['low'], settings)} … {_number(one['high'], settings)}"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
