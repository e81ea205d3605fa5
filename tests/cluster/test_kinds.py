"""Which cluster is meant: kinds, their settings, and what is refused before any starts."""

from __future__ import annotations

import re
import signal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from distributed import nanny
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi

import gangsaw
from gangsaw.cluster import kinds, settings
from gangsaw.cluster.config import Certificates, ClusterConfig
from gangsaw.cluster.kinds import KINDS, complete_config
from gangsaw.cluster.launchers import cuda, local, slurm, ssh
from gangsaw.cluster.settings import import_for_kind, setting, settings_of

SITE = {
    "gangsaw.slurm.queue": "long",
    "gangsaw.slurm.walltime": "1-12",
    "gangsaw.slurm.cores": 8,
    "gangsaw.slurm.directives": ["--constraint=cpu"],
    "gangsaw.slurm.prologue": ["module load python"],
    "gangsaw.slurm.container": "gangsaw.sif",
}


def test_each_kind_has_its_file() -> None:
    for kind in KINDS:
        assert callable(import_module(f"gangsaw.cluster.launchers.{kind}").start)


def test_kinds_and_addresses_are_told_apart() -> None:
    assert complete_config("", ClusterConfig()).kind == "local"
    assert complete_config("", ClusterConfig(device="gpu")).kind == "cuda"
    assert complete_config("cuda", ClusterConfig()).device == "gpu"
    assert complete_config("tls://h:1", ClusterConfig()).scheduler == "tls://h:1"
    assert complete_config("slurm", ClusterConfig(device="gpu")).kind == "slurm"


