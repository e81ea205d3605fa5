"""No test depends on how long something takes: its time limits are the hang limit alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LIMIT = "HANG"
CLOCKS = {"monotonic", "perf_counter", "monotonic_ns", "perf_counter_ns"}
WAITS = {"wait", "join", "result", "acquire", "settimeout", "wait_for"}
IN_TEXT = re.compile(r"\btimeout=[\d.]+|\b(?:monotonic|perf_counter)\(")
# uses that do not make a passing test fail on a slow machine: file and code, with the reason
EXCEPTIONS = {
    "cluster/test_hosts.py: test_a_cable_that_is_pulled_for_a_while: time.sleep(PAUSE)": (
        "the fault lasts so long; nothing is assumed of what happened by then"
    ),
    "cluster/test_hosts.py: test_a_scheduler_that_hangs_is_waited_for_and_told: "
    "time.sleep(PAUSE)": ("the fault lasts so long at least, and until the line about it comes"),
    "cluster/test_tls.py: Client(as_told(address, stranger), timeout=2, security=stranger)": (
        "it has to expire: Dask tries again and again where TLS fails"
    ),
    "emulator/streams.py: time.perf_counter": "no test compares times of CuPy's events",
    "fuzz/child.py: time.monotonic": "how long a run that is limited by time goes on",
    "fuzz/runs.py: time.monotonic": "how long a run that is limited by time goes on",
    "helpers/fault_proxy.py: ClientSession(connector=TCPConnector(limit=0), "
    "timeout=ClientTimeout(None), auto_decompress=False)": "aiohttp's form of None",
    "helpers/hang.py: time.monotonic": "the hang limit itself",
    "helpers/job_script.py: for first in range(0, len(rows), ROWS): sleep": (
        "a source that is slow, so that a kill finds it at work"
    ),
    "helpers/slurm.py: time.monotonic": "after that time daemons are killed; no test fails",
    "kills/__main__.py: time.time": "a seed",
    "kills/killing.py: process.wait(timeout=self.rng.uniform(0.0, 1.0) * self.seconds)": (
        "when a process is killed; any time does"
    ),
    "kills/killing.py: time.monotonic": "how long a run takes, so that kills find it at work",
    "tasks/jobs/test_kill.py: process.wait(timeout=rng.uniform(0.0, 0.8))": (
        "when a process is killed; any time does"
    ),
    "tasks/jobs/test_kill.py: time.time": "a seed",
    "tasks/store/test_lease.py: time.time": "the age of a file that the test dates back",
    "test_names.py: test_names_are_the_same_in_two_processes: time.sleep(SECOND)": (
        "two processes that begin in different seconds, which is the least that lies between them"
    ),
}


def problems(code: str) -> Iterator[str]:
    """Yield each use of a clock, time limit or sleep that the rules do not allow."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if _is_clock(node):
            yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            if not all(map(_is_allowed, _limits(node))):
                yield ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from IN_TEXT.findall(node.value)
        elif isinstance(node, ast.For) and _sleeps(node.body):
            yield f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}: sleep"
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield from (f"{node.name}: {ast.unparse(call)}" for call in _sleeps(node.body))


def _is_clock(node: ast.AST) -> bool:
    """Return True for `time.monotonic` and the like, and for an import of any name from `time`."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "time"
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in CLOCKS or ast.unparse(node) == "time.time"


def _limits(call: ast.Call) -> list[ast.expr]:
    """Return what a call says of time: the keyword `timeout`, and numbers in calls that wait."""
    named = [word.value for word in call.keywords if word.arg and word.arg.endswith("timeout")]
    function = call.func
    is_method = isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Constant)
    name = function.attr if is_method else ""
    return named + [arg for arg in call.args if name in WAITS and _is_number(arg)]


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id.isupper() and node.id != LIMIT
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _is_allowed(limit: ast.expr) -> bool:
    if isinstance(limit, ast.Constant):
        return limit.value is None
    return isinstance(limit, ast.Name) and limit.id == LIMIT


def _sleeps(body: list[ast.stmt]) -> list[ast.Call]:
    """Return the calls of a sleep in statements, those of functions within them apart."""
    found, left = [], list[ast.AST](body)
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "sleep":
            found.append(node)
        left += ast.iter_child_nodes(node)
    return found


def test_tests_have_no_time_limit_but_one() -> None:
    found = {
        f"{path.relative_to(TESTS).as_posix()}: {problem}"
        for path in TESTS.rglob("*.py")
        if "benchmarks" not in path.parts and path != Path(__file__)
        for problem in problems(path.read_text())
    }
    assert sorted(found - EXCEPTIONS.keys()) == []
    assert sorted(EXCEPTIONS.keys() - found) == [], "exceptions that nothing needs"
    assert all(EXCEPTIONS.values())


@pytest.mark.parametrize(
    "code",
    [
        "assert time.monotonic() - began < 5",
        "end = time.perf_counter() + 10",
        "from time import monotonic",
        "process.wait(timeout=30)",
        "process.wait(timeout=SECONDS)",
        "process.wait(30)",
        "thread.join(LONG)",
        "queue.get(timeout=rng.uniform(0, 1))",
        "CODE = 'run(command, timeout=30)'",
        "for _ in range(100):\n    time.sleep(0.1)",
        "def test_it():\n    with job():\n        time.sleep(0.1)",
    ],
)
def test_what_is_found(code: str) -> None:
    assert [*problems(code)]


@pytest.mark.parametrize(
    "code",
    [
        "process.wait(timeout=HANG)",
        "process.wait(HANG)",
        "subprocess.run(command, timeout=None)",
        "text.join(names)",
        "began = time.process_time()",
        "def test_it():\n    def slow():\n        time.sleep(0.1)",
    ],
)
def test_what_is_allowed(code: str) -> None:
    assert [*problems(code)] == []
