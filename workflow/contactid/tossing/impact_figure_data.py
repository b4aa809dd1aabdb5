"""The data behind figures 5 to 9 of the tossing paper: an impact, its velocities, and the velocity-based cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from contactid.sources.motion import body_of, iterate_recordings
from contactid.tossing.free_motion import fit_free_motion
from contactid.tossing.impact import WEIGHTS, ImpactWindow
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate
from contactid.tossing.surface import vertex_positions
from contactid.tossing.velocities import central_differences

_KNOWS_NOTHING = 0.05  # of the change of velocity
COMPONENTS = ("v_x", "v_y", "v_z", "w_x", "w_y", "w_z")


def example_window(windows: Sequence[ImpactWindow]) -> ImpactWindow:
    """The impact whose weighted change of velocity is the median one: neither the gentlest nor the hardest."""
    change = [float(np.linalg.norm(w.impact.post_twist[:3] - w.impact.pre_twist[:3])) for w in windows]
    return windows[int(np.argsort(change)[len(change) // 2])]


def _recording(prepared: xr.Dataset, name: str) -> xr.Dataset:
    return next(samples for recording, samples in iterate_recordings(prepared) if recording == name)


def vertex_heights(prepared: xr.Dataset, window: ImpactWindow) -> pd.DataFrame:
    """Figure 5: heights (m) of the eight vertices over the surface against the sample; the impact marked."""
    samples = _recording(prepared, window.impact.toss)
    heights = vertex_positions(samples["position"].values, samples["orientation"].values, prepared["vertices"].values)[
        :, :, 2
    ]
    n, vertices = heights.shape
    return pd.DataFrame(
        {
            "object": prepared.attrs["object"],
            "toss": window.impact.toss,
            "sample": np.repeat(np.arange(n), vertices),
            "vertex": np.tile(np.arange(1, vertices + 1), n),
            "height_m": heights.ravel(),
            "impacting": np.tile(np.arange(vertices) == window.impact.vertex, n),
            "impact": np.repeat(np.arange(n) == window.impact.sample, vertices),
        }
    )


def window_velocities(
    prepared: xr.Dataset,
    window: ImpactWindow,
    reach: int,
    simulated: Mapping[str, tuple[ContactParameters, int]] | None = None,
) -> pd.DataFrame:
    """Figures 6 to 8: hybrid velocities around an impact: measured, fitted, and simulated where asked.

    Parameters
    ----------
    reach
        Samples on either side of k_im.
    simulated
        Parameters and steps per sample by the label of the curve; all start from the window's own start (k_im - 5).

    Returns
    -------
    Columns object, toss, k_im, offset (samples from k_im), component, unit, kind (``measured``, ``fitted`` or a label
    of ``simulated``), side (``pre`` or ``post`` for fitted ones), value.
    """
    samples, impact = _recording(prepared, window.impact.toss), window.impact
    body, step = body_of(prepared), 1.0 / float(prepared.attrs["sample_frequency"])
    position, orientation = samples["position"].values, samples["orientation"].values
    offsets = np.arange(-reach, reach + 1)
    twist = central_differences(position, orientation, step)[impact.sample + offsets]
    tables = [_curve(offsets, twist, "measured", "")]
    end = window.n_steps - reach  # c
    last = _last_free(twist[: reach + 1], window, step)
    for side, first_last in (("pre", (-reach, last)), ("post", (end, reach))):
        chosen = np.arange(first_last[0], first_last[1] + 1)
        source = np.arange(-reach, last + 2) if side == "pre" else np.arange(end - 1, reach + 1)
        motion = fit_free_motion(
            body, source * step, position[impact.sample + source], orientation[impact.sample + source],
            samples["gravity"].values,
        )  # fmt: skip
        fitted = np.stack([motion.twist((k - source.mean()) * step) for k in chosen])
        tables.append(_curve(chosen, fitted, "fitted", side))
    for label, (parameters, substeps) in (simulated or {}).items():
        gravity = tuple(map(float, window.gravity))
        options = SteppingOptions(step, substeps=substeps, gravity=(gravity[0], gravity[1], gravity[2]))
        run = simulate(body, window.start, parameters, options, 2 * reach + 1, impact.surface_velocity)
        tables.append(_curve(offsets, np.hstack([run.linear_velocity, run.angular_velocity]), label, ""))
    table = pd.concat(tables, ignore_index=True)
    table.insert(0, "object", prepared.attrs["object"])
    table.insert(1, "toss", impact.toss)
    table.insert(2, "k_im", impact.sample)
    return table


def _last_free(twist: np.ndarray, window: ImpactWindow, step: float) -> int:
    """-b of the paper: the last central difference up to k_im that knows nothing of the impact."""
    before = window.impact.pre_twist
    jump = np.linalg.norm(WEIGHTS * (window.impact.post_twist - before))
    for offset in range(0, 2 - len(twist), -1):
        expected = before + np.concatenate([offset * step * window.gravity, np.zeros(3)])
        if np.linalg.norm(WEIGHTS * (twist[offset - 1] - expected)) < _KNOWS_NOTHING * jump:
            return offset
    return 2 - len(twist)


def _curve(offsets: np.ndarray, twist: np.ndarray, kind: str, side: str) -> pd.DataFrame:
    n = len(offsets)
    return pd.DataFrame(
        {
            "offset": np.repeat(offsets, 6),
            "component": list(COMPONENTS) * n,
            "unit": (["m/s"] * 3 + ["rad/s"] * 3) * n,
            "kind": kind,
            "side": side,
            "value": twist.ravel(),
        }
    )


def velocity_costs(swept: Mapping[str, xr.Dataset], objects: Mapping[str, str]) -> pd.DataFrame:
    """Figure 9: mean loss of eqs. 16 and 17 over the grid for each dataset."""
    tables = []
    for dataset, sweep in swept.items():
        table = sweep["loss"].mean("impact").rename("mean_loss").to_dataframe().reset_index()
        best = table["mean_loss"] == table["mean_loss"].min()
        tables.append(table.assign(dataset=dataset, object=objects[dataset], optimum=best))
    columns = ["dataset", "object", "friction_mu", "restitution_e_n", "mean_loss", "optimum"]
    return pd.concat(tables, ignore_index=True)[columns]
