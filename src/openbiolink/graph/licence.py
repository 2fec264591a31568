"""What may be done with a graph: the terms of the sources that it is made of, taken together.

Each source keeps its own terms for what is taken from it; nothing here changes them. What is said of the whole
follows from the declared `reuse` of each licence and from the SPDX expressions, and is no legal advice.
"""

from __future__ import annotations

import re
from itertools import combinations
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from openbiolink.graph.plan import REUSE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from openbiolink.sources.declarations import Catalogue, Licence

WIDTH = 118
SHARE_ALIKE = re.compile(r"-SA(-|$)")
VERSION = re.compile(r"-[0-9.]+$")
ALLOWS = {
    "open": "may be used and passed on for any purpose",
    "share-alike": "may be used for any purpose and passed on under the same terms",
    "non-commercial": "may be used and passed on for non-commercial purposes only, unless a source agrees to more",
    "closed": "may be used as the terms of each source allow, and may not be passed on without their consent",
}
OURS = """What is ours
------------

What OpenBioLink adds to the data of its sources (the selection and arrangement of rows, statistics, drawn negatives,
descriptions of files) is dedicated to the public domain under CC0 1.0
(https://creativecommons.org/publicdomain/zero/1.0/), as far as it is not covered by the terms of a source.

No warranty
-----------

These files are given as they are. As far as the law allows, nothing is promised about them, expressly or by
implication: not title, not fitness for any purpose, not that nobody's rights are infringed, and not that they are
accurate, complete or free of errors, whether such errors can be found or not.
"""


def effective_licence(
    catalogue: Catalogue,
    sources: Iterable[str],
    *,
    versions: Mapping[str, str] | None = None,
    edges: Mapping[str, int] | None = None,
    prefixes: Collection[str] | None = None,
) -> dict[str, Any]:
    """The terms of a graph that is made of some sources, as JSON for its manifest.

    Args:
        catalogue: declares the sources and their licences.
        sources: ids of all sources that were read, also of those that only map identifiers.
        versions: source id → the version that was found in or with its file, where one was.
        edges: source id → edges that it gave, true negatives included, where they were counted.
        prefixes: prefixes of the graph's identifiers; only their namespaces are listed then, else all.

    Returns:
        `spdx` (an expression in which every licence holds), `reuse` (the strictest of all: "open", "share-alike",
        "non-commercial" or "closed"), `commercial`, `redistribution` and `share_alike` (true or false),
        `attribution` (ids of the sources that must be named), `conflicts` (pairs of `licences` that cannot both be
        met by one set of terms for the whole, and `why`), `words` (all that in a sentence), `terms` (by short name:
        `title`, `url`, `spdx`, `reuse`), `sources` (by id: `title`, `homepage`, `version` that was found, empty
        where none was, `edition_version` that the edition was made from, `licence` and, where they were counted,
        `edges`) and `identifiers` (namespaces of which no source is read: `title`, `homepage`,
        `licence`). The order is that of the names.
    """
    names = sorted(set(sources))
    licences = {catalogue.sources[name].licence: catalogue.licences[catalogue.sources[name].licence] for name in names}
    licences = dict(sorted(licences.items()))
    reuse = max((licence.reuse for licence in licences.values()), key=REUSE.index, default="open")
    attribution = [name for name in names if licences[catalogue.sources[name].licence].attribution]
    conflicts = _find_conflicts(licences)
    share_alike = any(_is_share_alike(licence) for licence in licences.values())
    return {
        "spdx": " AND ".join(sorted({_conjunct(licence.spdx) for licence in licences.values()})),
        "reuse": reuse,
        "commercial": reuse in {"open", "share-alike"},
        "redistribution": reuse != "closed",
        "share_alike": share_alike,
        "attribution": attribution,
        "conflicts": conflicts,
        "words": _in_words(reuse, share_alike=share_alike, attribution=bool(attribution), conflicts=bool(conflicts)),
        "terms": {
            short: {"title": licence.title, "url": licence.url, "spdx": licence.spdx, "reuse": licence.reuse}
            for short, licence in licences.items()
        },
        "sources": {name: _source(catalogue, name, versions or {}, edges) for name in names},
        "identifiers": {
            name: {"title": space.title, "homepage": space.homepage, "licence": space.licence}
            for name, space in sorted(catalogue.namespaces.items())
            if prefixes is None or set(space.prefixes) & set(prefixes)
        },
    }


