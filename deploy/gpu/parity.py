"""Byte parity: what a GPU makes of every sample, held against what the CPU made of it beforehand.

python deploy/gpu/parity.py --make   # on any machine: has the CPU write parity.json, its checksums
python deploy/gpu/parity.py          # on a machine with a device

So a machine that is there for minutes compiles no kernel for its CPU. Checksums are CRC-32C, of
the input, of a codec's frame and of each block, or of each array of path counts. What is encoded
right on the device is decoded there, too, and held against the input. Where the CPU encodes for the
device, the sample's golden file is decoded there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

TESTS = Path(__file__).resolve().parents[2] / "tests"
if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

from helpers.every_codec import Case, folder, gpu_cases, home  # noqa: E402
from variants import variants  # noqa: E402

from gangsaw.codecs.core.backends.host import HostBackend  # noqa: E402
from gangsaw.codecs.core.container import checksum, frame  # noqa: E402
from gangsaw.codecs.core.cuda.device import backend, cupy  # noqa: E402
from gangsaw.codecs.core.errors import GangsawError  # noqa: E402
from gangsaw.tasks.genomics.reads.order.bins.gpu_signatures import bins_of_lines  # noqa: E402
from gangsaw.tasks.genomics.reads.order.bins.signatures import sign_lines  # noqa: E402
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts  # noqa: E402
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch  # noqa: E402
from gangsaw.tasks.tcr.model import Model  # noqa: E402

CHECKSUMS = Path(__file__).with_name("parity.json")
INPUT, FRAME = "input", "frame"
PACKAGE_OF_COUNTS = "gangsaw.tasks.tcr.counting.kernels"
Checksums: TypeAlias = dict[str, int]


class OnHost(Exception):
    """A sample that has no kernel: the GPU backend hands it to the CPU's."""


@dataclass(frozen=True)
class Coding:
    """A codec's sample.

    Attributes
    ----------
    case : codec, array and parameters
    """

    case: Case

    @property
    def group(self) -> str:
        """Name of the codec's folder."""
        return folder(self.case.codec_type)

    @property
    def name(self) -> str:
        """Name of the sample."""
        return self.case.sample.name

    def input(self) -> int:
        """Return the checksum of the sample."""
        return _of_array(self.case.array)

    def result(self, library: Any) -> Checksums:
        """Return the checksums of its frame and of each block.

        Parameters
        ----------
        library : NumPy, or CuPy to encode on the device
        """
        return self._of_frame(self.case.encode(library))

    def _of_frame(self, data: bytes) -> Checksums:
        coder = self.case.codec.coder(self.case.array.shape, self.case.array.dtype)
        parts = frame.unpack(data, coder.layout).payloads
        blocks = {f"block {i}": checksum.crc32c(part) for i, part in enumerate(parts)}
        return {**blocks, FRAME: checksum.crc32c(data)}

    def problems(self, wanted: Checksums, library: Any) -> list[str]:
        """Name the blocks that are not encoded, or else not decoded, as they should be."""
        try:
            with _nothing_on_host():
                data = self.case.encode(library)
        except OnHost:
            with _nothing_on_host():
                return self._wrongly_decoded(self._golden(), library)
        # some of its blocks may be raw, which the CPU copies
        found = _differing(self._of_frame(data), wanted)
        return found or self._wrongly_decoded(data, library)

    def _wrongly_decoded(self, data: bytes, library: Any) -> list[str]:
        return [f"{block} decoded" for block in self._changed(data, library)]

    def _golden(self) -> bytes:
        """Return its golden file, which may be of an earlier encoder; raise OnHost without one."""
        path = home(self.case) / f"{self.name}.frame"
        if not path.exists():
            raise OnHost
        return path.read_bytes()

    def _changed(self, data: bytes, library: Any) -> list[str]:
        """Name the blocks whose samples do not come back, bit for bit."""
        right, found = self.case.array, self.case.decode(data, library)
        coder = self.case.codec.coder(right.shape, right.dtype)
        pairs = enumerate(zip(coder.views(found), coder.views(right), strict=True))
        return [f"block {i}" for i, (one, other) in pairs if _bytes_of(one) != _bytes_of(other)]


