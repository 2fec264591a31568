"""Node types, relations and identifier prefixes: the facts of `schema.toml` as frozen objects.

>>> schema = load_schema()
>>> schema.ancestors("DRUG_BINDACT_GENE")
(Implied(relation='DRUG_BINDING_GENE', flipped=False), Implied(relation='GENE_DRUG', flipped=True))
>>> [(one.relation, one.flipped) for one in schema.consequences("GENE_REACTION_GENE")]
[('GENE_REACTION_GENE', False), ('GENE_GENE', False), ('GENE_GENE', True)]
>>> schema.node_type("DOID:14320")
'DIS'
>>> schema.canonical("ncbigene:10")
'NCBIGENE:10'
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from openbiolink.errors import CatalogueError, InputError
from openbiolink.files import check_file
from openbiolink.tables import regex_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

ANY_TYPE = "*"
FILE_NAME = "schema.toml"  # of the declarations that lie beside a graph
KEYS: Mapping[str, Mapping[str, type]] = {  # kind of table → key of an entry → what its value is
    "node_type": {},
    "prefix": {"pattern": str, "synonyms": list, "resolvable": bool},
    "relation": {
        "head": str,
        "tail": str,
        "symmetric": bool,
        "transitive": bool,
        "parent": str,
        "inverse": str,
        "excludes": str,
    },
}
FORMS = {bool: "true or false", str: "a text in quotes", list: "a list of texts in quotes"}
NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)  # of a node type, a relation or a prefix; names of files hold it
ANY_NAME = re.compile(r"[^~\x00-\x1f\x7f][^\x00-\x1f\x7f]*")  # of a relation of any graph
AROUND = re.compile(r'^[\s"]+|[\s"]+$')


@dataclass(frozen=True, slots=True)
class Implied:
    """A relation that follows from another; `flipped` where its head is the other's tail."""

    relation: str
    flipped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One kind of edge.

    Attributes:
        name: what graphs call it.
        head: the node type of its heads, `ANY_TYPE` for any.
        tail: the node type of its tails.
        symmetric: whether a-b says the same as b-a.
        transitive: whether a-c follows from a-b and b-c.
        parent: its super-relation.
        inverse: the relation that says the same from tail to head; a checked schema has it at both of the two.
        excludes: the relation that does not hold where this one does.
    """

    name: str
    head: str = ANY_TYPE
    tail: str = ANY_TYPE
    symmetric: bool = False
    transitive: bool = False
    parent: Implied | None = None
    inverse: str | None = None
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
        """The parent of `name`, its parent and so on, with the direction worked out."""
        found: list[Implied] = []
        flipped = False
        parent = self.relation(name).parent
        while parent is not None:
            flipped ^= parent.flipped
            found.append(Implied(parent.relation, flipped))
            parent = self.relation(parent.relation).parent
        return tuple(found)

    def consequences(self, name: str, *, directed: bool = True) -> tuple[Implied, ...]:
        """Everything that an edge of `name` says: itself first, then what follows, in the fewest steps first.

        Args:
            name: a relation; an unknown one says only itself.
            directed: False for a graph in which every relation counts as symmetric.
        """
        found = [Implied(name, flipped=False)]
        seen = set(found)
        for one in found:  # grows on the way
            relation = self.relation(one.relation)
            steps = [Implied(one.relation, not one.flipped)] if relation.symmetric or not directed else []
            if relation.parent is not None:
                steps.append(Implied(relation.parent.relation, one.flipped ^ relation.parent.flipped))
            if relation.inverse is not None:
                steps.append(Implied(relation.inverse, not one.flipped))
            found += [step for step in steps if step not in seen]
            seen |= set(steps)
        return tuple(found)

    def family(self, name: str) -> str:
        """One name, the first by code points, for all relations that inverses and exclusions connect with `name`."""
        links = [(one.name, other) for one in self.relations.values() for other in (one.inverse, one.excludes) if other]
        family: set[str] = set()
        further = {name}
        while further:
            family |= further
            further = {end for link in links if not family.isdisjoint(link) for end in link} - family
        return min(family)

    def depth(self, name: str) -> int:
        """How many levels of super-relations are above `name`, along the longest way; the same for inverses.

        A relation is deeper than every more general one, so that going from the greatest depth to the least
        meets the special before the general.
        """
        depth, level = -1, {name}
        while level:
            depth += 1
            both = level | {other for one in level if (other := self.relation(one).inverse) is not None}
            level = {parent.relation for one in both if (parent := self.relation(one).parent) is not None}
        return depth

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


def schema_of(edges: Path, given: Path | None = None) -> tuple[Schema, Path | None]:
    """The schema of a graph or a split, and the file that adds to the packaged one, if any.

    Args:
        edges: a file with edges, beside which a `schema.toml` may lie, or a folder, in which it may.
        given: the file to take instead.

    Raises:
        InputError: as `read_schema`.
    """
    is_table = edges.suffix == ".parquet" or not edges.is_dir()  # Parquet may be a folder
    path = given or (edges.parent if is_table else edges) / FILE_NAME
    there = given is not None or path.exists() or path.is_symlink()  # a link into the void is no missing file
    return (read_schema(path), path) if there else (load_schema(), None)


def read_schema(path: Path) -> Schema:
    """The packaged schema with what a TOML file of the user declares of a graph.

    Its tables are those of the packaged `schema.toml`, and an entry takes the place of a packaged one of the same
    name. Relations may have any name, and one that is only referred to needs no entry.

    Raises:
        InputError: the file is absent, not TOML, or declares what cannot be; the message says where and why.
    """
    check_file(path)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error}); save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # numbers or nesting beyond measure, too
        raise InputError(f"{path}: is not TOML ({error}); mend it there") from error
    try:
        return load_schema(tables, any_relation=True)
    except CatalogueError as error:
        raise InputError(f"{path}: {str(error).removeprefix('schema: ')}") from error


def load_schema(added: Mapping[str, Any] | None = None, *, any_relation: bool = False) -> Schema:
    """Read and check the packaged `schema.toml`.

    Args:
        added: tables like those of `schema.toml` by kind, whose entries are added or take the place of packaged ones;
            prefixes of a node type that is known are added to it.
        any_relation: as in `parse_schema`.

    Raises:
        CatalogueError: a table, key or name is unknown or unfit, a pattern is none, a relation or prefix that is
            referred to does not exist, or relations contradict each other.
    """
    raw: dict[str, dict[str, Any]] = tomllib.loads(files("openbiolink").joinpath(FILE_NAME).read_text(encoding="utf-8"))
    for kind, entries in (added or {}).items():
        _check_table(kind, entries)
        for name, entry in entries.items():
            known = raw[kind].get(name, [])
            raw[kind][name] = [*known, *(one for one in entry if one not in known)] if kind == "node_type" else entry
    return parse_schema(raw, any_relation=any_relation)


def parse_schema(raw: Mapping[str, Any], *, any_relation: bool = False) -> Schema:
    """The schema that tables like those of `schema.toml` declare.

    Args:
        raw: the tables by kind.
        any_relation: whether relations may have any name, and are declared by being referred to, too.

    Raises:
        CatalogueError: as `load_schema`.
    """
    for kind, entries in raw.items():
        _check_table(kind, entries)
    prefixes = {
        name: Prefix(name=name, **{**entry, "synonyms": tuple(entry.get("synonyms", ()))})
        for name, entry in raw["prefix"].items()
    }
    relations = {
        name: Relation(name=name, **{**entry, "parent": _parse_parent(entry.get("parent"))})
        for name, entry in raw["relation"].items()
    }
    if any_relation:
        named = {name: Relation(name=name) for one in relations.values() for name in _referred(one)}
        relations |= {name: relation for name, relation in named.items() if name not in relations}
    node_types = {name: tuple(names) for name, names in raw["node_type"].items()}
    for kind, names in (("node_type", node_types), ("prefix", prefixes), ("relation", relations)):
        _check_names(kind, names, any_name=any_relation and kind == "relation")
    _check_prefixes(prefixes, node_types)
    for relation in relations.values():
        _check_references(relation, relations, node_types)
    schema = Schema(node_types=node_types, relations=_pair_inverses(relations), prefixes=prefixes)
    for relation in schema.relations.values():
        _check_implied(relation, schema)
        _check_ends(relation, schema)
    return schema


def _check_table(kind: str, entries: object) -> None:
    """Check that a table has entries of known keys with values of the right kind, not yet what these say."""
    if kind not in KEYS:
        raise CatalogueError(
            f"schema: unknown table {kind!r}; known are {', '.join(KEYS)}, and a relation stands below [relation]"
        )
    if not isinstance(entries, dict):
        raise CatalogueError(f"schema: {kind} is {entries!r:.80}, expected a table; write [{kind}] above its entries")
    for name, entry in entries.items():
        if kind == "node_type":
            _check_value(f"node_type {name!r}", entry, list)
            continue
        if not isinstance(entry, dict):
            raise CatalogueError(f"schema: {kind} {name!r} is {entry!r:.80}, expected a table; write {{ key = value }}")
        for key, value in entry.items():
            if key not in KEYS[kind]:
                raise CatalogueError(
                    f"schema: {kind} {name!r} has an unknown key {key!r}; known are {', '.join(sorted(KEYS[kind]))}"
                    f"{', and a name with a dot stands in quotes' if isinstance(value, dict) else ''}"
                )
            _check_value(f"{kind} {name!r}: {key}", value, KEYS[kind][key])
        if kind == "prefix" and "pattern" not in entry:
            raise CatalogueError(f"schema: prefix {name!r} has no pattern; give that of the local part of its ids")


def _check_value(place: str, value: object, expected: type) -> None:
    texts = value if isinstance(value, list) else []
    if not isinstance(value, expected) or not all(isinstance(text, str) for text in texts):
        raise CatalogueError(f"schema: {place} = {value!r:.80}; write {FORMS[expected]}")


def _check_names(kind: str, names: Collection[str], *, any_name: bool) -> None:
    pattern, rule = (
        (
            ANY_NAME,
            "a name is not empty, does not begin with `~` and has no tabs, line ends or other control characters",
        )
        if any_name
        else (NAME, "names begin with a letter and are of A-Z, a-z, 0-9 and _ - .")
    )
    for name in names:
        if pattern.fullmatch(name) is None:
            raise CatalogueError(f"schema: {kind} has the name {name!r}; {rule}")


def _check_prefixes(prefixes: Mapping[str, Prefix], node_types: Mapping[str, Sequence[str]]) -> None:
    """Refuse patterns that are none, prefixes that are read as each other, are of two node types, or not declared."""
    owners: dict[str, str] = {}
    for prefix in prefixes.values():
        if fault := regex_fault(f"({prefix.pattern})"):
            raise CatalogueError(
                f"schema: prefix {prefix.name!r} has pattern {prefix.pattern!r}, which is none ({fault}); mend it"
            )
        for spelling in {prefix.name.upper(), *prefix.synonyms}:
            other = owners.setdefault(spelling.upper(), prefix.name)
            if other != prefix.name:
                raise CatalogueError(
                    f"schema: {spelling!r} is a spelling of the prefixes {other!r} and {prefix.name!r}, and letter "
                    "case does not count; keep it at one of them"
                )
    kinds: dict[str, str] = {}
    for kind, names in node_types.items():
        for name in names:
            if kinds.setdefault(name, kind) != kind:
                raise CatalogueError(f"schema: prefix {name!r} is of node types {kinds[name]!r} and {kind!r}; keep one")
            if name not in prefixes:
                raise CatalogueError(
                    f"schema: node type {kind!r} has prefix {name!r}, which is not declared; declare it in [prefix]"
                )


def _parse_parent(text: str | None) -> Implied | None:
    return None if text is None else Implied(text.removeprefix("~"), flipped=text.startswith("~"))


def _referred(relation: Relation) -> tuple[str, ...]:
    """The relations that the entry of a relation names."""
    names = (relation.parent.relation if relation.parent else None, relation.inverse, relation.excludes)
    return tuple(name for name in names if name is not None)


def _check_references(relation: Relation, relations: Collection[str], node_types: Collection[str]) -> None:
    absent = [name for name in _referred(relation) if name not in relations]
    absent += [kind for kind in (relation.head, relation.tail) if kind not in {ANY_TYPE, *node_types}]
    if absent:
        raise CatalogueError(
            f"schema: relation {relation.name!r} refers to {absent[0]!r}, which is not declared; declare it, or "
            f'mend the name (node types stand in [node_type], "{ANY_TYPE}" is any)'
        )


def _pair_inverses(relations: Mapping[str, Relation]) -> dict[str, Relation]:
    """The relations with both of two inverses knowing the other, and both transitive where one is."""
    partners: dict[str, str] = {}
    for relation in relations.values():
        if relation.inverse is None:
            continue
        for one, other in ((relation.name, relation.inverse), (relation.inverse, relation.name)):
            if partners.setdefault(one, other) != other:
                raise CatalogueError(
                    f"schema: relation {one!r} has the inverses {partners[one]!r} and {other!r}; keep one of them"
                )
    return {
        name: replace(
            relation,
            inverse=partners.get(name),
            transitive=relation.transitive or relations[partners.get(name, name)].transitive,
        )
        for name, relation in relations.items()
    }


def _check_implied(relation: Relation, schema: Schema) -> None:
    """Refuse inverses that are none, relations above themselves, and those that imply what they exclude."""
    name = relation.name
    if relation.inverse == name:
        raise CatalogueError(f"schema: relation {name!r} is its own inverse; write symmetric = true instead")
    if relation.excludes == name:
        raise CatalogueError(f"schema: relation {name!r} excludes itself; name another one, or take `excludes` out")
    if relation.inverse is not None and relation.symmetric:
        raise CatalogueError(
            f"schema: relation {name!r} is symmetric and has the inverse {relation.inverse!r}, though a symmetric "
            "relation is its own inverse; take one of the two out"
        )
    if relation.parent and name in {one.relation for one in schema.consequences(relation.parent.relation)}:
        raise CatalogueError(
            f"schema: relation {name!r} is below {relation.parent.relation!r}, which implies {name!r} in turn; "
            "take one parent or inverse out"
        )
    implied = schema.consequences(name)
    for one in implied:
        excluded = schema.relation(one.relation).excludes
        if excluded is not None and Implied(excluded, one.flipped) in implied:
            raise CatalogueError(
                f"schema: relation {name!r} implies {one.relation!r}, which excludes {excluded!r}, and {name!r} "
                "implies that as well; take one of these declarations out"
            )


def _check_ends(relation: Relation, schema: Schema) -> None:
    """Refuse a relation of unlike ends that needs like ones, and one that implies a relation of other node types."""
    rules = {"symmetric": "does a-b say the same as b-a", "transitive": "does a-c follow from a-b and b-c"}
    for key, rule in rules.items():
        if getattr(relation, key) and relation.head != relation.tail:
            raise CatalogueError(
                f"schema: relation {relation.name!r} is {key}, but its head is {relation.head} and its tail "
                f"{relation.tail}; only between nodes of one type {rule}"
            )
    if relation.parent is not None:
        way_out = "write `~` before the parent where head and tail change places, else take another parent"
        _check_fit(relation, "parent", relation.parent, schema, way_out)
    if relation.inverse is not None:
        way_out = "swap the types of one of them, or take the inverse out"
        _check_fit(relation, "inverse", Implied(relation.inverse, flipped=True), schema, way_out)


def _check_fit(relation: Relation, role: str, implied: Implied, schema: Schema, way_out: str) -> None:
    """Refuse node types at the ends of a relation that those of one it implies do not allow."""
    other = schema.relation(implied.relation)
    allowed = (other.tail, other.head) if implied.flipped else (other.head, other.tail)
    for side, own, end in zip(("head", "tail"), (relation.head, relation.tail), allowed, strict=True):
        if ANY_TYPE not in {own, end} and own != end:
            raise CatalogueError(
                f"schema: relation {relation.name!r} has {own} as its {side}, where its {role} {other.name!r} "
                f"would have {end}; {way_out}"
            )
