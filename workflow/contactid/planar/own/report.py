"""Write what was identified from a user's own throws: summary, numbers, motion, figures, and the
body for MuJoCo.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.escape import markdown
from contactid.output.fits import write_fit
from contactid.output.own_report import PARAMETERS, SUMMARY
from contactid.output.simulator_formats import IdentifiedBody, mjcf
from contactid.output.style import save, styled
from contactid.output.tables import write_report_csv
from contactid.planar.artefacts.time_lapse import evenly, polyline
from contactid.planar.own.draw import draw_impulses, draw_trajectory
from contactid.planar.own.identify import MM2, OwnIdentification
from contactid.planar.simulate.geometry import outline_at

_OUTLINES, _DRAWN = 12, 9  # shown per throw, and throws
STATES, BODY = "states.csv", "body.xml"


def write_files(found: OwnIdentification, folder: Path) -> None:
    """Write summary, parameters, states and figures into an empty folder."""
    states, scene = states_table(found), scene_table(found)
    write_text(folder / SUMMARY, summary(found))
    write_fit(folder / PARAMETERS, fit_record(found))
    write_report_csv(states, folder / STATES)
    write_report_csv(scene, folder / "trajectory.csv")
    if found.body.mass is not None:
        write_text(folder / BODY, mjcf(flat_body(found)))
    drawn = states[states["throw"].isin(found.names[:_DRAWN])]
    with styled():
        for name, figure in {
            "trajectory": draw_trajectory(scene),
            "impulses": draw_impulses(drawn),
        }.items():
            save(figure, folder / name, ("png", "svg"))
            plt.close(figure)


def states_table(found: OwnIdentification) -> pd.DataFrame:
    """Identified motion, a row per instant of every throw; measured poses in the rows of frames,
    else empty.

    Impulses are per mass (m/s) and belong to the instant; gaps are in m, numbered like the shape's
    corners from 0.
    """
    tables = []
    for name, throw, states in found.each:
        n, n_c = len(states.time), states.gap.shape[1]
        measured, impulses = np.full((n, 3), np.nan), np.full((2, n, n_c), np.nan)
        measured[states.frame] = throw.position
        impulses[:, :-1] = states.impulse_n, states.impulse_t
        columns: dict[str, Any] = {"throw": name, "time_s": states.time}
        for i, (pose, rate) in enumerate(
            (("x_m", "v_x_m_s"), ("y_m", "v_y_m_s"), ("theta_rad", "omega_rad_s"))
        ):
            columns |= {
                pose: states.position[:, i],
                f"measured_{pose}": measured[:, i],
                rate: states.velocity[:, i],
            }
        for c in range(n_c):
            columns |= {
                f"impulse_{kind}_{c}_m_s": impulse[:, c]
                for kind, impulse in zip("nt", impulses, strict=True)
            }
            columns[f"gap_{c}_m"] = states.gap[:, c]
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def scene_table(found: OwnIdentification) -> pd.DataFrame:
    """Polylines of the first throws as in :mod:`contactid.planar.artefacts.time_lapse`, and
    ``measured`` points.
    """
    parts = []
    for panel, (name, throw, states) in enumerate(found.each[:_DRAWN]):
        shown = evenly(states.frame, _OUTLINES)
        outlines = [outline_at(found.body.shape, states.position[k]) for k in shown]
        lines = [("outline", item, states.time[k], outlines[item]) for item, k in enumerate(shown)]
        lines += [
            ("com", 0, states.time, states.position),
            ("measured", 0, throw.time, throw.position),
        ]
        lines += [
            (
                "ground",
                0,
                0.0,
                np.array([throw.ground.origin, throw.ground.origin + throw.ground.tangent]),
            )
        ]
        parts += [
            polyline(points, panel=panel, label=name, kind=kind, item=item, time_s=time)
            for kind, item, time, points in lines
        ]
    return pd.concat(parts, ignore_index=True)


def flat_body(found: OwnIdentification) -> IdentifiedBody:
    """The body as a simulator takes it: a plate of the outline, its thickness a tenth of its reach,
    in its plane.

    Friction that is a bound only, and restitution, which the identified model doesn't have, are
    left out.
    """
    fit, outline = found.fit, found.body.shape.outline()[:-1]
    half = 0.05 * float(np.linalg.norm(outline, axis=1).max())
    assert found.body.mass is not None
    return IdentifiedBody(
        name="body",
        mass=found.body.mass,
        center_of_mass=np.zeros(3),
        inertia=found.body.mass * fit.inertia_ratio * np.diag([0.5, 0.5, 1.0]),
        friction=None if fit.friction_is_bound else fit.friction_mu,
        hull=np.concatenate(
            [np.column_stack([outline, np.full(len(outline), z)]) for z in (-half, half)]
        ),
        planar=True,
    )


def fit_record(found: OwnIdentification) -> dict[str, Any]:
    """The record that :func:`contactid.output.fits.write_fit` takes."""
    fit, throws = found.fit, found.throws
    parameters = {"inertia_ratio": fit.inertia_ratio, "friction_mu": fit.friction_mu}
    errors = {"inertia_ratio": fit.inertia_ratio_se, "friction_mu": fit.friction_mu_se}
    if found.body.mass is not None:
        parameters["inertia"] = found.body.mass * fit.inertia_ratio
        errors["inertia"] = found.body.mass * fit.inertia_ratio_se
    if not found.body.radius_given:
        parameters["corner_radius"], errors["corner_radius"] = (
            fit.corner_radius,
            fit.corner_radius_se,
        )
    alignment = fit.alignment
    return {
        "parameters": parameters,
        "objective": 0.5 * fit.squares,
        "status": "solved" if fit.converged else "not converged",
        "converged": fit.converged,
        "residuals": {"misfit_per_degree": fit.misfit_per_degree},
        "iterations": None,
        "seconds": found.seconds,
        "seed": None,
        "data": {
            "throws": list(throws.names),
            "frames": [int(seen.sum()) for seen in throws.seen],
            "sigma": throws.sigma.tolist(),
            "sigma_given": throws.sigma_given,
        },
        "model": "impacts by themselves (eq. 31)"
        if fit.by_impacts
        else "motion from event to event",
        "reformulation": None,
        "standard_errors": {
            key: float(value) if np.isfinite(value) else None for key, value in errors.items()
        },
        "standard_error_scale": found.scale,
        "friction_is_bound": fit.friction_is_bound,
        "squared_residuals": fit.squares,
        "degrees_of_freedom": fit.degrees,
        "units": {
            "inertia_ratio": "m2",
            "friction_mu": "1",
            "inertia": "kg m2",
            "corner_radius": "m",
        },
        "geometry": {
            "turn": alignment.turn,
            "centre_x": -float(alignment.point[0]),
            "centre_y": -float(alignment.point[1]),
            "corner_radius": fit.corner_radius,
            "slope": alignment.ground.slope,
            "ground_x": alignment.ground.x0,
            "ground_y": alignment.ground.y0,
        },
        "geometry_standard_errors": {
            name: None if np.isnan(error) else float(error)
            for name, error in zip(
                ("turn", "centre_x", "centre_y", "slope", "height"),
                fit.geometry_errors,
                strict=True,
            )
        },
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }


def summary(found: OwnIdentification) -> str:
    """The report in Markdown."""
    lines = ["# Identified body", "", *(f"* **{line}**" for line in found.lines())]
    lines.append(
        f"* A uniform body of this shape has J/m = {MM2 * found.body.shape.uniform_inertia_ratio:.4g} mm2."
    )
    lines += [
        "",
        "## Warnings",
        "",
        *(f"* {markdown(warning)}" for warning in found.warnings or ["None."]),
    ]
    lines += ["", "## Notes", "", *(f"* {markdown(note)}" for note in found.notes)]
    squares = f"{found.fit.squares:.4g}, expected {found.fit.degrees}."
    lines += [f"* Squared residuals in units of their noise: {squares}", "", "## Throws", ""]
    lines += [
        "| throw | frames | frames/s | impacts | farthest from a measured centre, mm |",
        "|---|---|---|---|---|",
    ]
    for name, throw, states in found.each:
        apart = 1e3 * np.hypot(*(states.position[states.frame] - throw.position)[:, :2].T).max()
        rate = 1.0 / throw.frame_interval
        lines.append(
            f"| {markdown(name)} | {len(throw.time)} | {rate:.4g} | {states.n_impacts} | {apart:.3g} |"
        )
    shown = "" if len(found.each) <= _DRAWN else f" (the first {_DRAWN} throws)"
    lines += ["", f"## Figures{shown}", "", "![measured and identified motion](trajectory.png)", ""]
    lines += [
        "![contact impulses](impulses.png)",
        "",
        f"`{STATES}` has the motion, `{PARAMETERS}` every number.",
    ]
    if found.body.mass is not None:
        lines += ["", f"`{BODY}` is the body for MuJoCo: it moves along x and y and turns about z."]
    return "\n".join(lines) + "\n"
