"""``contactid identify`` on throws with a known truth: ``python tests/helpers/own_throws.py``
writes the table.

The throws are those of :mod:`rounded_twins`, as a camera sees them: tracked point, axes and ground
are off, frames are lost, noise is small or large. Beside each answer stand two naive ones.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.own.identify import identify_own
from contactid.planar.simulate.geometry import Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow
from rounded_twins import CORNERS, GRAVITY, Twin, drawn_twin

KINDS = (
    "stated radius", "unknown radius", "misaligned", "two throws", "ellipse", "rectangle",
    "ellipse, e_N varies", "square, e_N varies",
)  # fmt: skip
SCORED = range(560, 573)  # nothing was chosen on these
TABLE = Path(__file__).parents[2] / "workflow/resources/own_throws.csv"
_SECONDS = 0.35
_VIDEO, _FRICTIONS = (
    (240.0, 1e-3, 1e-3),
    (0.2, 0.3, 0.5),
)  # of throws whose restitution varies: frames/s, m, rad
_THROWN = (0.0, 0.1, -0.785, 3.0, -5.0, 0.0)  # the ellipse of table 1
_CAMERAS = ((250.0, 1e-4), (120.0, 3e-4))  # frames/s; m, and 10 rad/m as much of theta
_AXES = (0.05, 0.025)  # m
_RECTANGLE = ((-0.04, -0.025), (0.04, -0.025), (0.04, 0.025), (-0.04, 0.025))
_TURN, _POINT, _HEIGHT, _SLOPE, _LOST = 0.015, 1e-3, 1e-3, 0.01, 0.04  # rad, m, m, rad, share


def twins_of(kind: str, seed: int) -> list[Twin]:
    """The throws of a case, of one body over one ground."""
    first = drawn_twin(seed)
    random = np.random.default_rng([seed, 7])
    if kind in ("stated radius", "unknown radius"):
        return [first]
    if kind.endswith("varies"):
        varying = replace(first, mu=_FRICTIONS[seed % 3], varying=seed)
        if kind.startswith("square"):
            return [varying]
        start = np.array(_THROWN) + random.normal(size=6) * [0.0, 0.0, 0.3, 0.5, 0.5, 3.0]
        ratio = float(random.uniform(0.6, 1.3)) * (_AXES[0] ** 2 + _AXES[1] ** 2) / 4.0
        return [
            replace(varying, radius=0.0, corners=_AXES, ratio=ratio, start=tuple(map(float, start)))
        ]
    slope = float(_SLOPE * random.normal())
    if kind == "ellipse":
        start = (0.0, first.start[1] + 0.01, *first.start[2:])
        ratio = float(random.uniform(0.6, 1.3)) * (_AXES[0] ** 2 + _AXES[1] ** 2) / 4.0
        return [replace(first, radius=0.0, corners=_AXES, ratio=ratio, start=start, slope=slope)]
    if kind == "rectangle":
        return [replace(first, corners=_RECTANGLE, slope=slope)]
    first = replace(first, slope=slope)
    other = drawn_twin(seed + 1000)
    return [first, replace(first, start=other.start, e_n=other.e_n)][: 1 + (kind == "two throws")]


def write_case(folder: Path, kind: str, seed: int) -> tuple[list[Path], Path, Twin]:
    """Write the throws and the description of a case; returns their files and a twin with the
    truth.
    """
    rate, sigma = _CAMERAS[seed % 2]
    turning = 10.0 * sigma
    if kind.endswith("varies"):
        rate, sigma, turning = _VIDEO
    random, twins, files = np.random.default_rng([seed, 3]), twins_of(kind, seed), []
    off = kind in KINDS[2:6]
    turn, height = off * _TURN * random.normal(), off * _HEIGHT * random.normal()
    x, y = off * _POINT * random.normal(size=2)
    for k, twin in enumerate(twins):
        q = twin.poses(_SECONDS if not kind.endswith("varies") else 0.25, rate)
        cos, sin = np.cos(q[:, 2]), np.sin(q[:, 2])
        q += np.column_stack([x * cos - y * sin, x * sin + y * cos + height, np.full(len(q), turn)])
        q += random.normal(size=q.shape) * [sigma, sigma, turning]
        kept = (random.random(len(q)) > off * _LOST) | (np.arange(len(q)) < 2)
        table = np.column_stack([np.arange(len(q)) / rate, q])[kept]
        files.append(folder / f"throw{k}.csv")
        np.savetxt(files[-1], table, fmt="%.7f", delimiter=",", header="t,x,y,theta", comments="")
    shape: dict[str, Any] = {"polygon": [list(map(float, corner)) for corner in CORNERS]}
    if kind.startswith("ellipse"):
        shape = {"ellipse": dict(zip("ab", _AXES, strict=True))}
    elif kind == "rectangle":
        shape = {"polygon": [list(corner) for corner in _RECTANGLE]}
    elif kind in ("stated radius", "square, e_N varies"):
        shape["corner_radius"] = twins[0].radius
    body: dict[str, Any] = {"shape": shape}
    if seed % 2 or kind.endswith("varies"):  # too few frames in flight to tell it
        body["noise"] = {"position": sigma, "orientation": turning}
    (folder / "body.yaml").write_text(yaml.safe_dump(body))
    return files, folder / "body.yaml", twins[0]


def identified(kind: str, seed: int, folder: Path) -> dict[str, Any]:
    """A row of the table."""
    files, described, truth = write_case(folder, kind, seed)
    row: dict[str, Any] = {
        "kind": kind,
        "seed": seed,
        "truth_mm2": 1e6 * truth.ratio,
        "answered": False,
    }
    begin = time.process_time()
    try:
        body = read_own_body(described)
        throws = read_own_throws_of(body, files)
        found = identify_own(body, throws)
    except ContactIdError as error:
        return row | {"note": str(error)}
    fit = found.fit
    naive = [impact_ratio(body.shape, throw) for throw in throws.throws]
    row |= {
        "answered": bool(np.isfinite(fit.inertia_ratio_se)),
        "found_mm2": 1e6 * fit.inertia_ratio,
        "error_mm2": 1e6 * fit.inertia_ratio_se,
        "departure_pct": 100.0 * abs(fit.inertia_ratio / truth.ratio - 1.0),
        "held": bool(abs(fit.inertia_ratio - truth.ratio) <= 1.96 * fit.inertia_ratio_se),
        "uniform_departure_pct": 100.0 * abs(body.shape.uniform_inertia_ratio / truth.ratio - 1.0),
        "impact_departure_pct": 100.0 * abs(float(np.nanmedian(naive)) / truth.ratio - 1.0),
        "mu_truth": truth.mu,
        "mu": fit.friction_mu,
        "mu_error": fit.friction_mu_se,
        "mu_held": bool(
            truth.mu >= 0.98 * fit.friction_mu if fit.friction_is_bound
            else abs(fit.friction_mu - truth.mu) <= 1.96 * fit.friction_mu_se
        ),
        "misfit_per_degree": found.fit.misfit_per_degree,
        "warnings": len(found.warnings),
        "seconds": round(time.process_time() - begin, 1),
    }  # fmt: skip
    if not body.radius_given:
        radius, error = fit.corner_radius, fit.corner_radius_se
        row |= {
            "radius_truth_mm": 1e3 * truth.radius,
            "radius_mm": 1e3 * radius,
            "radius_error_mm": 1e3 * error,
        }
        row["radius_held"] = bool(abs(radius - truth.radius) <= 1.96 * error)
    return row


def impact_ratio(shape: Shape, throw: MeasuredThrow) -> float:
    """J/m (m2) by eq. 31 of the clearest impact: four frames of flight before and after, geometry
    as described.
    """
    time_, q = (
        throw.time,
        throw.position + 0.5 * GRAVITY * throw.time[:, None] ** 2 * np.array([0.0, 1.0, 0.0]),
    )
    best = (0.0, float("nan"))
    for k in range(4, len(q) - 4):
        before = np.polynomial.polynomial.polyfit(time_[k - 4 : k], q[k - 4 : k], 1)
        after = np.polynomial.polynomial.polyfit(time_[k : k + 4], q[k : k + 4], 1)
        at = contacts(shape, throw.ground, 0.5 * (throw.position[k - 1] + throw.position[k]))
        touching, jump = int(np.argmin(at.gap)), after[1] - before[1]
        normal, tangent = at.normal[touching], at.tangent[touching]
        push_n, push_t = normal[:2] @ jump[:2], tangent[:2] @ jump[:2]
        if push_n > best[0] and abs(jump[2]) > 0.0:
            best = push_n, float((normal[2] * push_n + tangent[2] * push_t) / jump[2])
    return best[1]


def rows_of(kind: str, seeds: range = SCORED) -> pd.DataFrame:
    """A row per seed."""
    rows = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(identified(kind, seed, Path(folder)))
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    table = pd.concat([rows_of(kind) for kind in sys.argv[1:] or KINDS], ignore_index=True)
    write_csv(table, TABLE)
