"""Exact filtered ranks from a file that lists only the best candidates, as AnyBURL and SAFRAN write it.

    C:1 DRUG_GENE G:1
    Heads: C:1<TAB>0.9<TAB>C:3<TAB>0.2
    Tails: G:2<TAB>0.7

Three lines per test triple; a list may be empty; a list without tabs is separated by blanks. What a list leaves
out is worse than all it holds, and nothing tells it apart: an answer that is not listed ties with all candidates
that are not listed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import PARTS, Dataset, Part, Triples, ignore
from openbiolink.errors import InputError
from openbiolink.evaluation.known import ANSWER_COLUMN, KnownAnswers, count_ranked, find_known, query_codes
from openbiolink.evaluation.ranking import UnseenRule, check_protocol
from openbiolink.evaluation.result import SIDES, Evaluation
from openbiolink.files import iter_lines
from openbiolink.progress import silent
from openbiolink.tables import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from openbiolink.files import Note
    from openbiolink.index import Side
    from openbiolink.metrics.ranking import Ties
    from openbiolink.progress import Progress

Ids = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

PREFIX: Mapping[Side, str] = MappingProxyType({"head": "Heads:", "tail": "Tails:"})
DECIMAL = re.compile(NUMBER)
SHOWN = 60
BETTER, EQUAL, LISTED = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One list of candidates: entity ids, each once, shape (k,), and their scores, finite, shape (k,)."""

    entities: Ids
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Three lines of the file: number of the first, the triple as ids, shape (3,), the lists by side."""

    line: int
    triple: Ids
    lists: Mapping[Side, Listed]


NOTHING = Listed(entities=np.empty(0, np.int32), scores=np.empty(0))
NO_LISTS: Mapping[Side, Listed] = MappingProxyType({"head": NOTHING, "tail": NOTHING})


def evaluate_topk(
    path: Path | str,
    dataset: Dataset,
    *,
    ties: Ties = "realistic",
    filter_parts: Sequence[Part] = PARTS,
    higher_is_better: bool = True,
    unseen: UnseenRule = "refuse",
    model_name: str | None = None,
    note: Note = ignore,
    progress: Progress = silent,
) -> Evaluation:
    """Rank the right answers of all test triples from a file of the best candidates.

    The file is read once, a triple at a time. Known triples among the candidates are left out, whether or
    not the writer did so. A test triple that the file lacks has its answers listed on neither side. Triples
    of the file that are no test triples are checked, counted in a note and otherwise ignored.

    Args:
        path: the file, plain or packed.
        dataset: the test triples, the known triples, and all candidates.
        ties: the rule that the result shows first; it holds all three.
        filter_parts: the parts whose triples count as known; none gives raw ranks.
        higher_is_better: False where the file holds distances.
        unseen: as for `evaluate`.
        model_name: the name in the result; by default that of the file.
        note: called with one line for everything that a reader of the result should know.
        progress: told how many test triples are done.

    Raises:
        InputError: as `evaluate`, or a line of the file is wrong; file and line are named.
    """
    source = Path(path)
    protocol = check_protocol(dataset, ties=ties, filter_parts=filter_parts, unseen=unseen)
    _, first, row_of = np.unique(dataset.codes(protocol.triples), return_index=True, return_inverse=True)
    queries = _queries(dataset, protocol.triples[first], filter_parts)
    blocks = _refuse_repeated(iter_topk(source, dataset, note=note), source, dataset)
    counts, absent, foreign = _count_blocks(
        blocks, queries, dataset, higher_is_better=higher_is_better, progress=progress
    )
    if absent == len(queries.triples):
        raise InputError(f"{source}: holds none of the {absent} test triples; check that it is the right file")
    counts = counts[row_of]
    unlisted = int((counts[:, :, LISTED] == 0).sum())
    notes = (*protocol.notes, *_describe(source.name, absent=absent, foreign=foreign, unlisted=unlisted))
    for line in notes:
        note(line)
    return Evaluation(
        model=model_name or source.name,
        dataset=dataset,
        triples=protocol.triples,
        better=counts[:, :, BETTER],
        equal=counts[:, :, EQUAL],
        candidates=count_ranked(dataset, queries.triples, queries.known)[row_of],
        ties=ties,
        filter_parts=tuple(filter_parts),
        higher_is_better=higher_is_better,
        left_out=protocol.left_out,
        not_listed={side: int((counts[:, column, LISTED] == 0).sum()) for column, side in enumerate(SIDES)},
        notes=notes,
    )


def _describe(name: str, *, absent: int, foreign: int, unlisted: int) -> Iterator[str]:
    if unlisted:
        yield f"{name}: answers that are not listed and tie with all unlisted candidates: {unlisted}"
    if absent:
        yield f"{name}: test triples that it lacks, so that neither answer is listed: {absent}"
    if foreign:
        yield f"{name}: triples that are no test triples and were ignored: {foreign}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queries:
    """The different triples to rank, the row of each, and the known answers of each by side."""

    triples: Triples
    row: Mapping[int, int]
    known: Mapping[Side, KnownAnswers]
    spans: Mapping[Side, tuple[Counts, Counts]]
    num_entities: int


def _queries(dataset: Dataset, triples: Triples, filter_parts: Sequence[Part]) -> _Queries:
    known = {side: find_known(dataset, side, filter_parts) for side in SIDES}
    return _Queries(
        triples=triples,
        row={int(code): row for row, code in enumerate(dataset.codes(triples))},
        known=known,
        spans={side: known[side].spans(query_codes(dataset, triples, side)) for side in SIDES},
        num_entities=dataset.num_entities,
    )


def _count_blocks(
    blocks: Iterable[Block],
    queries: _Queries,
    dataset: Dataset,
    *,
    higher_is_better: bool,
    progress: Progress,
) -> tuple[Counts, int, int]:
    """Counts, shape (n, 2, 3): BETTER, EQUAL, LISTED; numbers of absent triples and of foreign blocks."""
    test = set(dataset.codes(dataset.test).tolist())
    counts = np.full((len(queries.triples), len(SIDES), 3), -1, np.int64)
    done = foreign = 0
    progress("rank", 0, len(counts))
    for block in blocks:
        code = int(dataset.codes(block.triple[np.newaxis])[0])
        foreign += code not in test
        if (row := queries.row.get(code)) is not None:
            counts[row] = _count_row(queries, row, block.lists, higher_is_better=higher_is_better)
            done += 1
            progress("rank", done, len(counts))
    absent = np.flatnonzero(counts[:, 0, LISTED] < 0)
    for row in absent.tolist():
        counts[row] = _count_row(queries, row, NO_LISTS, higher_is_better=higher_is_better)
    return counts, len(absent), foreign


def _count_row(
    queries: _Queries, row: int, lists: Mapping[Side, Listed], *, higher_is_better: bool
) -> list[tuple[int, int, int]]:
    counts = []
    for side in SIDES:
        begin, end = queries.spans[side]
        known = queries.known[side].answers[begin[row] : end[row]]
        answer = int(queries.triples[row, ANSWER_COLUMN[side]])
        listed = lists[side]
        if not higher_is_better:
            listed = Listed(entities=listed.entities, scores=-listed.scores)
        counts.append(_count_listed(listed, answer, known, queries.num_entities))
    return counts


def _count_listed(listed: Listed, answer: int, known: Ids, num_entities: int) -> tuple[int, int, int]:
    """Candidates better than the answer, equal to it, and 1 if it is listed, else 0.

    `known` are known answers of the query, sorted, each once; they are no candidates.
    """
    is_candidate = ~_in_sorted(listed.entities, known) & (listed.entities != answer)
    place = np.flatnonzero(listed.entities == answer)
    if place.size:
        scores, level = listed.scores[is_candidate], listed.scores[place[0]]
        return int((scores > level).sum()), int((scores == level).sum()), 1
    others = num_entities - 1 - len(known) + int(_in_sorted(np.array([answer], np.int32), known)[0])
    better = int(is_candidate.sum())
    return better, others - better, 0


def _in_sorted(entities: Ids, ascending: Ids) -> npt.NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(entities), np.bool_)
    place = np.minimum(np.searchsorted(ascending, entities), len(ascending) - 1)
    found: npt.NDArray[np.bool_] = ascending[place] == entities
    return found


def _refuse_repeated(blocks: Iterable[Block], path: Path, dataset: Dataset) -> Iterator[Block]:
    line_of: dict[tuple[int, ...], int] = {}
    for block in blocks:
        earlier = line_of.setdefault(tuple(block.triple.tolist()), block.line)
        if earlier != block.line:
            raise InputError(
                f"{path}, line {block.line}: triple ({', '.join(dataset.label(block.triple))}) was given "
                f"in line {earlier} already; keep one of them"
            )
        yield block


def iter_topk(path: Path, dataset: Dataset, *, note: Note = ignore) -> Iterator[Block]:
    """The blocks of a top-k file one after another, as ids of the data set; blank lines are skipped.

    The labels of a triple are separated by single blanks, or by tabs where labels hold blanks.

    Raises:
        InputError: a line is missing or not what its place asks for, an entity or relation is not in the
            data set, a candidate is listed twice, or a score is not a finite decimal number.
    """
    entity = {label: number for number, label in enumerate(dataset.entities)}
    relation = {label: number for number, label in enumerate(dataset.relations)}
    lines = ((number, line) for number, line in enumerate(iter_lines(path, note), 1) if line.strip())
    for number, line in lines:
        place = f"{path}, line {number}"
        head, name, tail = _triple(line, place)
        ids = [
            id_of(head, entity, "entity", place),
            id_of(name, relation, "relation", place),
            id_of(tail, entity, "entity", place),
        ]
        lists = {side: _next_list(lines, side, entity, path) for side in SIDES}
        yield Block(line=number, triple=np.array(ids, np.int32), lists=lists)


def _triple(line: str, place: str) -> list[str]:
    labels = line.split("\t") if "\t" in line else line.split(" ")
    if len(labels) != 3 or line.startswith(tuple(PREFIX.values())):
        raise InputError(
            f"{place}: {line[:SHOWN]!r} is no triple; expected head, relation and tail "
            "separated by single blanks (or by tabs, where labels hold blanks)"
        )
    return labels


def id_of(label: Any, ids: Mapping[str, int], kind: str, place: str) -> int:
    """The id of a label of a file.

    Raises:
        InputError: it has none; `place` is named.
    """
    if label not in ids:
        raise InputError(f"{place}: {kind} {label!r} is not in the data set; use the one it was made for")
    return ids[label]


def _next_list(lines: Iterator[tuple[int, str]], side: Side, entity: Mapping[str, int], path: Path) -> Listed:
    number, line = next(lines, (0, ""))
    if not number:
        raise InputError(f"{path}: the file ends before the {PREFIX[side]!r} line of its last triple; add it")
    place = f"{path}, line {number}"
    if not line.startswith(PREFIX[side]):
        raise InputError(f"{place}: {line[:SHOWN]!r} where the {PREFIX[side]!r} line of a triple should be")
    listed = line.removeprefix(PREFIX[side]).lstrip(" \t").removesuffix("\t")
    return _parse_list(listed.split("\t" if "\t" in listed else None), entity, place) if listed else NOTHING


def _parse_list(cells: list[str], entity: Mapping[str, int], place: str) -> Listed:
    labels, numbers = cells[0::2], cells[1::2]
    if len(labels) != len(numbers):
        raise InputError(f"{place}: {len(cells)} cells; expected pairs of entity and score")
    ids = [id_of(label, entity, "candidate", place) for label in labels]
    if len(set(ids)) < len(ids):
        twice = Counter(labels).most_common(1)[0][0]
        raise InputError(f"{place}: candidate {twice!r} is listed twice; list every candidate once")
    scores = [_score(text, place) for text in numbers]
    return Listed(entities=np.array(ids, np.int32), scores=np.array(scores, np.float64))


def _score(text: str, place: str) -> float:
    """The number that a plain decimal stands for; `float` alone would also take `nan`, `inf` and `1_0`."""
    if DECIMAL.fullmatch(text) and math.isfinite(score := float(text)):
        return score
    raise InputError(f"{place}: score {text!r} is not a finite decimal number; mend it")
