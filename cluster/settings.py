"""The settings of clusters, `gangsaw.yaml` of Dask's own configuration, and what a kind needs."""

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
    """The settings of a kind, each as what it has to be.

    Raises ValueError for those that are something else.
    """

    kind: str
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a text, "" for none."""
        value = self.values[name]
        if value is None:
            return ""
        if not isinstance(value, str):  # YAML reads 01:00:00 as 3600
            raise self._wrong(name, "a text in quotes")
        return value

    def number(self, name: str) -> int:
        """Return a number of things."""
        value = self.values[name]
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        value = self.values[name]
        if not isinstance(value, list | tuple):
            raise self._wrong(name, "a list")
        return [str(each) for each in value]

    def options(self, name: str) -> dict[str, object]:
        """Return options by name."""
        value = self.values[name]
        if not isinstance(value, dict):
            raise self._wrong(name, "names with values")
        return dict(value)

    def _wrong(self, name: str, what: str) -> ValueError:
        return ValueError(f"{self.kind}.{name} must be {what}, got {self.values[name]!r}")


@cache
def _read() -> dict[str, dict[str, dict[str, object]]]:
    """Return the file of defaults, made known to Dask; the user gets a copy to change."""
    read: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(
        DEFAULTS.read_text(encoding="utf-8")
    )
    dask.config.update_defaults(read)
    dask.config.ensure_file(source=str(DEFAULTS), comment=True)
    return read


def _defaults() -> Mapping[str, Mapping[str, object]]:
    """Return the documented defaults, which Dask's configuration has for what is not set.

    They are put there each time: `dask.config.set` removes at its end what came within it.
    """
    read = _read()
    dask.config.update(dask.config.config, read, priority="old")
    return read["gangsaw"]


def setting(name: str) -> object:
    """Return a setting that is of no kind, such as "dashboard-address"."""
    _defaults()
    found: object = dask.config.get(f"gangsaw.{name}")
    return found


def seconds(name: str) -> float:
    """Return such a setting as seconds; raise ValueError where it is none."""
    value = setting(name)
    if not isinstance(value, int | float) or value < 0:
        raise ValueError(f"{name} must be seconds, got {value!r}")
    return float(value)


def settings_of(kind: str) -> KindSettings:
    """Return the settings of a kind: from the environment, the user's files, or the defaults.

    Raises
    ------
    ValueError
        One has a name that is not known.
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
    """Return the least and the most workers: `config.workers` of them, or as the settings say.

    The least is one: jobs hand out tasks by the number of workers, and without any ask for none.
    `what` is "jobs" or "workers", as the settings call them. Raises ValueError for other bounds.
    """
    if config.workers:
        return config.workers, config.workers
    least, most = settings.number(f"minimum-{what}"), settings.number(f"maximum-{what}")
    if not 1 <= least <= most:
        raise ValueError(f"minimum-{what} must be in 1..maximum-{what}, got {least} and {most}")
    return least, most


def imported(module: str, package: str, extra: str) -> ModuleType:
    """Return a module that a kind of cluster needs.

    Raises ModuleNotFoundError, one line that says what to install.
    """
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise ModuleNotFoundError(
            f"{package} is missing, which starts this cluster: pip install 'gangsaw[{extra}]'",
            name=module,
        )
    interrupted = signal.getsignal(signal.SIGINT)
    found = importlib.import_module(module)
    if signal.getsignal(signal.SIGINT) is not interrupted:  # dask-jobqueue puts sys.exit there
        signal.signal(signal.SIGINT, interrupted)
    return found
