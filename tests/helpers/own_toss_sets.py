"""``contactid.toss`` on ten sets of real tosses: ``python tests/helpers/own_toss_sets.py DATA``
writes the table; with two numbers behind it, the rows of the sets from the first up to the second.

DATA is the folder of ContactNets' tosses. No toss is in two sets. Beside each set's answer stands
that of a run on 329 tosses (the first split of the stored splits), both as predictions of all
tosses that the set hasn't seen.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import contactid
from contactid.output.result import Result
from contactid.tossing.identify.body import calibrate
from contactid.tossing.own.files import read_motion
from contactid.tossing.own.usable import EVENTS
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST, preprocess
from contactid.tossing.prepare.tosses import Problem, Variant, set_up
from contactid.tossing.simulate.sweep import sweep
from contactid.tossing.toss.identify import E_N, MU, toss

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "workflow/resources/own_toss_sets.csv"
SPLITS = ROOT / "workflow/resources/stored/tossing_splits/table.csv"
SETS, TOSSES, SEED = 10, 20, 23
FURTHER = 100  # tosses that each answer predicts with regions
STEPPING = Variant("toss", "flight_fit", 16, "incremental", "newton", refine=True, calibrated=True)


def loss_of(problem: Problem, mu: float, e_n: float) -> float:
    """Mean loss (eq. 18) of a problem's tosses."""
    swept = sweep(
        problem.body,
        problem.measured,
        np.array([mu]),
        np.array([e_n]),
        problem.options,
        length=problem.length,
    )
    return float(swept.loss.mean())


def further_regions(answer: Result, files: list[Path]) -> dict[str, int]:
    """How many of further tosses the answer's regions hold, by level."""
    table = contactid.predict(answer, files).tables["regions"]
    held = {f"further_held_{100 * row.level:.0f}": row.covered for row in table.itertuples()}
    return {"further": int(table["n_tosses"].iloc[0]), **held}


def main(data: str, first: int = 0, last: int = SETS) -> None:
    """Write the table, or add the rows of some sets to it."""
    stored = pd.read_csv(SPLITS)
    run = stored[(stored["law"] == "incremental") & (stored["draw"] == 0)].iloc[0]
    motion = read_motion([data], ())
    split = preprocess(
        motion,
        share=0.7,
        seed=int(run["seed"]),
        exclude_tumbling=False,
        require_usable=True,
        events=EVENTS,
    )
    of_run = calibrate(split)
    names = np.random.default_rng(SEED).permutation(split["recording"].values.astype(str))
    folder = Path(data) / "tosses_processed"
    rows = pd.read_csv(TABLE).to_dict("records") if first else []
    for number in range(first, last):
        chosen = names[TOSSES * number : TOSSES * (number + 1)]
        # of the last ones, which no set has
        further = [folder / f"{name}.pt" for name in names[-FURTHER:]]
        begin = time.process_time()
        answer = toss([folder / f"{name}.pt" for name in chosen])
        seconds = time.process_time() - begin
        parts = np.where(
            np.isin(split["recording"].values.astype(str), chosen), IDENTIFICATION, TEST
        ).astype(object)
        parted = split.assign(split=split["split"].copy(data=parts))
        found = calibrate(parted)

        def unseen(calibration: Calibration, parted: Any = parted) -> Problem:
            return set_up(calibration.apply(parted), STEPPING, TEST)

        params = answer.params
        mu, e_n = params.loc[MU], params.loc[E_N]
        held = [*answer.tables["regions"].itertuples()]
        rows.append(
            {
                "set": number,
                "tosses": TOSSES,
                "mu": mu["value"],
                "mu_low": mu["low"],
                "mu_high": mu["high"],
                "mu_of_run": run[MU],
                "mu_held": bool(mu["low"] <= run[MU] <= mu["high"]),
                "e_n": e_n["value"],
                "e_n_low": e_n["low"],
                "e_n_high": e_n["high"],
                "e_n_of_run": run[E_N],
                "e_n_held": bool(e_n["low"] <= run[E_N] <= e_n["high"]),
                "told_loss": answer.tables["predictions"]["loss"].mean(),
                "naive_loss": answer.tables["predictions"]["naive_loss"].mean(),
                "unseen_loss": loss_of(unseen(found), mu["value"], e_n["value"]),
                "unseen_loss_of_run": loss_of(unseen(of_run), run[MU], run[E_N]),
                **{f"held_{100 * row.level:.0f}": row.covered for row in held},
                **{f"naive_held_{100 * row.level:.0f}": row.naive_covered for row in held},
                **further_regions(answer, further),
                "cpu_seconds": seconds,
            }
        )
        print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(TABLE, index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
