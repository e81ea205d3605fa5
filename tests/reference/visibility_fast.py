"""Lanes and the kind "fast" of gangsaw.visibility in slow plain Python, from its SPEC.md."""

from __future__ import annotations

from collections.abc import Iterator

LANES = ROWS = 32
KIND = 2
EXPONENTS, GRID, PREDICTED = 0, 1, 2
LORENZO, FREQUENCY, TIME = 1, 2, 3
GRIDS = 4
FRACTION = {16: 10, 32: 23, 64: 52}
ORDER = (0, 4, 1, 5, 2, 6, 3, 7)

Extents = tuple[int, int, int, int]  # component, rest, frequency, time
Table = list[list[int]]


class Lanes:
    """Where each word of a block is in its table."""

    def __init__(self, extents: Extents) -> None:
        self.extents = extents
        components, rest, frequencies, times = extents
        folds_time = frequencies == 1
        extent = times if folds_time else frequencies
        series = components * rest
        self.piece = -(-extent // max(1, min(LANES // series, extent)))
        self.folds_time = folds_time
        self.times = self.piece if folds_time else times
        self.rows = self.piece * (1 if folds_time else times)  # of a strip
        self.strips = -(-(-(-extent // self.piece) * series) // LANES)

    def places(self) -> Iterator[tuple[int, int]]:
        """Row and lane of each word, in the order of the words."""
        components, rest, frequencies, times = self.extents
        for c in range(components):
            for r in range(rest):
                for f in range(frequencies):
                    for t in range(times):
                        segment, place = divmod(t if self.folds_time else f, self.piece)
                        lane = (segment * rest + r) * components + c
                        row = place if self.folds_time else place * times + t
                        yield lane // LANES * self.rows + row, lane % LANES

    def table(self, words: list[int]) -> Table:
        """Lay words out; 0 where there is none."""
        table = [[0] * LANES for _ in range(self.strips * self.rows)]
        for (row, lane), word in zip(self.places(), words, strict=True):
            table[row][lane] = word
        return table

    def prediction(self, table: Table, row: int, lane: int, predictor: int) -> int:
        """Predict a word from rows above it in its strip."""
        if row >= self.strips * self.rows:  # it fills up the last tile
            return table[self.strips * self.rows - 1][lane]
        f, t = divmod(row % self.rows, self.times)

        def at(df: int, dt: int) -> int:
            return table[row - df * self.times - dt][lane] if f >= df and t >= dt else 0

        if predictor == LORENZO:
            return at(0, 1) + at(1, 0) - at(1, 1)
        if predictor == FREQUENCY:
            return 2 * at(1, 0) - at(2, 0) if f > 1 else at(1, 0) if f else at(0, 1)
        return 2 * at(0, 1) - at(0, 2) if t > 1 else at(0, 1) if t else at(1, 0)


def encode(words: list[int], extents: Extents, width: int) -> bytes:
    """Return a payload of kind 2."""
    lanes = Lanes(extents)
    table = lanes.table(words)
    table += [table[-1]] * (-len(table) % ROWS)
    mode = choose_mode(table, lanes, width)
    tiles = [
        [group(table, first, lane, mode, lanes, width) for lane in range(LANES)]
        for first in range(0, len(table), ROWS)
    ]
    heads = b"".join(header(tile, width) for tile in tiles)
    return bytes([KIND, mode]) + heads + b"".join(planes(tile, width) for tile in tiles)


def choose_mode(table: Table, lanes: Lanes, width: int) -> int:
    """Try all modes on a few tiles."""
    count = len(table) // ROWS
    frequencies = lanes.rows // lanes.times
    second = FREQUENCY if frequencies > 2 else TIME

    def cost(mode: int) -> int:
        widths = 0
        for tile in range(min(3, count - 1), count, max(8, count // 4)):
            for lane in range(LANES):
                widths += group(table, tile * ROWS, lane, mode, lanes, width)[0]
        return widths * (17 if mode else 16)

    return min((0, LORENZO, second, 4, 4 + LORENZO, 4 + second), key=lambda m: (cost(m), m))


def group(
    table: Table, first: int, lane: int, mode: int, lanes: Lanes, width: int
) -> tuple[int, int, int, list[int]]:
    """Return width, kind, base and values of a group: of the shortest kind that the mode has."""
    words = [table[row][lane] for row in range(first, first + ROWS)]
    kinds = [exponents(words, width)]
    if mode & GRIDS:
        kinds += grid(words, width)
    if mode % GRIDS:
        rows = range(first, first + ROWS)
        guesses = [lanes.prediction(table, row, lane, mode % GRIDS) for row in rows]
        kinds.append(
            (PREDICTED, 0, [zigzag(w - g, width) for w, g in zip(words, guesses, strict=True)])
        )
    sized = [(max(values).bit_length(), kind, base, values) for kind, base, values in kinds]
    return min(sized, key=lambda one: one[:2])


def exponents(words: list[int], width: int) -> tuple[int, int, list[int]]:
    """Sign last, exponents counted from the least one."""
    turned = [word << 1 & (1 << width) - 1 | word >> width - 1 for word in words]
    base = min(turned) >> FRACTION[width] + 1
    return EXPONENTS, base, [value - (base << FRACTION[width] + 1) for value in turned]


def grid(words: list[int], width: int) -> list[tuple[int, int, list[int]]]:
    """Whole multiples of a power of two with their sign; none where there are other words."""
    fraction = FRACTION[width]
    top = most_exponent(width)
    parts = [(word >> fraction & top, word & (1 << fraction) - 1) for word in words]
    normal = [(e, m | 1 << fraction) for e, m in parts if e]
    if not normal or any(e == top or (e == 0 and m) for e, m in parts):
        return []
    base = min(e + (m & -m).bit_length() - 1 for e, m in normal)
    base = min(base, 255) if width == 32 else base
    values = []
    for word, (e, m) in zip(words, parts, strict=True):
        steps = (m | 1 << fraction) << e >> base if e else 0
        values.append(steps << 1 | word >> width - 1)
    return [(GRID, base, values)]


def most_exponent(width: int) -> int:
    """Exponent field of infinities."""
    return (1 << width - 1 - FRACTION[width]) - 1


def zigzag(difference: int, width: int) -> int:
    """Map differences modulo 2^width to what is small where they are near 0."""
    difference &= (1 << width) - 1
    signed = difference - (1 << width) if difference >> width - 1 else difference
    return 2 * signed if signed >= 0 else -2 * signed - 1


def header(tile: list[tuple[int, int, int, list[int]]], width: int) -> bytes:
    """Return the headers of a tile: all their first octets, then all second ones and so on."""
    octets = []
    for size, kind, base, _ in tile:
        if width == 64:
            octets.append((size, base & 255, base >> 8 | kind << 6))
        else:
            octets.append((size | kind << 6, base))
    return b"".join(bytes(octet) for octet in zip(*octets, strict=True))


def columns(width: int) -> Iterator[tuple[int, int]]:
    """Lane and first bit of the columns of 32 bits of a tile, in the order of their planes."""
    halves = 2 if width == 64 else 1
    every = [(lane, 32 * half) for lane in range(LANES) for half in range(halves)]
    for first in range(0, len(every), 8):
        yield from (every[first + i] for i in ORDER)


def planes(tile: list[tuple[int, int, int, list[int]]], width: int) -> bytes:
    """Return the bit planes of a tile."""
    out = []
    for lane, low in columns(width):
        size, _, _, values = tile[lane]
        for bit in range(low, min(size, low + 32)):
            out.append(sum((value >> bit & 1) << row for row, value in enumerate(values)))
    return b"".join(plane.to_bytes(4, "little") for plane in out)


def decode(data: bytes, extents: Extents, width: int) -> list[int]:
    """Return the words of a payload of kind 2."""
    assert data[0] == KIND
    lanes = Lanes(extents)
    n_rows = lanes.strips * lanes.rows
    count = -(-n_rows // ROWS)
    octets = 3 if width == 64 else 2
    at = 2 + count * LANES * octets
    table: Table = [[0] * LANES for _ in range(count * ROWS)]
    for tile in range(count):
        head = data[2 + tile * LANES * octets :][: LANES * octets]
        groups = [read_header(head[lane::LANES], width) for lane in range(LANES)]
        values, at = read_planes(data, at, groups, width)
        for row in range(tile * ROWS, min(tile * ROWS + ROWS, n_rows)):
            for lane, (_, kind, base) in enumerate(groups):
                value = values[lane][row % ROWS]
                guess = lanes.prediction(table, row, lane, data[1] % GRIDS)
                table[row][lane] = restore(value, kind, base, guess, width)
    assert at == len(data)
    return [table[row][lane] for row, lane in lanes.places()]


def read_header(octets: bytes, width: int) -> tuple[int, int, int]:
    """Width, kind and base of a group."""
    if width == 64:
        return octets[0], octets[2] >> 6, octets[1] | (octets[2] & 63) << 8
    return octets[0] & 63, octets[0] >> 6, octets[1]


def read_planes(
    data: bytes, at: int, groups: list[tuple[int, int, int]], width: int
) -> tuple[Table, int]:
    """Return the values of each lane of a tile, and where its planes end."""
    values = [[0] * ROWS for _ in range(LANES)]
    for lane, low in columns(width):
        for bit in range(low, min(groups[lane][0], low + 32)):
            plane = int.from_bytes(data[at : at + 4], "little")
            at += 4
            for row in range(ROWS):
                values[lane][row] |= (plane >> row & 1) << bit
    return values, at


def restore(value: int, kind: int, base: int, guess: int, width: int) -> int:
    """Return the word of a value."""
    fraction = FRACTION[width]
    if kind == PREDICTED:
        return (guess + (value >> 1 if value % 2 == 0 else -(value >> 1) - 1)) % (1 << width)
    if kind == EXPONENTS:
        turned = value + (base << fraction + 1)
        return turned >> 1 | (turned & 1) << width - 1
    steps, sign = value >> 1, value & 1
    if steps == 0:
        return sign << width - 1
    exponent = base + steps.bit_length() - 1 - fraction
    shift = fraction + 1 - steps.bit_length()
    significand = steps << shift if shift >= 0 else steps >> -shift
    return sign << width - 1 | exponent << fraction | significand - (1 << fraction)
