"""An honest bundle agrees on every processor, by the run's arithmetic or by floors, and a changed
digit is found.
"""

import io
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contactid.review import keep as keeping
from contactid.review import recompute
from contactid.review.apart import FLOORS, ROUNDING, compare
from contactid.review.arithmetic import describe_arithmetic
from contactid.review.keep import keep, other_kernels
from contactid.review.recompute import ARITHMETIC, Place
from contactid.run.records import JobRecord

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(ROOT / "workflow"),
    "OMP_NUM_THREADS": "1",
}
_X86 = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="x86-64 and Linux alone"
)
FIGURE = """
import sys, yaml
from contactid.arm.artefacts.two_mass import motions
from contactid.output.tables import write_csv
write_csv(motions(yaml.safe_load(open("config/default.yaml"))["arm"]["models"]), sys.argv[1])
"""


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The arm's figure 4 (two masses and a wall) by two kernels of OpenBLAS, as files."""
    found = {}
    for kernel in ("Nehalem", "Haswell"):
        file = tmp_path_factory.mktemp(kernel) / "fig04_two_mass.csv"
        command = [sys.executable, "-c", FIGURE, str(file)]
        subprocess.run(
            command, cwd=ROOT, env=ENVIRONMENT | {"OPENBLAS_CORETYPE": kernel}, check=True
        )
        found[kernel] = file.read_bytes()
    return found


@_X86
def test_another_kernels_last_digits_agree(figures):
    old, new = figures["Haswell"], figures["Nehalem"]
    tables = [pd.read_csv(io.BytesIO(content)) for content in (old, new)]
    one, other = (table.select_dtypes("number").to_numpy() for table in tables)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.abs(one - other) / np.maximum(np.abs(one), np.abs(other))
    assert np.nanmax(relative) > 0.1  # at zero crossings no digit is the same
    assert compare("fig04_two_mass.csv", old, new).verdict(1e-4) == "agrees"


@_X86
def test_a_fourth_digit_differs_in_every_column_and_beside_other_kernels_too(figures):
    old, new = figures["Haswell"], figures["Nehalem"]
    table = pd.read_csv(io.BytesIO(old))
    columns = [name for name in table.select_dtypes("number") if table[name].abs().max() > 0]
    assert len(columns) >= 6
    for name in columns:
        sizes = table[name].abs()
        for quantile in (0.5, 1.0):  # an ordinary number, and the largest
            row = (sizes - sizes[sizes > 0].quantile(quantile)).abs().idxmin()
            forged = table.copy()
            forged[name] = forged[name].astype(float)
            forged.loc[row, name] *= 1.001
            content = forged.to_csv(index=False).encode()
            assert compare("fig04_two_mass.csv", content, old).verdict(1e-4) == "differs", name
            assert compare("fig04_two_mass.csv", content, old, new).verdict(1e-4) == "differs", name


def test_a_small_quantity_below_large_ones_is_judged_by_itself():
    table = "quantity,unit,value\nstiffness,N/m,1e8\ninertia,kg m2,{}\n"
    published, forged = (table.format(value).encode() for value in ("2.345e-07", "2.346e-07"))
    assert compare("a.csv", forged, published).verdict(1e-4) == "differs"
    # without a column that names them: as far as the floor of the largest reaches
    plain = "value\n1e8\n{}\n"
    for small, forged, verdict in (("0.4321", "0.4325", "differs"), ("1e-05", "3e-05", "agrees")):
        assert (
            compare("a.csv", plain.format(forged).encode(), plain.format(small).encode()).verdict(
                1e-4
            )
            == verdict
        )


@pytest.mark.parametrize(
    ("column", "was", "now", "verdict"),
    [
        ("largest_residual", "1.6e-10", "2.9e-14", "agrees"),
        ("complementarity", "0", "9e-9", "agrees"),
        ("complementarity", "0", "2e-8", "differs"),
        ("impulse_t", "0", "2.8e-12", "agrees"),
        ("mass_kg", "1.6e-10", "2.9e-14", "differs"),
        ("vz_m_s", "6.4e-17", "-3.1e-17", "agrees"),
    ],
)
def test_what_a_solve_leaves_over_is_judged_by_its_limit(column, was, now, verdict):
    old, new = (f"{column}\n{value}\n".encode() for value in (was, now))
    assert compare("a.csv", old, new).verdict(1e-4) == verdict
    assert all(floor > ROUNDING for _, floor in FLOORS)


ESTIMATES = "throw,mass,status\n" + "".join(f"{k},{{}},{{}}\n" for k in range(3))


def table(masses, states=("a", "a", "a")):
    return ESTIMATES.format(
        *(cell for pair in zip(masses, states, strict=True) for cell in pair)
    ).encode()


