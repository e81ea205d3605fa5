"""Settings of clusters, from `gangsaw.yaml` in Dask's configuration, and imports for each kind."""

from __future__ import annotations

import importlib
import importlib.util
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import dask
import yaml

from gangsaw.cluster.config import ClusterConfig

DEFAULTS = Path(__file__).with_name("gangsaw.yaml")


@dataclass(frozen=True)
class KindSettings:
    """Settings of one kind of cluster, such as "slurm", with typed access.

    The methods raise ValueError for a value of another type.
    """

    kind: str
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a setting as str, "" for null."""
        value = self.values[name]
        if value is None:
            return ""
        if not isinstance(value, str):  # YAML reads 01:00:00 as 3600
            raise self._wrong(name, "a text in quotes")
        return value

    def number(self, name: str) -> int:
        """Return a setting as int, 0 or more."""
        value = self.values[name]
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a setting as a list of str."""
        value = self.values[name]
        if not isinstance(value, list | tuple):
            raise self._wrong(name, "a list")
        return [str(each) for each in value]

    def options(self, name: str) -> dict[str, object]:
        """Return a setting as a dict of options by name."""
        value = self.values[name]
        if not isinstance(value, dict):
            raise self._wrong(name, "names with values")
        return dict(value)

    def _wrong(self, name: str, what: str) -> ValueError:
        return ValueError(f"{self.kind}.{name} must be {what}, got {self.values[name]!r}")


@cache
def _read() -> dict[str, dict[str, dict[str, object]]]:
    """Read the default settings, and register them with Dask; copy them to the user's folder."""
    read: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(
        DEFAULTS.read_text(encoding="utf-8")
    )
    dask.config.update_defaults(read)
    dask.config.ensure_file(source=str(DEFAULTS), comment=True)
    return read


def _defaults() -> Mapping[str, Mapping[str, object]]:
    """Return the documented defaults, after merging them into Dask's configuration.

    They are merged on each call: `dask.config.set` removes at its end what was merged within it.
    """
    read = _read()
    dask.config.update(dask.config.config, read, priority="old")
    return read["gangsaw"]


def setting(name: str) -> object:
    """Return a setting common to all kinds of clusters, such as "dashboard-address"."""
    _defaults()
    found: object = dask.config.get(f"gangsaw.{name}")
    return found


def seconds(name: str) -> float:
    """Return a setting common to all kinds as seconds; raise ValueError if it is invalid."""
    value = setting(name)
    if not isinstance(value, int | float) or value < 0:
        raise ValueError(f"{name} must be seconds, got {value!r}")
    return float(value)


def settings_of(kind: str) -> KindSettings:
    """Return the settings of a kind of cluster: from the environment, the user's files or defaults.

    Raises
    ------
    ValueError
        A setting has an unknown name.
    """
    known = _defaults()[kind]
    found = dask.config.get(f"gangsaw.{kind}")
    values = {name.replace("_", "-"): value for name, value in found.items()}
    if unknown := sorted(values.keys() - known.keys()):
        raise ValueError(
            f"gangsaw.{kind} has no setting {unknown[0]!r}, only {', '.join(sorted(known))}"
        )
    return KindSettings(kind, values)


def bounds(config: ClusterConfig, settings: KindSettings, what: str) -> tuple[int, int]:
    """Return the minimum and maximum of workers: `config.workers`, or as in the settings.

    The minimum is at least one: jobs submit tasks by the number of workers, and none without any.
    `what` is "jobs" or "workers", as in the names of the settings. Raises ValueError for invalid
    bounds.
    """
    if config.workers:
        return config.workers, config.workers
    least, most = settings.number(f"minimum-{what}"), settings.number(f"maximum-{what}")
    if not 1 <= least <= most:
        raise ValueError(f"minimum-{what} must be in 1..maximum-{what}, got {least} and {most}")
    return least, most


def import_for_kind(module: str, package: str, extra: str) -> ModuleType:
    """Import a module that a kind of cluster needs.

    Raises ModuleNotFoundError with the package to install.
    """
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise ModuleNotFoundError(
            f"{package} is missing, which starts this cluster: pip install 'gangsaw[{extra}]'",
            name=module,
        )
    interrupted = signal.getsignal(signal.SIGINT)
    found = importlib.import_module(module)
    if signal.getsignal(signal.SIGINT) is not interrupted:  # dask-jobqueue installs sys.exit
        signal.signal(signal.SIGINT, interrupted)
    return found
