"""Groups of options as dataclasses: each is a panel in a command's help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import (
    Annotated,
    ClassVar,
    ParamSpec,
    Protocol,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

P = ParamSpec("P")


class Panel(Protocol):
    """Dataclass of command line options, its fields `Annotated[type, typer.Option(...)]`.

    Attributes
    ----------
    PANEL : title in the help, for options without a panel of their own
    """

    PANEL: ClassVar[str]


class ByKeyword(Protocol):
    """Command or dataclass that is called only with keyword arguments, of any type."""

    def __call__(self, **given: object) -> object:
        """Run the command, or create the object."""


def expand_panels(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command for typer, in which the fields of `Panel` parameters are options.

    Options stand in the order of parameters and fields. The command is called with dataclasses of
    the given values.
    """
    hints = get_type_hints(command, include_extras=True)
    kinds: dict[str, ByKeyword] = {name: hints[name] for name in hints if is_dataclass(hints[name])}
    run = cast(ByKeyword, command)

    @wraps(command)
    def expanded(**given: object) -> None:
        made = {name: _make_panel(kind, given) for name, kind in kinds.items()}
        run(**given, **made)

    parameters = [
        option
        for parameter in signature(command).parameters.values()
        for option in _parameters(parameter, hints[parameter.name])
    ]
    expanded.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return cast(Callable[P, None], expanded)


def _make_panel(kind: ByKeyword, options: dict[str, object]) -> object:
    """Create a `Panel` from its options, which are removed from `options`."""
    return kind(**{name: options.pop(name) for name in signature(kind).parameters})


def _parameters(parameter: Parameter, hint: object) -> Iterator[Parameter]:
    """Yield a command's parameter, or the options of its `Panel`, as keyword-only parameters."""
    if not is_dataclass(hint):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint)
        return
    hints = get_type_hints(hint, include_extras=True)
    for field in fields(hint):
        annotation = _set_panel(hints[field.name], getattr(hint, "PANEL", None))
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=annotation
        )


def _set_panel(annotation: object, title: str | None) -> object:
    """Return the annotation of an option, placed under this help panel unless it has one."""
    assert get_origin(annotation) is Annotated, annotation
    kind, info = get_args(annotation)
    info = copy(info)
    info.rich_help_panel = info.rich_help_panel or title
    return Annotated[kind, info]


def _default(field: Field[object]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default