@pytest.mark.parametrize(
    ("published", "again", "verdict"),
    [
        # as one of this machine's kernels has it
        ((1.0, 2.1, 3.0), [(1.0, 2.0, 3.0), (1.0, 2.1, 3.0)], "identical"),
        # they don't agree on the column either, and are as far from each other
        ((1.0, 2.3, 3.0), [(1.0, 2.0, 3.0), (1.0, 2.1, 3.0)], "undetermined"),
        ((1.01, 2.0, 3.0), [(1.0, 2.0, 3.0), (1.0, 2.1, 3.0)], "undetermined"),
        ((1.0, 9.0, 3.0), [(1.0, 2.0, 3.0), (1.0, 2.1, 3.0)], "differs"),
        # they agree, and the published one is another
        ((1.001, 2.0, 3.0), [(1.0, 2.0, 3.0), (1.0, 2.0, 3.0)], "differs"),
        ((1.001, 2.0, 3.0), [(1.0, 2.0, 3.0)], "differs"),
    ],
)
def test_where_this_machine_does_not_agree_with_itself_a_number_is_undetermined(
    published, again, verdict
):
    versions = [table(masses) for masses in again]
    found = compare("a.csv", table(published), *versions)
    assert found.verdict(1e-4) == verdict
    # that says nothing of another column
    forged = compare("a.csv", table(published, ("a", "b", "a")), *versions)
    assert forged.verdict(1e-4) == "differs"


@_X86
def test_the_recorded_arithmetic_is_kept_and_what_cannot_be_is_named():
    # with the choices that this process was started with
    environment = ENVIRONMENT | {
        name: os.environ[name] for name in ARITHMETIC if name in os.environ
    }
    own = describe_arithmetic()
    as_here = keep(own, environment)
    assert (as_here.variables, as_here.other) == ({}, {}) and "the run's" in str(as_here)
    older = own | {"blas": "Nehalem", "numpy": "", "numba": "x86-64"}
    kept = keep(older, environment)
    assert kept.other == {} and set(kept.variables) <= set(ARITHMETIC)
    assert kept.variables["OPENBLAS_CORETYPE"] == "Nehalem"
    assert "OPENBLAS_CORETYPE=Nehalem" in str(kept)
    assert {**kept.chosen} == older
    strange = keep(own | {"blas": "Pentium", "libm": "0"}, environment)
    assert set(strange.other) == {"blas", "libm"}
    assert "NOT the run's" in str(strange)
    assert "Pentium" in str(strange)
    assert [one["OPENBLAS_CORETYPE"] for one in other_kernels(kept, environment, 1)] in (
        ["Haswell"],
        ["SkylakeX"],
    )


@pytest.mark.parametrize(
    "recorded",
    [None, [], "x", {}, {"blas": ["Haswell"]}, {"blas": "A\nERROR b"}, {"blas": "x" * 999}],
)
def test_a_record_that_says_nothing_leaves_this_machines_own_choice(monkeypatch, recorded):
    asked = []
    monkeypatch.setattr(
        keeping, "_choices", lambda environment: asked.append(environment) or {"blas": "Zen"}
    )
    found = keep(recorded, ENVIRONMENT)
    assert asked == [ENVIRONMENT] and not found.variables and found.other == {"blas": (None, "Zen")}


@_X86
def test_a_kernel_that_ends_its_process_is_not_taken(monkeypatch):
    monkeypatch.setattr(
        keeping,
        "_TRIAL",
        "import os\nif os.environ.get('OPENBLAS_CORETYPE'): os.abort()\n" + keeping._TRIAL,
    )
    found = keep(describe_arithmetic() | {"blas": "Nehalem"}, ENVIRONMENT)
    assert not found.variables and set(found.other) == {"blas"}


def test_jobs_get_the_variables_of_the_arithmetic_and_none_of_the_users(monkeypatch, tmp_path):
    started = []

    def run(command, **given):
        started.append(given["env"])
        (tmp_path / "code").mkdir()
        (tmp_path / "code/a.csv").write_text("x\n")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(recompute.subprocess, "run", run)
    for name in ("SECRET", "LD_PRELOAD"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    place = recompute.prepare(tmp_path, {"run": "r"}, sandbox=False)
    job = JobRecord("tables", ("a.csv",), (), None, 0.0, 1.0)
    recompute.recompute(
        place, ["a.csv"], [job], {"OPENBLAS_CORETYPE": "Nehalem", "NUMBA_CPU_NAME": "x86-64"}
    )
    (environment,) = started
    assert environment["OPENBLAS_CORETYPE"] == "Nehalem"
    assert environment["NUMBA_CPU_NAME"] == "x86-64"
    bare = {
        "PATH",
        "LANG",
        "OMP_NUM_THREADS",
        "PYTHONPATH",
        "HOME",
        "TMPDIR",
        "PYTHONPYCACHEPREFIX",
        "NUMBA_CACHE_DIR",
    }
    assert set(environment) <= bare | set(ARITHMETIC)
    assert isinstance(place, Place) and json.loads(place.settings.read_text()) == {"run": "r"}
