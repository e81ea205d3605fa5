"""Bit fields of a header, most significant bit first: writer and reader use the same tables."""

from __future__ import annotations

from gangsaw.codecs.core.errors import CorruptChunk

Fields = tuple[tuple[str, int], ...]  # names and widths in bits
RESERVED = ""  # name of a field of zeros


class HeaderWriter:
    """Writer of whole-byte groups of fields, appended to `data`."""

    def __init__(self) -> None:
        self.data = bytearray()

    def put(self, fields: Fields, values: dict[str, int]) -> None:
        """Append fields of a whole number of bytes, each modulo 2^width; missing values are 0."""
        word = width = 0
        for name, bits in fields:
            word = word << bits | values.get(name, 0) % (1 << bits)
            width += bits
        self.data += word.to_bytes(width // 8, "big")

    def table(self, elements: list[int], width: int) -> None:
        """Append elements of `width` bits, modulo 2^width, padded to whole bytes with zeros."""
        text = "".join(format(element % (1 << width), f"0{width}b") for element in elements)
        text += "0" * (-len(text) % 8)
        self.data += int("0" + text, 2).to_bytes(len(text) // 8, "big")


class HeaderReader:
    """Reader of fields from the start of `data`; raises CorruptChunk past its end."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data
        self.position = 0  # bits

    @property
    def n_bytes(self) -> int:
        """Bytes read so far, at a byte boundary."""
        return self.position // 8

    def skip(self, width: int) -> None:
        """Skip `width` bits."""
        if self.position + width > 8 * len(self.data):
            raise CorruptChunk(f"the stream of {len(self.data)} bytes ends within its header")
        self.position += width

    def bits(self, width: int) -> int:
        """Return the next `width` bits as an unsigned number."""
        first = self.position
        self.skip(width)
        last = (self.position + 7) // 8
        word = int.from_bytes(self.data[first // 8 : last], "big")
        return word >> (8 * last - self.position) & ((1 << width) - 1)

    def get(self, fields: Fields) -> dict[str, int]:
        """Return the values of the named fields; raise CorruptChunk if reserved bits are set."""
        values = {}
        for name, width in fields:
            value = self.bits(width)
            if name:
                values[name] = value
            elif value:
                raise CorruptChunk(f"header: reserved bit before bit {self.position} is set")
        return values

    def table(self, n_elements: int, width: int) -> list[int]:
        """Return n_elements numbers of `width` bits, and skip the padding to a whole byte."""
        start = self.position
        # rejects a count larger than the data before memory is allocated
        self.skip(n_elements * width)
        self.position = start
        elements = [self.bits(width) for _ in range(n_elements)]
        self.align()
        return elements

    def align(self) -> None:
        """Skip the zero bits up to the next byte."""
        if self.bits(-self.position % 8):
            raise CorruptChunk(f"header: fill bits before byte {self.n_bytes} are not zero")