def _source(
    catalogue: Catalogue, name: str, versions: Mapping[str, str], edges: Mapping[str, int] | None
) -> dict[str, Any]:
    declared = catalogue.sources[name]
    entry: dict[str, Any] = {
        "title": declared.title,
        "homepage": declared.homepage,
        "version": versions.get(name, ""),
        "edition_version": declared.version,
        "licence": declared.licence,
    }
    return entry if edges is None else entry | {"edges": edges.get(name, 0)}


def _conjunct(spdx: str) -> str:
    """An expression as one part of a conjunction."""
    return f"({spdx})" if " OR " in spdx else spdx


def _is_share_alike(licence: Licence) -> bool:
    """Whether what is made of the data must have the same terms; non-commercial licences may ask for that too."""
    return licence.reuse == "share-alike" or SHARE_ALIKE.search(licence.spdx) is not None


def _find_conflicts(licences: Mapping[str, Licence]) -> list[dict[str, Any]]:
    """Pairs of licences of which one wants its own terms for the whole, and the other restricts more than naming.

    Versions of the same licence are no conflict: the later one is allowed for the whole.
    """
    found = []
    for (first, one), (second, other) in combinations(licences.items(), 2):
        restricted = one.reuse != "open" and other.reuse != "open"
        related = VERSION.sub("", one.spdx) == VERSION.sub("", other.spdx)
        if restricted and not related and (_is_share_alike(one) or _is_share_alike(other)):
            short, rest = (first, second) if _is_share_alike(one) else (second, first)
            why = f"{short} wants the whole under its own terms, which {rest} does not allow"
            found.append({"licences": [first, second], "why": why})
    return found


def _in_words(reuse: str, *, share_alike: bool, attribution: bool, conflicts: bool) -> str:
    words = f"The graph {ALLOWS[reuse]}"
    if attribution:
        words += ", with the sources named"
    if share_alike and reuse != "share-alike":
        words += "; a part of it must be passed on under the same terms"
    if conflicts:
        words += "; no one licence can be given to the whole, so the terms of each source hold for its part"
    return f"{words}."


def licence_text(licence: Mapping[str, Any]) -> str:
    """The text of `LICENSE.txt` of a graph: terms and links of every source, what is ours, no warranty.

    Args:
        licence: as `effective_licence` gives it.
    """
    lines = [
        *_titled("Terms of use of this graph", "="),
        "This graph is made of data of the sources below. The terms of each source hold for what is taken from it, and",
        "for what is made of that. Which source an edge is from, the source column of the graph says.",
        "",
        *_titled("Taken together"),
        *wrap(licence["words"], WIDTH),
        f"SPDX: {licence['spdx']}",
        *(f"Conflict: {conflict['why']}." for conflict in licence["conflicts"]),
        "",
        *_titled("Sources"),
    ]
    for short, terms in licence["terms"].items():
        entries = {name: source for name, source in licence["sources"].items() if source["licence"] == short}
        lines += [f"{short}: {terms['title']}", terms["url"], *map(_source_line, entries, entries.values()), ""]
    if licence["identifiers"]:
        lines += [
            *_titled("Identifiers"),
            "Nodes are named by identifiers that others give, whose terms hold for these:",
        ]
        lines += [f"  {entry['title']}, {entry['homepage']}, {entry['licence']}" for entry in _entries(licence)]
        lines.append("")
    return "\n".join(lines) + "\n" + OURS


def _titled(title: str, rule: str = "-") -> Sequence[str]:
    return (title, rule * len(title), "")


def _entries(licence: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    entries: Mapping[str, Mapping[str, Any]] = licence["identifiers"]
    return entries.values()


def _source_line(name: str, source: Mapping[str, Any]) -> str:
    version = f", version {source['version']}"
    if not source["version"]:
        known = source["edition_version"]
        version = f", version unknown (that of the edition: {known})" if known else ""
    edges = f", {source['edges']:,} edges" if source.get("edges") else ""
    return f"  {name}: {source['title']}{version}{edges}, {source['homepage']}"


def unknown_terms_text() -> str:
    """The text of `LICENSE.txt` beside data that came without a statement of their terms."""
    lines = [
        *_titled("Terms of use of these files", "="),
        "The terms are unknown: no LICENSE.txt lay beside the edges that these files were made of. The terms of the",
        "data that those edges were taken from hold for these files too; find them out before you use the files or",
        "pass them on.",
    ]
    return "\n".join(lines) + "\n\n" + OURS
