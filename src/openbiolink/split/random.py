"""The random scheme: a stable hash of seed and edge against a threshold."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.progress import silent
from openbiolink.schema import load_schema
from openbiolink.split.build import Scheme, Split, build_split
from openbiolink.split.graph_files import GraphFiles, hash_of_edge

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from openbiolink.files import Note
    from openbiolink.progress import Progress

HASH_BITS = 60
OPTION = {"test_fraction": "--test-frac", "validation_fraction": "--val"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSplit:
    """Options of the random split.

    Attributes:
        test_fraction: of all edges, 0 or more and less than 1.
        validation_fraction: of all edges, 0 or more; both fractions together are less than 1.
        seed: another one gives another split.
        negatives_train_validation: whether training and validation get negatives.
        negatives_test: whether the test set gets negatives.
        directed: False where no edge of the graph has a direction, so that a-b is b-a in every relation;
            None: as the manifest beside the edges file says, and directed where there is none.

    Raises:
        InputError: a fraction is out of its range, or the seed is not a whole number.
    """

    test_fraction: float = 0.05
    validation_fraction: float = 0.05
    seed: int = 42
    negatives_train_validation: bool = True
    negatives_test: bool = True
    directed: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be split by."""
        for name in ("test_fraction", "validation_fraction"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InputError(
                    f"{name} ({OPTION[name]}) is {value}, expected a number from 0 to below 1, such as 0.05"
                )
        if Fraction(self.test_fraction) + Fraction(self.validation_fraction) >= 1:
            raise InputError(
                f"test_fraction {self.test_fraction} and validation_fraction {self.validation_fraction} "
                "leave nothing to train on; their sum must be below 1"
            )
        if not isinstance(self.seed, int) or isinstance(self.seed, bool):
            raise InputError(f"seed is {self.seed!r}, expected a whole number, such as 42")


def random_split(
    edges: Path,
    nodes: Path,
    target: Path,
    *,
    tn_edges: Path | None,
    options: RandomSplit,
    overwrite: bool = False,
    progress: Progress = silent,
    note: Note,
) -> Split:
    """Split a graph at random, without leakage, into the folder `target`.

    Membership of an edge depends on the seed and the edge alone: not on the order of rows, on threads or on
    other edges. Same files and options, same bytes.

    Args:
        edges: positive edges: id, relation, id, score, source; tab-separated, no header, may be gzipped.
        nodes: id and node type, and perhaps a name.
        target: the folder to write; it appears only when it is whole.
        tn_edges: true negatives, with the columns of `edges`; None where there are none.
        options: fractions, seed, negatives and direction.
        overwrite: whether `target` may be replaced.
        progress: is told how far the work is.
        note: called with one line for everything that was merged, removed or could not be had.

    Raises:
        InputError: `target` exists and `overwrite` is not set, or an input file is malformed.
    """
    scheme = Scheme(
        name="rand",
        options=asdict(options),
        seed=options.seed,
        assign=lambda connection: _assign(connection, options),
        directed=options.directed,
        negatives_train_validation=options.negatives_train_validation,
        negatives_test=options.negatives_test,
    )
    graph = GraphFiles(edges=edges, nodes=nodes, tn_edges=tn_edges)
    return build_split(graph, target, scheme, schema=load_schema(), overwrite=overwrite, progress=progress, note=note)


def _assign(connection: DuckDBPyConnection, options: RandomSplit) -> None:
    """Make `assigned`: as `edge`, and the part of each row.

    For a whole number, hash / 2^60 < fraction is the same as hash < ceil(fraction * 2^60), all of it exact.
    """
    test = Fraction(options.test_fraction)
    held = test + Fraction(options.validation_fraction)
    below_test, below_held = (math.ceil(share * 2**HASH_BITS) for share in (test, held))
    connection.execute(f"""
        CREATE TABLE assigned AS
        SELECT * EXCLUDE (hash), CASE WHEN hash < {below_test} THEN 'test'
                                      WHEN hash < {below_held} THEN 'validation' ELSE 'train' END AS part
        FROM (SELECT edge.*, {hash_of_edge(options.seed)} AS hash FROM edge
              JOIN node head ON head.id = h JOIN node tail ON tail.id = t JOIN relation ON relation.id = r)
    """)
