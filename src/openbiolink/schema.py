"""Node types, relations and identifier prefixes: the facts of `schema.toml` as frozen objects.

>>> schema = load_schema()
>>> schema.ancestors("DRUG_BINDACT_GENE")
(Implied(relation='DRUG_BINDING_GENE', flipped=False), Implied(relation='GENE_DRUG', flipped=True))
>>> schema.node_type("DOID:14320")
'DIS'
>>> schema.canonical("ncbigene:10")
'NCBIGENE:10'
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from openbiolink.errors import CatalogueError
from openbiolink.tables import regex_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

ANY_TYPE = "*"
T = TypeVar("T")
KEYS = {
    "prefix": frozenset({"pattern", "synonyms", "resolvable"}),
    "relation": frozenset({"head", "tail", "symmetric", "parent", "excludes"}),
}
NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)  # of a node type, a relation or a prefix; names of files hold it
AROUND = re.compile(r'^[\s"]+|[\s"]+$')


@dataclass(frozen=True, slots=True)
class Implied:
    """A more general relation; `flipped` where its head is the tail of the special one."""

    relation: str
    flipped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One kind of edge: the node types of its ends, its direction, its super-relation and what it excludes."""

    name: str
    head: str = ANY_TYPE
    tail: str = ANY_TYPE
    symmetric: bool = False
    parent: Implied | None = None
    excludes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """One registered spelling of a CURIE prefix.

    Attributes:
        name: the spelling that the project writes.
        pattern: regular expression of the whole local part.
        synonyms: other spellings, upper case; letter case never matters.
        resolvable: whether https://identifiers.org/ resolves it.
    """

    name: str
    pattern: str
    synonyms: tuple[str, ...] = ()
    resolvable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """All node types (with the prefixes of their ids), relations and prefixes, by name."""

    node_types: Mapping[str, tuple[str, ...]]
    relations: Mapping[str, Relation]
    prefixes: Mapping[str, Prefix]

    def relation(self, name: str) -> Relation:
        """The relation of this name; an unknown one is directed, untyped and without a parent."""
        return self.relations.get(name, Relation(name=name))

    def ancestors(self, name: str) -> tuple[Implied, ...]:
        """Every relation that `name` implies, nearest first, with the direction worked out."""
        found: list[Implied] = []
        flipped = False
        parent = self.relation(name).parent
        while parent is not None:
            flipped ^= parent.flipped
            found.append(Implied(parent.relation, flipped))
            parent = self.relation(parent.relation).parent
        return tuple(found)

    def family(self, name: str) -> str:
        """One name for a relation and the one it excludes; its own name where it excludes none."""
        return min(name, self.relation(name).excludes or name)

    def spellings(self) -> dict[str, str]:
        """Upper-case spelling of every prefix and synonym → the registered spelling."""
        table = {name.upper(): name for name in self.prefixes}
        for prefix in self.prefixes.values():
            table |= {synonym.upper(): prefix.name for synonym in prefix.synonyms}
        return table

    def canonical(self, curie: str) -> str:
        """The CURIE without blanks and quotation marks around its parts, its prefix in the registered spelling."""
        prefix, colon, local = (AROUND.sub("", part) for part in curie.partition(":"))
        if not colon:
            return prefix
        return f"{self.spellings().get(prefix.upper(), prefix)}:{local}"

    def node_type(self, curie: str) -> str | None:
        """The node type that the prefix of a CURIE belongs to; None where no type has it."""
        prefix = self.canonical(curie).partition(":")[0]
        return next((kind for kind, prefixes in self.node_types.items() if prefix in prefixes), None)


def load_schema(added: Mapping[str, Mapping[str, Any]] | None = None) -> Schema:
    """Read and check the packaged `schema.toml`.

    Args:
        added: tables like those of `schema.toml` by kind, whose entries are added or take the place of packaged ones;
            prefixes of a node type that is known are added to it.

    Raises:
        CatalogueError: a key or name is unknown or unfit, a pattern is none, a relation or prefix that is referred to
            does not exist, or a relation is above itself.
    """
    raw: dict[str, dict[str, Any]] = tomllib.loads(
        files("openbiolink").joinpath("schema.toml").read_text(encoding="utf-8")
    )
    for kind, entries in (added or {}).items():
        for name, entry in entries.items():
            known = raw[kind].get(name, [])
            raw[kind][name] = [*known, *(one for one in entry if one not in known)] if kind == "node_type" else entry
    return parse_schema(raw)


