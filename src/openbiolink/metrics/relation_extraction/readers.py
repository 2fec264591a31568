"""Relations in files, document by document, in seven formats.

- `json`: a list of documents, or an object that has them by id. A document is a list of relations, or as in `jsonl`.
- `jsonl`: an object a line, with `relations` and, if there is one, `id`, `doc_id`, `document_id` or `doc_key`.
- `dygie`: DyGIE++ and SciERC, an object a line with `sentences`, `ner`, `relations`, `doc_key`; in predictions
  `predicted_relations` and `predicted_ner` where they are there. Spans are of tokens.
- `spert`: a list of objects with `tokens`, `entities`, `relations` and perhaps `orig_id`. Spans are of tokens.
- `docred`: a list of objects with `title`, `vertexSet`, `labels`; predictions are a list of `title`, `h_idx`, `t_idx`,
  `r` and take their entities from the references. The id of an entity is its number in the document, its text and
  type are those of its first mention.
- `brat`: a folder of `.ann` files, or one of them; `.txt` files beside them are compared. Spans are of characters.
- `pubtator`: PubTator and BioRED: `id|t|title`, mentions, relations of concept ids. Text and type of a concept are
  those of its first mention.

Spans are [start, end). `score`, or else `confidence`, becomes the score of a relation. Plain, gzip and zip files are
read, with LF or CR LF, with a byte-order mark or not. What cannot be understood is refused with its place. A head or
tail that no entity of its document describes is refused in references; in predictions it is kept with an empty type,
and counted in a note. A file of predictions without any document is refused, but for an empty list of DocRED, which
says that nothing was found in any document.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from openbiolink.errors import InputError
from openbiolink.files import UTF8_BOM, check_file, iter_lines, iter_unpacked
from openbiolink.metrics.relation_extraction.fields import (
    Placed,
    Relations,
    Side,
    Source,
    Unplaced,
    counted,
    holds_both,
)
from openbiolink.metrics.relation_extraction.formats import (
    PUBTATOR_TEXT,
    iter_documents,
    read_brat,
    read_docred,
    read_dygie,
    read_json,
    read_jsonl,
    read_pubtator,
    read_spert,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from openbiolink.files import Note
    from openbiolink.metrics.relation_extraction.settings import Fact, Match

    Reader = Callable[[Source], Iterator[Placed]]
    Named = tuple[str | None, Relations]  # id and relations of a document

Unit = Literal["token", "character"]

PACKED = (".gz", ".zip")
LINES = (".jsonl", ".ndjson")
PEEK = 1 << 22  # bytes of a first line that are looked at
FACT = ("head", "type", "tail")  # the header of a table of facts, if it has one


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of files.

    Attributes:
        read: its reader.
        match: what its heads and tails are compared by where nobody says otherwise.
        unit: what its spans count; None where the file does not say it.
    """

    read: Reader
    match: Match
    unit: Unit | None = None


def read_relations(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    side: Side = "references",
    entities: Path | str | None = None,
    note: Note | None = None,
) -> Iterator[Named]:
    """The documents of a file, one after another.

    Args:
        path: the file, or the folder of BRAT files.
        format: a name of `FORMATS`; the file itself says it by default.
        side: `references` or `predictions`: DyGIE++ files may hold both, and messages name it.
        entities: the file that has the entities; DocRED predictions need the references here.
        note: called with one line for what a reader of the numbers should know.

    Returns:
        Document id and relations of each. Either every document of a file has an id, or none has.

    Raises:
        InputError: the file is absent or damaged, something in it is wrong, an id comes twice, or only some
            documents have one; the message names file, line or document, relation and field.
    """
    return _bare(open_relations(path, format=format, side=side, entities=entities, note=note)[1])


def _bare(documents: Iterator[Unplaced]) -> Iterator[Named]:
    return ((one.id, one.relations) for one in documents)


def open_relations(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    side: Side = "references",
    entities: Path | str | None = None,
    note: Note | None = None,
) -> tuple[str, Iterator[Unplaced]]:
    """The format of a file and its documents with their texts; arguments and errors as `read_relations`."""
    source = _source(path, side, entities, note)
    name = _known(format) or _recognised(source)
    return name, _checked(FORMATS[name].read(source))


