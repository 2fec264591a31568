"""The facts of `vocabulary.toml` as frozen objects: how BEL and the Biolink Model say what a graph says.

>>> vocabulary = load_vocabulary()
>>> vocabulary.term("GO", "molecular_function")
Term(bel='a', category='biolink:MolecularActivity', activity=True)
>>> vocabulary.statement("GENE_BINDINH_GENE").bel, vocabulary.statement("MINE").predicate
('directlyDecreases', 'biolink:related_to')
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """How nodes of a type, or of a kind within it, are said.

    Attributes:
        bel: BEL function.
        category: Biolink class.
        activity: whether the BEL term stands inside `act()`.
    """

    bel: str
    category: str
    activity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """How edges of a relation are said.

    Attributes:
        bel: BEL relation.
        predicate: Biolink predicate.
        association: Biolink class of the edge.
        knowledge_level: how sure such knowledge is, in Biolink's words.
        agent_type: who such knowledge comes from, in Biolink's words.
        object: what the tail becomes in BEL: itself, its activity, the complex of both ends, or itself modified.
        inverted: whether the tail is the Biolink subject.
        qualifiers: Biolink qualifiers.
    """

    bel: str
    predicate: str
    association: str
    knowledge_level: str
    agent_type: str
    object: Literal["term", "activity", "complex", "modified"] = "term"
    inverted: bool = False
    qualifiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """All terms and statements.

    Attributes:
        default_term: how node types that are not in `terms` are said.
        default_statement: how relations that are not in `statements` are said.
        terms: by node type.
        kinds: by kind within a node type; they come before the types.
        statements: by relation and kind of tail; "" for all others.
        prefixes: our prefix → Biolink's spelling, where it is another.
        denied: the BEL relation of all negative statements.
        two_way: BEL relations that hold in both directions.
        modification: CURIE and name of an unspecified modification of a protein.
    """

    default_term: Term
    default_statement: Statement
    terms: Mapping[str, Term]
    kinds: Mapping[str, Term]
    statements: Mapping[tuple[str, str], Statement]
    prefixes: Mapping[str, str]
    denied: str
    two_way: frozenset[str]
    modification: tuple[str, str]

    def term(self, node_type: str, kind: str = "") -> Term:
        """How nodes of a type and kind are said."""
        return self.kinds.get(kind) or self.terms.get(node_type, self.default_term)

    def statement(self, relation: str, tail_kind: str = "") -> Statement:
        """How edges of a relation to a tail of a kind are said."""
        whole = self.statements.get((relation, ""), self.default_statement)
        return self.statements.get((relation, tail_kind), whole)

    def denial(self) -> Statement:
        """How BEL says that an edge does not hold."""
        return replace(self.default_statement, bel=self.denied)


def load_vocabulary() -> Vocabulary:
    """Read the packaged `vocabulary.toml`."""
    raw = tomllib.loads((files(__package__) / "vocabulary.toml").read_text(encoding="utf-8"))
    statements = {}
    for relation, entry in raw["relation"].items():
        whole = raw["default"]["relation"] | entry
        kinds = whole.pop("tail_kind", {})
        for kind, part in {"": {}, **kinds}.items():
            statements[relation, kind] = Statement(**whole | part)
    return Vocabulary(
        default_term=Term(**raw["default"]["node_type"]),
        default_statement=Statement(**raw["default"]["relation"]),
        terms={name: Term(**entry) for name, entry in raw["node_type"].items()},
        kinds={name: Term(**entry) for name, entry in raw["kind"].items()},
        statements=statements,
        prefixes=raw["prefix"],
        denied=raw["denied"],
        two_way=frozenset(raw["two_way"]),
        modification=(raw["modification"]["id"], raw["modification"]["name"]),
    )
