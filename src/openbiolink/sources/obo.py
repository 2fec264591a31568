"""OBO ontologies: terms, their parents, other ids and cross references.

Format: https://owlcollab.github.io/oboformat/doc/GO.format.obo-1_4.html. Only the tags that are
needed are read; nothing else in a term can stop the reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from openbiolink.files import iter_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from openbiolink.files import Note

STANZA = re.compile(r"\[(\w+)\]\s*$")
TAG = re.compile(r"(id|alt_id|replaced_by|is_a|relationship|xref|is_obsolete|namespace):\s*([^\s{]+)(?:\s+([^\s{]+))?")
QUALIFIER = r'[^\s"={}]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",{}]+)'
TRAILER = re.compile(rf"(?:\s+\{{{QUALIFIER}(?:\s*,\s*{QUALIFIER})*\s*\}})?(?:\s+!(?:\s.*)?)?\s*$")
ESCAPE = re.compile(r"\\(.)")
BLANKS = {"n": " ", "t": " ", "W": " "}  # a name stays in one line and one cell
SHOWN_CYCLES = 5


@dataclass(slots=True)
class _Term:
    identifier: str = ""
    name: str = ""
    namespace: str = ""
    obsolete: bool = False
    alternatives: list[str] = field(default_factory=list)
    replacements: list[str] = field(default_factory=list)
    is_a: list[str] = field(default_factory=list)
    part_of: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ontology:
    """What an OBO file says, as rows.

    Attributes:
        is_a: (child, parent, "true" where the child is obsolete).
        part_of: (part, whole, "true" where the part is obsolete).
        xref: (term, cross reference).
        name: (term, its name, its namespace tag), terms that are not obsolete only.
        resolved: id → the live id to use, or "" for an obsolete id without a replacement. Live ids
            stand for themselves; ids that are not in the file are not in here.
    """

    is_a: list[tuple[str, str, str]]
    part_of: list[tuple[str, str, str]]
    xref: list[tuple[str, str]]
    name: list[tuple[str, str, str]]
    resolved: dict[str, str]


def read_obo(path: Path, note: Note) -> Ontology:
    """Read the terms of an OBO file, plain or compressed, in any line-end convention.

    Cycles among parents are kept and named in a note.
    """
    terms = [term for term in _iter_terms(iter_lines(path, note)) if term.identifier]
    ontology = Ontology(
        is_a=[(term.identifier, parent, str(term.obsolete).lower()) for term in terms for parent in term.is_a],
        part_of=[(term.identifier, whole, str(term.obsolete).lower()) for term in terms for whole in term.part_of],
        xref=[(term.identifier, xref) for term in terms for xref in term.xrefs],
        name=[(term.identifier, term.name, term.namespace) for term in terms if term.name and not term.obsolete],
        resolved=_resolve(terms),
    )
    live = [(child, parent) for child, parent, obsolete in ontology.is_a if obsolete == "false"]
    for cycle in find_cycles(live):
        note(f"{path}: is_a cycle {' -> '.join([*cycle, cycle[0]])}; its edges are kept, except from a term to itself")
    return ontology


def _iter_terms(lines: Iterable[str]) -> Iterator[_Term]:
    term: _Term | None = None
    for line in lines:
        stanza = STANZA.match(line)
        if stanza is not None:
            if term is not None:
                yield term
            term = _Term() if stanza[1] == "Term" else None
        elif term is not None:
            tag = TAG.match(line)
            if tag is not None:
                _add_tag(term, *tag.groups())
            elif line.startswith("name:"):
                term.name = term.name or parse_name(line.removeprefix("name:"))
    if term is not None:
        yield term


def _add_tag(term: _Term, tag: str, value: str, second: str | None) -> None:
    match tag:
        case "id":
            term.identifier = value
        case "alt_id":
            term.alternatives.append(value)
        case "replaced_by":
            term.replacements.append(value)
        case "is_a":
            term.is_a.append(value)
        case "relationship" if value == "part_of" and second is not None:
            term.part_of.append(second)
        case "xref":
            term.xrefs.append(value)
        case "is_obsolete":
            term.obsolete = value == "true"
        case "namespace":
            term.namespace = value


def parse_name(text: str) -> str:
    r"""The name that the value of a name tag gives: escapes undone, qualifiers and comment at its end left out.

    >>> parse_name(r' 2\,3-alkyl \{open\} chain {xref="a ! b"} ! a comment')
    '2,3-alkyl {open} chain'
    """
    trailer = TRAILER.search(text)
    name = text[: trailer.start()] if trailer is not None else text
    return ESCAPE.sub(lambda escape: BLANKS.get(escape[1], escape[1]), name).strip()


def _resolve(terms: Iterable[_Term]) -> dict[str, str]:
    """Which live id stands for each id: itself, the term it is an alternative of, or a replacement."""
    following: dict[str, str] = {}
    for term in terms:
        for alternative in term.alternatives:
            following[alternative] = min(term.identifier, following.get(alternative, term.identifier))
    for term in terms:
        others = (one for one in term.replacements if one != term.identifier)
        following[term.identifier] = next(others, "") if term.obsolete else term.identifier
    return {start: _follow(start, following) for start in following}


def _follow(start: str, following: Mapping[str, str]) -> str:
    current, seen = start, {start}
    while (following_id := following.get(current, current)) != current:
        if not following_id or following_id in seen:
            return ""
        seen.add(following_id)
        current = following_id
    return current


def find_cycles(edges: Iterable[tuple[str, str]], *, limit: int = SHOWN_CYCLES) -> list[tuple[str, ...]]:
    """Cycles among (child, parent) edges, at most `limit`, each beginning with its smallest id.

    >>> find_cycles([("a", "b"), ("b", "a"), ("c", "c"), ("d", "a")])
    [('a', 'b'), ('c',)]
    """
    parents: dict[str, set[str]] = {}
    for child, parent in sorted(edges):
        parents.setdefault(child, set()).add(parent)
    cycles: list[tuple[str, ...]] = []
    while len(cycles) < limit:
        try:
            TopologicalSorter(parents).prepare()
        except CycleError as error:
            cycle = error.args[1][:0:-1]  # from child to parent, the repeated last id left out
            parents[cycle[0]].discard(cycle[1 % len(cycle)])
            first = cycle.index(min(cycle))
            cycles.append((*cycle[first:], *cycle[:first]))
        else:
            break
    return sorted(cycles)