def read_both(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    note: Note | None = None,
) -> tuple[Iterator[Named], Iterator[Named]]:
    """References and predictions of a file that holds both.

    Args:
        path: a JSON object with `references` and `predictions`, each as in the format `json`, or a DyGIE++ file with
            `relations` and `predicted_relations`.
        format: `json` or `dygie`; the file itself says it by default.
        note: called with one line for what a reader of the numbers should know.

    Returns:
        The documents of the references and those of the predictions.

    Raises:
        InputError: as `read_relations`, or the file does not hold both.
    """
    _, references, predictions = open_both(path, format=format, note=note)
    return _bare(references), _bare(predictions)


def open_both(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    note: Note | None = None,
) -> tuple[str, Iterator[Unplaced], Iterator[Unplaced]]:
    """The format of a file that holds both, its references and its predictions; arguments and errors as `read_both`."""
    source, other = _source(path, "references", None, note), _source(path, "predictions", None, note)
    name = _known(format) or _recognised(source)
    if name == "dygie":
        return name, _checked(read_dygie(source)), _checked(read_dygie(other, own=True))
    if name != "json" or not holds_both(source.content):
        raise InputError(
            f"{path}: does not hold both references and predictions; "
            "give two files, as --references and as --predictions"
        )
    both = source.content
    references, predictions = iter_documents(both["references"], source), iter_documents(both["predictions"], other)
    return name, _checked(references), _checked(predictions)


def recognise(path: Path | str) -> str:
    """The format of a file or folder by name and content, a key of `FORMATS`.

    Raises:
        InputError: it is absent or of none of these formats.
    """
    return _recognised(_source(path, "references", None, None))


def read_facts(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    note: Note | None = None,
) -> set[Fact]:
    """The facts (head, type, tail) of a file, for scores without what training knew.

    Args:
        path: three tab-separated columns (head, type, tail; a first line of just these words is a header), or
            relations in one of `FORMATS`. Their texts are taken and, where they hold beyond the document, concept ids;
            of DocRED the names of all mentions.
        format: a name of `FORMATS`, or `tsv`; the file itself says it by default.
        note: called with one line for what a reader of the numbers should know.

    Raises:
        InputError: as `read_relations`.
    """
    source = _source(path, "references", None, note)
    name = format if format == "tsv" else _known(format) or (None if _is_table(source.path) else _recognised(source))
    if name in {None, "tsv"}:
        return {fact for _, fact in _iter_facts(source)}
    facts: set[Fact] = set()
    for _, relations, _ in _checked(FORMATS[name or "json"].read(source)):
        for one in relations:
            heads, tails = one.get("head_names", [one["head"]]), one.get("tail_names", [one["tail"]])
            facts.update((head, one["type"], tail) for head, tail in product(heads, tails))
            if name != "docred" and one.get("head_id") and one.get("tail_id"):
                facts.add((one["head_id"], one["type"], one["tail_id"]))
    return facts


def _source(path: Path | str, side: Side, entities: Path | str | None, note: Note | None) -> Source:
    return Source(
        path=Path(path), side=side, entities=None if entities is None else Path(entities), note=note or _ignore
    )


def _ignore(_: str) -> None:
    """Say nothing."""


