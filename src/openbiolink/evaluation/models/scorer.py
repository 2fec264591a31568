"""A scorer of the user's own, named as `package.module:object`."""

from __future__ import annotations

import inspect
import os
import sysconfig
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError, OpenBioLinkError, ScoreError
from openbiolink.evaluation.scorers import score_function, scorer_name
from openbiolink.evaluation.vectors import VectorModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openbiolink.dataset import Dataset

LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")


class NamedScorer:
    """A scorer whose own errors come out as one line that names their place.

    Attributes:
        name: that of the scorer.
    """

    def __init__(self, spec: str, scorer: Any) -> None:
        """Wrap `scorer`, which `spec` names."""
        self.name = scorer_name(scorer)
        self._spec, self._score = spec, score_function(scorer)

    def score_batch(self, batch: Any) -> Sequence[Any]:
        """What the scorer returns."""
        try:
            return self._score(batch)
        except (OpenBioLinkError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise ScoreError(f"{self._spec}: scoring failed, {_where(error)}; mend it") from error


def load_scorer(spec: str, dataset: Dataset) -> VectorModel | NamedScorer:
    """The scorer that a name stands for.

    The object is an object with `score_batch`, a function of a batch, or a `VectorModel`. A class, or a function with
    one parameter `dataset`, is called first: with the data set where that is its only parameter without a default, else
    with nothing.

    Args:
        spec: module and object, such as `models.mine:score`; the module must be importable.
        dataset: the data set, for what asks for it.

    Raises:
        InputError: there is no such module or object, importing or calling it fails, or it is no scorer.
    """
    module, _, name = spec.partition(":")
    if not module or not name or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise InputError(f"{spec!r} names no scorer; give package.module:object, such as models.mine:score")
    found: Any = _run(spec, "importing", lambda: import_module(module))
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{spec}: {module} has no {name!r}; check its spelling")
        found = getattr(found, part)
    if inspect.isclass(found) or _parameters(found) == ["dataset"]:
        arguments = [dataset] if _parameters(found) == ["dataset"] else []
        found = _run(spec, "making the scorer", lambda: found(*arguments))
    if isinstance(found, VectorModel):
        return found
    try:
        return NamedScorer(spec, found)
    except InputError as error:
        raise InputError(f"{spec}: {error}") from error


def _parameters(found: Any) -> list[str]:
    """Names of the parameters that have no default."""
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        entry.name for entry in parameters if entry.default is entry.empty and entry.kind is entry.POSITIONAL_OR_KEYWORD
    ]


def _run(spec: str, what: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except (OpenBioLinkError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        if error.name and (spec.partition(":")[0] + ".").startswith(error.name + "."):
            raise InputError(
                f"{spec}: there is no module {error.name!r}; check its spelling, and run the command where it lies"
            ) from error
        raise InputError(f"{spec}: {what} failed, {_where(error)}; mend it") from error
    except BaseException as error:
        raise InputError(f"{spec}: {what} failed, {_where(error)}; mend it") from error


def _where(error: BaseException) -> str:
    """The last place in a traceback that is not of an installed library, if any, and the error, on one line."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<")
    ]
    libraries = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in LIBRARIES)
    frames = [frame for frame in frames if not frame.filename.startswith(libraries)] or frames
    if frames and isinstance(error, SyntaxError):
        frames = []  # the error names its place
    words = " ".join(str(error).split())[:200]
    place = f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""
    return f"{place}{type(error).__name__}{f': {words}' if words else ''}"
