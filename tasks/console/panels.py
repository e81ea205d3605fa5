"""Long lists of options as one dataclass per idea: each is a panel of a command's help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, Protocol, get_args, get_origin, get_type_hints


class Panel(Protocol):
    """A dataclass whose fields are `Annotated[type, typer.Option(...)]`.

    Attributes
    ----------
    PANEL : title in the help, of options that name no other
    """

    PANEL: ClassVar[str]


def panels(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, whose parameters of a `Panel` are the options of that panel.

    Options stand in the order of parameters and fields. The command is called with dataclasses of
    the given values.
    """
    hints = get_type_hints(command, include_extras=True)
    kinds = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(command)
    def expanded(**given: Any) -> None:
        made = {name: _made(kind, given) for name, kind in kinds.items()}
        command(**given, **made)

    parameters = [
        option
        for parameter in signature(command).parameters.values()
        for option in _parameters(parameter, hints[parameter.name])
    ]
    expanded.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return expanded


def _made(kind: Any, given: dict[str, object]) -> Any:
    """Return a panel with its options, which are taken out of those given."""
    return kind(**{field.name: given.pop(field.name) for field in fields(kind)})


def _parameters(parameter: Parameter, hint: Any) -> Iterator[Parameter]:
    """Yield a parameter, or its panel's options; by keyword, so that any may have a default."""
    if not is_dataclass(hint):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint)
        return
    hints = get_type_hints(hint, include_extras=True)
    for field in fields(hint):
        annotation = _titled(hints[field.name], getattr(hint, "PANEL", None))
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=annotation
        )


def _titled(annotation: Any, title: str | None) -> Any:
    """Put an option into the panel of that title, unless it names one."""
    assert get_origin(annotation) is Annotated, annotation
    kind, info = get_args(annotation)
    info = copy(info)
    info.rich_help_panel = info.rich_help_panel or title
    return Annotated[kind, info]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default
