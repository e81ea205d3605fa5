"""What --dry-run prints: what a job would do, by the job itself, which ends before it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from gangsaw.tasks.console.output import size, write_json, write_table

if TYPE_CHECKING:
    from gangsaw.tasks.console.cluster import Workers
    from gangsaw.tasks.engine.rehearsal import ArrayPlan, Plan

SHOWN = 8  # arrays that are listed; --json has all


def show_plan(
    job: Callable[[], object],
    cluster: Workers | None,
    *,
    as_json: bool,
    targets: Sequence[str] = (),
) -> None:
    """Rehearse a job in this process and print its plan; nothing is written, no cluster started.

    `targets` are named as the user did, where the job knows them by other names.
    """
    from gangsaw.tasks.engine.rehearsal import rehearsed

    plan = rehearsed(job)
    if plan is None:
        write_json({"dry_run": True}) if as_json else write_table("nothing is left to do", [])
        return
    named = tuple(targets) or plan.targets
    where = {} if cluster is None else cluster.told()
    if as_json:
        totals = {"n_chunks": plan.n_chunks, "task_bytes": plan.task_bytes}
        write_json({"dry_run": True, **asdict(plan), "targets": named, **totals, "cluster": where})
        return
    write_table(f"dry run: {plan.source} -> {', '.join(named)}", _rows(plan, where))
    if len(plan.arrays) == 1:
        write_table(plan.arrays[0].name or "array", _array(plan.arrays[0]))
    elif plan.arrays:
        more = f", the first {SHOWN} of {len(plan.arrays)}" if plan.arrays[SHOWN:] else ""
        write_table(f"arrays{more}", [_line(array) for array in plan.arrays[:SHOWN]])


def _rows(plan: Plan, where: dict[str, object]) -> list[tuple[str, str]]:
    bytes_ = [("bytes", f"{size(plan.raw_bytes)} of samples")] if plan.raw_bytes else []
    chunks = [("chunks", f"{plan.n_chunks:,}")] if plan.n_chunks else []
    memory = [("memory", f"{size(plan.task_bytes)} per task at most")] if plan.task_bytes else []
    workers = [("runs on", str(where["words"]))] if where else []
    lost = [("left out", item) for item in plan.lost]
    notes = [("note", note) for note in plan.notes]
    return [("format", plan.format), *bytes_, *chunks, *memory, *workers, *lost, *notes]


def _array(array: ArrayPlan) -> list[tuple[str, str]]:
    is_growing = 0 in array.shape
    rows = [("shape", f"{'grows' if is_growing else _by(array.shape)}, {array.dtype}")]
    if array.chunks:
        count = f"{array.n_chunks:,} of " if array.n_chunks else ""
        each = f", {size(array.chunk_bytes)} each" if array.chunk_bytes else ""
        rows.append(("chunks", f"{count}{_by(array.chunks)}{each}"))
    if array.codec:
        rows.append(("codec", array.codec))
    if params := _summarised(array.codec, array.parameters):
        rows.append(("parameters", ", ".join(f"{k}={v}" for k, v in params.items())))
    return rows


def _summarised(codec: str, parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return the parameters worth showing of a codec of ours, all of another's."""
    from gangsaw.codecs.core import codec_table

    if codec not in codec_table.names():
        return parameters
    usual = codec_table.named_class(codec)().params.to_dict()
    return codec_table.answer(codec).summary(parameters, usual)


def _line(array: ArrayPlan) -> tuple[str, str]:
    return (array.name, "; ".join(text for _, text in _array(array)[:3]))


def _by(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents))
