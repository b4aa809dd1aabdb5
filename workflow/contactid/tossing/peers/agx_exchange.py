"""Give tosses to AGX Dynamics and take its answers: the manual half of the authors' comparison, as two commands.

    python -m contactid.tossing.peers.agx_exchange states tosses.nc states.csv [--split test] [--start flight_fit]
    python -m contactid.tossing.peers.agx_exchange losses tosses.nc results.h5 losses.csv [--split test] [--start
    flight_fit]

``states`` writes the start of every usable toss (of one part) in the order of the dataset. ``losses`` reads what AGX
made of them, in the same order and at the recording's own rate, and writes eq. 18 and the rest-pose errors of every
toss and parameter set; the mean over tosses per parameter set is eq. 16, whose least value is AGX's entry of Table II.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.sources.motion import body_of, read_dataset
from contactid.tossing.metrics import rest_position_error, rest_rotation_error
from contactid.tossing.peers.agx import AgxRun, read_results, write_states
from contactid.tossing.preprocess import upper_face
from contactid.tossing.tosses import PreparedToss, usable_tosses


def export_states(tosses: Sequence[PreparedToss], path: str | Path) -> None:
    """Write the tosses' starts, one per row."""
    write_states(
        path,
        np.stack(
            [
                np.concatenate([item.position, item.orientation, item.linear_velocity, item.angular_velocity])
                for item in (toss.toss.start for toss in tosses)
            ]
        ),
    )


def losses_of(tosses: Sequence[PreparedToss], results: Sequence[Sequence[AgxRun]], length: float) -> pd.DataFrame:
    """Eq. 18 and rest-pose errors (eqs. 20, 21), one row per toss and parameter set; ``length`` is l of eq. 18.

    Raises
    ------
    ContactIdError
        Where the results are not of these tosses: another number of states, or too few samples.
    """
    if len(results) != len(tosses):
        raise ContactIdError(
            f"the results hold {len(results)} states, the dataset {len(tosses)} tosses", "Simulate the exported states"
        )
    return pd.DataFrame([_row(item, run, length) for item, runs in zip(tosses, results, strict=True) for run in runs])


def _row(item: PreparedToss, run: AgxRun, length: float) -> dict[str, object]:
    toss, n = item.toss, len(item.toss.position)
    if len(run.states) < n:
        raise ContactIdError(
            f"toss {toss.name} has {len(run.states)} simulated samples, but {n} measured ones",
            "Simulate at the recording's rate until the box lies still",
        )
    position, orientation = run.states[:n, :3], run.states[:n, 3:7]
    position_error = float(np.linalg.norm(toss.position - position, axis=1).mean()) / length
    rotation_error = float(rotations.angle_between(toss.orientation, orientation).mean())
    return {
        "toss": toss.name,
        "friction_mu": run.parameters.friction_mu,
        "restitution_e_n": run.parameters.restitution_e_n,
        "restitution_e_t": run.parameters.restitution_e_t,
        "loss": position_error + rotation_error,
        "position_error_pct": 100.0 * position_error,
        "rotation_error_deg": np.degrees(rotation_error),
        "rest_position_error_cm": 100.0 * float(rest_position_error(item.rest_position, position[-1])),
        "e_rot_deg": float(np.degrees(rest_rotation_error(item.rest_orientation, orientation[-1]))),
        "same_face": bool(upper_face(orientation[-1]) == upper_face(item.rest_orientation)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two commands; an error is one plain line and status 1."""
    parser = argparse.ArgumentParser(prog="contactid.tossing.peers.agx_exchange", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["states", "losses"])
    parser.add_argument("tosses", help="prepared dataset, results/<run>/data/<dataset>/tosses.nc")
    parser.add_argument("files", nargs="+", help="states.csv, or results.h5 and losses.csv")
    parser.add_argument("--split", choices=["identification", "test"], default=None)
    parser.add_argument("--start", choices=["central_difference", "flight_fit"], default="central_difference")
    given = parser.parse_args(arguments)
    wanted = 1 if given.command == "states" else 2
    if len(given.files) != wanted:
        parser.error(f"{given.command} takes {wanted} file(s) after the dataset")
    try:
        dataset = read_dataset(given.tosses)
        tosses = usable_tosses(dataset, start=given.start, split=given.split)
        if given.command == "states":
            export_states(tosses, given.files[0])
        else:
            table = losses_of(tosses, read_results(given.files[0]), body_of(dataset).length)
            write_csv(table, given.files[1])
            best = table.groupby(["friction_mu", "restitution_e_n"])["loss"].mean()
            print(f"least mean loss {best.min():.4f} at (mu, e_N) = {best.idxmin()}")
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
