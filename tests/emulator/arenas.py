"""Chunks of device memory as CuPy's pool keeps them: cut from larger ones, joined when freed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class Chunk:
    """A part, of `size` bytes, of what was taken from the device in one piece.

    taken : lives as long as any chunk of it
    arena : where it lies when it is free
    before, after : its neighbours in the same piece
    """

    taken: object
    size: int
    arena: Arena
    before: Chunk | None = None
    after: Chunk | None = None

    def cut(self, size: int) -> Chunk | None:
        """Keep so many bytes; return the rest, if any."""
        if size == self.size:
            return None
        rest = Chunk(self.taken, self.size - size, self.arena, self, self.after)
        if self.after is not None:
            self.after.before = rest
        self.size, self.after = size, rest
        return rest

    def join(self, other: Chunk) -> None:
        """Take the neighbour behind, too."""
        self.size += other.size
        self.after = other.after
        if self.after is not None:
            self.after.before = self

    @property
    def whole(self) -> bool:
        return self.before is None and self.after is None


class Arena:
    """The free chunks of a stream: none goes to another stream, where work on it may still wait."""

    def __init__(self) -> None:
        self.free: list[Chunk] = []
        self.pending: list[Chunk] = []  # freed by a finalizer, while the pool was at work

    def insert(self, chunk: Chunk) -> None:
        """Free a chunk, in one with free neighbours."""
        after, before = chunk.after, chunk.before
        if after is not None and after in self.free:
            self.free.remove(after)
            chunk.join(after)
        if before is not None and before in self.free:
            self.free.remove(before)
            before.join(chunk)
            chunk = before
        self.free.append(chunk)

    def settle(self) -> None:
        """Free what is pending."""
        while self.pending:
            self.insert(self.pending.pop())

    def best_fit(self, size: int) -> Chunk | None:
        """Return so many bytes of the smallest free chunk that has them; its rest stays free."""
        self.settle()
        chunk = min(
            (one for one in self.free if one.size >= size), key=lambda one: one.size, default=None
        )
        if chunk is not None:
            self.free.remove(chunk)
            rest = chunk.cut(size)
            self.free += [] if rest is None else [rest]
        return chunk

    def let_go(self) -> int:
        """Forget the free chunks that are whole; return their bytes."""
        self.settle()
        whole = [one for one in self.free if one.whole]
        self.free = [one for one in self.free if not one.whole]
        return sum(one.size for one in whole)
