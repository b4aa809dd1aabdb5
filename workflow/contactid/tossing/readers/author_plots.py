"""Read what the tossing paper's authors drew figures from: ``Plotting/230120_DataForPlots.mat`` of
their Paper-Tossing.

Names, shapes and the order of indices are those of their ``PlotFigures.m`` and ``ParamIDVel.m``;
nobody here has seen the file itself. Of each part of it, MATLAB's names and the canonical form:

* costs, Box006: ``SUMMATLAB``, ``SUMAGX`` (eq. 17, m/s), ``SUMMATLABtraj``, ``SUMAGXtraj`` (eq.
  18): (mu, eN). ``cost`` (kind, simulator, friction_mu, restitution_e_n);
* impact, Box006, 11 samples round k_im = ``Ia`` + 5: ``BCV_CBaf``, ``BCV_CBef`` (6, 11), fitted
  before and after it, and ``BCV_MB_M``, ``BCV_MB_AGX`` (6, n, p) at the parameters' place
  ``optMATLAB_idx``, ``optAGX_idx``. ``velocity`` (curve, sample, component), hybrid twist of B in
  C, m/s and rad/s; ``last_pre`` and ``first_post`` are ``indx_b`` and ``indx_c`` counted from 0;
* rest poses: ``Val.<box><Vel or Traj>.MH_B_rest``, ``MH_B_restM``, ``MH_B_restAGX`` (4, 4, n),
  measured and simulated. ``rest_position`` (pose, toss, xyz) in m and ``rest_orientation`` (pose,
  toss, wxyz).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.card import Panel, Series, Signals
from contactid.sources.left_out import log_left_out, nothing_usable
from contactid.sources.matlab_files import mat_files, read_variables

OBJECT, BOXES = "Box006", ("Box005", "Box006")  # of costs and impact; of rest poses
# ends of the names of surfaces and of Val
KINDS = {"velocity": ("", "Vel"), "trajectory": ("traj", "Traj")}
SIMULATORS = {
    "matlab": ("SUMMATLAB", "BCV_MB_M", "optMATLAB_idx", "MH_B_restM"),
    "algoryx": ("SUMAGX", "BCV_MB_AGX", "optAGX_idx", "MH_B_restAGX"),
}
WINDOW = 11  # samples
_MOST_BYTES = 1 << 28  # a whole MATLAB workspace; GitHub takes files of 100 MB, packed
_RIGID = 1e-4  # of R^T R against the identity, what float32 and a long simulation leave
_REMEDY = "Compare the file with the authors' PlotFigures.m"

Variables = Mapping[str, np.ndarray]


def read_author_plots(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """The one ``.mat`` file of a folder, or the file itself; ``left_out`` says which part can't be
    used, and why.

    A variable ``synthetic`` that isn't zero says that the file is a stand-in.

    Raises :class:`ContactIdError` where there isn't one such file, it can't be read, or no part of
    it is as expected
    """
    files = list(mat_files(path))
    if len(files) != 1:
        raise ContactIdError(
            f"{path}: {len(files)} .mat files where the authors have one", "Give that file"
        )
    variables = read_variables(files[0][1], _MOST_BYTES)
    parts: dict[str, xr.Dataset] = {}
    left_out: dict[str, str] = {}
    for name, read in (("costs", _costs), ("impact", _impact), ("rest poses", _rest_poses)):
        try:
            parts[name] = read(variables)
        except ContactIdError as error:
            left_out[name] = error.problem
    log_left_out(left_out)
    if not parts:
        raise nothing_usable(path, "parts", left_out, _REMEDY)
    stand_in = synthetic or bool(np.any(variables.get("synthetic", 0)))
    plots = xr.merge(parts.values()).assign_coords(part=list(parts))
    return plots.assign_attrs(
        object=", ".join(BOXES),
        sample_frequency=360.0,  # Hz, section III
        source=str(path),
        licence=licence,
        synthetic=int(stand_in),
        left_out=json.dumps(left_out),
    )


def _wanted(variables: Variables, shapes: Mapping[str, tuple[int | None, ...]]) -> list[np.ndarray]:
    """Variables as floats, in their order; None stands for any length. All that is wrong is one
    error.
    """
    problems = [f"{name} isn't in the file" for name in shapes if name not in variables]
    for name in shapes.keys() & variables.keys():
        shape, found = shapes[name], variables[name].shape
        pairs = zip(shape, found, strict=False)
        if len(found) != len(shape) or any(wanted not in (None, size) for wanted, size in pairs):
            wanted_shape = " x ".join("n" if size is None else str(size) for size in shape)
            problems.append(
                f"{name} is {' x '.join(map(str, found))}, and {wanted_shape} by the scripts"
            )
        elif not np.isfinite(variables[name]).all():
            problems.append(f"{name} has numbers that aren't finite")
    if problems:
        raise ContactIdError("; ".join(sorted(problems)), _REMEDY)
    return [np.asarray(variables[name], dtype=float) for name in shapes]


def _costs(variables: Variables) -> xr.Dataset:
    mu, e_n = (axis.ravel() for axis in _wanted(variables, {"mu": (1, None), "eN": (1, None)}))
    for name, values in (("mu", mu), ("eN", e_n)):
        if len(set(values)) < len(values) or values.min() < 0.0 or values.max() > 1.0:
            raise ContactIdError(f"{name} isn't a grid between 0 and 1", _REMEDY)
    names = [SIMULATORS[one][0] + KINDS[kind][0] for kind, one in product(KINDS, SIMULATORS)]
    surfaces = _wanted(variables, dict.fromkeys(names, (len(mu), len(e_n))))
    axes: dict[str, Any] = {
        "kind": [*KINDS],
        "simulator": [*SIMULATORS],
        "friction_mu": mu,
        "restitution_e_n": e_n,
    }
    cost = np.reshape(surfaces, [len(values) for values in axes.values()])
    # Algoryx's files may have named the grid, in the order of its simulations
    return xr.Dataset({"cost": ([*axes], cost)}, axes).sortby(["friction_mu", "restitution_e_n"])


def _impact(variables: Variables) -> xr.Dataset:
    curves = _wanted(variables, dict.fromkeys(("BCV_CBaf", "BCV_CBef"), (6, WINDOW)))
    first, *places = (
        int(one.item())
        for one in _wanted(variables, dict.fromkeys(("Ia", "indx_b", "indx_c"), (1, 1)))
    )
    if not 1 <= places[0] < places[1] <= WINDOW:
        raise ContactIdError(
            f"indx_b and indx_c, {places}, are no places in a window of {WINDOW}", _REMEDY
        )
    for _, simulated, optimum, _ in SIMULATORS.values():
        every, index = _wanted(variables, {simulated: (6, None, None), optimum: (1, 1)})
        # MATLAB counts from 1
        place = int(index.item()) - 1
        if every.shape[1] < WINDOW or not 0 <= place < every.shape[2]:
            raise ContactIdError(
                f"{simulated} has no {WINDOW} samples at {optimum} = {place + 1}", _REMEDY
            )
        curves.append(every[:, :WINDOW, place])
    velocity = ("curve", "sample", "component"), np.swapaxes(curves, 1, 2)
    scalars = {"last_pre": places[0] - 1, "first_post": places[1] - 1}
    axes = {"curve": ["before", "after", *SIMULATORS], "sample": first + np.arange(WINDOW)}
    return xr.Dataset({"velocity": velocity, **scalars}, axes)


def _rest_poses(variables: Variables) -> xr.Dataset:
    found, objects, kinds = [], [], []
    for box, kind in product(BOXES, KINDS):
        group = f"Val.{box}{KINDS[kind][1]}"
        names = [
            f"{group}.{name}" for name in ("MH_B_rest", *(one[3] for one in SIMULATORS.values()))
        ]
        n_tosses = variables[names[0]].shape[-1] if names[0] in variables else None
        by_source = np.stack(_wanted(variables, dict.fromkeys(names, (4, 4, n_tosses))))
        # (pose, toss, 4, 4)
        matrices = np.moveaxis(by_source, 3, 1)
        turns = matrices[..., :3, :3]
        if np.abs(np.swapaxes(turns, -1, -2) @ turns - np.eye(3)).max() > _RIGID:
            raise ContactIdError(f"{group} has poses that are no rigid motion", _REMEDY)
        found.append(matrices)
        objects += [box] * matrices.shape[1]
        kinds += [kind] * matrices.shape[1]
    poses = np.concatenate(found, axis=1)
    turns = rotations.from_matrices(poses[..., :3, :3].reshape(-1, 3, 3)).reshape(
        *poses.shape[:2], 4
    )
    variables_of = {
        "rest_position": (("pose", "toss", "xyz"), poses[..., :3, 3], {"units": "m"}),
        "rest_orientation": (("pose", "toss", "wxyz"), turns),
    }
    axes = {
        "pose": ["measured", *SIMULATORS],
        "object": ("toss", objects),
        "parameters": ("toss", kinds),
    }
    return xr.Dataset(variables_of, axes)


def plot_signals(plots: xr.Dataset) -> Signals:
    """What a data card says of the file, with a panel of the least costs over friction."""
    lines = []
    for kind in KINDS if "cost" in plots else ():
        least = plots["cost"].sel(kind=kind, simulator="matlab").min("restitution_e_n")
        lines.append(Series(least["friction_mu"].values.tolist(), least.values.tolist(), kind))
    what = f"cost surfaces and an impact of {OBJECT}, rest poses of {', '.join(BOXES)}, as the authors drew them"
    samples = sum(values.size for values in plots.values())
    panel = Panel("least cost by MATLAB", "friction", "cost (m/s; 1)", lines)
    return Signals(
        what, plots.sizes["part"], samples, durations=[], gaps=0, noise={}, panels=[panel]
    )
