"""Measured planar impacts of an ellipse with six published models' predictions, in one canonical form.

The public files (MATLAB, 1,718 impacts, 250 frames/s) give states ``(x, y, theta, vx, vy, omega)`` before and after
each impact, rows ``n`` and ``d`` of the contact Jacobian, and post-impact velocities predicted by six models. They have
no written conventions; these are found by experiment, and the tests on the real files hold them:

* *Handedness.* theta and x don't belong to one right-handed frame. With x as it is, eq. 31 gives J/m = 854 mm2 and the
  contact point leaves at a median of 1.14 m/s along the ground; with x reversed it gives 367 mm2 where the body has
  369, and the median is 0.17 m/s. So here x and every v_x change sign; then theta is counter-clockwise from x and the
  rows are right as they stand: N = (0, 1, r_t), T = (1, 0, height).
* *Height.* y is twice the support function ``H(theta)``, to 0.02 mm: impacts were moved onto the ground, and H added
  once more. Here y is halved: the centre's height over the ground y = 0.
* *Rows.* They have unit directions, lengths in m and no mass matrix, but were taken one frame (4 ms) before the state:
  at ``theta - omega h`` they agree with :func:`contacts` to 0.05 mm (median), at theta to 0.2 mm.
* *Turns.* theta may differ by a whole turn between before and after; here after is the nearest to before.
* *Predictions* are exactly ``v + M^-1 (d p_t + n p_n)`` with J/m = (a^2 + b^2)/5 = 370 mm2, the rows as given and x as
  it is: for a body of the wrong handedness. Their errors here say little about the models.

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

Attributes: ``object``, ``sample_frequency`` (Hz), ``source``, ``licence``, ``synthetic`` (0).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import xarray as xr

from contactid.errors import ContactIdError

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
_REVERSE_X = np.array([-1.0, 1.0, 1.0])
_HALVE_Y = np.array([1.0, 0.5, 1.0])


def read_ellipse_impacts(folder: str | Path, *, licence: str) -> xr.Dataset:
    """Read ``data_ellipse.mat`` and ``v_models.mat`` of a folder.

    Raises
    ------
    ContactIdError
        Where a file is missing, damaged, or of another shape; or a value is not finite.
    """
    folder = Path(folder)
    before, after, normal, tangent = _read_states(folder / "data_ellipse.mat")
    predicted = _read_predictions(folder / "v_models.mat", len(before))
    turns = np.round((after[:, 2] - before[:, 2]) / (2.0 * np.pi))
    after[:, 2] -= 2.0 * np.pi * turns
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
        coords={"coordinate": np.array(_COORDINATES, dtype=object), "model": np.array(MODELS, dtype=object)},
        attrs={
            "object": "Ellipse70x50",
            "sample_frequency": SAMPLE_FREQUENCY,
            "source": "planar impacts of an ellipse",
            "licence": licence,
            "synthetic": 0,
        },
    )
    return impacts


def _load(path: Path, name: str) -> Any:
    if not path.is_file():
        raise ContactIdError(f"{path}: the file is missing", "Check data_mirror or fetch again")
    try:
        content = scipy.io.loadmat(path)
    except Exception as error:  # scipy raises many kinds for a damaged file
        raise ContactIdError(f"{path}: not a readable MATLAB file ({error})", "Fetch it again") from None
    if name not in content:
        raise ContactIdError(f"{path}: no variable {name}", "It's another file: fetch it again")
    return content[name]


def _read_states(path: Path) -> list[np.ndarray]:
    """States before and after (n, 6) and rows n and d (n, 3), as they are in the file."""
    data = _load(path, "data")
    names = {"states_i": 6, "states_f": 6, "n": 3, "d": 3}
    if data.dtype.names is None or not set(names) <= set(data.dtype.names) or data.size != 1:
        raise ContactIdError(f"{path}: data lacks one of {', '.join(names)}", "Fetch it again")
    tables = [_table(path, name, data[name].item(), columns) for name, columns in names.items()]
    if len({len(table) for table in tables}) != 1:
        raise ContactIdError(f"{path}: its tables have different numbers of impacts", "Fetch it again")
    return tables


def _read_predictions(path: Path, n_impacts: int) -> np.ndarray:
    """(6, n, 3) post-impact velocities, as they are in the file."""
    table = _table(path, "v_models", _load(path, "v_models"), 3 * len(MODELS))
    if len(table) != n_impacts:
        raise ContactIdError(f"{path}: {len(table)} predictions of {n_impacts} impacts", "Fetch both files again")
    return table.reshape(n_impacts, len(MODELS), 3).transpose(1, 0, 2)


def _table(path: Path, name: str, value: Any, columns: int) -> np.ndarray:
    table = np.asarray(value)
    if table.dtype.kind not in "fiu" or table.ndim != 2 or table.shape[1] != columns or not len(table):
        raise ContactIdError(f"{path}: {name} is no table of {columns} columns", "Fetch it again")
    if not np.isfinite(table).all():
        raise ContactIdError(f"{path}: {name} has a value that is not finite", "Fetch it again")
    return table.astype(float)


def impulse_moments(impacts: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of eq. 31 for every impact: the contact impulse's moment per mass (n,), m2/s, and d_omega (n,), rad/s.

    Their ratio is J/m where the impulse goes through the contact point; gravity acts too briefly to matter.
    """
    change = (impacts["velocity_after"] - impacts["velocity_before"]).values
    moment = impacts["normal"].values[:, 2] * change[:, 1] + impacts["tangent"].values[:, 2] * change[:, 0]
    return moment, change[:, 2]


def prediction_errors(impacts: xr.Dataset, predicted: np.ndarray) -> np.ndarray:
    """(..., 4) mean absolute errors of v_x, v_y (m/s) and omega (rad/s), and of all with omega as a speed (m/s).

    Parameters
    ----------
    impacts
        The measured impacts.
    predicted
        (..., n, 3) post-impact velocities; the last entry multiplies omega by the radius of gyration.
    """
    error = predicted - impacts["velocity_after"].values
    speed = error * np.array([1.0, 1.0, np.sqrt(float(impacts["inertia_ratio"]))])
    return np.concatenate(
        [np.abs(error).mean(axis=-2), np.linalg.norm(speed, axis=-1).mean(axis=-1, keepdims=True)], axis=-1
    )
