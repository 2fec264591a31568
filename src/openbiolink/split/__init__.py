"""Stage 3: a graph is split into training, validation and test set, and nothing leaks between them.

`removed_edges.tsv` lists every edge of the input that is in no part, with one of these reasons:

    self_loop                   both ends are the same node
    unseen_node:ID[,ID]         no positive of the training set has the node
    unseen_relation:RELATION    no positive of the training set has the relation
    super_relation:RELATION     an edge of this more special relation, in another part, implies it
    implied_negative:RELATION   a negative of this more general relation, in another part, implies it
    conflict[:RELATION]         a true negative that is positive too, or implied by a positive of the relation
    untyped_node:ID[,ID]        a true negative with a node whose type nothing tells
    surplus_negative            a true negative beyond one per positive
    negatives_off               a true negative of a part that was to get no negatives
"""

from openbiolink.split.build import Split
from openbiolink.split.random import RandomSplit, random_split

__all__ = ["RandomSplit", "Split", "random_split"]
