"""What the readers of relation files share: a file as they get it, and what they take out of it or refuse."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from openbiolink.errors import InputError
from openbiolink.files import UTF8_BOM, check_file, iter_lines, iter_unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from openbiolink.files import Note

Side = Literal["references", "predictions"]
Relations = list[Mapping[str, Any]]
Text = tuple[str, ...] | str

ID_FIELDS = ("id", "doc_id", "document_id", "doc_key")
WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
LONGEST = 60  # characters of a value that a message shows


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file as a reader gets it.

    Attributes:
        path: a file, or a folder of BRAT.
        side: what its relations are.
        entities: the file that has the entities of predictions (DocRED).
        note: called with one line for what a reader of the numbers should know.
    """

    path: Path
    side: Side
    entities: Path | None
    note: Note

    @cached_property
    def content(self) -> Any:
        """The whole file as JSON."""
        check_file(self.path)
        data = b"".join(iter_unpacked(self.path, self.note)).removeprefix(UTF8_BOM)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{self.path}, line {line}: byte {data[error.start]:#04x} is not UTF-8; convert the file to UTF-8"
            ) from error
        return parse_json(text, self.path)


class Placed(NamedTuple):
    """A document and where it stands.

    Attributes:
        place: file and line, or file and number, for messages.
        id: None where the file has none.
        relations: of the document.
        text: that its spans are of: tokens, or one text of characters; None where the file has none.
    """

    place: str
    id: str | None
    relations: Relations
    text: Text | None = None


class Unplaced(NamedTuple):
    """A document as it is paired.

    Attributes:
        id: None where it has none.
        relations: of the document.
        text: that its spans are of; None where it is not known.
    """

    id: str | None
    relations: Relations
    text: Text | None


def holds_both(content: object) -> bool:
    """Whether a JSON value is an object with the two entries `references` and `predictions`."""
    return isinstance(content, dict) and {"references", "predictions"} <= {*content}


def parse_json(text: str, path: Path, line: int | None = None) -> Any:
    """A JSON value; what JSON does not know (NaN), and names that come twice in an object, are refused.

    Args:
        text: the whole file, or a line of it.
        path: for messages.
        line: the number of the line; None for a whole file.

    Raises:
        InputError: the text is no JSON.
    """
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {line or error.lineno}: is no JSON ({error.msg}, column {error.colno}); correct it"
        ) from error
    except (ValueError, RecursionError) as error:
        place = f"{path}, line {line}" if line else f"{path}"
        raise InputError(f"{place}: is no JSON that can be read ({error}); correct it") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {twice!r} comes twice in one object")
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def iter_objects(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and object of each line that is not blank.

    Raises:
        InputError: a line is something else.
    """
    for number, line in enumerate(iter_lines(source.path, source.note), 1):
        if line.strip():
            place = f"{source.path}, line {number}"
            yield place, of_kind(parse_json(line, source.path, number), dict, place)


def of_kind(value: Any, kind: type, place: str) -> Any:
    """The value, which must be of this kind (`str`, `int`, `list` or `dict`).

    Raises:
        InputError: it is of another.
    """
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    raise InputError(f"{place}: is {shortened(value)}, expected {WORDS[kind]}; correct it")


def shortened(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def field_of(record: Mapping[str, Any], name: str, kind: type, place: str) -> Any:
    """An entry of an object, which must be there and of this kind.

    Raises:
        InputError: it is not.
    """
    if name not in record:
        raise InputError(f"{place}: has no field {name!r}, but {shortened([*record])}; add it")
    return of_kind(record[name], kind, f"{place}, field {name!r}")


def id_of(record: Mapping[str, Any], place: str, fields: Sequence[str] = ID_FIELDS) -> str | None:
    """The id of a document, None where it has none; a whole number is taken as its digits.

    Raises:
        InputError: it is something else.
    """
    for name in fields:
        if name in record:
            value = record[name]
            return str(value if type(value) is int else of_kind(value, str, f"{place}, field {name!r}"))
    return None


def scored(record: Mapping[str, Any]) -> dict[str, Any]:
    """The score of a relation, where it has one; the field that it is from stays."""
    if record.get("score") is not None:
        return {"score": record["score"]}
    value = record.get("confidence")
    return {} if value is None else {"score": value, "confidence": value}


def counted(number: int, word: str, several: str | None = None) -> str:
    """A number and what is counted, which is several unless it is one.

    >>> counted(1, "relation"), counted(2, "entity", "entities"), counted(0, "column")
    ('1 relation', '2 entities', '0 columns')
    """
    return f"{number:,} {word if number == 1 else several or f'{word}s'}"


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
