"""A real 4TU.ResearchData server on 127.0.0.1, seeded with this project's DOIs, started and stopped
by the tests.

The tool that runs it isn't part of this repository: ``FOURTU_SERVER`` names its folder,
``../shared/tools/4tu-server`` beside the checkout is the default. It installs the server's software
into ``SERVER_STATE`` (a folder below the temporary one by default), which takes a minute once; each
session begins with an empty store.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("FOURTU_SERVER") or ROOT / "../shared/tools/4tu-server")
STATE = Path(os.environ.get("SERVER_STATE") or Path(tempfile.gettempdir()) / "contactid-4tu-server")
PORT = 18080
EMBEDDED = ROOT / "workflow/resources/embedded"
# the members of the collection whose DOIs only their titles tell
TITLES = {
    21815511: "Archive 017: Box004 trajectories",
    21815874: "Archive_018_Box004_Validation",
    21815913: "019 trajectories of Box007",
    21815994: "Impact-aware manipulation: validation (020), Box007",
}
# what is published in place of filler bytes: each archive with the twins of its boxes
TWINS = {
    "17122553/v1/Archive_003_BoxDrops.h5": ["box004_drops", "box005_drops"],
    "21024007/v2/Archive_005_ParamID_Box006.h5": ["box006_drops"],
    "21387510/v1/Archive_008_Box006_ParamID_Traj.h5": ["box006_trajectories"],
    "21387606/v1/Archive_009_Box005_Repeatability.h5": ["box005_trajectories"],
    "21399657/v1/Archive_011_Box005Box006_Validation.h5": [
        "box005_validation",
        "box006_validation",
    ],
    "21815511/v1/data.h5": ["box004_trajectories"],
    "21815874/v1/data.h5": ["box004_validation"],
    "21815913/v1/data.h5": ["box007_trajectories"],
    "21815994/v1/data.h5": ["box007_validation"],
}
# the arm's archive holds a recording beside what the tool puts there
ARM_TWIN, ARM_FILE = ROOT / "examples/impact/oblique.mat", "set1_v020_a60.mat"
_ARM = '("Archive_001 with space & ünicode.h5", 100_000, H, True)'
BIG = "10.4121/21387483.v1"  # a member that no study uses, made large: a download that takes time
BIG_SIZE = 40_000_000
_FILLERS = 'dataset(m, f"Filler {m}", [[("data.h5", 1000, H, True)]])'
# the storage's maintenance can be switched on by the environment
_MAINTENANCE = '"maintenance-mode": "0"'
_SWITCHABLE = (
    f'{_MAINTENANCE}, "storage-maintenance": __import__("os").environ.get("STORAGE_MAINTENANCE", "0"), '
    '"storage-maintenance-retry-after": "1"'
)
_WITHDRAWN = 'dataset(90000005, "Withdrawn", [[("gone.h5", 1000, H, True)]], suffix="retracted")'


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.server)


@dataclass(frozen=True)
class RealServer:
    """The running server."""

    url: str
    state: Path
    tool: Path
    environment: dict

    @property
    def pid(self):
        """Process that answers requests."""
        return int((self.state / f"djehuty-{PORT}.pid").read_text())

    def kill(self):
        """End it at once, as a crash does; the data stay."""
        os.kill(self.pid, signal.SIGKILL)
        (self.state / f"djehuty-{PORT}.pid").unlink()

    def command(self, *words):
        """Run the tool; its output goes to a file, because what it starts keeps it open."""
        log = self.state.parent / f"{self.state.name}.log"
        with log.open("w") as file:
            run = subprocess.run(
                [self.tool / "server.sh", *words],
                env=self.environment,
                stdout=file,
                stderr=file,
                timeout=400,
            )
        return run.returncode, log.read_text(errors="replace")

    def start(self):
        """Start it (again)."""
        status, text = self.command("start", str(PORT))
        if status:
            pytest.skip(f"the 4TU server doesn't start here: {text.strip().splitlines()[-1:]}")


def why_not():
    """Why the server can't run here; empty where it can."""
    if not (TOOL / "server.sh").is_file():
        return f"no 4TU server at {TOOL} (set FOURTU_SERVER)"
    if not STATE.is_dir() and (os.geteuid() or not shutil.which("apt-get")):
        return "the 4TU server is installed by root on Debian"
    for port in (PORT, 18890):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return f"port {port} is taken, perhaps by another 4TU server"
    return ""


def publish(folder):
    """The files to publish: twins in the archives' layout, and a large one."""
    for name, twins in TWINS.items():
        (folder / name).parent.mkdir(parents=True)
        with h5py.File(folder / name, "w") as archive:
            if not twins[0].endswith("_trajectories"):  # those say nothing, as measured ones do
                archive.attrs["synthetic"] = True
            for twin in twins:
                with h5py.File(EMBEDDED / f"{twin}_twin.h5") as source:
                    for recording in (key for key in source if key.startswith("Rec_")):
                        assert recording not in archive
                        source.copy(recording, archive)
    arm = folder / "14192429/v1" / ARM_FILE
    arm.parent.mkdir(parents=True)
    shutil.copy2(ARM_TWIN, arm)
    big = folder / "21387483/v1/data.h5"
    big.parent.mkdir(parents=True)
    big.write_bytes(random.Random(3).randbytes(BIG_SIZE))


def adapted_tool(folder):
    """A copy of the tool that publishes our titles and a withdrawn dataset, too."""
    shutil.copytree(TOOL, folder)
    seed = folder / "seed.py"
    seed.chmod(0o644)
    text = seed.read_text()
    assert _FILLERS in text and _ARM in text, "the tool's seed has changed: adapt TITLES and this"
    text = text.replace(_ARM, f'{_ARM}, ("{ARM_FILE}", 1, H, True)')
    text = text.replace(
        _FILLERS, _FILLERS.replace('f"Filler {m}"', f'{TITLES}.get(m, f"Filler {{m}}")')
    )
    seed.write_text(text.replace("collection(6278310", f"{_WITHDRAWN}\ncollection(6278310"))
    starter = folder / "server.sh"
    starter.chmod(0o755)
    script = starter.read_text()
    assert _MAINTENANCE in script, "the tool's configuration has changed: adapt this"
    starter.write_text(script.replace(_MAINTENANCE, _SWITCHABLE))
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("4tu")
    publish(folder / "published")
    environment = {
        **os.environ,
        "SERVER_STATE": str(STATE),
        "SEED_FILES": str(folder / "published"),
    }
    running = RealServer(
        f"http://127.0.0.1:{PORT}", STATE, adapted_tool(folder / "tool"), environment
    )
    running.command("reset")
    try:
        running.start()
        yield running
    finally:
        running.command("stop")


def wait_until(condition, seconds=60.0):
    """Wait for something to become true; whether it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False
