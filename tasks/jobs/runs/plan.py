"""Plan of a job of whole chunks, for a dry run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from zarr.core.buffer import Buffer

from gangsaw.tasks.engine.report.dry_run import ArrayPlan, JobPlan
from gangsaw.tasks.jobs.runs.counters import NONE, codec_named
from gangsaw.tasks.sources.source import Description, Source, Stream
from gangsaw.tasks.store.arrays.chunks import METADATA, ChunkGrid
from gangsaw.tasks.store.arrays.layout import ArrayLayout
from gangsaw.tasks.store.dataset.paths import key_of
from gangsaw.tasks.store.dataset.texts import item_bytes


def plan_of(
    source: Source | Stream,
    target: str | Path | object,
    layouts: Mapping[str, ArrayLayout],
    objects: Mapping[str, Buffer],
) -> JobPlan:
    """Return the plan, for a dry run, of a job that stores a source.

    Parameters
    ----------
    source, target : input and output of the job
    layouts : chunks and codec of each array, by name
    objects : metadata that the job would write, by store key
    """
    arrays = tuple(
        _array(a, layouts[a.name], objects[key_of(a.name, METADATA)].to_bytes())
        for a in source.arrays
    )
    return JobPlan(
        source=source.name,
        targets=(str(target),),
        arrays=arrays,
        raw_bytes=_raw_bytes(source.arrays),
        notes=tuple(getattr(source, "notes", ())),
    )


def plan_of_stages(source: Source | Stream, target: object, stages: Iterable[str]) -> JobPlan:
    """Return the plan of a job whose stages have not run, so that codecs and chunks are unknown."""
    plain = tuple(ArrayPlan(a.name, str(a.dtype), a.shape) for a in source.arrays)
    note = f"codec and chunks are chosen after the stage {' and '.join(stages)}"
    return JobPlan(
        source.name, (str(target),), plain, raw_bytes=_raw_bytes(source.arrays), notes=(note,)
    )


def _array(array: Description, layout: ArrayLayout, metadata: bytes) -> ArrayPlan:
    name = codec_named(metadata)
    return ArrayPlan(
        name=array.name,
        dtype=str(array.dtype),
        shape=array.shape,
        chunks=layout.chunks,
        codec=name,
        parameters={} if name == NONE else _parameters(json.loads(metadata)["codecs"], name),
        n_chunks=ChunkGrid(array.shape, layout.chunks).n_chunks if 0 not in array.shape else 0,
        chunk_bytes=math.prod(layout.chunks) * item_bytes(array),
        task_bytes=layout.peak_bytes(array),
    )


def _parameters(codecs: Iterable[Mapping[str, object]], name: str) -> Mapping[str, object]:
    found = next((c.get("configuration") for c in codecs if c["name"] == name), None)
    return found if isinstance(found, Mapping) else {}


def _raw_bytes(arrays: Iterable[Description]) -> int:
    return sum(math.prod(array.shape) * item_bytes(array) for array in arrays)
