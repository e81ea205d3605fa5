"""Common part of Zarr codecs: name, parameters, and metadata."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, ClassVar, Self, cast

from zarr import registry
from zarr.core.common import JSON, parse_named_configuration
from zarr.core.config import config

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import Parameters

if TYPE_CHECKING:
    from zarr.abc.codec import Codec


class NamedCodec:
    """Base class of codecs whose keywords are the fields of their parameters.

    Attributes
    ----------
    params : the codec's frozen parameters
    codec_name : Zarr name of the codec
    params_type : the class of `params`, hashable, with `to_dict` and `from_dict`
    """

    params: Parameters
    codec_name: ClassVar[str]
    params_type: ClassVar[type[Parameters]]
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        """Set the codec's signature to that of its parameters, for help() and editors."""
        super().__init_subclass__()
        if hasattr(cls, "params_type"):
            cls.__signature__ = inspect.signature(cls.params_type)

    def __init__(self, **parameters: object) -> None:
        object.__setattr__(self, "params", self.params_type(**parameters))

    def to_dict(self) -> dict[str, JSON]:
        """Return the codec's JSON in the array's metadata."""
        return {"name": self.codec_name, "configuration": cast(JSON, self.params.to_dict())}

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Read the codec from the array's metadata; raise BadParams if it is invalid."""
        try:
            _, configuration = parse_named_configuration(
                data, cls.codec_name, require_configuration=False
            )
        # from zarr, for metadata that are no configuration
        except (TypeError, ValueError) as error:
            raise BadParams(f"{cls.codec_name}: {error}") from error
        return cls(**vars(cls.params_type.from_dict({**(configuration or {})})))

    @classmethod
    def take_name(cls) -> None:
        """Register this class with zarr under its name, with priority over other packages.

        zarr imports every entry point of a name before it chooses, and fails with a broken one. So
        pending entry points are removed. Among classes that are loaded already, zarr's
        configuration chooses.
        """
        # private, and renamed in 3.4: without it the configuration must suffice
        found = {key.lstrip("_"): value for key, value in vars(registry).items()}
        if (known := found.get("codec_registries", {}).get(cls.codec_name)) is not None:
            known.lazy_load_list.clear()
        own = cast("type[Codec]", cls)
        registry.register_codec(cls.codec_name, own)
        # the name has dots, so it is no path
        chosen = {cls.codec_name: registry.fully_qualified_name(own)}
        config.set({"codecs": {**config.get("codecs", {}), **chosen}})
