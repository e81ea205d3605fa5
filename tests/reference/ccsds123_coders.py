"""Entropy coders of the slow CCSDS 123.0-B: sample-adaptive (5.4.3.2), block-adaptive (121.0-B)."""

from __future__ import annotations

import math

from reference.ccsds123_header import BitReader, BitWriter, Setup


class Statistics:
    """Counter and accumulator of one band."""

    def __init__(self, setup: Setup, z: int) -> None:
        self.setup = setup
        k = setup.k if isinstance(setup.k, int) else setup.k[z]
        k = k if k <= 30 - setup.d else 2 * k + setup.d - 30
        self.gamma = 1 << setup.gamma_0
        self.sigma = ((3 * (1 << (k + 6)) - 49) * self.gamma) >> 7

    def code(self) -> int:
        """Return k of the next codeword."""
        threshold = self.sigma + ((49 * self.gamma) >> 7)
        k = 0
        while k < self.setup.d - 2 and self.gamma << (k + 1) <= threshold:
            k += 1
        return k

    def update(self, delta: int) -> None:
        if self.gamma < (1 << self.setup.gamma_star) - 1:
            self.sigma += delta
            self.gamma += 1
        else:
            self.sigma = (self.sigma + delta + 1) >> 1
            self.gamma = (self.gamma + 1) >> 1


class SampleEncoder:
    """One codeword per sample."""

    def __init__(self, setup: Setup, out: BitWriter) -> None:
        self.setup, self.out = setup, out
        self.statistics = [Statistics(setup, z) for z in range(setup.nz)]

    def put(self, z: int, t: int, delta: int) -> None:
        if t == 0:
            self.out.put(delta, self.setup.d)
            return
        k = self.statistics[z].code()
        if delta >> k < self.setup.u_max:
            self.out.unary(delta >> k)
            self.out.put(delta % (1 << k), k)
        else:
            self.out.put(0, self.setup.u_max)
            self.out.put(delta, self.setup.d)
        self.statistics[z].update(delta)

    def finish(self) -> None:
        """Nothing is pending."""


class SampleDecoder:
    """The inverse of SampleEncoder."""

    def __init__(self, setup: Setup, source: BitReader) -> None:
        self.setup, self.source = setup, source
        self.statistics = [Statistics(setup, z) for z in range(setup.nz)]

    def get(self, z: int, t: int) -> int:
        if t == 0:
            return self.source.get(self.setup.d)
        k = self.statistics[z].code()
        zeros = 0
        while zeros < self.setup.u_max and self.source.get(1) == 0:
            zeros += 1
        escaped = zeros == self.setup.u_max
        delta = self.source.get(self.setup.d if escaped else k) + (0 if escaped else zeros << k)
        self.statistics[z].update(delta)
        return delta


def identifier_bits(setup: Setup) -> int:
    """Width of a code option's identifier."""
    if setup.restricted:
        return 1 if setup.d <= 2 else 2
    return 3 if setup.d <= 8 else 4 if setup.d <= 16 else 5


def segment_blocks(setup: Setup, block: int, n_blocks: int) -> int:
    """Blocks from this one to the end of its segment, over which a run of zero blocks may go."""
    interval_end = min((block // setup.r + 1) * setup.r, n_blocks)
    in_interval = block % setup.r
    segment_end = block - in_interval + (in_interval // 64 + 1) * 64
    return min(segment_end, interval_end) - block


class BlockEncoder:
    """Collects all residuals and codes them in blocks of J at the end."""

    def __init__(self, setup: Setup, out: BitWriter) -> None:
        self.setup, self.out = setup, out
        self.values: list[int] = []
        self.width = identifier_bits(setup)

    def put(self, z: int, t: int, delta: int) -> None:
        self.values.append(delta)

    def finish(self) -> None:
        j = self.setup.j
        self.values += [0] * (-len(self.values) % j)
        blocks = [self.values[i : i + j] for i in range(0, len(self.values), j)]
        block = 0
        while block < len(blocks):
            if any(blocks[block]):
                self.put_block(blocks[block])
                block += 1
            else:
                block += self.put_zero_blocks(blocks, block)

    def put_zero_blocks(self, blocks: list[list[int]], first: int) -> int:
        limit = segment_blocks(self.setup, first, len(blocks))
        run = 1
        while run < limit and not any(blocks[first + run]):
            run += 1
        self.out.put(0, self.width + 1)
        if run < 5:
            self.out.unary(run - 1)
        else:
            self.out.unary(4 if run == limit else run)
        return run

    def put_block(self, block: list[int]) -> None:
        """Code with the shortest option; of equals no compression, extension, smallest k."""
        d, width, ones = self.setup.d, self.width, (1 << self.width) - 1
        pairs = [
            (a + b) * (a + b + 1) // 2 + b for a, b in zip(block[::2], block[1::2], strict=True)
        ]
        lengths = {"raw": len(block) * d, "extension": 1 + sum(pairs) + len(pairs)}
        for k in range(ones - 1):
            lengths[str(k)] = sum(v >> k for v in block) + len(block) * (k + 1)
        option = min(lengths, key=lambda name: lengths[name])  # the first of equals
        if option == "raw":
            self.out.put(ones, width)
            for v in block:
                self.out.put(v, d)
        elif option == "extension":
            self.out.put(1, width + 1)
            for pair in pairs:
                self.out.unary(pair)
        else:
            self.put_split(block, int(option))

    def put_split(self, block: list[int], k: int) -> None:
        self.out.put(k + 1, self.width)
        for v in block:
            self.out.unary(v >> k)
        for v in block:
            self.out.put(v % (1 << k), k)


class BlockDecoder:
    """The inverse of BlockEncoder; reads a block when its first value is asked for."""

    def __init__(self, setup: Setup, source: BitReader) -> None:
        self.setup, self.source = setup, source
        self.width = identifier_bits(setup)
        self.n_blocks = -(-setup.nz * setup.ny * setup.nx // setup.j)
        self.block = 0  # blocks read so far
        self.pending: list[int] = []

    def get(self, z: int, t: int) -> int:
        if not self.pending:
            self.pending = self.read()[::-1]
        return self.pending.pop()

    def read(self) -> list[int]:
        j, identifier = self.setup.j, self.source.get(self.width)
        if identifier == 0:
            return self.read_pairs() if self.source.get(1) else self.read_zero_blocks()
        self.block += 1
        if identifier == (1 << self.width) - 1:
            return [self.source.get(self.setup.d) for _ in range(j)]
        k = identifier - 1
        high = [self.source.unary() for _ in range(j)]
        return [(value << k) + self.source.get(k) for value in high]

    def read_pairs(self) -> list[int]:
        self.block += 1
        values = []
        for _ in range(self.setup.j // 2):
            code = self.source.unary()
            total = (math.isqrt(8 * code + 1) - 1) // 2
            b = code - total * (total + 1) // 2
            values += [total - b, b]
        return values

    def read_zero_blocks(self) -> list[int]:
        code = self.source.unary()
        limit = segment_blocks(self.setup, self.block, self.n_blocks)
        run = limit if code == 4 else code + 1 if code < 4 else code
        if run > limit:
            raise ValueError(f"run of {run} zero blocks, segment has {limit}")
        self.block += run
        return [0] * (run * self.setup.j)
