"""`gangsaw decompress` ends with a summary, tells of damage, and all commands give one ratio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.damage import flip
from helpers.envi_files import cube, write_envi

HERE = ("--workers", 0)
CHUNKS = ("--chunks", "y=20,x=17", *HERE)


def row(text: str, name: str) -> str:
    """Return what a table says behind a name."""
    (line,) = [one for one in text.splitlines() if one.strip().startswith(f"{name} ")]
    return line.strip().removeprefix(name).strip()


def test_all_commands_give_the_same_ratio(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene, store = write_envi(tmp_path / "a.hdr", cube("uint16", (5, 40, 33))), tmp_path / "a.zarr"
    files = sum((tmp_path / name).stat().st_size for name in ("a.hdr", "a.img"))
    said = {
        "compress": gangsaw.ok("compress", scene, store, *CHUNKS).out,
        "verify": gangsaw.ok("verify", store).out,
        "info": gangsaw.ok("info", store).out.partition("\n" + f"{store}  data")[0],
        "decompress": gangsaw.ok("decompress", store, tmp_path / "b.hdr").out,
    }
    lines = {name: (row(text, "ratio"), row(text, "bytes")) for name, text in said.items()}
    assert len(set(lines.values())) == 1, lines
    ratio, line = lines["verify"]
    assert line.startswith(f"{files / 1000:.2f} kB of files -> ")
    figures = gangsaw.ok("info", store, "--json").figures
    assert (figures["ratio_base"], figures["source_bytes"]) == ("files", files)
    assert f"{figures['ratio']:.3f}" == ratio == f"{files / figures['stored_bytes']:.3f}"
    assert gangsaw.ok("verify", store, "--json").figures["sizes"]["ratio"] == figures["ratio"]
    done = gangsaw.ok("decompress", store, tmp_path / "c.hdr", "--json").figures
    assert [done[name] for name in ("ratio", "source_bytes")] == [figures["ratio"], files]


def test_some_arrays_of_files_are_compared_as_samples(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "a.hdr", cube("uint16", (5, 40, 33)))
    taken = gangsaw.ok("compress", scene, tmp_path / "a.zarr", *HERE).out
    assert "of files -> " in taken
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.nc")
    one = ("--variable", "data", *HERE)
    some = gangsaw.ok("compress", tmp_path / "b.nc", tmp_path / "c.zarr", *one).out
    assert row(some, "bytes").startswith(f"{5 * 40 * 33 * 2 / 1000:.2f} kB of samples -> ")


def test_decompress_says_what_it_did(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene, store = write_envi(tmp_path / "a.hdr", cube("uint16", (5, 40, 33))), tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, store, *CHUNKS)
    told = gangsaw.ok("decompress", store, tmp_path / "b.raw", "--accept-loss").out
    assert told.startswith(f"{store} -> {tmp_path / 'b.raw'}\n")
    assert row(told, "chunks") == "4"
    assert row(told, "written") == f"{5 * 40 * 33 * 2 / 1000:.2f} kB"
    assert "/s in 0:0" in row(told, "throughput")
    assert "left out" in told
    figures = gangsaw.ok("decompress", store, tmp_path / "c.hdr", "--json").figures
    size = sum((tmp_path / name).stat().st_size for name in ("c.hdr", "c.img"))
    assert [figures["target_bytes"], figures["samples"]] == [size, 5 * 40 * 33]
    assert (figures["damaged"], figures["skipped"]) == ([], [])


def test_damage_on_the_command_line(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene, store = write_envi(tmp_path / "a.hdr", cube("uint16", (5, 40, 33))), tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, store, *CHUNKS)
    for chunk in ("0/0/0", "0/1/1"):
        flip(store / "data/c" / chunk, 0.9)
    failed = gangsaw("decompress", store, tmp_path / "b.hdr")
    assert (failed.code, failed.err.count("\n")) == (1, 1)
    assert "2 damaged blocks, no target is left; --damaged fill writes the rest" in failed.err
    listed = "".join(failed.out.split())
    assert all(f"chunkc/{chunk},block0" in listed for chunk in ("0/0/0", "0/1/1"))
    assert not (tmp_path / "b.img").exists()
    found = gangsaw("decompress", store, tmp_path / "b.hdr", "--json")
    assert [one["chunk"] for one in json.loads(found.out)["damaged"]] == ["c/0/0/0", "c/0/1/1"]
    filled = gangsaw(
        "decompress", store, tmp_path / "b.hdr", "--damaged", "fill", "--damaged-value", 9, "--json"
    )
    assert filled.code == 1
    assert "b.hdr is incomplete: 2 damaged blocks in the store, filled" in filled.err
    ranges = [one["ranges"] for one in json.loads(filled.out)["damaged"]]
    assert ranges == [[[0, 5], [0, 20], [0, 17]], [[0, 5], [20, 40], [17, 33]]]
    refused = gangsaw("decompress", store, tmp_path / "c.hdr", "--damaged", "skip")
    assert "ENVI cannot skip what is damaged" in refused.failed(2)


def test_a_rehearsal_looks_for_no_damage(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene, store = write_envi(tmp_path / "a.hdr", cube("uint16", (5, 20, 30))), tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, store, *HERE)
    flip(store / "data/c/0/0/0", 0.9)
    told = gangsaw.ok("decompress", store, tmp_path / "b.hdr", "--damaged", "fill", "--dry-run").out
    assert "dry run" in told
    assert not (tmp_path / "b.hdr").exists()


@pytest.mark.full
def test_the_summary_of_standard_output_goes_to_standard_error(
    gangsaw: CommandLine, tmp_path: Path
) -> None:
    lines = b"".join(b"line %d\n" % i for i in range(30_000))
    (tmp_path / "a.log").write_bytes(lines)
    gangsaw.ok("compress", tmp_path / "a.log", tmp_path / "a.zarr", "--chunks", "65536", *HERE)
    flip(tmp_path / "a.zarr/text/c/2")
    ran = gangsaw("decompress", tmp_path / "a.zarr", "-", "--format", "text", "--damaged", "skip")
    assert ran.code == 1
    assert "skipped: bytes 131" in ran.err
    assert "damaged: text, chunk c/2" in ran.err