REFUSED = [
    (
        ("--cluster", "slrum"),
        "--cluster must be local, cuda, slurm, kubernetes or ssh, got 'slrum'",
    ),
    (("--cluster", "ssh", "--device", "gpu"), "a cluster of kind ssh has no GPUs"),
    (("--cluster", "slurm", "--scheduler", "tcp://h:1"), "name two clusters: leave one out"),
    (("--scheduler", "tcp://h:1", "--scheduler-file", "s.json"), "by its address or by its file"),
    (("--scheduler", "tcp://h:1", "--workers", "2"), "a running scheduler has its workers"),
    (("--cluster", "slurm", "--workers", "0"), "--workers 0 works in this process, and a cluster"),
    (("--workers", "0", "--wait-workers", "2"), "are for workers: pass --cluster or --workers"),
    (("--workers", "2", "--wait-workers", "3"), "3 of 2 workers will never be there"),
    (("--cluster", "tls://h:1", "--tls-cert", "c.pem"), "TLS needs both"),
    (("--cluster", "tls://h:1"), "tls://h:1 needs certificates: --tls-ca-file and --tls-cert"),
    (
        ("--cluster", "tcp://h:1", "--tls-ca-file", "{here}", "--tls-cert", "{here}"),
        "not encrypted",
    ),
    (("--cluster", "tls://h:1", "--tls-ca-file", "no", "--tls-cert", "no"), "no: no such file"),
    (("--cluster", "ssh"), "ssh.hosts is empty: name hosts"),
    (("--cluster", "kubernetes"), "kubernetes.image is not set"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_in_one_line(
    gangsaw: CommandLine, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (2, 4, 4)))
    given = [option.format(here=scene) for option in options]
    assert message in gangsaw("compress", scene, tmp_path / "a.zarr", *given).failed(2)
    assert not (tmp_path / "a.zarr").exists()


def test_commands_without_work_for_gpus_say_so(gangsaw: CommandLine, tmp_path: Path) -> None:
    with_gpus = gangsaw("index", tmp_path, "--cluster", "cuda")
    assert "this command has no work for GPUs" in with_gpus.failed(2)


def test_a_missing_package_is_one_line_that_says_what_to_install() -> None:
    message = r"dask-jobqueue is missing, which starts this cluster: pip install 'gangsaw\[slurm\]'"
    with pytest.raises(ModuleNotFoundError, match=message):
        settings.import_for_kind("no_such_jobqueue", "dask-jobqueue", "slurm")


def test_settings_come_from_the_shipped_file_and_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert setting("dashboard-address") == "127.0.0.1:0"
    monkeypatch.setenv("DASK_GANGSAW__SLURM__QUEUE", "short")
    with dask.config.set(dask.config.collect_env()):
        assert settings_of("slurm").text("queue") == "short"
    with (
        dask.config.set({"gangsaw.slurm.wall-time": "1"}),
        pytest.raises(ValueError, match=r"gangsaw\.slurm has no setting 'wall-time', only account"),
    ):
        settings_of("slurm")


def test_every_setting_is_explained() -> None:
    lines = settings.DEFAULTS.read_text().splitlines()
    for line in lines:
        if line.strip().startswith("#") or line.endswith(":") or not line.strip():
            continue
        assert re.match(r" +[a-z-]+: \S+", line)


@pytest.mark.parametrize(
    ("walltime", "seconds"),
    [("30", 1800), ("1:30", 90), ("1:00:00", 3600), ("1-12", 129600), ("1-12:30", 131400),
     ("2-00:00:01", 172801)],
)  # fmt: skip
def test_walltimes_are_those_of_slurm(walltime: str, seconds: int) -> None:
    assert slurm.seconds_of(walltime) == seconds


def test_a_site_has_its_own_lines_in_the_job() -> None:
    if find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed")
    job = import_for_kind("dask_jobqueue.slurm", "dask-jobqueue", "slurm").SLURMJob
    with dask.config.set(SITE):
        options = slurm.job_options(ClusterConfig(), settings_of("slurm"))
    for name in ("silence_logs", "scheduler_options"):
        options.pop(name)
    script = job("tcp://h:1", name="w", **options).job_script()
    for line in ("-p long", "-t 1-12", "--cpus-per-task=8", "--constraint=cpu"):
        assert f"#SBATCH {line}\n" in script
    assert "\nmodule load python\napptainer exec gangsaw.sif python -m distributed" in script
    # 36 h less twice five minutes, at the latest; a quarter of an hour before is too early
    lifetime, stagger = re.findall(r"--lifetime(?:-stagger)? (\d+)s", script)
    assert 129600 - 900 < int(lifetime) + int(stagger) <= 129600 - 300


def checked(given: settings.KindSettings) -> None:
    """What `slurm.start` looks at before it submits anything."""
    settings.bounds(ClusterConfig(), given, "jobs")
    slurm.job_options(ClusterConfig(), given)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gangsaw.slurm.walltime": "0:30"}, "leaves no time to work"),
        ({"gangsaw.slurm.walltime": 3600}, "must be a text in quotes, got 3600"),  # by YAML
        ({"gangsaw.slurm.walltime": "noon"}, "must be such as 01:00:00, got 'noon'"),
        ({"gangsaw.slurm.cores": "many"}, "must be a whole number, got 'many'"),
        ({"gangsaw.slurm.directives": "-x"}, "must be a list, got '-x'"),
        ({"gangsaw.slurm.gpus": 2}, "ask for more jobs of one GPU"),
        ({"gangsaw.slurm.minimum-jobs": 0}, r"must be in 1\.\.maximum-jobs, got 0 and 4"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object], message: str) -> None:
    with dask.config.set(wrong):
        given = settings_of("slurm")
    with pytest.raises(ValueError, match=message):
        checked(given)


def test_workers_with_gpus_offer_them() -> None:
    site = {"gangsaw.slurm.gpus": 1, "gangsaw.slurm.cores": cuda.THREADS}
    config = ClusterConfig(kind="slurm", device="gpu")
    with pytest.raises(ValueError, match=r"--device gpu needs slurm\.gpus 1"):
        slurm.job_options(config, settings_of("slurm"))
    with dask.config.set(site):
        options = slurm.job_options(config, settings_of("slurm"))
    assert options["job_extra_directives"] == ["--gres=gpu:1"]
    assert options["worker_extra_args"][-2:] == ["--resources", "GPU=1"]