def parse_schema(raw: Mapping[str, Any]) -> Schema:
    """The schema that tables like those of `schema.toml` declare; raises as `load_schema`."""
    for table, known in KEYS.items():
        for name, entry in raw[table].items():
            unknown = sorted(entry.keys() - known)
            if unknown:
                raise CatalogueError(
                    f"schema: {table} {name!r} has an unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}"
                )
    relation_entries = {
        name: {**entry, "parent": _parse_parent(entry.get("parent"))} for name, entry in raw["relation"].items()
    }
    prefixes = _validate("prefix", TypeAdapter(dict[str, Prefix]), _with_names(raw["prefix"]))
    relations = _validate("relation", TypeAdapter(dict[str, Relation]), _with_names(relation_entries))
    node_types = _validate("node_type", TypeAdapter(dict[str, tuple[str, ...]]), raw["node_type"])
    for prefix in prefixes.values():
        if fault := regex_fault(f"({prefix.pattern})"):
            raise CatalogueError(
                f"schema: prefix {prefix.name!r} has pattern {prefix.pattern!r}, which is none ({fault})"
            )
    _check_spellings(prefixes, node_types)
    _check_relations(relations, node_types)
    for kind, names in node_types.items():
        if missing := [name for name in names if name not in prefixes]:
            raise CatalogueError(f"schema: node type {kind!r} has prefix {missing[0]!r}, which is not declared")
    return Schema(node_types=node_types, relations=relations, prefixes=prefixes)


def _check_spellings(prefixes: Mapping[str, Prefix], node_types: Mapping[str, Sequence[str]]) -> None:
    """Refuse prefixes that are read as each other, and those of two node types."""
    owners: dict[str, str] = {}
    for prefix in prefixes.values():
        for spelling in {prefix.name.upper(), *prefix.synonyms}:
            other = owners.setdefault(spelling.upper(), prefix.name)
            if other != prefix.name:
                raise CatalogueError(
                    f"schema: {spelling} is a spelling of the prefixes {other!r} and {prefix.name!r}, and letter case "
                    "does not count; keep it at one of them"
                )
    kinds: dict[str, str] = {}
    for kind, names in node_types.items():
        for name in names:
            if kinds.setdefault(name, kind) != kind:
                raise CatalogueError(f"schema: prefix {name!r} is of node types {kinds[name]!r} and {kind!r}; keep one")


def _check_relations(relations: Mapping[str, Relation], node_types: Collection[str]) -> None:
    for relation in relations.values():
        referred = (relation.parent.relation if relation.parent else None, relation.excludes)
        absent = [name for name in referred if name is not None and name not in relations]
        absent += [kind for kind in (relation.head, relation.tail) if kind not in {ANY_TYPE, *node_types}]
        if absent:
            raise CatalogueError(f"schema: relation {relation.name!r} refers to {absent[0]!r}, which is not declared")
    for name, relation in relations.items():
        _check_parents(name, relations)
        _check_ends(relation, relations)


def _check_ends(relation: Relation, relations: Mapping[str, Relation]) -> None:
    """Refuse a symmetric relation between unlike ends, and one that implies a relation of nodes of other types."""
    if relation.symmetric and relation.head != relation.tail:
        raise CatalogueError(
            f"schema: relation {relation.name!r} is symmetric, but its head is {relation.head} and its tail "
            f"{relation.tail}; only between nodes of one type does a-b say the same as b-a"
        )
    if relation.parent is None:
        return
    parent = relations[relation.parent.relation]
    above = (parent.tail, parent.head) if relation.parent.flipped else (parent.head, parent.tail)
    for side, own, implied in zip(("head", "tail"), (relation.head, relation.tail), above, strict=True):
        if ANY_TYPE not in {own, implied} and own != implied:
            raise CatalogueError(
                f"schema: relation {relation.name!r} has {own} as its {side}, where its parent {parent.name!r} "
                f"would have {implied}; write `~` before the parent where head and tail change places, "
                "else take another parent"
            )


def _parse_parent(text: object) -> object:
    return Implied(text.removeprefix("~"), text.startswith("~")) if isinstance(text, str) else text


def _with_names(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {**entry, "name": name} for name, entry in entries.items()}


def _validate(table: str, expected: TypeAdapter[dict[str, T]], entries: Mapping[str, Any]) -> dict[str, T]:
    """The entries of a table as what they are expected to be."""
    for name in entries:
        if NAME.fullmatch(name) is None:
            raise CatalogueError(
                f"schema: {table} has the name {name!r}; names begin with a letter and are of A-Z, a-z, 0-9 and _ - ."
            )
    try:
        return expected.validate_python(dict(entries))
    except ValidationError as error:
        first = error.errors()[0]
        entry, *keys = map(str, first["loc"])
        raise CatalogueError(
            f"schema: {table} {entry!r}: {'.'.join(keys)} {first['msg']} (got {first['input']!r:.80})"
        ) from error


def _check_parents(name: str, relations: Mapping[str, Relation]) -> None:
    seen = {name}
    parent = relations[name].parent
    while parent is not None:
        if parent.relation in seen:
            raise CatalogueError(
                f"schema: relation {name!r} is below {parent.relation!r} over and over; take one parent out"
            )
        seen.add(parent.relation)
        parent = relations[parent.relation].parent
