"""Mutations of Python source: which there are, and a seeded draw of them.

A mutation replaces one expression or statement of one function by a similar one that is wrong.
Messages, docstrings and annotations are left alone.
"""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("codecs", "tasks", "cluster", "src")
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
}


@dataclass(frozen=True)
class Mutation:
    """One replacement in one file.

    Attributes
    ----------
    group : of `GROUPS`
    file : path in the repository
    function : qualified name of the outermost function or method around it
    kind : class of the changed node of `ast`
    line : 1-based
    start, stop : byte offsets of what is replaced
    before, after : text that is replaced, and its replacement
    """

    group: str
    file: str
    function: str
    kind: str
    line: int
    start: int
    stop: int
    before: str
    after: str

    def apply(self, root: Path) -> None:
        """Write the mutated file below `root`."""
        path = root / self.file
        data = path.read_bytes()
        path.write_bytes(data[: self.start] + self.after.encode() + data[self.stop :])

    def undo(self, root: Path) -> None:
        """Write the file as it was."""
        path = root / self.file
        data = path.read_bytes()
        stop = self.start + len(self.after.encode())
        path.write_bytes(data[: self.start] + self.before.encode() + data[stop:])


def group_of(file: str, text: str) -> str:
    """Return the group of a file: kernels, formats, store, jobs, commands; "" for no group."""
    parts = file.split("/")
    if "numba.jit import" in text:
        return "kernels"
    if "commands" in parts or "console" in parts or file.startswith("src/gangsaw/cli/"):
        return "commands"
    if parts[:2] == ["tasks", "formats"] or "formats" in file or "files" in parts:
        return "formats"
    if parts[:2] == ["tasks", "store"] or "store" in parts or "stored" in parts:
        return "store"
    if parts[:2] in (["tasks", "jobs"], ["tasks", "engine"]):
        return "jobs"
    return ""


GROUPS = ("kernels", "formats", "store", "jobs", "commands")


def draw(root: Path, count: int, seed: int) -> list[Mutation]:
    """Return `count` mutations: equally many of each group, at most one of a function."""
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        group = group_of(name, path.read_text())
        files[group].append(name)
    rng = random.Random(seed)
    drawn: list[Mutation] = []
    for group in GROUPS:
        waiting = files[group]
        rng.shuffle(waiting)
        taken: set[tuple[str, str]] = set()
        while len(taken) < count // len(GROUPS):
            name = waiting.pop(0)
            waiting.append(name)
            found = [m for m in mutations(root, name) if (name, m.function) not in taken]
            if found:
                function = rng.choice(sorted({m.function for m in found}))
                found = [m for m in found if m.function == function]
                kinds = {m.kind for m in found}
                kind = rng.choice(sorted(kinds - {"Return"}) or ["Return"])  # the easiest to find
                drawn.append(rng.choice([m for m in found if m.kind == kind]))
                taken.add((name, function))
    return drawn


def mutations(root: Path, file: str) -> list[Mutation]:
    """Return all mutations of a file."""
    data = (root / file).read_bytes()
    text = data.decode()
    group = group_of(file, text)
    source = _Source(data)
    return [
        Mutation(group, file, function, kind, source.line(start), start, stop, before, after)
        for function, node in _functions(ast.parse(text))
        for kind, start, stop, after in _replacements(node, source, is_kernel=group == "kernels")
        if (before := data[start:stop].decode()) != after
    ]


class _Source:
    """Byte offsets of a file by line and column, as `ast` counts them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines = [0]
        for line in data.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def stop(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def line(self, offset: int) -> int:
        return self.data.count(b"\n", 0, offset) + 1


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield functions and methods with their qualified names; inner ones belong to the outer."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _replacements(
    function: ast.FunctionDef, source: _Source, *, is_kernel: bool
) -> Iterator[tuple[str, int, int, str]]:
    """Yield kind, start, stop and replacement of every mutation of a function's body."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.AnnAssign):
            waiting.extend([node.value] if node.value else [])
            continue
        if isinstance(node, ast.FunctionDef):
            waiting.extend(node.body)
            continue
        waiting.extend(ast.iter_child_nodes(node))
        for replacement in _of_node(node, source, is_kernel=is_kernel):
            yield type(node).__name__, *replacement


def _of_node(node: ast.AST, source: _Source, *, is_kernel: bool) -> Iterator[tuple[int, int, str]]:
    if isinstance(node, ast.Compare):
        ends = [node.left, *node.comparators]
        for left, operator, right in zip(ends, node.ops, node.comparators, strict=False):
            yield from _between(source, left, right, COMPARED.get(type(operator)), None)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        old, new = COMPUTED[type(node.op)]
        is_text = any(
            isinstance(side, ast.Constant | ast.JoinedStr) and not _number(side)
            for side in (node.left, node.right)
        )
        if not is_text:
            yield from _between(source, node.left, node.right, new, old)
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        yield from _between(source, node.values[0], node.values[1], new, old)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start, stop = source.start(node), source.start(node.operand)
        yield start, stop, source.data[start:stop].decode().replace("not", "", 1).lstrip()
    elif isinstance(node, ast.Constant) and _number(node):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield source.start(node), source.stop(node), repr(value)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield source.start(node), source.stop(node), "pass"
    elif isinstance(node, ast.Return) and not is_kernel:
        constant = isinstance(node.value, ast.Constant | None)
        yield from [] if constant else [(source.start(node), source.stop(node), "return None")]


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float)


def _between(
    source: _Source, left: ast.expr, right: ast.expr, new: str | None, old: str | None
) -> Iterator[tuple[int, int, str]]:
    """Yield the operator between two operands, where nothing but blanks and brackets is there."""
    start, stop = source.stop(left), source.start(right)
    words = source.data[start:stop].decode()
    found = words.strip(" ()\n")
    if new is None or "#" in found or (old is not None and found != old):
        return
    at = start + len(words[: words.index(found)].encode())
    yield at, at + len(found.encode()), new
