"""What lies in deploy/slurm is taken by SLURM, with GPUs and containers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import pytest
import yaml
from helpers import slurm as helper
from helpers.slurm import Slurm, missing, slurm

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.slurm import job_options
from gangsaw.cluster.settings import import_for_kind, settings_of

if find_spec("dask_jobqueue") is None:  # to import it would take Ctrl-C from all other tests
    pytest.skip("dask-jobqueue is not installed", allow_module_level=True)
FOLDER = Path(__file__).parents[2] / "deploy" / "slurm"
SITES = sorted(FOLDER.glob("*.yaml"))
SCRIPTS = sorted(FOLDER.glob("*.sh"))
# what the nodes of the test have; the rest of each script is as it is
SMALL = ("--nodes=1", "--cpus-per-task=1", "--mem=1G", "--time=10", "--partition=main")
# an Apptainer that has no images, and says which one was asked for
APPTAINER = """#!/bin/sh
echo "$@" >> {log}
while [ "$1" != python ]; do shift; done
shift; exec {python} "$@"
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Slurm]:
    """SLURM whose nodes have a GPU each, as far as it knows, and an Apptainer."""
    if why := missing():
        pytest.skip(why)
    with TemporaryDirectory(prefix="slurm") as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(helper, "SETTINGS", helper.SETTINGS + "GresTypes=gpu\n")
        patch.setattr(helper, "NODE", helper.NODE.replace(" CPUs=", " Gres=gpu:1 CPUs="))
        (folder / "gres.conf").write_text("NodeName=n[1-3] Name=gpu File=/dev/null\n")
        apptainer = folder / "apptainer"
        apptainer.write_text(APPTAINER.format(log=folder / "asked", python=sys.executable))
        apptainer.chmod(0o755)
        with slurm(folder) as cluster:
            patch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
            yield cluster


def job_script(site: Path, config: ClusterConfig) -> str:
    """The script of a worker's job at a site with these settings."""
    job = import_for_kind("dask_jobqueue.slurm", "dask-jobqueue", "slurm").SLURMJob
    with dask.config.set(yaml.safe_load(site.read_text())):
        options = job_options(config, settings_of("slurm"))
    for name in ("silence_logs", "scheduler_options"):
        options.pop(name)
    return str(job("tcp://h:1", name="w", **options).job_script())


def test_a_site_with_gpus_and_containers() -> None:
    script = job_script(FOLDER / "gangsaw-gpu.yaml", ClusterConfig(device="gpu"))
    assert "#SBATCH --gres=gpu:1\n" in script
    assert "\napptainer exec --nv --bind /shared /shared/images/gangsaw-cuda.sif python " in script
    assert "--resources GPU=1" in script


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
@pytest.mark.parametrize("more", [(), ("--gres=gpu:1",)], ids=["", "gpu"])
def test_slurm_takes_the_scripts(site: Slurm, script: Path, more: tuple[str, ...]) -> None:
    subprocess.run(["bash", "-n", script], check=True)
    site.call("sbatch", "--test-only", *SMALL, *more, str(script), "scene.hdr", "scene.zarr")


@pytest.mark.parametrize("file", SITES, ids=lambda file: file.name)
def test_slurm_takes_the_jobs_of_a_site(site: Slurm, tmp_path: Path, file: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text(job_script(file, ClusterConfig()))
    site.call("sbatch", "--test-only", *SMALL, str(script))


@pytest.mark.full
def test_workers_have_a_gpu_each_and_run_in_containers(site: Slurm) -> None:
    settings = yaml.safe_load((FOLDER / "gangsaw-gpu.yaml").read_text())
    own = settings["gangsaw"]["slurm"]
    command = own["container-command"].replace("apptainer", f"{site.folder}/apptainer", 1)
    own |= {"container-command": command, "queue": "main", "interface": "lo", "memory": "1GiB"}
    own |= {"folder": f"{site.folder}/gangsaw", "local-folder": str(site.folder)}
    own |= {"walltime": "00:30:00", "lost-seconds": 1, "directives": ["--cpus-per-task=1"]}
    with (
        dask.config.set(settings),
        gangsaw.cluster.connect("slurm", workers=2, device="gpu", wait_workers=2) as client,
    ):
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        assert [worker["resources"] for worker in workers] == [{"GPU": 1.0}] * 2
        assert len(set(site.jobs().values())) == 2  # a node has one
    asked = (site.folder / "asked").read_text()
    assert asked.count("exec --nv --bind /shared /shared/images/gangsaw-cuda.sif python") == 2