def test_hosts_are_the_first_of_those_that_are_named() -> None:
    hosts = {"gangsaw.ssh.hosts": ["a", "b", "c"]}
    with dask.config.set(hosts):
        assert ssh.hosts_of(ClusterConfig(workers=2), settings_of("ssh")) == ["a", "a", "b"]
        with pytest.raises(ValueError, match="names 3 hosts, too few for 4 workers"):
            ssh.hosts_of(ClusterConfig(workers=4), settings_of("ssh"))


def test_connect_yields_a_client_of_as_many_workers() -> None:
    with gangsaw.cluster.connect("local", workers=2, threads=1, wait_workers=2) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert client.submit(abs, -3).result() == 3


def test_a_worker_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where Dask waits until one that is starting has started."""

    async def wait(process: nanny.WorkerProcess, **_: object) -> None:
        await process.stopped.wait()

    monkeypatch.setattr(nanny.WorkerProcess, "kill", wait)
    monkeypatch.setattr(local, "CLOSE_SECONDS", 0.2)
    with local.start(ClusterConfig(workers=1, silent=True)) as client:
        assert client.submit(abs, -1).result() == 1


def test_a_certificate_without_authority_is_refused() -> None:
    with pytest.raises(ValueError, match="TLS needs both"):
        Certificates(cert=__file__)


def test_a_package_that_takes_ctrl_c_for_itself_does_not_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As dask-jobqueue does when it is imported."""
    (tmp_path / "takes_it.py").write_text("import signal\nsignal.signal(signal.SIGINT, print)\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.getsignal(signal.SIGINT)
    import_for_kind("takes_it", "takes-it", "none")
    assert signal.getsignal(signal.SIGINT) is before


def test_settings_outlive_a_context_in_which_they_were_first_read() -> None:
    """Dask removes at its end all that came within it."""
    settings._read.cache_clear()
    dask.config.config.pop("gangsaw", None)
    with dask.config.set({"gangsaw.slurm.queue": "long"}):
        assert settings_of("slurm").text("queue") == "long"
    assert settings_of("slurm").text("queue") != "long"
    assert setting("dashboard-address")


class _Waited:
    """A client, and the module `time`, of a scheduler that has no worker and then hangs."""

    status, cluster, now = "running", None, 0.0

    def __init__(self, hangs_at: float) -> None:
        self.hangs_at, self.scheduler = hangs_at, SimpleNamespace(address="tcp://h:1", identity={})

    def scheduler_info(self) -> None: ...

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def sync(self, _: object, callback_timeout: float) -> dict[str, object]:
        if self.now >= self.hangs_at:
            self.now += callback_timeout
            raise TimeoutError
        return {"workers": {"tcp://h:2": {"status": "closing"}}}


def test_workers_of_a_scheduler_that_hangs_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waited: Any = _Waited(hangs_at=20.0)
    monkeypatch.setattr(kinds, "time", waited)
    with pytest.raises(ConnectionError, match=r"^the scheduler at tcp://h:1 has not answered for"):
        kinds.wait_for_workers(waited, ClusterConfig(scheduler="tcp://h:1", wait_workers=2))
    assert kinds.UNHEARD_SECONDS <= waited.now - 20 < kinds.UNHEARD_SECONDS + 10
    assert caplog.messages == [
        "0 of 2 workers are connected: waiting for the others",
        "the scheduler at tcp://h:1 does not respond: 0 of 2 workers were connected",
    ]


def test_workers_are_waited_for_as_long_as_the_settings_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: Any = _Waited(hangs_at=20.0)
    monkeypatch.setattr(kinds, "time", waited)
    with (
        dask.config.set({"gangsaw.wait-seconds": 50}),
        pytest.raises(ConnectionError, match="0 of 2 workers came within 50 s"),
    ):
        kinds.wait_for_workers(waited, ClusterConfig(scheduler="tcp://h:1", wait_workers=2))


def test_a_client_that_lost_its_scheduler_waits_for_no_worker() -> None:
    waited: Any = _Waited(hangs_at=20.0)
    waited.scheduler = None
    with pytest.raises(ConnectionError, match="lost the scheduler at"):
        kinds.wait_for_workers(waited, ClusterConfig(scheduler="tcp://h:1", wait_workers=2))
