"""Measured planar impacts of an ellipse with six published models' predictions, in one canonical
form.

The public files (MATLAB, 1,718 impacts, 250 frames/s) give states ``(x, y, theta, vx, vy, omega)``
before and after each impact, rows ``n`` and ``d`` of the contact Jacobian, and post-impact
velocities predicted by six models. They have no written conventions; these are found by experiment,
and the tests on the real files hold them:

* *Handedness.* theta and x don't belong to one right-handed frame. With x as it is, eq. 31 gives
  J/m = 861 mm2 and the contact point leaves at a median of 1.14 m/s along the ground; with x
  reversed it gives 371 mm2 and a median of 0.17 m/s. So here x and every v_x change sign; then
  theta is counter-clockwise from x and the rows are right as they stand: N = (0, 1, r_t), T = (1,
  0, height).
* *Height.* y is twice the support function ``H(theta)``, to 0.02 mm: impacts were moved onto the
  ground, and H added once more. Here y is halved: the centre's height over the ground y = 0.
* *Rows.* They have unit directions, lengths in m and no mass matrix, but were taken one frame (4
  ms) before the state: at ``theta - omega h`` they agree with :func:`contacts` to 0.05 mm (median),
  at theta to 0.2 mm.
* *Turns.* theta may differ by a whole turn between before and after; here after is the nearest to
  before.
* *Predictions* are exactly ``v + M^-1 (d p_t + n p_n)`` with J/m = (a^2 + b^2)/5 = 370 mm2, the
  rows as given and x as it is: for a body of the wrong handedness. Their errors here say little
  about the models.

================ =================== =================== ===========================================================
variable         dimensions          unit                meaning
================ =================== =================== ===========================================================
before, after    impact, coordinate  m, m, rad           q at the impact
velocity_before  impact, coordinate  m/s, m/s, rad/s     v^-
velocity_after   impact, coordinate  m/s, m/s, rad/s     v^+
normal, tangent  impact, coordinate  1, 1, m             rows of N and T as published, x right-handed
predicted        model, impact, ...  m/s, m/s, rad/s     v^+ by the published models
semi_axes        axis                m                   a, b
inertia_ratio                        m2                  J/m from the published radius of gyration
mass                                 kg                  as published
================ =================== =================== ===========================================================

Attributes: ``object``, ``sample_frequency`` (Hz), ``source``, ``licence``, ``synthetic`` (0),
``left_out``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.reading import content_of
from contactid.sources.left_out import joined, log_left_out, nothing_usable
from contactid.sources.matlab_files import described, read_variables

SEMI_AXES = (0.035, 0.025)  # m
MASS = 0.0364  # kg
RADIUS_OF_GYRATION = 0.0192  # m
SAMPLE_FREQUENCY = 250.0  # Hz
MODELS = (
    "Drumwright-Shell",
    "Anitescu-Potra (Poisson)",
    "Anitescu-Potra (Newton)",
    "Mirtich",
    "Wang-Mason",
    "Whittaker",
)
_COORDINATES = ("x", "y", "theta")
_STATE_UNITS, _VELOCITY_UNITS, _ROW_UNITS = "m, m, rad", "m/s, m/s, rad/s", "1, 1, m"
STATES_FILE, MODELS_FILE = "data_ellipse.mat", "v_models.mat"
_STATE_TABLES = {"states_i": 6, "states_f": 6, "n": 3, "d": 3}  # columns
_LARGEST_STATE = np.array([10.0, 10.0, 100.0, 30.0, 30.0, 500.0])  # m, m, rad, m/s, m/s, rad/s
_DIRECTION_TOLERANCE = 1e-3
_REVERSE_X = np.array([-1.0, 1.0, 1.0])
_HALVE_Y = np.array([1.0, 0.5, 1.0])


def read_ellipse_impacts(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """Read ``data_ellipse.mat`` and ``v_models.mat`` of a folder.

    Impacts with a value that is no finite number, or beyond what the apparatus can do, are left
    out; ``left_out`` says which (JSON: number of the impact from 0, to reason).

    Raises
    ------
    ContactIdError
        With everything wrong in both files: missing, damaged, or of another shape; or where no
        impact is usable.
    """
    folder = Path(path)
    problems: list[str] = []
    tables = _tables(folder / STATES_FILE, _STATE_TABLES, problems)
    tables |= _tables(folder / MODELS_FILE, {"v_models": 3 * len(MODELS)}, problems)
    lengths = {name: len(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{length} in {name}" for name, length in lengths.items())
        problems.append(f"its tables have different numbers of impacts: {counts}")
    if problems:
        raise ContactIdError(
            f"{folder}: {joined(problems)}", "Check data_mirror or fetch both files again"
        )
    left_out = _unusable(tables)
    log_left_out(left_out)
    kept = np.setdiff1d(np.arange(len(tables["n"])), [int(number) for number in left_out])
    if not len(kept):
        raise nothing_usable(
            folder, "impacts", left_out, "Check data_mirror or fetch both files again"
        )
    before, after, normal, tangent, models = (
        tables[name][kept] for name in ("states_i", "states_f", "n", "d", "v_models")
    )
    # (models, n, 3) from three columns a model
    predicted = models.reshape(len(kept), len(MODELS), 3).transpose(1, 0, 2)
    # whole turns, by which theta may differ from before to after
    turns = np.round((after[:, 2] - before[:, 2]) / (2.0 * np.pi))
    after[:, 2] -= 2.0 * np.pi * turns
    # velocities are as they should be but for x; y of poses holds the height twice
    flip, place = _REVERSE_X, _REVERSE_X * _HALVE_Y
    rows = ("impact", "coordinate")
    impacts = xr.Dataset(
        {
            "before": (rows, before[:, :3] * place, {"units": _STATE_UNITS}),
            "after": (rows, after[:, :3] * place, {"units": _STATE_UNITS}),
            "velocity_before": (rows, before[:, 3:] * flip, {"units": _VELOCITY_UNITS}),
            "velocity_after": (rows, after[:, 3:] * flip, {"units": _VELOCITY_UNITS}),
            "normal": (rows, normal, {"units": _ROW_UNITS}),
            "tangent": (rows, tangent, {"units": _ROW_UNITS}),
            "predicted": (("model", *rows), predicted * flip, {"units": _VELOCITY_UNITS}),
            "semi_axes": ("axis", np.array(SEMI_AXES), {"units": "m"}),
            "inertia_ratio": ((), RADIUS_OF_GYRATION**2, {"units": "m2"}),
            "mass": ((), MASS, {"units": "kg"}),
        },
        coords={
            "coordinate": np.array(_COORDINATES, dtype=object),
            "model": np.array(MODELS, dtype=object),
        },
        attrs={
            "object": "Ellipse70x50",
            "sample_frequency": SAMPLE_FREQUENCY,
            "source": "planar impacts of an ellipse",
            "licence": licence,
            "synthetic": int(synthetic),
            "left_out": json.dumps(left_out),
        },
    )
    return impacts


def _tables(path: Path, wanted: Mapping[str, int], problems: list[str]) -> dict[str, np.ndarray]:
    """The file's tables (n, columns) by name, as far as they are usable, as they are in the file."""
    try:
        variables = read_variables(content_of(path))
    except ContactIdError as error:
        problems.append(f"{path.name}: {error.problem.removeprefix(f'{path}: ')}")
        return {}
    by_name = {name.rpartition(".")[2]: value for name, value in variables.items()}
    tables = {}
    missing = [name for name in wanted if name not in by_name]
    if missing:
        problems.append(
            f"{path.name}: no table {', '.join(missing)} (it holds {described(variables)})"
        )
    for name in (name for name in wanted if name in by_name):
        table, columns = by_name[name], wanted[name]
        if table.ndim != 2 or table.shape[1] != columns or not len(table):
            problems.append(
                f"{path.name}: {name} has shape {table.shape} instead of (n, {columns})"
            )
        else:
            tables[name] = table.astype(float)
    return tables


def _unusable(tables: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Everything wrong with single impacts: reasons by the impact's number."""
    wrong = {
        f"{name} has a value that is not finite": ~np.isfinite(t).all(axis=1)
        for name, t in tables.items()
    }
    for name in ("states_i", "states_f"):
        wrong[f"{name} is beyond what can be in m, rad and s"] = (
            np.abs(tables[name]) > _LARGEST_STATE
        ).any(axis=1)
    for name, direction in (("n", (0.0, 1.0)), ("d", (1.0, 0.0))):
        off = np.abs(tables[name][:, :2] - direction).max(axis=1)
        wrong[f"row {name} doesn't point along {direction}"] = off > _DIRECTION_TOLERANCE
    impacts = np.flatnonzero(np.any(list(wrong.values()), axis=0))
    return {
        str(impact): joined([reason for reason, of in wrong.items() if of[impact]])
        for impact in impacts
    }
