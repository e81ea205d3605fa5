"""Header (5.3) and bits of the slow CCSDS 123.0-B."""

from __future__ import annotations

from dataclasses import dataclass

WIDE_NEIGHBOR, NARROW_NEIGHBOR, WIDE_COLUMN, NARROW_COLUMN = range(4)


@dataclass
class Setup:
    """Everything a header says: the image's geometry and all choices of the encoder."""

    nz: int
    ny: int
    nx: int
    d: int = 16
    signed: bool = False
    p: int = 3
    full: bool = True
    local_sum: int = WIDE_NEIGHBOR
    r_bits: int = 64
    omega: int = 13
    t_inc: int = 64
    v_min: int = -1
    v_max: int = 3
    weights: list[list[int]] | None = None  # Lambda, one list per band
    q: int = 0
    weights_in_header: bool = True
    bsq: bool = True
    m: int = 0  # interleave depth of the BI order
    block_adaptive: bool = False
    b: int = 1  # bytes of an output word
    u_max: int = 18
    gamma_star: int = 6
    gamma_0: int = 1
    k: int | list[int] = 3
    j: int = 16
    r: int = 256
    restricted: bool = False
    user: int = 0
    supplementary: tuple[bytes, ...] = ()

    @property
    def s_min(self) -> int:
        return -(1 << (self.d - 1)) if self.signed else 0

    @property
    def s_max(self) -> int:
        return self.s_min + (1 << self.d) - 1

    @property
    def s_mid(self) -> int:
        return 0 if self.signed else 1 << (self.d - 1)


def write_header(out: BitWriter, c: Setup) -> None:
    """Append a whole header."""
    out.fields((c.user, 8), (c.nx, 16), (c.ny, 16), (c.nz, 16), (c.signed, 1), (0, 1))
    out.fields((c.d > 16, 1), (c.d, 4), (c.bsq, 1), (0 if c.bsq else c.m, 16), (0, 2), (c.b, 3))
    out.fields((2 if c.block_adaptive else 0, 2), (0, 5), (len(c.supplementary), 4))
    for table in c.supplementary:
        for byte in table:
            out.put(byte, 8)
    write_predictor(out, c)
    write_coder(out, c)


def write_predictor(out: BitWriter, c: Setup) -> None:
    custom = c.weights is not None
    out.fields((0, 2), (c.p, 4), (not c.full, 1), (0, 1), (c.local_sum, 2), (c.r_bits, 6))
    out.fields((c.omega - 4, 4), (c.t_inc.bit_length() - 5, 4), (c.v_min + 6, 4), (c.v_max + 6, 4))
    out.fields((0, 1), (custom, 1), (custom and c.weights_in_header, 1), (c.q, 5))
    if c.weights is not None and c.weights_in_header:
        for band in c.weights:
            for weight in band:
                out.put(weight % (1 << c.q), c.q)
        out.align()


def write_coder(out: BitWriter, c: Setup) -> None:
    if c.block_adaptive:
        out.fields((0, 1), (c.j.bit_length() - 4, 2), (c.restricted, 1), (c.r, 12))
        return
    out.fields((c.u_max, 5), (c.gamma_star - 4, 3), (c.gamma_0, 3))
    if isinstance(c.k, int):
        out.fields((c.k, 4), (0, 1))
        return
    out.fields((15, 4), (1, 1))
    for k in c.k:
        out.put(k, 4)
    out.align()


def read_header(source: BitReader) -> Setup:
    """Read a whole header, up to the first byte of the body."""
    c = Setup(1, 1, 1)
    c.user = source.get(8)
    c.nx, c.ny, c.nz = (source.get(16) or 1 << 16 for _ in range(3))
    c.signed = bool(source.get(1))
    source.get(1)
    wide = source.get(1)
    c.d = source.get(4) + 16 * wide or 16
    c.d = 32 if wide and c.d == 16 else c.d
    c.bsq = bool(source.get(1))
    c.m = source.get(16) or (0 if c.bsq else 1 << 16)
    source.get(2)
    c.b = source.get(3) or 8
    c.block_adaptive = source.get(2) == 2
    source.get(5)
    c.supplementary = tuple(read_supplementary(source, c) for _ in range(source.get(4)))
    read_predictor(source, c)
    read_coder(source, c)
    return c


