"""Small runs with jobs of all four studies, and ways to stop them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

CONFIGFILE = "config/test.yaml"
RESULTS = "results/test"
#: csv, netCDF, mat and drawn files of the studies, by some twenty jobs
TARGETS = tuple(
    f"{RESULTS}/{target}"
    for target in (
        "data/box006_trajectories/tosses.nc",
        "planar/identification/one_mrad.mu0.7.0.csv",
        "planar/sweeps/liftoff.csv",
        "planar/sweeps/nlp_step.csv",
        "data/arm_twin/arm.nc",
        "arm/sweeps/impact_laws.csv",
        "arm/sweeps/damping.csv",
        "inhand/tables/ext_printed_consistency.csv",
        "inhand/fits/force_predictions.nc",
        "inhand/sweeps/differences.csv",
        "planar/figures/fig01_contact_frames.pdf",
    )
)


def command(*targets, cores=2, options=()):
    """What a user types."""
    words = ["-m", "snakemake", "--cores", str(cores), "--configfile", CONFIGFILE]
    return [sys.executable, *words, *options, "--", *targets]


def environment(**changes):
    # a job that dies must not be helped by a package path of the test process
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return {**kept, **changes}


def start(folder, *targets, log=subprocess.DEVNULL, cores=2, options=(), **changes):
    """A run in a process group of its own, as a terminal makes one."""
    return subprocess.Popen(
        command(*targets, cores=cores, options=options),
        cwd=folder, env=environment(**changes), stdout=log, stderr=subprocess.STDOUT, process_group=0,
        preexec_fn=_heed_interrupts,
    )  # fmt: skip


def _heed_interrupts():
    # what a shell starts in the background ignores them
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(folder, *targets, cores=2, options=(), timeout=1800, **changes):
    """A run to its end, with everything that it prints in ``stdout``."""
    return subprocess.run(
        command(*targets, cores=cores, options=options),
        cwd=folder, env=environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=timeout,
    )  # fmt: skip


def errors(text):
    """Our plain lines in what a run printed."""
    return [line for line in text.splitlines() if line.startswith("ERROR ")]


def jobs_of(process):
    """Process numbers of the jobs that a Snakemake runs now."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (entry / "cmdline").read_text()
        except OSError:
            continue
        if parent == process and ".snakemake/scripts/" in words:
            found.append(int(entry.name))
    return found


def lives(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true, seconds=120.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def whole_files(results):
    """The files that a reader may rely on at any moment: all but a run's own records and those
    being written.
    """
    about = {"logs", "benchmarks"}
    paths = (path.relative_to(results) for path in Path(results).rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in paths
        if path.parts[0] not in about and not path.name.startswith(".")
    }


def interrupt_like_a_terminal(process):
    os.killpg(process.pid, signal.SIGINT)
