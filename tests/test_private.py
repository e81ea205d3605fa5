"""Private names of other libraries that the package uses: the reason for the bounds above them.

Every attribute that begins with "_", of an object that is not our own, stands in `USED`, under the
file that takes it. Those of Numba and Zarr are looked for in the class that has them, as are the
methods of theirs that classes of ours replace.
"""

from __future__ import annotations

import ast
import inspect
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from helpers.imports import package
from packaging.requirements import Requirement

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
CODEC = "zarr.codecs.BytesCodec"
LIBRARY = "numba.core.codegen.CPUCodeLibrary"
USED = {
    "codecs/core/numba/private.py": {
        "_cache": "numba.core.dispatcher.Dispatcher",
        "_compilation_chain_init_hook": "numba.core.dispatcher._DispatcherBase",
        "_final_module": LIBRARY,
        "_finalize_final_module": LIBRARY,
        "_getvalue": "numba.core.cgutils._StructProxy",
        "_internal_codegen": "numba.core.cpu.CPUContext",
        "_rebuild": "numba.core.compiler.CompileResult",
        "_reduce": "numba.core.compiler.CompileResult",
    },
    "tasks/jobs/choice/registered.py": {"_decode_sync": CODEC, "_encode_sync": CODEC},
    "tasks/formats/python_objects/xarray_stores.py": {"_store": "zarr.storage.WrapperStore"},
    "tasks/store/objects/arrays_only.py": {"_store": "zarr.storage.WrapperStore"},
    "tasks/store/arrays/codec_pipeline.py": {"_decode_sync": CODEC, "_encode_sync": CODEC},
    "tasks/store/source.py": {"_async_array": "zarr.Array"},
    "tasks/store/objects/zipped.py": {"_sync_open": "zarr.storage.ZipStore"},
    # of others
    "cluster/launchers/slurm.py": {"_call": "dask_jobqueue"},
    "codecs/core/memory/threads.py": {"_instances": "distributed"},
    "tasks/engine/distributed/handshake.py": {"_run": "distributed"},
    "tasks/formats/hdf5/item_types.py": {"_h5ds": "h5netcdf", "_h5path": "h5netcdf"},
    "tasks/formats/hdf5/open.py": dict.fromkeys(
        ("_all_dimensions", "_h5ds", "_parent", "_root"), "h5netcdf"
    ),
    "tasks/formats/netcdf/layout.py": {"_h5group": "h5netcdf"},
    "tasks/formats/hdf5/source.py": dict.fromkeys(("_h5ds", "_h5group", "_h5path"), "h5netcdf"),
    "tasks/formats/python_objects/blocks.py": {"_meta": "dask"},
    "tasks/formats/python_objects/xarray_objects.py": {"_in_memory": "xarray"},
    "tasks/sources/open_files.py": {"_run": "distributed"},
    "tasks/radio/uvdata/export.py": {"_check_for_cat_type": "pyuvdata"},
    "tasks/store/objects/remote.py": {
        **dict.fromkeys(
            ("_exists", "_find", "_fs_token", "_info", "_pipe_file", "_rm_file"), "fsspec"
        ),
        **dict.fromkeys(("_s3creator", "_session"), "s3fs"),
    },
}
REPLACED = {
    "codecs/core/numba/private.py": {
        **dict.fromkeys(
            ("_get_host_cpu_features", "_get_host_cpu_name"), "numba.core.codegen.CPUCodegen"
        ),
        **dict.fromkeys(("_finalize_final_module", "_optimize_final_module"), LIBRARY),
    },
    "tasks/store/objects/arrays_only.py": {"_with_store": "zarr.storage.WrapperStore"},
    # Numba's metaclass writes it into every type
    "codecs/core/numba/vectors/floats.py": {"_is_internal": "numba.types.Type"},
    "codecs/core/numba/vectors/integers.py": {"_is_internal": "numba.types.Type"},
    "codecs/core/zarr/block_codec.py": dict.fromkeys(
        ("_decode_single", "_encode_single"), "zarr.abc.codec.BaseCodec"
    ),
    "codecs/core/zarr/bytes_codec.py": dict.fromkeys(
        ("_decode_single", "_encode_single"), "zarr.abc.codec.BaseCodec"
    ),
    "tasks/store/objects/remote.py": {"_with_store": "zarr.storage.WrapperStore"},
    "tasks/store/state/missing.py": {"_with_store": "zarr.storage.WrapperStore"},
}
OWN = {"_asdict", "_fields", "_make", "_replace"}  # of named tuples
OWN |= {"_exit", "_getframe", "_lru_cache_wrapper"}  # of os, sys and functools
OWN |= {"_FillValue", "_Netcdf4Dimid", "_nc3_strict", "_nc4_non_coord_"}  # words of NetCDF
OWN |= {"_pack"}  # of tasks/store/state/records.py
WITH_NAME = {"getattr", "hasattr", "setattr"}
BOUNDED = {"numba", "zarr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def taken(code: str) -> Iterator[str]:
    """Private names of objects other than `self` and `cls`, and names that begin so in strings."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if ast.unparse(node.value) not in ("self", "cls", "super()"):
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module:
            top = node.module.partition(".")[0]
            yield from (one.name for one in node.names if top != "gangsaw" and is_private(one.name))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in WITH_NAME:
            yield from (text for arg in node.args[1:2] for text in _texts(arg) if is_private(text))
        elif isinstance(node, ast.Assign):  # names for `getattr`, as cache.py has one
            yield from (t for t in _texts(node.value) if is_private(t) and t.isidentifier())


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def found() -> dict[str, set[str]]:
    """Private names that are not our own, by file."""
    files = {path: set(taken(code)) - OWN for path, code in package().items() if path[-3:] == ".py"}
    return {path: names for path, names in files.items() if names}


def replaced() -> dict[str, set[str]]:
    """Private methods of Numba's and Zarr's classes that classes of ours replace, by file."""
    names: dict[str, set[str]] = {}
    for path, code in package().items():
        if path.endswith(".py") and "\nclass " in code and any(top in code for top in BOUNDED):
            names[path] = {name for kind in _classes(path) for name in _replaced_by(kind)}
    return names


def _classes(path: str) -> Iterator[type]:
    name = ".".join(["gangsaw", *path.removesuffix(".py").removesuffix("/__init__").split("/")])
    found = vars(import_module(name)).values()
    yield from (value for value in found if isinstance(value, type) and value.__module__ == name)


def _replaced_by(kind: type) -> Iterator[str]:
    theirs = [base for base in kind.__mro__ if base.__module__.partition(".")[0] in BOUNDED]
    mine = filter(is_private, vars(kind))
    yield from (name for name in mine if any(name in vars(base) for base in theirs))


def test_the_list_is_whole() -> None:
    assert found() == {path: set(names) for path, names in USED.items()}


def test_the_list_of_replaced_methods_is_whole() -> None:
    there = {path: names - {"_abc_impl"} for path, names in replaced().items()}
    assert {p: n for p, n in there.items() if n} == {p: set(n) for p, n in REPLACED.items()}


OWNERS = sorted(
    {
        (owner, name)
        for names in (*USED.values(), *REPLACED.values())
        for name, owner in names.items()
        if owner.partition(".")[0] in BOUNDED
    }
)


@pytest.mark.parametrize(("owner", "name"), OWNERS)
def test_they_are_there(owner: str, name: str) -> None:
    module, _, kind = owner.rpartition(".")
    assert name in inspect.getsource(getattr(import_module(module), kind))


def test_what_has_private_names_is_bounded_above() -> None:
    asked = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    needs = [Requirement(line) for line in asked]
    bounded = {need.name: [] for need in needs}
    for need in needs:  # Numba has a line for each range of Pythons
        bounded[need.name].append(any(part.operator == "<" for part in need.specifier))
    assert {name for name, lines in bounded.items() if all(lines)} == BOUNDED
    assert {name for name, lines in bounded.items() if any(lines)} == BOUNDED


def test_the_search_finds_something() -> None:
    code = 'from zarr.x import _a\nb = y.z._b\ngetattr(y, "_c")\nname = "_d"\nself._e\ny.__f__\n'
    assert set(taken(code)) == {"_a", "_b", "_c", "_d"}
