"""Every exception the package raises on purpose.

    OpenBioLinkError
    ├── InputError          a file or an option that the user gave is wrong
    ├── CatalogueError      a declaration in a catalogue is wrong
    └── ScoreError          a model returned scores that cannot be ranked

Those of input and of scores are ValueErrors, too. Each message is one line that names the value, its place, the
rule it breaks and the way out. The command line prints it without a traceback and ends with status 2.
"""

from __future__ import annotations


def visible(text: str) -> str:
    r"""The text with everything that is not seen, or moves what is, written as an escape.

    >>> visible("a\x1b[31mb"), visible("\u202e")
    ('a\\x1b[31mb', '\\u202e')
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


class OpenBioLinkError(Exception):
    """The root of all errors that the package raises on purpose."""


class InputError(OpenBioLinkError, ValueError):
    """A file, an option or a value given by the user cannot be used as it is."""


class CatalogueError(OpenBioLinkError):
    """A source or an edge rule is declared in a way that cannot work."""


class ScoreError(OpenBioLinkError, ValueError):
    """A model returned scores of a wrong shape, or scores that are not numbers."""
