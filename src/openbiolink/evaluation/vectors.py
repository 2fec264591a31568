"""Models whose score is a dot product or a distance of vectors, as query vectors and candidate vectors.

A question with one end and a relation given is turned into one vector, the query; its score with a candidate is

    dot       sum of q * e
    l1        minus the sum of w * |q - e|
    l2        minus the sum of w * (q - e) ** 2, whose order is that of the distance
    modulus   minus the sum of w * |q - e| over complex numbers, the real parts in the first half, the imaginary parts
              in the second

and that is all that `openbiolink.evaluation.fused` has to know. Parameters are float32 as they are stored; a query is
worked out from them in float64, element by element.

>>> entities = np.array([[1, 0], [0, 2]], np.float32)
>>> model = distmult(entities, np.ones((1, 2), np.float32))
>>> model.query("tail", np.array([1]), np.array([0])).vectors
array([[0., 2.]])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numba
import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from openbiolink.index import Side

Form = Literal["dot", "l1", "l2", "modulus"]
Parameters = npt.NDArray[np.float32]
Vectors = npt.NDArray[np.float64]
Ids = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """Questions as vectors.

    Attributes:
        vectors: shape (b, d).
        weights: of the dimensions, shape (b, d), 0 or more; None where all are 1.
    """

    vectors: Vectors
    weights: Vectors | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorModel:
    """A model given as vectors.

    Attributes:
        name: what to call it in a result.
        form: how a query and a candidate make a score.
        candidates: for each side the vectors of all entities that may be there, shape (num_entities, d), float32, rows
            contiguous.
        query: (side that is asked for, ids of the entities given, ids of the relations) → queries, by float64.
        num_relations: relations that have parameters.
    """

    name: str
    form: Form
    candidates: Mapping[Side, Parameters] = field(repr=False)
    query: Callable[[Side, Ids, Ids], Queries] = field(repr=False)
    num_relations: int

    @property
    def num_entities(self) -> int:
        """Entities that have parameters."""
        return len(self.candidates["tail"])


def distmult(entities: Parameters, relations: Parameters) -> VectorModel:
    """Sum of h * r * t. Source: Yang et al. 2015, "Embedding Entities and Relations", arXiv 1412.6575.

    Args:
        entities: shape (num_entities, d).
        relations: shape (num_relations, d).

    Raises:
        InputError: shapes do not fit, or a number is not finite.
    """
    tables = _tables(entities=entities, relations=relations)
    _refuse_unless(tables["relations"].shape[1] == tables["entities"].shape[1], "distmult", tables)

    def query(side: Side, given: Ids, relation: Ids) -> Queries:  # noqa: ARG001 - both sides are alike
        return Queries(vectors=_rows(tables["entities"], given) * _rows(tables["relations"], relation))

    return _model("distmult", "dot", tables["entities"], len(tables["relations"]), query)


def complex_bilinear(entities: Parameters, relations: Parameters) -> VectorModel:
    """Real part of the sum of h * r * conj(t): ComplEx. Source: Trouillon et al. 2016, arXiv 1606.06357.

    Args:
        entities: shape (num_entities, 2 d): d real parts, then d imaginary parts.
        relations: shape (num_relations, 2 d), likewise.

    Raises:
        InputError: as `distmult`.
    """
    tables = _tables(entities=entities, relations=relations)
    fits = tables["relations"].shape[1] == tables["entities"].shape[1] and not tables["entities"].shape[1] % 2
    _refuse_unless(fits, "complex", tables)

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        re, im = _halves(_rows(tables["entities"], given))
        r_re, r_im = _halves(_rows(tables["relations"], relation))
        if side == "tail":
            return Queries(vectors=np.hstack([re * r_re - im * r_im, re * r_im + im * r_re]))
        return Queries(vectors=np.hstack([re * r_re + im * r_im, im * r_re - re * r_im]))

    return _model("complex", "dot", tables["entities"], len(tables["relations"]), query)


def rescal(entities: Parameters, relations: Parameters) -> VectorModel:
    """The sum of h[i] * R[i, j] * t[j]. Source: Nickel et al. 2011, "A Three-Way Model", ICML.

    Args:
        entities: shape (num_entities, d).
        relations: shape (num_relations, d, d), or (num_relations, d * d) row by row.

    Raises:
        InputError: as `distmult`.
    """
    tables = _tables(entities=entities, relations=np.asarray(relations).reshape(len(relations), -1))
    size = tables["entities"].shape[1]
    _refuse_unless(tables["relations"].shape[1] == size * size, "rescal", tables)

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        out = np.zeros((len(given), size))
        _bilinear(_rows(tables["entities"], given), tables["relations"], np.asarray(relation), side == "tail", out)
        return Queries(vectors=out)

    return _model("rescal", "dot", tables["entities"], len(tables["relations"]), query)


def cp(heads: Parameters, relations: Parameters, tails: Parameters) -> VectorModel:
    """Sum of h * r * t with vectors of their own for both places. Source: Hitchcock 1927; Lacroix et al. 2018.

    Args:
        heads: of entities as heads, shape (num_entities, d).
        relations: shape (num_relations, d).
        tails: of entities as tails, shape (num_entities, d).

    Raises:
        InputError: as `distmult`.
    """
    tables = _tables(heads=heads, relations=relations, tails=tails)
    fits = tables["heads"].shape == tables["tails"].shape and tables["relations"].shape[1] == tables["heads"].shape[1]
    _refuse_unless(fits, "cp", tables)

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        other = tables["heads"] if side == "tail" else tables["tails"]
        return Queries(vectors=_rows(other, given) * _rows(tables["relations"], relation))

    return _model("cp", "dot", {"head": tables["heads"], "tail": tables["tails"]}, len(tables["relations"]), query)


def simple(heads: Parameters, tails: Parameters, relations: Parameters, inverses: Parameters) -> VectorModel:
    """Half the sum of h_head * r * t_tail and t_head * r_inverse * h_tail. Source: Kazemi & Poole 2018, 1802.04868.

    Args:
        heads: of entities as heads, shape (num_entities, d).
        tails: of entities as tails, shape (num_entities, d).
        relations: shape (num_relations, d).
        inverses: of the inverse relations, shape (num_relations, d).

    Raises:
        InputError: as `distmult`.
    """
    tables = _tables(heads=heads, tails=tails, relations=relations, inverses=inverses)
    fits = (
        tables["heads"].shape == tables["tails"].shape
        and tables["relations"].shape == tables["inverses"].shape
        and tables["relations"].shape[1] == tables["heads"].shape[1]
    )
    _refuse_unless(fits, "simple", tables)

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        head, tail = _rows(tables["heads"], given), _rows(tables["tails"], given)
        forth, back = _rows(tables["relations"], relation) / 2, _rows(tables["inverses"], relation) / 2
        # A candidate is its head vector beside its tail vector.
        pair = [tail * back, head * forth] if side == "tail" else [tail * forth, head * back]
        return Queries(vectors=np.hstack(pair))

    both = np.ascontiguousarray(np.hstack([tables["heads"], tables["tails"]]))
    return _model("simple", "dot", both, len(tables["relations"]), query)


def transe(entities: Parameters, relations: Parameters, *, norm: int = 2) -> VectorModel:
    """Minus the distance between h + r and t. Source: Bordes et al. 2013, section 3.

    Args:
        entities: shape (num_entities, d).
        relations: shape (num_relations, d).
        norm: 1 or 2.

    Raises:
        InputError: as `distmult`, or there is no such norm.
    """
    if norm not in {1, 2}:
        raise InputError(f"norm={norm!r} of TransE; choose 1 or 2")
    tables = _tables(entities=entities, relations=relations)
    name: Literal["l1", "l2"] = "l1" if norm == 1 else "l2"
    _refuse_unless(tables["relations"].shape[1] == tables["entities"].shape[1], f"transe-{name}", tables)

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        step = _rows(tables["relations"], relation)
        return Queries(vectors=_rows(tables["entities"], given) + (step if side == "tail" else -step))

    return _model(f"transe-{name}", name, tables["entities"], len(tables["relations"]), query)


def rotate(
    entities: Parameters,
    relations: Parameters,
    *,
    form: Literal["l2", "modulus"] = "modulus",
    scale: float = 1.0,
    conjugate: bool = False,
) -> VectorModel:
    """Minus the distance between h * r and t, complex numbers. Source: Sun et al. 2019, arXiv 1902.10197.

    Args:
        entities: shape (num_entities, 2 d): d real parts, then d imaginary parts.
        relations: angles, shape (num_relations, d), or complex numbers, shape (num_relations, 2 d).
        form: `modulus` sums the lengths of the differences, as the paper and DGL-KE do; `l2` is the length of the whole
            difference, as PyKEEN does.
        scale: what angles are multiplied with.
        conjugate: a head is asked for by the distance between conj(r) * t and h, as PyKEEN does; the same where the
            complex numbers have length 1, which they have but for rounding. Of no use for angles.

    Raises:
        InputError: as `distmult`.
    """
    tables = _tables(entities=entities, relations=relations)
    size = tables["entities"].shape[1] // 2
    fits = not tables["entities"].shape[1] % 2 and tables["relations"].shape[1] in {size, 2 * size}
    _refuse_unless(fits, "rotate", tables)
    angles = tables["relations"].shape[1] == size

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        re, im = _halves(_rows(tables["entities"], given))
        turn = _rows(tables["relations"], relation)
        c, s = (np.cos(turn * scale), np.sin(turn * scale)) if angles else _halves(turn)
        if side == "tail":
            return Queries(vectors=np.hstack([re * c - im * s, re * s + im * c]))
        if angles or conjugate:
            return Queries(vectors=np.hstack([re * c + im * s, im * c - re * s]))
        square = c * c + s * s  # 1 but for rounding: |h r - t| = |r| |h - t / r|
        safe = np.where(square > 0, square, 1.0)
        vectors = np.hstack([(re * c + im * s) / safe, (im * c - re * s) / safe])
        weight = square if form == "l2" else np.sqrt(square)
        return Queries(vectors=vectors, weights=np.hstack([weight, weight]))

    return _model("rotate", form, tables["entities"], len(tables["relations"]), query)


def reciprocal(model: VectorModel) -> VectorModel:
    """A model that asks for a head as for the tail of a relation of its own.

    Args:
        model: with twice the relations: the first half for tails, then, in the same order, those for heads.

    Raises:
        InputError: the number of relations is odd.
    """
    number = model.num_relations // 2
    if model.num_relations % 2:
        raise InputError(f"{model.name} has {model.num_relations} relations, expected two for each of the data set")

    def query(side: Side, given: Ids, relation: Ids) -> Queries:
        return model.query("tail", given, np.asarray(relation) + (number if side == "head" else 0))

    return VectorModel(
        name=model.name,
        form=model.form,
        candidates={"head": model.candidates["tail"], "tail": model.candidates["tail"]},
        num_relations=number,
        query=query,
    )


MODELS: Mapping[str, Callable[..., VectorModel]] = MappingProxyType(
    {
        "distmult": distmult,
        "complex": complex_bilinear,
        "rescal": rescal,
        "cp": cp,
        "simple": simple,
        "transe": transe,
        "rotate": rotate,
    }
)


def _model(
    name: str,
    form: Form,
    candidates: Parameters | Mapping[Side, Parameters],
    num_relations: int,
    query: Callable[[Side, Ids, Ids], Queries],
) -> VectorModel:
    sides: Mapping[Side, Parameters] = (
        candidates if isinstance(candidates, Mapping) else {"head": candidates, "tail": candidates}
    )
    return VectorModel(name=name, form=form, candidates=sides, num_relations=num_relations, query=query)


def _tables(**given: Any) -> dict[str, Parameters]:
    """Parameters as float32 matrices, rows contiguous."""
    tables = {}
    for name, value in given.items():
        table = np.asarray(value)
        if table.ndim != 2 or not table.size:
            raise InputError(f"{name} have shape {table.shape}; expected a matrix with one row each")
        if table.dtype != np.float32:
            exact = np.can_cast(table.dtype, np.float32)
            if not exact:
                raise InputError(f"{name} are of type {table.dtype}, expected float32; round them yourself")
            table = table.astype(np.float32)
        if not np.isfinite(table).all():
            row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
            raise InputError(f"row {row} of {name} holds NaN or infinity; mend the model")
        tables[name] = np.ascontiguousarray(table)
    return tables


def _refuse_unless(fits: bool, name: str, tables: Mapping[str, Parameters]) -> None:
    if not fits:
        shapes = ", ".join(f"{what} {table.shape}" for what, table in tables.items())
        raise InputError(f"the parameters do not fit each other as {name}: {shapes}; check the files and the model")


def _rows(table: Parameters, ids: Ids) -> Vectors:
    return table[ids].astype(np.float64)


def _halves(rows: Vectors) -> tuple[Vectors, Vectors]:
    size = rows.shape[1] // 2
    return rows[:, :size], rows[:, size:]


@numba.njit(nogil=True, cache=False)
def _bilinear(rows: Any, matrices: Any, relation: Any, forward: Any, out: Any) -> None:
    """Fill `out` (b, d) with h R, or with R t, adding in the order of the index, from rows (b, d) and R (r, d * d)."""
    size = rows.shape[1]
    for b in range(rows.shape[0]):
        matrix = matrices[relation[b]]
        for i in range(size):
            for j in range(size):
                value = np.float64(matrix[i * size + j])
                if forward:
                    out[b, j] += rows[b, i] * value
                else:
                    out[b, i] += rows[b, j] * value
