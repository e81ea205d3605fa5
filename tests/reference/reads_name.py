"""The kind "name" of gangsaw.reads, from its SPEC.md."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from reference.reads_parts import (
    BitReader,
    BitWriter,
    Block,
    LaneReader,
    LaneWriter,
    Table,
    read_tables,
    write_tables,
)

N_STREAMS, PER_COLUMN, LEAD, COUNT = 1282, 20, 1280, 1281
TABLES_OF = [0, 0, 1, 9, 256, 9, 256, 9, 256]
OPERANDS = {0: [1], 1: [2, 3], 2: [4], 3: [5, 6], 4: [7], 5: [8, 9], 6: [10, 11, 12]}
LONG, TEXT, MATCH, DIGITS, MORE, VERSION, VARIANT = 13, 14, 15, 16, 17, 18, 19
DIGITS_OF = (b"0123456789abcdef", b"0123456789ABCDEF")
UUID_GROUPS = [3, 3, 2, 3, 1, 0, 3, 0, 3, 3, 3, 3, 3]  # 0: of a stream of its own
Line = list[tuple[int, list[bytes]]]  # operations with the tokens that they give


class Model(NamedTuple):
    """What lanes 0 and 1 say."""

    modes: list[int]
    tables: list[Table]
    template: list[bytes]


class Lane:
    """What both sides remember of a lane."""

    def __init__(self, model: Model) -> None:
        self.model = model
        sizes = [TABLES_OF[mode] for mode in model.modes]
        self.base = [sum(sizes[:stream]) for stream in range(N_STREAMS)]
        self.before: dict[int, int] = defaultdict(int)
        self.new_line()

    def new_line(self) -> None:
        self.operation = self.last = 0
        self.first: int | None = None

    def table(self, stream: int) -> Table | None:
        """Return the table of a stream's next byte; None where it is raw."""
        mode = self.model.modes[stream]
        assert mode > 0
        if mode == 1:
            return None
        last = self.operation if self.is_operation(stream) else self.last
        seen = [0, self.before[stream], last, self.first or 0][(mode - 1) // 2]
        place = [seen, seen.bit_length()][mode % 2] if mode > 2 else 0
        return self.model.tables[self.base[stream] + place]

    def note(self, stream: int, byte: int) -> None:
        self.before[stream] = byte
        if self.is_operation(stream):
            self.operation = byte
            if byte < 2:
                self.new_line()
            return
        self.last = byte
        if self.first is None:
            self.first = byte

    @staticmethod
    def is_operation(stream: int) -> bool:
        return stream < LEAD and stream % PER_COLUMN == 0


class Reader(Lane):
    """A lane that is read."""

    """A lane that is read."""

    def __init__(self, model: Model, data: bytes) -> None:
        super().__init__(model)
        self.coder = LaneReader(data)

    def byte(self, stream: int) -> int:
        table = self.table(stream)
        byte = self.coder.raw(8) if table is None else self.coder.symbol(table)
        self.note(stream, byte)
        return byte

    def counted(self, stream: int) -> int:
        n = self.byte(stream)
        assert n <= 40
        return 1 << n - 1 | self.coder.raw(n - 1) if n else 0

    def lines(self, n: int) -> list[Line]:
        lines: list[Line] = []
        old = self.model.template
        for _ in range(n):
            lines.append(self.line(old))
            old = tokens_of(lines[-1])
        return lines

    def line(self, old: list[bytes]) -> Line:
        line: Line = []
        tokens: list[bytes] = []
        while not line or line[-1][0] > 1:
            c = len(tokens)
            operation = self.byte(c * PER_COLUMN)
            assert operation < 2 or c < 63
            if operation == 1 or operation > 63:
                n = len(old) - c if operation == 1 else operation - 63
                assert c + n <= len(old)
                own = old[c : c + n]
            else:
                own = [self.token(operation, tokens, old)] if operation else []
            line.append((operation, own))
            tokens += own
        return line

    def token(self, operation: int, tokens: list[bytes], old: list[bytes]) -> bytes:
        c = len(tokens)
        part = c * PER_COLUMN
        if operation == 2:
            return bytes(iter(lambda: self.byte(part + TEXT), 10))
        if operation < 19:
            return self.number(operation - 3, part, old[c] if c < len(old) else b"")
        if operation == 19:
            return tokens[self.byte(part + MATCH)]
        letters = DIGITS_OF[operation % 2]
        if operation < 22:
            return self.uuid(part, letters)
        assert operation < 24
        n = self.byte(part + DIGITS)
        n += self.counted(part + MORE) if n == 255 else 0
        return b"".join(self.digits(min(3, n - i), letters) for i in range(0, n, 3))

    def number(self, which: int, part: int, old: bytes) -> bytes:
        padded, which = divmod(which, 8)
        if which == 7:
            value = self.counted(part + LONG)
        else:
            operand = bytes(self.byte(part + i) for i in OPERANDS[which])
            value = int.from_bytes(operand, "big")
            if which < 4:
                assert len(old) <= 18
                value = int(old or b"0") + (value if which < 2 else -value)
        assert value >= 0
        return b"%d" % value if not padded else (b"%d" % value).rjust(len(old), b"0")

    def uuid(self, part: int, letters: bytes) -> bytes:
        streams = iter((VERSION, VARIANT))
        digits = b"".join(
            self.digits(n, letters)
            if n
            else letters[(digit := self.byte(part + next(streams))) : digit + 1]
            for n in UUID_GROUPS
        )
        assert len(digits) == 32
        return b"-".join(digits[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))

    def digits(self, n: int, letters: bytes) -> bytes:
        value = self.coder.raw(4 * n)
        return bytes(letters[value >> 4 * i & 15] for i in reversed(range(n)))


class Writer(Lane):
    """As `Reader` reads."""

    """As `Reader` reads."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.coder = LaneWriter()

    def byte(self, stream: int, byte: int) -> None:
        table = self.table(stream)
        if table is None:
            self.coder.raw(byte, 8)
        else:
            self.coder.symbol(table, byte)
        self.note(stream, byte)

    def counted(self, stream: int, value: int) -> None:
        n = value.bit_length()
        self.byte(stream, n)
        if n:
            self.coder.raw(value - (1 << n - 1), n - 1)

    def lines(self, lines: list[Line]) -> None:
        old = self.model.template
        for line in lines:
            tokens: list[bytes] = []
            for operation, own in line:
                self.byte(len(tokens) * PER_COLUMN, operation)
                if 1 < operation < 64:
                    self.token(operation, own[0], tokens, old)
                tokens += own
            old = tokens

    def token(self, operation: int, token: bytes, tokens: list[bytes], old: list[bytes]) -> None:
        part = len(tokens) * PER_COLUMN
        if operation == 2:
            for byte in token + b"\n":
                self.byte(part + TEXT, byte)
        elif operation < 19:
            before = old[len(tokens)] if len(tokens) < len(old) else b""
            self.number((operation - 3) % 8, int(token), part, before)
        elif operation == 19:
            self.byte(part + MATCH, tokens.index(token))
        elif operation < 22:
            self.uuid(token.replace(b"-", b""), part)
        else:
            self.byte(part + DIGITS, min(255, len(token)))
            if len(token) >= 255:
                self.counted(part + MORE, len(token) - 255)
            for i in range(0, len(token), 3):
                self.digits(token[i : i + 3])

    def number(self, which: int, value: int, part: int, old: bytes) -> None:
        if which == 7:
            self.counted(part + LONG, value)
            return
        operand = abs(value - int(old or b"0")) if which < 4 else value
        for i, stream in reversed(list(enumerate(reversed(OPERANDS[which])))):
            self.byte(part + stream, operand >> 8 * i & 255)

    def uuid(self, digits: bytes, part: int) -> None:
        streams, at = iter((VERSION, VARIANT)), 0
        for n in UUID_GROUPS:
            if n:
                self.digits(digits[at : at + n])
            else:
                self.byte(part + next(streams), int(digits[at : at + 1], 16))
            at += max(1, n)

    def digits(self, digits: bytes) -> None:
        self.coder.raw(int(digits, 16), 4 * len(digits))


def recode(body: bytes, block: Block) -> tuple[bytes, bytes]:
    """Return the text of a block, and what follows its head, encoded again."""
    assert block.flags == 0
    model, rest = read_model(body)
    text, again = b"", write_model(model)
    for window in range(-(-block.n_bytes // block.lane)):
        begin = window * block.lane
        if len(text) >= min(begin + block.lane, block.used):
            continue
        reader, writer = Reader(model, rest), Writer(model)
        assert reader.counted(LEAD) == len(text) - begin
        lines = reader.lines(reader.counted(COUNT))
        rest = reader.coder.end()
        writer.counted(LEAD, len(text) - begin)
        writer.counted(COUNT, len(lines))
        writer.lines(lines)
        again += writer.coder.bytes()
        text += b"".join(b"".join(tokens_of(line)) + b"\n" for line in lines)
    assert rest == b""
    return text[:-1] if block.is_open else text, again


def tokens_of(line: Line) -> list[bytes]:
    return [token for _, own in line for token in own]


def read_model(body: bytes) -> tuple[Model, bytes]:
    bits = BitReader(body)
    modes = [bits.gamma() - 1 for _ in range(N_STREAMS)]
    n_tables = sum(TABLES_OF[mode] for mode in modes)
    assert n_tables <= 2048
    tables, rest = read_tables(bits.rest(), n_tables)
    n = rest[0]
    sizes = [int.from_bytes(rest[1 + 2 * i : 3 + 2 * i], "little") for i in range(n)]
    template, at = [], 1 + 2 * n
    for size in sizes:
        template.append(rest[at : at + size])
        at += size
    return Model(modes, tables, template), rest[at:]


def write_model(model: Model) -> bytes:
    bits = BitWriter()
    for mode in model.modes:
        bits.gamma(mode + 1)
    sizes = b"".join(len(token).to_bytes(2, "little") for token in model.template)
    lane = bytes([len(model.template)]) + sizes + b"".join(model.template)
    return bits.bytes() + write_tables(model.tables) + lane