def _known(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise InputError(f"format {name!r} does not exist; choose one of {', '.join(FORMATS)}")
    return name


def _checked(documents: Iterator[Placed]) -> Iterator[Unplaced]:
    """The documents without their places; ids come once, in all documents or in none."""
    places: dict[str | None, str] = {}
    for place, name, relations, text in documents:
        if name is not None and name in places:
            raise InputError(f"{place}: document {name!r} comes again, it is in {places[name]}; give every one once")
        if (None in places) != (name is None) and places:
            raise InputError(
                f"{place}: the document has {'no id' if name is None else f'the id {name!r}'}, unlike that in "
                f"{next(iter(places.values()))}; give an id to every document, or to none"
            )
        places[name] = place
        yield Unplaced(name, relations, text)


def _recognised(source: Source) -> str:
    """The format of a file by its name and its content."""
    path, name = source.path, _bare_name(source.path)
    if path.is_dir() or name.endswith(".ann"):
        return "brat"
    first = next((line for line in iter_beginning(path) if line.strip()), "").lstrip()
    if first.startswith(("{", "[")):
        found = _kind_of_line(first) if first.startswith("{") else None
        return found or ("jsonl" if name.endswith(LINES) else _kind_of_json(source))
    if PUBTATOR_TEXT.match(first):
        return "pubtator"
    if not first and name.endswith(LINES):
        return "jsonl"
    fault = "is in no format that is known here" if first else "is empty, so it says no format"
    raise InputError(f"{path}: {fault}; say which with --format, one of {', '.join(FORMATS)}")


def _bare_name(path: Path) -> str:
    """The name of a file in small letters, without what says how it is packed."""
    name = path.name.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name


def iter_beginning(path: Path) -> Iterator[str]:
    """The lines of a file as long as they are of a size that lines have; a longer one ends them, cut."""
    check_file(path)
    rest = b""
    for chunk in iter_unpacked(path, _ignore):
        *lines, rest = (rest + chunk).removeprefix(UTF8_BOM).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in lines)
        if len(rest) > PEEK:
            break
    yield rest.decode("utf-8", "replace")


def _kind_of_line(line: str) -> str | None:
    """`dygie` or `jsonl` where the line is a document of such a file, `json` where it is a whole file, else None."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if holds_both(record):
        return "json"
    if "sentences" in record and {"relations", "predicted_relations"} & {*record}:
        return "dygie"
    return "jsonl" if "relations" in record and _is_record(record) else None


def _is_record(record: Mapping[str, Any]) -> bool:
    """Whether an object is a document with an id, or with its relations alone, and not documents by id."""
    return record.keys() == {"relations"} or not all(isinstance(value, list) for value in record.values())


def _kind_of_json(source: Source) -> str:
    """Which of the formats that are one JSON value this is; an empty list of predictions is as the references are."""
    content = source.content
    if content == [] and source.side == "predictions" and source.entities is not None:
        return _recognised(Source(path=source.entities, side="references", entities=None, note=_ignore))
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(first, dict) and ("vertexSet" in first or {"title", "h_idx", "t_idx", "r"} <= {*first}):
        return "docred"
    if isinstance(first, dict) and {"tokens", "entities", "relations"} <= {*first}:
        return "spert"
    return "json"


def _is_table(path: Path) -> bool:
    """Whether a file is a table: no line of it is that of another format, as far as its name and first line show."""
    if path.is_dir() or _bare_name(path).endswith(".ann"):
        return False
    first = next((line for line in iter_beginning(path) if line.strip()), "")
    return not first.startswith(("{", "[")) and not PUBTATOR_TEXT.match(first)


def _iter_facts(source: Source) -> Iterator[tuple[int, Fact]]:
    """Line number and fact of each line of a table."""
    first = True
    for number, line in enumerate(iter_lines(source.path, source.note), 1):
        cells = tuple(line.split("\t"))
        if not line.strip():
            continue
        if len(cells) != 3 or not all(cells):
            fault = f"has {counted(len(cells), 'column')}" if all(cells) else "has an empty column"
            raise InputError(
                f"{source.path}, line {number}: {fault}, expected head, type, tail, with tabs between; correct it"
            )
        if not first or cells != FACT:
            yield number, (cells[0], cells[1], cells[2])
        first = False
    if first:
        raise InputError(
            f"{source.path}, line 1: has no columns, expected head, type, tail, with tabs between; give a fact, or "
            "leave the option out"
        )


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "json": Format(read=read_json, match="text"),
        "jsonl": Format(read=read_jsonl, match="text"),
        "dygie": Format(read=read_dygie, match="span", unit="token"),
        "spert": Format(read=read_spert, match="span", unit="token"),
        "docred": Format(read=read_docred, match="id", unit="token"),
        "brat": Format(read=read_brat, match="span", unit="character"),
        "pubtator": Format(read=read_pubtator, match="id", unit="character"),
    }
)
