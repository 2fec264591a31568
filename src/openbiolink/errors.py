"""Every exception the package raises on purpose.

    OpenBioLinkError
    ├── InputError          a file or an option that the user gave is wrong
    ├── CatalogueError      a declaration in a catalogue is wrong
    └── ScoreError          a model returned scores that cannot be ranked

Those of input and of scores are ValueErrors, too. Each message is one line that names the value, its place, the
rule it breaks and the way out. The command line prints it without a traceback and ends with status 2.
"""

from __future__ import annotations


class OpenBioLinkError(Exception):
    """The root of all errors that the package raises on purpose."""


class InputError(OpenBioLinkError, ValueError):
    """A file, an option or a value given by the user cannot be used as it is."""


class CatalogueError(OpenBioLinkError):
    """A source or an edge rule is declared in a way that cannot work."""


class ScoreError(OpenBioLinkError, ValueError):
    """A model returned scores of a wrong shape, or scores that are not numbers."""
