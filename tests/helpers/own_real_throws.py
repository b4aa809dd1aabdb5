"""``contactid identify`` on real throws of a square, one by one: ``python
tests/helpers/own_real_throws.py`` writes the table.

No real body's J/m is known otherwise, so answers are held against eq. 31 on the impacts of all throws
together. Each throw is identified three times: with the geometry that these impacts tell, with its
corners' radius alone, and with nothing stated. Needs the throws (``DATA_MIRROR``).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.own.body import read_own_body
from contactid.planar.own.explained import explained_throws
from contactid.planar.readers.csv_throws import read_square_throws
from contactid.planar.readers.throws import SQUARE_SIDE, square
from contactid.planar.squares.impacts import (
    FREE,
    ImpactFit,
    LeverGeometry,
    every_impact,
    fit_impacts,
    impacts_of,
)
from contactid.planar.squares.windows import prepare_throws

DATA = Path(os.environ.get("DATA_MIRROR") or "../shared/data") / "planar-square"
TABLE = Path(__file__).parents[2] / "workflow/resources/own_real_throws.csv"
CHOSEN = slice(9, None, 13)  # of the files in order: 31 throws that nothing was chosen on
_RATE = 250.0  # frames/s
_POSES = (0, 1, 2)  # columns x, z, th of a file


def pooled() -> tuple[ImpactFit, dict[str, dict[str, Any]]]:
    """Eq. 31 over all throws, and what a description states of the body, by name."""
    prepared = prepare_throws(read_square_throws(DATA, licence=""))
    impacts = impacts_of(prepared, every_impact(prepared))
    fit = fit_impacts(impacts, LeverGeometry(radius=prepared.shape.radius), FREE)
    # the fit's centre and turn are those that the preparation left
    x, y = np.array(fit.geometry.centre) - prepared.alignment.point
    geometry = {
        "centre": [float(x), float(y)],
        "turn": float(prepared.alignment.turn + fit.geometry.turn),
    }
    radius = {"corner_radius": float(fit.geometry.radius)}
    return fit, {"radius, centre, turn": radius | geometry, "radius": radius, "nothing": {}}


def description(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What ``body.yaml`` says."""
    corners = [[float(x), float(y)] for x, y in square(SQUARE_SIDE).vertices]
    shape: dict[str, Any] = {"polygon": corners}
    if "corner_radius" in stated:
        shape["corner_radius"] = stated["corner_radius"]
    others = {key: value for key, value in stated.items() if key != "corner_radius"}
    return {"shape": shape, **others}


def identified(file: Path, stated: Mapping[str, Any]) -> dict[str, Any]:
    """J/m of a throw by itself, as the command answers."""
    poses = np.loadtxt(file, delimiter=",", skiprows=1)[:, _POSES]
    frames = np.column_stack([np.arange(len(poses)) / _RATE, poses])
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        throw, body = Path(name, f"{file.stem}.csv"), Path(name, "body.yaml")
        np.savetxt(throw, frames, fmt="%.9f", delimiter=",", header="t,x,y,theta", comments="")
        body.write_text(yaml.safe_dump(description(stated)))
        try:
            answer = explained_throws(read_own_body(body), [str(throw)])
        except ContactIdError as error:
            return {"answered": False, "note": str(error).replace(f"{name}/", "")}
    fit = answer.fit
    return {
        "answered": True,
        "ratio_mm2": 1e6 * fit.inertia_ratio,
        "error_mm2": 1e6 * fit.inertia_ratio_se,
        "impacts": len(answer.names) if fit.by_impacts else 0,
        "seconds": round(time.process_time() - begin, 1),
    }


def main() -> None:
    """Write the table."""
    fit, described = pooled()
    rows = []
    for file in sorted(DATA.glob("traj_*.csv"))[CHOSEN]:
        for name, stated in described.items():
            row = {"stated": name, "throw": file.stem, **identified(file, stated)}
            if row["answered"]:
                off = row["ratio_mm2"] - 1e6 * fit.ratio
                error = np.hypot(row["error_mm2"], 1e6 * fit.ratio_se)
                row |= {"off_pct": 1e-4 * off / fit.ratio, "held": bool(abs(off) <= 1.96 * error)}
            rows.append(row)
            print(row, flush=True)
    write_csv(pd.DataFrame(rows), TABLE)


if __name__ == "__main__":
    main()
