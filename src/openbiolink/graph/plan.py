"""Which rules of an edition are built, and from which sources, decided before anything is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from openbiolink.errors import InputError
from openbiolink.graph.writers import OutputOptions
from openbiolink.sources.declarations import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from openbiolink.sources.declarations import Catalogue, IdMap, Name, QualityLevel, Rule

ALL_BANDS = "all"
REUSE = ("open", "share-alike", "non-commercial", "closed")  # each allows less than the one before
OPT_IN = "it is used only where it is included by name"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """What to build.

    Attributes:
        quality: rows below this level are left out; "all" has no cut-off.
        directed: whether symmetric relations are written in both directions.
        relations: the relations to build; all where empty.
        excluded_sources: source ids, or their first words, that are not used.
        included: what is used although it is not by default: source ids or their first words, relations or rules.
            A rule, or a relation's rules, are built with all sources that they need; a source lets the rules use it
            that are built by default.
        licence: the terms that sources may have at most, "any" for all of them.
        allowed_bands: rules, or "all", that may have another number of rows than expected.
        allow_empty: whether a graph without any edge is written.
        output: formats and how they are written.
    """

    quality: QualityLevel = "all"
    directed: bool = True
    relations: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    licence: Literal["open", "share-alike", "non-commercial", "any"] = "any"
    allowed_bands: tuple[str, ...] = ()
    allow_empty: bool = True
    output: OutputOptions = field(default_factory=OutputOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Why a source or a rule is not used, and the relations that it leaves out or makes smaller."""

    reason: str
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be built.

    Attributes:
        rules: names of the rules, in the catalogue's order.
        names: the declarations of names that can be read without a further source, in the catalogue's order.
        needed: source id → table → columns to read.
        missing: source id that is not at hand → relations that it leaves out or makes smaller.
        left_out: source id or rule → why it is not wanted, by the options or by default.
    """

    rules: tuple[str, ...]
    names: tuple[str, ...]
    needed: dict[str, dict[str, frozenset[str]]]
    missing: dict[str, tuple[str, ...]]
    left_out: dict[str, LeftOut]


def wanted_sources(catalogue: Catalogue, options: GraphOptions) -> tuple[str, ...]:
    """The ids of all sources that a build with these options would use, in the catalogue's order.

    Raises:
        InputError: as `plan_graph`, as far as it can be known without files.
    """
    rules, _ = _choose_rules(catalogue, options)
    excluded = _excluded(catalogue, options.excluded_sources)
    needs = {name: set(catalogue.needs(catalogue.rules[name])) for name in rules}
    wanted = {source for sources in needs.values() if not sources & excluded for source in sources}
    if not wanted:
        absent = sorted(excluded & set().union(*needs.values()))
        raise InputError(f"all rules that are wanted need {' or '.join(absent)}, which --exclude-source leaves out")
    return tuple(source for source in catalogue.sources if source in wanted)


def plan_graph(catalogue: Catalogue, sources: Mapping[str, Path], options: GraphOptions) -> Plan:
    """Choose the rules that are wanted and whose sources are all at hand.

    Raises:
        InputError: an unknown relation, source or rule is named, a relation asked for by name cannot be
            built, or nothing can be built.
    """
    wanted, left_out = _choose_rules(catalogue, options)
    present = sources.keys() - _excluded(catalogue, options.excluded_sources)
    missing: dict[str, set[str]] = {}
    built = []
    for name in wanted:
        rule = catalogue.rules[name]
        absent = [source for source in catalogue.needs(rule) if source not in present]
        for source in absent:
            missing.setdefault(source, set()).add(rule.relation)
        if not absent:
            built.append(name)
    positive = {catalogue.rules[name].relation for name in built if not catalogue.rules[name].negative}
    for relation in options.relations:
        if relation not in positive:
            absent_for = sorted(source for source, relations in missing.items() if relation in relations)
            raise _cannot_build(relation, absent_for, given=sources.keys())
    if not built:
        raise InputError(
            f"none of the relations of edition {catalogue.edition} can be built: the sources "
            f"{', '.join(sorted(missing))} are not given; name them with --source-map or --source-dir"
        )
    needed = _needed(catalogue, [catalogue.rules[name] for name in built])
    names = _usable_names(catalogue, built, needed)
    for name in names:
        _need_columns(catalogue, catalogue.names[name], needed)
    return Plan(
        rules=tuple(built),
        names=names,
        needed=needed,
        missing={source: tuple(sorted(relations)) for source, relations in sorted(missing.items())},
        left_out=left_out,
    )


def _cannot_build(relation: str, absent: Collection[str], *, given: Collection[str]) -> InputError:
    excluded = [source for source in absent if source in given]
    fault, way_out = (
        (f"{', '.join(excluded)}, which is excluded", "do not exclude it")
        if excluded
        else (f"{', '.join(absent)}, which are not given", "add them to the source map")
    )
    return InputError(f"--relation {relation}: needs the sources {fault}; {way_out}, or leave the relation out")


def _choose_rules(catalogue: Catalogue, options: GraphOptions) -> tuple[tuple[str, ...], dict[str, LeftOut]]:
    """The rules that the options ask for, whether or not files are there, and what is left out and why."""
    _check_names(catalogue, options)
    included_rules, included_sources = _included(catalogue, options.included)
    included_rules |= _asked_for(catalogue, options.relations)
    reasons: dict[str, str] = {}
    relations: dict[str, set[str]] = {}
    chosen = []
    for name, rule in catalogue.rules.items():
        if options.relations and rule.relation not in options.relations:
            continue
        named = name in included_rules
        obstacles = {} if rule.default or named else {name: OPT_IN}
        for source in catalogue.needs(rule):
            reason = _terms_refused(catalogue, source, options.licence)
            if not (reason or named or catalogue.sources[source].default or source in included_sources):
                reason = OPT_IN
            if reason:
                obstacles[source] = reason
        reasons |= obstacles
        for obstacle in obstacles:
            relations.setdefault(obstacle, set()).add(rule.relation)
        if not obstacles:
            chosen.append(name)
    left_out = {
        name: LeftOut(reason=reason, relations=tuple(sorted(relations[name])))
        for name, reason in sorted(reasons.items())
    }
    _check_chosen(catalogue, options, chosen, left_out)
    return tuple(chosen), left_out


def _asked_for(catalogue: Catalogue, relations: Collection[str]) -> set[str]:
    """The rules of relations that are asked for by name and have no rule that is built by default."""
    rules = catalogue.rules.items()
    default = {rule.relation for _, rule in rules if rule.default}
    return {name for name, rule in rules if rule.relation in relations and rule.relation not in default}


def _terms_refused(catalogue: Catalogue, source: str, allowed: str) -> str:
    """Why the terms of a source are not free enough; nothing where they are."""
    terms = catalogue.sources[source].licence
    reuse = catalogue.licences[terms].reuse
    if allowed == "any" or REUSE.index(reuse) <= REUSE.index(allowed):
        return ""
    return f"its terms ({terms}) are {reuse}"


def _check_names(catalogue: Catalogue, options: GraphOptions) -> None:
    known = {rule.relation for rule in catalogue.rules.values()}
    for relation in options.relations:
        if relation not in known:
            raise InputError(
                f"--relation {relation}: edition {catalogue.edition} has no such relation"
                f"{did_you_mean(relation, known)}; it has {', '.join(sorted(known))}"
            )
    for rule in options.allowed_bands:
        if rule not in {ALL_BANDS, *catalogue.rules}:
            raise InputError(
                f"--allow-band {rule}: edition {catalogue.edition} has no such rule"
                f"{did_you_mean(rule, catalogue.rules)}; name a rule, or `{ALL_BANDS}`"
            )


def _check_chosen(
    catalogue: Catalogue, options: GraphOptions, chosen: Collection[str], left_out: Mapping[str, LeftOut]
) -> None:
    positive = {catalogue.rules[name].relation for name in chosen if not catalogue.rules[name].negative}
    for relation in options.relations:
        if relation not in positive:
            faults = [f"{name} ({entry.reason})" for name, entry in left_out.items() if relation in entry.relations]
            by_terms = any(entry.reason != OPT_IN for entry in left_out.values() if relation in entry.relations)
            way_out = "allow more by --license" if by_terms else f"say --include {relation}"
            raise InputError(
                f"--relation {relation}: cannot be built without {', '.join(faults)}; {way_out}, "
                "or leave the relation out"
            )
    if not chosen:
        raise InputError(
            f"edition {catalogue.edition}: all rules are left out, by --license {options.licence} or because they are "
            "used only where they are included by name; allow more by --license or --include"
        )


def _matching_sources(catalogue: Catalogue, name: str) -> set[str]:
    """The sources whose id, or its first word, is this name."""
    return {source for source in catalogue.sources if name in {source, source.split(".")[0]}}


def _included(catalogue: Catalogue, names: Collection[str]) -> tuple[set[str], set[str]]:
    """The rules and the sources that are meant by names of sources, relations and rules."""
    rules: set[str] = set()
    sources: set[str] = set()
    for name in names:
        own = {rule for rule, declared in catalogue.rules.items() if name in {rule, declared.relation}}
        matching = _matching_sources(catalogue, name)
        if not own and not matching:
            relations = {rule.relation for rule in catalogue.rules.values()}
            known = {*catalogue.sources, *catalogue.rules, *relations}
            raise InputError(
                f"--include {name}: edition {catalogue.edition} has no such source, relation or rule"
                f"{did_you_mean(name, known)}; `openbiolink sources list` shows what it has"
            )
        rules |= own
        sources |= matching
    return rules, sources


def _excluded(catalogue: Catalogue, names: Collection[str]) -> set[str]:
    excluded: set[str] = set()
    for name in names:
        matching = _matching_sources(catalogue, name)
        if not matching:
            raise InputError(
                f"--exclude-source {name}: edition {catalogue.edition} has no such source"
                f"{did_you_mean(name, catalogue.sources)}; it has {', '.join(sorted(catalogue.sources))}"
            )
        excluded |= matching
    return excluded


def _needed(catalogue: Catalogue, readers: Iterable[Rule | Name]) -> dict[str, dict[str, frozenset[str]]]:
    needed: dict[str, dict[str, frozenset[str]]] = {}
    for reader in readers:
        _need_columns(catalogue, reader, needed)
    return needed


def _need_columns(catalogue: Catalogue, reader: Rule | Name, needed: dict[str, dict[str, frozenset[str]]]) -> None:
    """Add what a rule or a name reads: its own table, those of its maps and ontologies, and those it looks into."""

    def need(source: str, table: str, columns: frozenset[str]) -> None:
        tables = needed.setdefault(source, {})
        tables[table] = tables.get(table, frozenset()) | columns

    maps: list[IdMap] = [catalogue.maps[via] for end in reader.ends() for via in end.via]
    for one in (reader, *maps):
        need(one.source, one.table, one.columns())
        for listing in one.listings():
            need(listing.source, listing.table, listing.other_columns())
    for end in reader.ends():
        if end.ontology is not None:
            need(end.ontology, "resolved", frozenset())


def _usable_names(catalogue: Catalogue, rules: Collection[str], used: Collection[str]) -> tuple[str, ...]:
    """The names of nodes that rules can have and that no other source is needed for."""
    types = {end.type for name in rules for end in catalogue.rules[name].ends()}
    return tuple(
        name
        for name, entry in catalogue.names.items()
        if entry.node.type in types and all(source in used for source in catalogue.needs(entry))
    )
