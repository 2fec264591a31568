"""Which rules of an edition can be built from the sources at hand, decided before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.sources.declarations import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from openbiolink.sources.declarations import Catalogue, QualityLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """What to build.

    Attributes:
        quality: rows below this level are left out; "all" has no cut-off.
        directed: whether symmetric relations are written in both directions.
        relations: the relations to build; all where empty.
        excluded_sources: source ids, or their first words, that are not used.
    """

    quality: QualityLevel = "all"
    directed: bool = True
    relations: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be built.

    Attributes:
        rules: names of the rules, in the catalogue's order.
        needed: source id → table → columns to read.
        missing: source id that is not at hand → relations that it leaves out or makes smaller.
    """

    rules: tuple[str, ...]
    needed: dict[str, dict[str, frozenset[str]]]
    missing: dict[str, tuple[str, ...]]


def plan_graph(catalogue: Catalogue, sources: Mapping[str, Path], options: GraphOptions) -> Plan:
    """Choose the rules whose sources are all at hand.

    Raises:
        InputError: an unknown relation or source is named, a relation asked for by name cannot be
            built, or nothing can be built.
    """
    known = {rule.relation for rule in catalogue.rules.values()}
    for relation in options.relations:
        if relation not in known:
            raise InputError(
                f"--relation {relation}: edition {catalogue.edition} has no such relation"
                f"{did_you_mean(relation, known)}; it has {', '.join(sorted(known))}"
            )
    present = sources.keys() - _excluded(catalogue, options.excluded_sources)
    wanted = {
        name: rule
        for name, rule in catalogue.rules.items()
        if not options.relations or rule.relation in options.relations
    }
    missing: dict[str, set[str]] = {}
    built = []
    for name, rule in wanted.items():
        absent = [source for source in catalogue.needs(rule) if source not in present]
        for source in absent:
            missing.setdefault(source, set()).add(rule.relation)
        if not absent:
            built.append(name)
    positive = {wanted[name].relation for name in built if not wanted[name].negative}
    for relation in options.relations:
        if relation not in positive:
            absent_for = sorted(source for source, relations in missing.items() if relation in relations)
            excluded = [source for source in absent_for if source in sources]
            fault, way_out = (
                (f"{', '.join(excluded)}, which is excluded", "do not exclude it")
                if excluded
                else (f"{', '.join(absent_for)}, which are not given", "add them to the source map")
            )
            raise InputError(f"--relation {relation}: needs the sources {fault}; {way_out}, or leave the relation out")
    if not built:
        raise InputError(
            f"none of the relations of edition {catalogue.edition} can be built: the sources "
            f"{', '.join(sorted(missing))} are not given; name them with --source-map or --source-dir"
        )
    return Plan(
        rules=tuple(built),
        needed=_needed(catalogue, built),
        missing={source: tuple(sorted(relations)) for source, relations in sorted(missing.items())},
    )


def _excluded(catalogue: Catalogue, names: Collection[str]) -> set[str]:
    excluded: set[str] = set()
    for name in names:
        matching = {source for source in catalogue.sources if source == name or source.split(".")[0] == name}
        if not matching:
            raise InputError(
                f"--exclude-source {name}: edition {catalogue.edition} has no such source"
                f"{did_you_mean(name, catalogue.sources)}; it has {', '.join(sorted(catalogue.sources))}"
            )
        excluded |= matching
    return excluded


def _needed(catalogue: Catalogue, rules: Collection[str]) -> dict[str, dict[str, frozenset[str]]]:
    needed: dict[str, dict[str, frozenset[str]]] = {}

    def need(source: str, table: str, columns: frozenset[str]) -> None:
        tables = needed.setdefault(source, {})
        tables[table] = tables.get(table, frozenset()) | columns

    for name in rules:
        rule = catalogue.rules[name]
        need(rule.source, rule.table, rule.columns())
        for end in (rule.head, rule.tail):
            for via in end.via:
                mapping = catalogue.maps[via]
                need(mapping.source, mapping.table, mapping.columns())
            if end.ontology is not None:
                need(end.ontology, "resolved", frozenset())
    return needed