def read_supplementary(source: BitReader, c: Setup) -> bytes:
    first = source.position
    kind = source.get(2)
    source.get(7)
    structure = source.get(2)
    source.get(5)
    count = (1, c.nz, c.nz * c.nx, c.ny * c.nx)[structure]
    if kind == 2:
        significand, exponent = source.get(5), source.get(3) or 8
        source.get(exponent)
        bits = 1 + exponent + significand
    else:
        bits = source.get(5) or 32
    source.get(count * bits)
    source.align()
    return source.data[first // 8 : source.position // 8]


def read_predictor(source: BitReader, c: Setup) -> None:
    source.get(2)
    c.p, c.full = source.get(4), not source.get(1)
    source.get(1)
    c.local_sum, c.r_bits = source.get(2), source.get(6) or 64
    c.omega, c.t_inc = source.get(4) + 4, 1 << (source.get(4) + 4)
    c.v_min, c.v_max = source.get(4) - 6, source.get(4) - 6
    source.get(2)
    c.weights_in_header = bool(source.get(1))
    c.q = source.get(5)
    if c.weights_in_header:
        lengths = [min(z, c.p) + (3 if c.full else 0) for z in range(c.nz)]
        c.weights = [[wrap(source.get(c.q), c.q) for _ in range(n)] for n in lengths]
        source.align()


def read_coder(source: BitReader, c: Setup) -> None:
    if c.block_adaptive:
        source.get(1)
        c.j, c.restricted, c.r = 8 << source.get(2), bool(source.get(1)), source.get(12) or 4096
        return
    c.u_max = source.get(5) or 32
    c.gamma_star, c.gamma_0 = source.get(3) + 4, source.get(3) or 8
    c.k = source.get(4)
    if source.get(1):
        c.k = [source.get(4) for _ in range(c.nz)]
        source.align()


class BitWriter:
    """Bits, most significant first."""

    def __init__(self) -> None:
        self.bits: list[str] = []
        self.length = 0

    def put(self, value: int, width: int) -> None:
        if width:
            self.bits.append(format(value, f"0{width}b"))
            self.length += width

    def fields(self, *fields: tuple[int, int]) -> None:
        """Put (value mod 2^width, width) for each field."""
        for value, width in fields:
            self.put(value % (1 << width), width)

    def unary(self, zeros: int) -> None:
        """Put that many zeros, then a one."""
        self.put(1, zeros + 1)

    def align(self, n_bytes: int = 1) -> None:
        self.put(0, -self.length % (8 * n_bytes))

    def to_bytes(self, word: int) -> bytes:
        """Fill with zeros to whole words of that many bytes."""
        self.align(word)
        return int("0" + "".join(self.bits), 2).to_bytes(self.length // 8, "big")


class BitReader:
    """The inverse of BitWriter."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bits = "".join(format(byte, "08b") for byte in data)
        self.position = 0

    def get(self, width: int) -> int:
        end = self.position + width
        if end > len(self.bits):
            raise ValueError("the stream ends within a codeword")
        value = int(self.bits[self.position : end] or "0", 2)
        self.position = end
        return value

    def unary(self) -> int:
        one = self.bits.find("1", self.position)
        if one < 0:
            raise ValueError("the stream ends within a codeword")
        zeros, self.position = one - self.position, one + 1
        return zeros

    def align(self) -> None:
        self.get(-self.position % 8)


def wrap(value: int, bits: int) -> int:
    """Two's complement of the given width: mod* of the standard."""
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
