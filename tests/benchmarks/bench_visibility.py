"""Ratios of the visibility codec and its peers: each file of the real set, and synthetic cubes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from visibility_data import EFFORTS, FINE, SYNTHETIC, Cube, efforts, real_cubes, synthetic
from visibility_peers import peers

from gangsaw.tasks.bench.host import stored_bytes
from gangsaw.tasks.bench.table import Row, say

TOTAL = {"dense": ">= 1.53", "fast": ">= 1.30"}
LIGHT = "blosc2 bitshuffle8+lz4"  # `fast` is to be above it and ndzip, which has no wheel
WIDENED = ("hera_2458106_ant012",)  # as many programs write float32s
NDZIP = 1.101  # published elsewhere, of another cube of the same recipe


@dataclass(frozen=True)
class Sizes:
    """Bytes of one cube: as they are, by effort, by peer."""

    raw: int
    ours: Mapping[str, int]
    others: Mapping[str, int]

    @property
    def best(self) -> str:
        """The peer with the fewest bytes."""
        return min(self.others, key=self.others.__getitem__)

    def ratio(self, name: str) -> float:
        """Raw over stored bytes of an effort or a peer."""
        return self.raw / {**self.ours, **self.others}[name]


def rows() -> Iterator[Row]:
    """Yield ratios: of the real set, each file and together; of the synthetic cubes; of peers."""
    cubes = dict(real_cubes())
    real = {name: _sizes(name, cube) for name, cube in cubes.items()}
    wide = {f"{name} as complex128": cubes[name].astype("c16") for name in WIDENED if name in cubes}
    widened = {name: _sizes(name, cube) for name, cube in wide.items()}
    made = {SYNTHETIC: _sizes(SYNTHETIC, synthetic()), FINE: _sizes(FINE, synthetic(12))}
    if real:
        yield from _together(list(real.values()))
    yield from (_dense(name, sizes) for name, sizes in {**real, **widened, **made}.items())
    yield from (_fast(name, sizes) for name, sizes in {**real, **widened, **made}.items())
    for peer in made[SYNTHETIC].others:
        if real:
            yield _peer(peer, real)
        note = f"full mantissas {made[FINE].ratio(peer):.3f}"
        yield replace(_row(peer, SYNTHETIC, made[SYNTHETIC]), note=note)


def _sizes(name: str, cube: Cube) -> Sizes:
    say(name)
    found = [{p.name: stored_bytes(cube, p) for p in each} for each in (efforts(cube), peers(cube))]
    return Sizes(cube.nbytes, *found)


def _together(real: Sequence[Sizes]) -> Iterator[Row]:
    raw, what = sum(sizes.raw for sizes in real), f"all {len(real)} real files"
    for effort in EFFORTS:
        stored = sum(sizes.ours[effort] for sizes in real)
        yield Row(f"{effort}, {what}", raw / stored, "ratio", TOTAL[effort])
    stored = sum(sizes.others[sizes.best] for sizes in real)
    yield Row(f"best peer of each file, {what}", raw / stored, "ratio")
    ahead = sum(sizes.ours["dense"] <= sizes.others[sizes.best] for sizes in real)
    yield Row("files where no peer is smaller than dense", ahead, "files", f">= {len(real) - 1}")


def _dense(name: str, sizes: Sizes) -> Row:
    best = sizes.ratio(sizes.best)
    what, figures = f"best peer: {sizes.best}", {"best peer": best}
    return replace(_row("dense", name, sizes), target=f">= {best:.5g}", note=what, figures=figures)


def _fast(name: str, sizes: Sizes) -> Row:
    row = _row("fast", name, sizes)
    if LIGHT not in sizes.others or not name.startswith(SYNTHETIC):
        return row
    bound = max(sizes.ratio(LIGHT), NDZIP)
    return replace(row, target=f">= {bound:.5g}", note=f"{LIGHT}; ndzip is said to reach {NDZIP}")


def _row(codec: str, name: str, sizes: Sizes) -> Row:
    return Row(f"{codec}, {name}", sizes.ratio(codec), "ratio")


def _peer(peer: str, real: Mapping[str, Sizes]) -> Row:
    """Return a peer's ratio over the files whose type it takes, with that of each."""
    taken = {name: sizes for name, sizes in real.items() if peer in sizes.others}
    each = {name: sizes.ratio(peer) for name, sizes in taken.items()}
    raw = sum(sizes.raw for sizes in taken.values())
    stored = sum(sizes.others[peer] for sizes in taken.values())
    note = ", ".join(f"{name} {ratio:.3f}" for name, ratio in each.items())
    count = "all" if len(taken) == len(real) else "only"
    return Row(f"{peer}, {count} {len(taken)} real files", raw / stored, "ratio", "", note, each)
