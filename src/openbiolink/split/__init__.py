"""Stage 3: a graph is split into training, validation and test set, and nothing leaks between them.

`removed_edges.tsv` lists every edge of the input that is in no part, with one of these reasons:

    self_loop                   both ends are the same node
    unseen_node:ID[,ID]         no positive of the training set has the node
    unseen_relation:RELATION    no positive of the training set has the relation
    super_relation:RELATION     an edge of this more special relation, in another part, implies it
    implied_negative:RELATION   a negative of this more general relation, in another part, implies it
    inverse:RELATION            an edge of this inverse relation, in another part, says the same
    reverse                     an edge of the same relation and sign, in another part, is its reverse
    date_straddles_cut:DATE     the date can be before and after the cut; FIRST/LAST where an edge has several
    mixed_sources:SOURCES       its sources are of several parts
    two_held_nodes              both ends are held out, and only one may be
    one_end_held                its ends are of two parts
    crosses                     it joins a new node to one of training
    conflict[:RELATION]         a true negative that is positive too, or implied by a positive of the relation
    untyped_node:ID[,ID]        a true negative with a node whose type nothing tells
    surplus_negative            a true negative beyond one per positive
    negatives_off               a true negative of a part that was to get no negatives
"""

from openbiolink.split.build import Split, random_split, split_graph
from openbiolink.split.entities import BranchSplit, ColdSplit, InductiveSplit, SemiInductiveSplit
from openbiolink.split.graph_files import GraphFiles
from openbiolink.split.provenance import DateSplit, SourceSplit
from openbiolink.split.schemes import PairSplit, RandomSplit, Scheme, StratifiedSplit
from openbiolink.split.structure import ComponentSplit, DegreeSplit
from openbiolink.split.time import TimeSplit

SCHEMES: tuple[type[Scheme], ...] = (
    RandomSplit,
    TimeSplit,
    StratifiedSplit,
    PairSplit,
    DateSplit,
    SourceSplit,
    SemiInductiveSplit,
    InductiveSplit,
    ColdSplit,
    BranchSplit,
    DegreeSplit,
    ComponentSplit,
)

__all__ = [
    "SCHEMES",
    "BranchSplit",
    "ColdSplit",
    "ComponentSplit",
    "DateSplit",
    "DegreeSplit",
    "GraphFiles",
    "InductiveSplit",
    "PairSplit",
    "RandomSplit",
    "Scheme",
    "SemiInductiveSplit",
    "SourceSplit",
    "Split",
    "StratifiedSplit",
    "TimeSplit",
    "random_split",
    "split_graph",
]