@dataclass(frozen=True)
class Counting:
    """References whose recombination paths one kernel counts.

    Attributes
    ----------
    name : says model and references
    batch, model : in host memory; what is counted
    """

    name: str
    batch: Batch
    model: Model
    group = "tcr"

    def input(self) -> int:
        """Return the checksum of all references and genes."""
        b = self.batch
        sequences = [a for s in (b.references, b.v, b.j, b.d) for a in s.arrays]
        return _of_array(*sequences, b.v_of, b.j_of)

    def result(self, library: Any) -> Checksums:
        """Return the checksum of each array of counts and calls."""
        module = backend(library.empty(0), PACKAGE_OF_COUNTS)
        counts = (module.count if library is np else module.count_hosted)(self.batch, self.model)
        arrays = {field.name: getattr(counts, field.name) for field in fields(Counts)}
        return {name: _of_array(a) for name, a in arrays.items() if a is not None}

    def problems(self, wanted: Checksums, library: Any) -> list[str]:
        """Name the arrays that are not as they should be."""
        return _differing(self.result(library), wanted)


@dataclass(frozen=True)
class Signing:
    """Reads whose bins one kernel finds: of lengths around each that it tells apart."""

    name = "signatures"
    group = "order"

    def lines(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return letters, one of 50 no base, and begin and end of each read."""
        rng = np.random.default_rng(7)
        ends = np.cumsum(rng.integers(0, 160, 400))
        text = rng.choice(
            np.frombuffer(b"ACGTN", np.uint8), ends[-1], p=(0.3, 0.2, 0.2, 0.28, 0.02)
        )
        return text, np.append(0, ends[:-1]), ends

    def input(self) -> int:
        """Return the checksum of the reads."""
        return _of_array(*self.lines())

    def result(self, library: Any) -> Checksums:
        """Return the checksum of the bins."""
        sign = sign_lines if library is np else bins_of_lines
        return {"bins": _of_array(sign(*self.lines()))}

    def problems(self, wanted: Checksums, library: Any) -> list[str]:
        """Name the bins where they are not as they should be."""
        return _differing(self.result(library), wanted)


Setup: TypeAlias = Coding | Counting | Signing


def _bytes_of(array: npt.NDArray[Any]) -> bytes:
    """Return its bytes in C order, little-endian: the same on every machine."""
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def _of_array(*arrays: npt.NDArray[Any]) -> int:
    crc = 0
    for array in arrays:
        crc = checksum.crc32c(_bytes_of(array), crc)
    return crc


def _differing(found: Checksums, wanted: Checksums) -> list[str]:
    """Name the parts that differ; the frame as a whole only where no block does."""
    names = [name for name in {**wanted, **found} if name != INPUT]
    wrong = [name for name in names if found.get(name) != wanted.get(name)]
    return [name for name in wrong if name != FRAME] or wrong


@contextmanager
def _nothing_on_host() -> Iterator[None]:
    """Raise OnHost where a codec's GPU backend would have the CPU encode or decode."""

    def refuse(*_: object) -> None:
        raise OnHost

    host: Any = HostBackend
    kept = host.encode, host.decode
    host.encode = host.decode = refuse
    try:
        yield
    finally:
        host.encode, host.decode = kept


@contextmanager
def _plain_checksums() -> Iterator[None]:
    """Take every checksum by google_crc32c: the kernel for long ones would have to be compiled."""
    kept, checksum.SHORT = checksum.SHORT, sys.maxsize
    try:
        yield
    finally:
        checksum.SHORT = kept


# every specialisation of the counting kernel that users meet, and the largest
MODELS = {
    "DP-2": Model(),
    "DP-2, two strands": Model(strands=2),
    "DP-1": Model("dp1"),
    "DP-2, two strands, any D end": Model(strands=2, min_d_end=0),
    "DP-2, nothing": Model(max_p=0, max_n=0),
    "both, few": Model("both", max_p=1, max_n=3),
    "both, two strands": Model("both", strands=2),
    "V-D-D-J": Model(d_segments=2),
    "V-D-D-J, two strands, any D end": Model(strands=2, d_segments=2, min_d_end=0),
}
REFERENCES = 60
WORD_D = 56  # of a D gene: longer ones are counted on the CPU


def _parts(lengths: tuple[int, ...], seed: int) -> list[str]:
    """Return random sequences of these lengths."""
    letters = np.random.default_rng(seed).integers(0, 4, sum(lengths))
    text = "".join("ACGT"[letter] for letter in letters)
    ends = np.cumsum(lengths)
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def _batches() -> dict[str, Batch]:
    """Return references of all lengths that kernels tell apart, with D genes that they do."""
    ends = _parts((11, 12, 13, 14), 1), _parts((16, 18, 20, 22), 2)
    long = _parts((12, 30, 50, 70), 3), _parts((16, 30, 50, 70), 4)
    short_d, long_d = _parts((12, 14), 5), _parts((12, WORD_D, 9), 6)
    return {
        "no D": random_batch(ends[0], [], ends[1], REFERENCES),
        "short": random_batch(ends[0], short_d, ends[1], REFERENCES),
        "long": random_batch(long[0], long_d, long[1], REFERENCES),
    }


def setups() -> dict[str, Setup]:
    """Return all by name, of each group by turns: a time limit then leaves some of each."""
    codings: dict[str, list[Setup]] = {}
    for case in [*gpu_cases(), *variants()]:
        codings.setdefault(folder(case.codec_type), []).append(Coding(case))
    batches = _batches().items()
    counts: list[Setup] = [
        Counting(f"{model}, {genes}", batch, MODELS[model])
        for genes, batch in batches
        for model in MODELS
    ]
    in_turn = zip_longest(*codings.values(), counts, [Signing()])
    return {f"{s.group} {s.name}": s for some in in_turn for s in some if s is not None}


def problems(setup: Setup, wanted: Checksums | None) -> list[str]:
    """Work on a set-up on the device; return what differs from the CPU's, in words.

    Raises
    ------
    OnHost : nothing of it runs on the device
    """
    if wanted is None:
        return [f"no checksum in {CHECKSUMS.name}"]
    with _plain_checksums():
        if setup.input() != wanted[INPUT]:
            return ["its input is another here than where the checksums were made"]
        return setup.problems(wanted, cupy())


def made(setup: Setup) -> Checksums:
    """Return the checksums of a set-up, by the CPU."""
    return {INPUT: setup.input(), **setup.result(np)}


def known() -> dict[str, Checksums]:
    """Return the checksums that the CPU made, by the names of the set-ups."""
    found: dict[str, Checksums] = json.loads(CHECKSUMS.read_text())
    return found


def make() -> None:
    """Write the checksums, a line for each set-up."""
    lines = (f"{json.dumps(name)}: {json.dumps(made(s))}" for name, s in setups().items())
    CHECKSUMS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def check(chosen: Mapping[str, Setup]) -> bool:
    """Print a line for each set-up; return whether all are right."""
    wanted, all_right = known(), True
    for name, setup in chosen.items():
        try:
            found = problems(setup, wanted.get(name))
            said = "; ".join(found) or "right"
        except OnHost:
            found, said = [], "runs on the CPU"
        all_right = all_right and not found
        sys.stdout.write(f"{name}: {said}\n")
    return all_right


def main() -> int:
    """Write checksums, or hold a device against them; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--make", action="store_true", help=f"write {CHECKSUMS.name} by the CPU")
    if parser.parse_args().make:
        make()
        return 0
    try:
        return 0 if check(setups()) else 1
    except GangsawError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
