"""The published data sets: a table of what there is, fetched, unpacked safely, counted and compared with the table.

A data set lies in `ROOT/NAME`, which appears only when all of it is there and has the files of its kind. The file
`published.json` in it says where it came from and the SHA-256 of every file.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openbiolink.errors import InputError
from openbiolink.files import replaced_folder, sha256_of, write_json
from openbiolink.sources.archive import is_archive, unpack_archive
from openbiolink.sources.declarations import Address, did_you_mean
from openbiolink.sources.fetch import AS_USUAL, NOBODY, FetchOptions, Listener, fetch_sources
from openbiolink.tables import open_database, read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openbiolink.files import Note
    from openbiolink.sources.fetch import Fetched

Kind = Literal["split", "ids", "rdf", "bel"]
Count = Literal["train", "test", "valid", "entities", "relations"]
Number = Annotated[int, Field(ge=0)]

RECORD = "published.json"
FORMAT = "openbiolink-published/1"
PICKLED = {".pkl", ".pickle"}
PARTS = ("train", "test", "valid")
SPLIT_FILES: Mapping[str, str] = {"train": "train_sample.csv", "test": "test_sample.csv", "valid": "val_sample.csv"}
SAMPLE = ("head", "relation", "tail", "score", "value", "source")
TRIPLE = SAMPLE[:3]


class PublishedSet(BaseModel):
    """One published data set.

    Attributes:
        title: what it is, in words.
        kind: which files it has: "split", "ids", "rdf" or "bel", as the table explains.
        homepage: where people read about it.
        addresses: where its archive can be had, the best place first.
        by_hand: how to get it where no address gives it.
        saved_as: name of its archive, where that is not the last part of the first address.
        counts: how many rows each part is said to have, and how many entities and relations there are.
        positives: of a split, the same of the files of positives alone, as far as known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    kind: Kind
    homepage: str
    addresses: tuple[Address, ...] = Field(default=(), alias="address")
    by_hand: str = ""
    saved_as: str = ""
    counts: dict[Count, Number] = {}
    positives: dict[Count, Number] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """The name of its archive."""
        return (self.file_name(),)

    def file_name(self) -> str:
        """The name of its archive."""
        return self.saved_as or PurePosixPath(unquote(urlsplit(self.addresses[0].url).path)).name


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSets:
    """The published data sets, by name."""

    sources: dict[str, PublishedSet]

    def source(self, name: str) -> PublishedSet:
        """The one of this name.

        Raises:
            InputError: there is none; the message names the known ones.
        """
        if name not in self.sources:
            known = ", ".join(self.sources)
            hint = did_you_mean(name.upper(), self.sources)
            raise InputError(f"unknown data set {name!r}{hint}; published are {known}")
        return self.sources[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A data set on the disk, and how it compares with what is said of it.

    Attributes:
        name: which one.
        folder: where it lies.
        kept: whether it was there already.
        url: where it was fetched from; empty where that is not known.
        sha256: checksum of the archive; empty where that is not known.
        files: SHA-256 by path in the folder.
        changed: files that are not as they were fetched, or are gone, by path; files that came later are not meant.
        counts: what was counted: positives and negatives together.
        positives: of a split, what was counted in the files of positives alone.
        differences: one line for every number that is another than published.
    """

    name: str
    folder: Path
    kept: bool
    url: str
    sha256: str
    files: Mapping[str, str]
    changed: tuple[str, ...]
    counts: Mapping[str, int]
    positives: Mapping[str, int]
    differences: tuple[str, ...]


def load_published() -> PublishedSets:
    """The table of published data sets, in its order."""
    text = (files("openbiolink") / "sources" / "published.toml").read_text(encoding="utf-8")
    return PublishedSets(
        sources={name: PublishedSet.model_validate(entry) for name, entry in tomllib.loads(text)["set"].items()}
    )


def splits() -> tuple[str, ...]:
    """The names of the published data sets that have a split to train and test on."""
    return tuple(name for name, entry in load_published().sources.items() if entry.kind == "split")


def fetch_published(
    name: str,
    root: Path,
    *,
    mirror: str = "",
    options: FetchOptions = AS_USUAL,
    listener: Listener = NOBODY,
) -> Held:
    """Get a published data set into `root/name`: fetched, unpacked, checked; what is there already is only checked.

    The archive is removed when it is unpacked, unless it was put there by hand. Pickled files are not unpacked: they
    would run code where they are read, and what they hold follows from the triples.

    Args:
        name: the name of the data set.
        root: the folder that holds folders of data sets; made if it is absent.
        mirror: address of a folder that has the archive under the name it has at the published address, to be asked
            in the place of that.
        options: how it is fetched.
        listener: who is told, also of every number that is another than published, and of every file that is not as it
            was fetched.

    Raises:
        InputError: there is no such data set, it cannot be had, its archive is not safe to unpack, what is in it is
            not of its kind, or something else is in its place.
    """
    table = load_published()
    entry = table.source(name)
    folder = root / name
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    if folder.exists():
        return _told(hold(folder, name=name, note=listener.note), listener.note)
    if mirror:
        entry = entry.model_copy(update={"addresses": (_at_mirror(mirror, entry),)})
        table = PublishedSets(sources={**table.sources, name: entry})
    report = fetch_sources(table, [name], root, options=options, listener=listener)
    if name in report.failed:
        raise InputError(report.failed[name])
    held = _unpack(name, report.fetched[name], folder, listener.note)
    if not report.fetched[name].kept:
        report.fetched[name].path.unlink(missing_ok=True)
    return _told(held, listener.note)


def hold(folder: Path, *, name: str = "", note: Note = lambda _: None) -> Held:
    """What a folder holds of a published data set, counted anew.

    Args:
        folder: the folder.
        name: which data set it is; by default what its `published.json` says, else the name of the folder.
        note: told of remarks about its files.

    Raises:
        InputError: it is not there, holds no such data set, or there is none of that name.
    """
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; `openbiolink datasets fetch {name or folder.name}` gets a data set"
        )
    record = _read_record(folder / RECORD)
    name = name or record.get("name", folder.name)
    entry = load_published().source(name)
    if lacks := _lacking(folder, entry.kind):
        raise InputError(f"{folder}: holds no {name}, it lacks {lacks}; move it away, then fetch the data set")
    counts, positives = count_rows(folder, entry.kind, note=note)
    if counts is positives and entry.counts:
        note(f"{folder}: has no files of negatives; the published numbers, which count them too, are not compared")
    sums = _checksums(folder)
    known = record.get("files", sums)
    return Held(
        name=name,
        folder=folder,
        kept=True,
        url=record.get("url", ""),
        sha256=record.get("sha256", ""),
        files=sums,
        changed=tuple(sorted(path for path in known if known[path] != sums.get(path))),
        counts=counts,
        positives=positives,
        differences=tuple(_differences(name, entry, counts, positives)),
    )


def count_rows(folder: Path, kind: Kind, *, note: Note) -> tuple[dict[str, int], dict[str, int]]:
    """Rows of every part, entities and relations of a data set, and of a split those of its positives alone.

    Of a kind without parts nothing is counted.

    Raises:
        InputError: a row has another number of cells than it should.
    """
    if kind == "ids":
        names = {part: f"{part}.tsv" for part in PARTS}
        with open_database() as (connection, _):
            for part, file in names.items():
                read_delimited(connection, folder / file, table=part, columns=TRIPLE, note=note)
            counts = {part: _count(connection, f"SELECT count(*) FROM {part}") for part in PARTS}
            for what, file in (("entities", "entities.tsv"), ("relations", "relations.tsv")):
                read_delimited(connection, folder / file, table=what, columns=("id", "label"), note=note)
                counts[what] = _count(connection, f"SELECT count(*) FROM {what}")
        return counts, {}
    if kind != "split":
        return {}, {}
    with open_database() as (connection, _):
        for table, path in _samples(folder):
            read_delimited(connection, path, table=table, columns=SAMPLE, keep=TRIPLE, note=note)
        every = [table for table, _ in _samples(folder)]
        positives = _count_tables(connection, {part: [part] for part in PARTS})
        together = {part: [table for table in every if table in {part, f"negative_{part}"}] for part in PARTS}
        counts = positives if len(every) == len(PARTS) else _count_tables(connection, together)
    return counts, positives


def _count_tables(connection: Any, tables: Mapping[str, list[str]]) -> dict[str, int]:
    counts = {part: sum(_count(connection, f"SELECT count(*) FROM {one}") for one in of) for part, of in tables.items()}
    every = [one for of in tables.values() for one in of]
    for what, columns in (("entities", ("head", "tail")), ("relations", ("relation",))):
        union = " UNION ".join(f"SELECT {column} FROM {one}" for one in every for column in columns)
        counts[what] = _count(connection, f"SELECT count(*) FROM ({union})")
    return counts


def _count(connection: Any, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])


def _samples(folder: Path) -> list[tuple[str, Path]]:
    """The files of a split with a name for each: those of positives, then those of negatives that are there."""
    place = folder / "train_test_data"
    positives = [(str(part), place / file) for part, file in SPLIT_FILES.items()]
    negatives = [(f"negative_{part}", place / f"negative_{file}") for part, file in SPLIT_FILES.items()]
    return positives + [(table, path) for table, path in negatives if path.is_file()]


def _lacking(folder: Path, kind: Kind) -> str:
    """A file that a data set of that kind must have and the folder lacks; empty where all is there."""
    if kind == "split":
        wanted = [f"train_test_data/{file}" for file in SPLIT_FILES.values()]
    elif kind == "ids":
        wanted = [*(f"{part}.tsv" for part in PARTS), "entities.tsv", "relations.tsv"]
    else:
        data = any(path.is_file() and path.name != RECORD for path in folder.rglob("*"))
        return "" if data else "any file"
    return next((file for file in wanted if not (folder / file).is_file()), "")


def _differences(
    name: str, entry: PublishedSet, counts: Mapping[str, int], positives: Mapping[str, int]
) -> Iterator[str]:
    whole = counts is not positives
    for what, published in entry.counts.items():
        if entry.kind == "split" and not whole:
            break
        if counts[what] != published:
            yield f"{name}: {what} has {counts[what]:,}, published are {published:,}"
    for what, published in entry.positives.items():
        if positives[what] != published:
            yield f"{name}: {what} has {positives[what]:,} positives, known are {published:,}"


def _at_mirror(mirror: str, entry: PublishedSet) -> Address:
    url = f"{mirror.rstrip('/')}/{entry.file_name()}"
    known = {"sha256": entry.addresses[0].sha256, "size": entry.addresses[0].size} if entry.addresses else {}
    try:
        return Address.model_validate({"url": url, "kind": "mirror", **known})
    except ValidationError as error:
        fault = error.errors()[0]["msg"]
        raise InputError(f"--mirror {mirror}: {fault}; give the address of the folder that has the archive") from None


def _unpack(name: str, fetched: Fetched, folder: Path, note: Note) -> Held:
    """Unpack an archive beside the folder, check it there, and give it its name."""
    with replaced_folder(folder, owned=lambda _: False, replace=False) as fresh, _as_of(fresh, fetched.path):
        if is_archive(fetched.path):
            left_out = unpack_archive(fetched.path, fresh, skip=lambda path: path.suffix in PICKLED)
            if left_out:
                note(f"{fetched.path.name}: pickled files that were not unpacked: {', '.join(left_out)}")
        else:
            shutil.copyfile(fetched.path, fresh / fetched.path.name)
        held = hold(fresh, name=name, note=lambda line: note(line.replace(str(fresh), str(folder))))
        record = {"format": FORMAT, "name": name, "url": fetched.url, "sha256": fetched.sha256, "files": held.files}
        write_json(fresh / RECORD, record)
    return replace(held, folder=folder, kept=False, url=fetched.url, sha256=fetched.sha256)


@contextmanager
def _as_of(fresh: Path, archive: Path) -> Iterator[None]:
    """Name the archive in the place of a folder that is gone when the message is read."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(f"{fresh}/", f"{archive}: ").replace(f"{fresh}:", f"{archive}:")) from error


def _checksums(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / RECORD)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}


def _read_record(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    texts = ("name", "url", "sha256")
    sound = isinstance(found, dict) and found.get("format") == FORMAT and isinstance(found.get("files"), dict)
    if not sound or not all(isinstance(found.get(key), str) for key in texts):
        raise InputError(f"{path}: is no record of a published data set; remove it and the folder is read without")
    return dict(found)


def _told(held: Held, note: Note) -> Held:
    for line in held.differences:
        note(line)
    if held.changed:
        note(f"{held.folder}: files that are not as they were fetched: {', '.join(held.changed)}")
    return held
