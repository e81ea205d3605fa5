"""Options that a plugin of a table adds to commands: a codec to compress, a format to its paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gangsaw.codecs.core.errors import BadParams


@dataclass(frozen=True)
class Option:
    """An option of the command line that belongs to one codec or format.

    Attributes
    ----------
    name : as the user's keyword in Python, "bit_depth" of --bit-depth
    help : a line, without the owner's name
    default : in words
    read : makes the value of the user's text; raises ValueError or BadParams
    choices : all values there are; none where `read` decides
    scans : values for which all samples are read before the first is encoded
    """

    name: str
    help: str
    default: str = ""
    read: Callable[[str], object] = str
    choices: tuple[object, ...] = ()
    scans: tuple[object, ...] = ()

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return flag(self.name)

    def value(self, given: object) -> object:
        """Return the value of a text; in Python other values may be given, which are as they are.

        Raises BadParams for a text that `read` refuses, and for what is none of the choices.
        """
        value = self._read(given) if isinstance(given, str) else given
        if self.choices and value not in self.choices:
            raise BadParams(f"{self.flag} must be {listed(self.choices, 'or')}, got {given!r}")
        return value

    def _read(self, text: str) -> object:
        try:
            return self.read(text)
        except ValueError as error:
            if isinstance(error, BadParams):
                raise
            why = "say a whole number" if self.read is int else error
            raise BadParams(f"{self.flag} cannot be {text!r}: {why}") from None


def extents(text: str) -> tuple[int, ...]:
    """Return the numbers of "198,256,256"; raise ValueError for other texts."""
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise ValueError("say whole numbers such as 198,256,256") from None


def flag(name: str) -> str:
    """Return an option as it is typed."""
    return "--" + name.replace("_", "-")


def listed(words: Iterable[object], last: str = "and") -> str:
    """Return "a, b and c"."""
    texts = [str(word) for word in words]
    return f" {last} ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)
