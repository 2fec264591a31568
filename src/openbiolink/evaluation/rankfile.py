"""The file that keeps an evaluation: a row per test triple, with what every metric, interval and test follows from.

    head  relation  tail  head_better  head_equal  head_candidates  tail_better  tail_equal  tail_candidates

Better and equal are numbers of candidates with a better and with the same score as the answer; candidates are all that
were ranked, the answer among them. Rows are sorted by their labels. What the ranks are of (model, data set with its
checksum, filter, candidate set, as in `result.json`) stands as JSON in the metadata of a Parquet file under the key
`openbiolink`, and in the first line of a TSV file after `# `. The bytes depend on the evaluation alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from openbiolink.dataset import TRIPLE, Dataset, ignore
from openbiolink.errors import InputError
from openbiolink.evaluation.result import SIDES, Evaluation, Sample, describe_dataset
from openbiolink.files import check_file, iter_lines, scratch_folder
from openbiolink.metrics.ranking import check_ties
from openbiolink.tables import open_database, quote, read_delimited

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from openbiolink.dataset import Triples

FORMAT = "openbiolink-ranks/1"
KEY = "openbiolink"
KINDS = ("better", "equal", "candidates")
NUMBERS = tuple(f"{side}_{kind}" for side in SIDES for kind in KINDS)
COLUMNS = (*TRIPLE, *NUMBERS)
PARQUET, TSV = ".parquet", ".tsv"
MARK = "# "
MAGIC = b"PAR1"


def write_ranks(evaluation: Evaluation, path: Path) -> None:
    """Write the ranks as Parquet or, where the name ends in `.tsv`, as text; whole or not at all.

    Raises:
        InputError: the name ends in neither, the place holds something else, or a label holds a tab or line end that a
            TSV file cannot hold.
    """
    check_rank_target(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        open_database() as (connection, _),
        scratch_folder(path.parent, f".{path.name}-openbiolink-") as folder,
    ):
        _put_rows(connection, evaluation)
        described = _describe(evaluation) | {"rows_sha256": _sum_of_rows(connection)}
        about = json.dumps(described, ensure_ascii=False, sort_keys=True, allow_nan=False)
        if path.suffix == PARQUET:
            connection.execute(f"""
                COPY (SELECT * FROM kept ORDER BY ALL) TO {quote(str(folder / path.name))}
                (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{KEY}: {quote(about)}}})""")
        else:
            _write_text(connection, about, folder / path.name)
        (folder / path.name).replace(path)


def check_rank_target(path: Path) -> None:
    """Refuse a place where ranks cannot be written, or that holds something else; to be said before long work.

    Raises:
        InputError: as `write_ranks`.
    """
    if path.suffix not in {PARQUET, TSV}:
        raise InputError(f"{path}: ranks are written as {PARQUET} or {TSV}; choose a name that ends so")
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file name; give one in it")
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as stream:
            first = stream.read(4096)
        text = first.startswith(MARK.encode()) and FORMAT.partition("/")[0].encode() in first
        if not text and not (first.startswith(MAGIC) and _metadata(path) is not None):
            raise InputError(f"{path}: exists and holds no ranks; choose another name")


def read_ranks(path: Path, dataset: Dataset | None = None) -> Evaluation:
    """An evaluation as it was kept.

    Args:
        path: the file that `write_ranks` wrote.
        dataset: what was evaluated on. Without it every metric, interval and comparison can be worked out, but no
            breakdown that needs the training triples.

    Raises:
        InputError: the file is absent, not one of ranks, damaged, or of another data set.
    """
    check_file(path)
    with path.open("rb") as stream:
        packed = stream.read(len(MAGIC)) == MAGIC
    with open_database() as (connection, _):
        about = _read_parquet(connection, path) if packed else _read_text(connection, path)
        numbers = _read_numbers(connection, path)
        if _sum_of_rows(connection) != about["rows_sha256"]:
            raise InputError(
                f"{path}: rows were added, taken away or changed since it was written; write it again, or give a plain "
                "table of ranks without what is said of them"
            )
        labels = connection.execute("SELECT head, relation, tail FROM kept").fetchnumpy()
    if not len(labels["head"]):
        raise InputError(f"{path}: holds no ranks; write it again")
    rows: dict[str, list[str]] = {name: np.asarray(labels[name], object).tolist() for name in TRIPLE}
    holder = _only_test(rows, about["dataset"]) if dataset is None else _fitting(path, dataset, about["dataset"])
    triples = _as_ids(path, rows, holder)
    holder = holder if dataset is not None else replace(holder, test=triples)
    columns = {kind: np.stack([numbers[f"{side}_{kind}"] for side in SIDES], axis=1) for kind in KINDS}
    return Evaluation(
        model=about["model"],
        dataset=holder,
        triples=triples,
        **columns,
        ties=about["ties"],
        filter_parts=tuple(about["filter_parts"]),
        higher_is_better=about["higher_is_better"],
        left_out=about["left_out"],
        not_listed=about["not_listed_by_side"],
        notes=tuple(about["notes"]),
        candidate_set=about["candidate_set"],
        sample=None if about["sample"] is None else Sample(**about["sample"]),
        described=about["dataset"] if dataset is None else None,
    )


def _describe(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": version("openbiolink"),
        "model": evaluation.model,
        "dataset": describe_dataset(evaluation),
        "ties": evaluation.ties,
        "filter_parts": list(evaluation.filter_parts),
        "higher_is_better": evaluation.higher_is_better,
        "candidate_set": dict(evaluation.candidate_set),
        "left_out": evaluation.left_out,
        "not_listed_by_side": dict(evaluation.not_listed),
        "sample": None if evaluation.sample is None else asdict(evaluation.sample),
        "notes": list(evaluation.notes),
    }


def _sum_of_rows(connection: duckdb.DuckDBPyConnection) -> str:
    """SHA-256 of all rows, in whichever order they stand."""
    row = f"concat_ws(chr(9), {', '.join(f'{name}::VARCHAR' for name in COLUMNS)})"
    found = connection.execute(f"SELECT sha256(coalesce(string_agg({row}, chr(10) ORDER BY {row}), '')) FROM kept")
    return str(found.fetchall()[0][0])


def _put_rows(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation) -> None:
    """Make the table `kept`."""
    arrays = {"better": evaluation.better, "equal": evaluation.equal, "candidates": evaluation.candidates}
    given: dict[str, npt.NDArray[Any]] = {
        name: evaluation.triples[:, place].astype(np.int64) for place, name in enumerate(TRIPLE)
    }
    for column, side in enumerate(SIDES):
        given |= {f"{side}_{kind}": array[:, column].astype(np.int64) for kind, array in arrays.items()}
    vocabularies = {"entity": evaluation.dataset.entities, "name": evaluation.dataset.relations}
    connection.register("given", {name: np.ascontiguousarray(column) for name, column in given.items()})
    for kind, labels in vocabularies.items():
        connection.register(kind, {"id": np.arange(len(labels)), "label": np.array(labels, dtype=object)})
    connection.execute(f"""
        CREATE TABLE kept AS
        SELECT h.label AS head, r.label AS relation, t.label AS tail, {", ".join(NUMBERS)}
        FROM given JOIN entity AS h ON h.id = head JOIN name AS r ON r.id = relation JOIN entity AS t ON t.id = tail""")
    for table in ("given", *vocabularies):
        connection.unregister(table)


def _write_text(connection: duckdb.DuckDBPyConnection, about: str, path: Path) -> None:
    strange = connection.execute(
        "SELECT head, relation, tail FROM kept WHERE regexp_matches(head || relation || tail, '[\\t\\n\\r]') LIMIT 1"
    ).fetchall()
    if strange:
        raise InputError(f"{path.name}: triple {strange[0]!r} holds a tab or line end; write ranks as {PARQUET}")
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{MARK}{about}\n" + "\t".join(COLUMNS) + "\n")
        found = connection.execute("SELECT * FROM kept ORDER BY ALL")
        while rows := found.fetchmany(10_000):
            stream.writelines("\t".join(map(str, row)) + "\n" for row in rows)


def is_kept(path: Path) -> bool:
    """Whether a file begins as those do that `write_ranks` writes.

    Raises:
        InputError: it is absent, or no file.
    """
    check_file(path)
    with path.open("rb") as stream:
        begins = stream.read(len(MAGIC))
    return begins.startswith(f"{MARK}{{".encode()) if begins != MAGIC else _metadata(path) is not None


def _metadata(path: Path) -> str | None:
    """What a Parquet file says under our key."""
    with duckdb.connect(config={"threads": 1}) as connection:
        try:
            found = connection.execute(
                f"SELECT value FROM parquet_kv_metadata({_plain_path(path)}) WHERE key = {quote(KEY)}"
            ).fetchall()
        except duckdb.Error:
            return None
    return found[0][0].decode("utf-8") if found else None


def _plain_path(path: Path) -> str:
    """The path as an SQL literal in which `*`, `?` and `[` stand for themselves."""
    return quote("".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path)))


def _read_parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    text = _metadata(path)
    if text is None:
        raise InputError(f"{path}: is no Parquet file of ranks; give one that `evaluate --ranks-out` wrote")
    try:
        connection.execute(f"CREATE TABLE kept AS SELECT {', '.join(COLUMNS)} FROM read_parquet({_plain_path(path)})")
    except duckdb.Error as error:
        raise InputError(f"{path}: is damaged ({str(error).splitlines()[0]}); write it again") from error
    return _about(path, text)


def _read_text(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    lines = iter_lines(path, ignore)
    first, header = next(lines, ""), next(lines, "")
    if not first.startswith(f"{MARK}{{") or tuple(header.split("\t")) != COLUMNS:
        raise InputError(f"{path}: is no file of ranks; give one that `evaluate --ranks-out` wrote")
    about = _about(path, first.removeprefix(MARK))
    read_delimited(connection, path, table="kept", columns=COLUMNS, skip=2, note=ignore)
    return about


def _about(path: Path, text: str) -> dict[str, Any]:
    """What is said of the ranks, checked as far as anything rests on it."""
    damaged = f"{path}: what it says of its ranks is damaged"
    try:
        about: dict[str, Any] = json.loads(text)
        kind = about["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{damaged} ({error!r}); write it again") from error
    if kind != FORMAT:
        raise InputError(f"{path}: has the format {kind!r}, expected {FORMAT!r}; write it again")
    try:
        mappings = [about["dataset"], about["candidate_set"], about["not_listed_by_side"]]
        texts = [
            about["model"],
            about["rows_sha256"],
            about["dataset"]["checksum"],
            *about["filter_parts"],
            *about["notes"],
        ]
        numbers = [about["left_out"], *(about["sample"] or {}).values(), *mappings[2].values()]
        sound = all(isinstance(one, Mapping) for one in mappings) and all(isinstance(one, str) for one in texts)
        sound = sound and all(isinstance(one, int) for one in (*numbers, about["higher_is_better"]))
        ties = about["ties"]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{damaged} ({error!r}); write it again") from error
    if not sound or not isinstance(ties, str):
        raise InputError(f"{damaged}; write it again")
    check_ties(ties)
    return about


def _read_numbers(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, npt.NDArray[np.int64]]:
    """The columns of counts; refuses what is no number of candidates."""
    whole = (f"coalesce(regexp_full_match({name}::VARCHAR, '[0-9]{{1,18}}'), false)" for name in NUMBERS)
    wide = {name: f"try_cast({name} AS HUGEINT)" for name in NUMBERS}
    fewer = (f"{wide[f'{side}_better']} + {wide[f'{side}_equal']} < {wide[f'{side}_candidates']}" for side in SIDES)
    wrong = " OR ".join(f"NOT ({rule})" for rule in (*whole, *fewer))
    found = connection.execute(f"SELECT head, relation, tail FROM kept WHERE {wrong} LIMIT 1").fetchall()
    if found:
        raise InputError(
            f"{path}: the counts of triple ({', '.join(map(str, found[0]))}) cannot be: there are "
            "more better and equal ones than candidates, or no numbers; write the file again"
        )
    casts = ", ".join(f"{name}::BIGINT AS {name}" for name in NUMBERS)
    columns = connection.execute(f"SELECT {casts} FROM kept").fetchnumpy()
    return {name: np.asarray(columns[name], np.int64) for name in NUMBERS}


def _only_test(rows: Mapping[str, list[str]], about: Mapping[str, Any]) -> Dataset:
    """A data set of which only the labels of test triples are known."""
    nothing = np.empty((0, 3), np.int32)
    return Dataset(
        train=nothing,
        valid=nothing,
        test=nothing,
        entities=tuple(sorted({*rows["head"], *rows["tail"]})),
        relations=tuple(sorted({*rows["relation"]})),
        checksum=about["checksum"],
        files=MappingProxyType({}),
        unseen=MappingProxyType({}),
        duplicates=MappingProxyType({}),
        in_train=MappingProxyType({}),
        notes=(),
    )


def _fitting(path: Path, dataset: Dataset, about: Mapping[str, Any]) -> Dataset:
    if dataset.checksum != about["checksum"]:
        raise InputError(
            f"{path}: ranks of another data set (checksum {about['checksum'][:12]}, here {dataset.checksum[:12]}); "
            "give the one that was evaluated on"
        )
    return dataset


def _as_ids(path: Path, rows: Mapping[str, list[str]], dataset: Dataset) -> Triples:
    entity = {label: number for number, label in enumerate(dataset.entities)}
    relation = {label: number for number, label in enumerate(dataset.relations)}
    vocabularies = zip(TRIPLE, (entity, relation, entity), strict=True)
    try:
        columns = [[ids[label] for label in rows[name]] for name, ids in vocabularies]
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]!r} is not in the data set; write the file again") from error
    return np.array(columns, np.int32).T.copy()
