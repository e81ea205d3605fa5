"""Command-line options that plugins add: a codec to compress, a format to its paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from gangsaw.codecs.core.errors import BadParams


@dataclass(frozen=True)
class Option:
    """Option of the command line that belongs to one codec or format.

    Attributes
    ----------
    name : as the user's keyword in Python, "bit_depth" of --bit-depth
    help : one line, without the owner's name
    default : as text
    read : converts the user's text to a value; raises ValueError or BadParams
    choices : all legal values; empty if `read` decides
    scans : values for which all samples are read before the first is encoded
    placeholder : stands for the value in the help, such as PATH; "" follows from `read`
    """

    name: str
    help: str
    default: str = ""
    read: Callable[[str], object] = str
    choices: tuple[object, ...] = ()
    scans: tuple[object, ...] = ()
    placeholder: str = ""

    @property
    def flag(self) -> str:
        """Name as typed on the command line, such as --bit-depth."""
        return flag(self.name)

    @property
    def metavar(self) -> str:
        """Choices or placeholder of the value, as the help shows it."""
        of_read = "N" if self.read is int else "N,N,..." if self.read is extents else "NAME"
        return "|".join(map(str, self.choices)) or self.placeholder or of_read

    def value(self, setting: object) -> object:
        """Convert the user's text to a value; other values, from Python, are returned unchanged.

        Raises BadParams for a text that `read` rejects, and for values outside the choices.
        """
        value = self._read(setting) if isinstance(setting, str) else setting
        if self.choices and value not in self.choices:
            raise none_of(self.flag, self.choices, setting)
        return value

    def _read(self, text: str) -> object:
        try:
            return self.read(text)
        except ValueError as error:
            if isinstance(error, BadParams):
                raise
            why = "pass an integer" if self.read is int else error
            raise BadParams(f"{self.flag} cannot be {text!r}: {why}") from None


def extents(text: str) -> tuple[int, ...]:
    """Parse extents of axes such as "198,256,256"; raise ValueError for other texts."""
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise ValueError("pass integers such as 198,256,256") from None


def flag(name: str) -> str:
    """Return the command-line form of an option's name: --bit-depth for "bit_depth"."""
    return "--" + name.replace("_", "-")


def none_of(what: str, words: Iterable[object], got: object) -> BadParams:
    """Return the error for a value that is not an allowed word; it suggests the nearest one."""
    known = [str(word) for word in words]
    shown = f"{got!r}" if got is not None else "nothing"
    return BadParams(f"{what} must be {join_words(known, 'or')}, got {shown}{nearest(got, known)}")


def nearest(got: object, words: Iterable[object]) -> str:
    """Return the message part "; did you mean ...?" with the word nearest to a wrong one, or ""."""
    known = {str(word).lower(): str(word) for word in words}
    near = get_close_matches(str(got).lower(), known, 1)
    return f"; did you mean {known[near[0]]}?" if near else ""


def join_words(words: Iterable[object], last: str = "and") -> str:
    """Return words as a list in prose: "a, b and c"."""
    texts = [str(word) for word in words]
    return f" {last} ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)
