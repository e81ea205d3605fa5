"""The commands do what they say: scenes go through all of them and come back bit for bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.envi_files import METADATA, ORDERS, cube, write_envi
from helpers.hang import HANG, wait_until

from gangsaw.codecs.ccsds123 import Params, encode_stream
from gangsaw.tasks.formats.envi.header import read_header_file

HERE = ("--workers", 0)  # no cluster: these are about the commands
COMMANDS = (
    "compress",
    "decompress",
    "verify",
    "info",
    "bench",
    "demo",
    "stream decode",
    "stream encode",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(gangsaw: CommandLine, command: str) -> None:
    ran = gangsaw.ok(*command.split(), "--help")
    assert f"Example: gangsaw {command} " in ran.out


def test_the_version(gangsaw: CommandLine) -> None:
    import gangsaw as package

    assert gangsaw.ok("--version").out == f"gangsaw {package.__version__}\n"


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "uint32"])
def test_envi_to_store_and_back(
    gangsaw: CommandLine, tmp_path: Path, interleave: str, dtype: str
) -> None:
    samples = cube(dtype, (5, 40, 33))
    scene = write_envi(
        tmp_path / "scene.hdr", samples, interleave=interleave, byte_order=1, metadata=METADATA
    )
    store, copy = tmp_path / "scene.zarr", tmp_path / "copy.hdr"
    figures = gangsaw.ok("compress", scene, store, "--chunks", "y=20,x=17", *HERE, "--json").figures
    assert figures["chunks"] == 4
    assert figures["samples"] == samples.size
    stored = zarr.open_array(store / "data", mode="r")
    assert stored.metadata.codecs[0].to_dict()["name"] == "gangsaw.ccsds123"
    assert np.array_equal(stored[...], samples.transpose(ORDERS[interleave]))
    gangsaw.ok("verify", store, "--against", scene)
    gangsaw.ok("decompress", store, copy)
    assert (tmp_path / "copy.img").read_bytes() == (tmp_path / "scene.img").read_bytes()
    assert read_header_file(copy) == read_header_file(scene)
    gangsaw.ok("verify", store, "--against", copy)


def test_all_formats_hold_the_same(gangsaw: CommandLine, tmp_path: Path) -> None:
    samples = cube("int16")
    scene = write_envi(tmp_path / "scene.hdr", samples, interleave="bip", metadata=METADATA)
    store = tmp_path / "scene.zarr"
    gangsaw.ok("compress", scene, store, *HERE)
    gangsaw.ok("decompress", store, tmp_path / "a.nc")
    gangsaw.ok("decompress", tmp_path / "a.nc", tmp_path / "b.zarr")
    gangsaw.ok("decompress", tmp_path / "b.zarr", tmp_path / "c.hdr")
    assert (tmp_path / "c.img").read_bytes() == (tmp_path / "scene.img").read_bytes()
    assert read_header_file(tmp_path / "c.hdr") == read_header_file(scene)
    gangsaw.ok(
        "decompress",
        store,
        tmp_path / "d.raw",
        "--interleave",
        "bsq",
        "--byte-order",
        "big",
        "--accept-loss",
    )
    assert (tmp_path / "d.raw").read_bytes() == samples.astype(">i2").tobytes()
    raw = ("--shape", "5,7,6", "--dtype", "int16", "--byte-order", "big")
    gangsaw.ok("compress", tmp_path / "d.raw", tmp_path / "e.zarr", *raw, *HERE)
    gangsaw.ok("verify", tmp_path / "e.zarr", "--against", tmp_path / "d.raw", *raw)
    gangsaw.ok("decompress", tmp_path / "e.zarr", tmp_path / "f.bil")
    assert (tmp_path / "f.bil").read_bytes() == samples.transpose(1, 0, 2).astype(">i2").tobytes()


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("byte_order", ["little", "big"])
def test_raw_comes_back(
    gangsaw: CommandLine, tmp_path: Path, interleave: str, byte_order: str
) -> None:
    samples = cube("int16").astype({"little": "<i2", "big": ">i2"}[byte_order])
    (tmp_path / "a.raw").write_bytes(samples.transpose(ORDERS[interleave]).tobytes())
    layout = ("--interleave", interleave, "--byte-order", byte_order)
    extents = ("--shape", "5,7,6", "--dtype", "int16")
    gangsaw.ok("compress", tmp_path / "a.raw", tmp_path / "a.zarr", *extents, *layout, *HERE)
    for name in ("b.raw", "b.img"):  # an ENVI image, too, has the layout of the source
        gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / name, "--overwrite")
        assert (tmp_path / name).read_bytes() == (tmp_path / "a.raw").read_bytes()
        (tmp_path / name).unlink()


@pytest.mark.parametrize("more", [0, 1, 252])
def test_what_a_shape_leaves_in_the_file_is_lost_on_request_alone(
    gangsaw: CommandLine, tmp_path: Path, more: int
) -> None:
    (tmp_path / "a.raw").write_bytes(cube("int16").tobytes() + bytes(more))
    raw = (tmp_path / "a.raw", "--shape", "5,7,6", "--dtype", "int16")
    how = (tmp_path / "a.zarr", *raw[1:], *HERE)
    if more:
        for dry in ((), ("--dry-run",)):
            refusal = gangsaw("compress", raw[0], *how, *dry).failed(2)
            assert f"a.raw has {420 + more} bytes" in refusal
            assert f"leave the other {more} bytes out by --accept-loss" in refusal
        assert not (tmp_path / "a.zarr").exists()
        how = (*how, "--accept-loss")
    told = gangsaw.ok("compress", raw[0], *how).out
    assert (f"left out: {more} bytes of the file after the last sample" in told) == (more > 0)
    ran = gangsaw.ok("compress", raw[0], *how, "--json", "--overwrite")
    assert ran.figures["unread_bytes"] == more
    against = ("verify", tmp_path / "a.zarr", "--against", *raw)
    if more:  # a store lacks what was left out
        assert "after the last sample: in the source, not in the store" in gangsaw(*against).err
        against = (*against, "--accept-loss")
    gangsaw.ok(*against)
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.raw")
    assert (tmp_path / "b.raw").read_bytes() == cube("int16").tobytes()


def test_the_store_is_plain_xarray(gangsaw: CommandLine, tmp_path: Path) -> None:
    import gangsaw as package

    scene = write_envi(tmp_path / "scene.hdr", cube(), metadata=METADATA)
    gangsaw.ok("compress", scene, tmp_path / "scene.zarr", *HERE)
    with package.open(tmp_path / "scene.zarr") as opened:
        assert opened["data"].chunks == ((5,), (7,), (6,))
        window = opened["data"].sel(x=500007.5, method="nearest").isel(y=3)
        assert np.array_equal(window.compute(), cube()[:, 3, 0])
        assert opened["data"].coords["wavelength"].attrs["units"] == "Nanometers"


def test_verify_tells_what_differs(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube())
    gangsaw.ok("compress", scene, tmp_path / "scene.zarr", *HERE)
    other = cube()
    other[4, 6, 5] ^= 1
    write_envi(tmp_path / "other.hdr", other)
    ran = gangsaw("verify", tmp_path / "scene.zarr", "--against", tmp_path / "other.hdr")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    (tmp_path / "scene.zarr/data/c/0/0/0").unlink()
    ran = gangsaw("verify", tmp_path / "scene.zarr", "--json")
    assert ran.code == 1
    assert "missing" in ran.figures["problems"][0]


def test_parameters_reach_the_codec(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16") >> 4)
    (tmp_path / "p.json").write_text(json.dumps({"mode": "full", "prediction_bands": 2}))
    options = ("--params", tmp_path / "p.json", "--param", "prediction_bands=5", "--block", "0,4,3")
    command = ("compress", scene, tmp_path / "a.zarr", *options, "--bit-depth", "auto", *HERE)
    gangsaw.ok(*command)
    (array,) = gangsaw.ok("info", tmp_path / "a.zarr", "--json").figures["arrays"]
    params = array["params"]
    assert (params["mode"], params["prediction_bands"]) == ("full", 5)
    assert (params["block"], params["bit_depth"]) == ([0, 4, 3], 12)
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", scene)


@pytest.mark.full
def test_other_content_takes_another_codec(gangsaw: CommandLine, tmp_path: Path) -> None:
    data = xr.Dataset({"counts": (("band", "y", "x"), cube()), "flux": (("i", "j"), np.eye(3000))})
    data.to_zarr(tmp_path / "s.zarr", zarr_format=3, consolidated=False)
    gangsaw.ok("compress", tmp_path / "s.zarr", tmp_path / "a.zarr", *HERE)
    figures = gangsaw.ok("info", tmp_path / "a.zarr", "--json").figures
    codecs = {array["name"]: array["codec"] for array in figures["arrays"]}
    assert codecs == {"counts": "gangsaw.ccsds123", "flux": "ZstdCodec"}
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", tmp_path / "s.zarr")


def test_overwrite_replaces_a_store_and_a_copy(gangsaw: CommandLine, tmp_path: Path) -> None:
    first = write_envi(tmp_path / "first.hdr", cube())
    second = write_envi(tmp_path / "second.hdr", cube("int16", (3, 4, 5)))
    for scene in (first, second):
        gangsaw.ok("compress", scene, tmp_path / "a.zarr", "--overwrite", *HERE)
        gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "copy.hdr", "--overwrite")
        gangsaw.ok("verify", tmp_path / "a.zarr", "--against", tmp_path / "copy.hdr")
    assert (tmp_path / "copy.img").read_bytes() == (tmp_path / "second.img").read_bytes()


@pytest.mark.parametrize(
    "name",
    ["indian145-u16le-145x145x10", "jasper198-u16le-198x100x100", "landsatfull-u16le-6x352x349"],
)
def test_real_scenes(gangsaw: CommandLine, shared: Path, tmp_path: Path, name: str) -> None:
    scene = shared / "data" / "hyperspectral" / "issue1" / f"{name}.hdr"
    store = tmp_path / "a.zarr"
    figures = gangsaw.ok("compress", scene, store, "--bit-depth", "auto", *HERE, "--json").figures
    assert figures["ratio"] > 2
    gangsaw.ok("verify", store, "--against", scene)
    gangsaw.ok("decompress", store, tmp_path / "copy.hdr")
    assert (tmp_path / "copy.img").read_bytes() == scene.with_suffix(".raw").read_bytes()
    assert read_header_file(tmp_path / "copy.hdr") == read_header_file(scene)


@pytest.mark.full
def test_third_party_streams(gangsaw: CommandLine, shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "hyperspectral" / "issue1"
    gangsaw.ok("stream", "decode", folder / "jasper12__BI_M7.c123", tmp_path / "a.hdr")
    assert (tmp_path / "a.img").read_bytes() == (
        folder / "jasper12-u16le-12x24x20.raw"
    ).read_bytes()
    (tmp_path / "p.json").write_text(
        json.dumps(
            {
                "mode": "full",
                "local_sum": "wide_neighbor",
                "order": "bi",
                "interleave_depth": 7,
                "register_size": 64,
                "bit_depth": 13,
                "weight_min": -1,
                "weight_max": 3,
                "weight_interval": 64,
                "weight_resolution": 13,
                "accumulator_init": 3,
                "rescale": 6,
            }
        )
    )
    command = ("stream", "encode", tmp_path / "a.hdr", tmp_path / "a.c123")
    gangsaw.ok(*command, "--params", tmp_path / "p.json")
    assert (tmp_path / "a.c123").read_bytes() == (folder / "jasper12__BI_M7.c123").read_bytes()


def test_streams_of_signed_bytes_become_wider(gangsaw: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.c123").write_bytes(encode_stream(cube("int8"), Params()))
    gangsaw.ok("stream", "decode", tmp_path / "a.c123", tmp_path / "a.hdr")  # ENVI has no int8
    assert (tmp_path / "a.img").read_bytes() == cube("int8").astype("<i2").tobytes()
    command = ("stream", "encode", tmp_path / "a.hdr", tmp_path / "b.c123")
    gangsaw.ok(*command, "--bit-depth", 8)
    assert (tmp_path / "b.c123").read_bytes() == (tmp_path / "a.c123").read_bytes()


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_streams_come_back(gangsaw: CommandLine, tmp_path: Path, dtype: str) -> None:
    scene = write_envi(tmp_path / "a.hdr", cube(dtype), interleave="bil")
    gangsaw.ok("stream", "encode", scene, tmp_path / "a.c123")
    gangsaw.ok("stream", "decode", tmp_path / "a.c123", tmp_path / "b.hdr", "--interleave", "bil")
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "a.img").read_bytes()


def test_info_adds_up(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (6, 50, 40)) >> 6)
    store = tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, store, "--chunks", "y=30,x=25", "--block", "0,15,25", *HERE)
    (array,) = gangsaw.ok("info", store, "--json").figures["arrays"]
    sizes = [path.stat().st_size for path in (store / "data" / "c").rglob("*") if path.is_file()]
    assert array["stored_bytes"] == sum(sizes)
    assert (array["min_chunk"], array["max_chunk"]) == (min(sizes), max(sizes))
    assert array["missing"] == 0
    lanes = sum(array["lane_bits"]) * 50 * 40 / 8
    headers = array["index_bytes"] + 8 * 30  # of 8 streams, each with less than 30 bytes of header
    assert 0 < array["stored_bytes"] - lanes < headers
    table = gangsaw.ok("info", store).out
    assert f"{array['bits_per_sample']:.3f}" in table


def test_info_of_a_foreign_store(gangsaw: CommandLine, tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=cube(), chunks=(5, 4, 6))
    (array,) = gangsaw.ok("info", tmp_path / "a.zarr", "--json").figures["arrays"]
    assert (array["codec"], array["n_chunks"]) == ("ZstdCodec", 2)
    gangsaw.ok("info", tmp_path / "a.zarr", "--plot", tmp_path / "a.png")  # of its chunks
    assert (tmp_path / "a.png").stat().st_size


@pytest.mark.full
def test_info_draws(gangsaw: CommandLine, tmp_path: Path) -> None:
    from matplotlib.image import imread

    scene = write_envi(tmp_path / "scene.hdr", cube(), interleave="bil", metadata=METADATA)
    gangsaw.ok("compress", scene, tmp_path / "a.zarr", *HERE)
    gangsaw.ok("info", tmp_path / "a.zarr", "--plot", tmp_path / "a.png")
    picture = imread(tmp_path / "a.png")
    assert min(picture.shape[:2]) > 500
    assert len(np.unique(picture.reshape(-1, 4), axis=0)) > 50
    assert "exists" in gangsaw("info", tmp_path / "a.zarr", "--plot", tmp_path / "a.png").failed(2)


@pytest.mark.full
def test_bench(gangsaw: CommandLine) -> None:
    figures = gangsaw.ok("bench", "--size", "8,32,32", "--rounds", 1, "--json").figures
    results = {result["name"]: result for result in figures["results"]}
    assert {"ccsds123 default", "ccsds123 full", "zstd -3"} <= set(results)
    assert all(r["encode_rate"] > 0 and r["decode_rate"] > 0 for r in results.values())
    assert results["ccsds123 default"]["ratio"] > results["zstd -3"]["ratio"]


@pytest.mark.full
def test_demo_twice_and_never_over_other_files(gangsaw: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("demo", "--size", "8,48,40", "--out", out, *HERE)
    for _ in range(2):
        table = gangsaw.ok(*command, "--quiet").out
        assert "source, store and decompressed copy are equal" in " ".join(table.split())
    figures = gangsaw.ok(*command, "--json").figures
    assert Path(figures["picture"]).read_bytes()[1:4] == b"PNG"
    assert (out / "copy.img").read_bytes() == (out / "scene.img").read_bytes()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scene.img").write_bytes(b"mine")
    line = gangsaw("demo", "--out", tmp_path / "mine", *HERE).failed(2)
    assert "no demo made it" in line
    assert (tmp_path / "mine" / "scene.img").read_bytes() == b"mine"


@pytest.mark.full
def test_demo_on_a_file_and_a_cluster(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "mine.hdr", cube("uint16", (6, 50, 40)), metadata=METADATA)
    figures = gangsaw.ok("demo", scene, "--out", tmp_path / "out", "--json").figures
    assert figures["samples"] == 6 * 50 * 40
    assert (tmp_path / "out/copy.img").read_bytes() == (tmp_path / "mine.img").read_bytes()


def test_a_job_whose_parameters_come_from_a_scan_is_resumed(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before workers start reads no samples, so it cannot compare a bit depth."""
    monkeypatch.setattr("gangsaw.tasks.api.functions.workers", lambda **_: nullcontext())
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (5, 40, 33)))
    store = tmp_path / "scene.zarr"
    command = ("compress", scene, store, "--bit-depth", "auto", "--chunks", "y=20,x=17")
    gangsaw.ok(*command)
    lost = next(path for path in (store / "data" / "c").rglob("*") if path.is_file())
    lost.unlink()
    figures = gangsaw.ok(*command, "--resume", "--json").figures
    assert (figures["resumed"], lost.is_file()) == (3, True)
    line = gangsaw(*command[:-1], "y=20,x=33", "--resume").failed(2)
    assert "holds a different job" in line


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="sends signals as terminals and batch systems do")
@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_job_leaves_what_resume_finishes(
    tmp_path: Path, gangsaw: CommandLine, sent: signal.Signals
) -> None:
    samples = cube("uint16", (16, 512, 512)) >> 4
    scene = write_envi(tmp_path / "scene.hdr", samples)
    store = tmp_path / "a.zarr"
    options = [str(scene), str(store), "--chunks", "y=32,x=32", "--workers", "2"]
    code = "import sys; from gangsaw.cli import main; sys.exit(main())"
    started = subprocess.Popen(
        [sys.executable, "-c", code, "compress", *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for_journal(store, started)
    if sent == signal.SIGINT:
        os.killpg(started.pid, sent)  # as a terminal does: to the client and its workers
    else:
        os.kill(started.pid, sent)
    out, err = started.communicate(timeout=HANG)
    assert started.returncode == 130, (out, err)
    assert out == ""
    assert err == f"gangsaw: {stopped()}\n"
    assert "not finished" in gangsaw("verify", store).failed(1)
    figures = gangsaw.ok("compress", *options[:4], "--resume", *HERE, "--json").figures
    assert 0 < figures["resumed"] < figures["chunks"]
    gangsaw.ok("verify", store, "--against", scene)


def stopped() -> str:
    from gangsaw.tasks.console.output import STOPPED

    assert "--resume" in STOPPED
    return STOPPED


def wait_for_journal(store: Path, job: subprocess.Popen[str]) -> None:
    """Return when the job has finished a few batches."""
    wait_until(lambda: len(list(store.glob("data/.gangsaw/journal/*/*/*"))) >= 3, job)
