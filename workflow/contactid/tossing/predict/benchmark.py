"""Every simulator on whole files of the cube's test tosses, by the measure of the data's authors.

The measure is that of ContactNets (Pfrommer, Halm, Posa 2020) and of Acosta et al. (RA-L 2022): a
toss is simulated from the first row of its file, with that row's velocities, to the last. Its
errors are means over the rows: of position in % of the cube's width, of orientation in degrees. Eq.
18 of the tossing paper has the same two terms, from release to rest; here the rows are all of the
file.

A simulator's parameters are searched for on the identification tosses alone (eq. 18, start fitted
to the flight), by one search with one budget.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.sources.motion import iterate_recordings, read_dataset
from contactid.tossing.peers.catalogue import OWN
from contactid.tossing.peers.exchange import Problem as PeerProblem
from contactid.tossing.peers.search import evaluate, identify, open_session, penalised, simulations
from contactid.tossing.peers.sessions import peer_environment, peer_problem, peer_python
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.flight import fit_flight
from contactid.tossing.prepare.metrics import trajectory_errors
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST
from contactid.tossing.prepare.tosses import PreparedToss, Problem, Variant, set_up
from contactid.tossing.readers.contactnets import read_first_row
from contactid.tossing.simulate.box import State

STAYS, NOMINAL, SYSID = "stays", "nominal", "mujoco_sysid"
FILE, FLIGHT = "file", "flight"
# friction and restitution of the cube as measured by the authors of the data (Acosta et al.)
_MEASURED = {"friction_mu": 0.18, "restitution_e_n": 0.125}
# of a simulation whose time is taken: the fastest counts, as other jobs share the machine
_REPEATS = 5
_SYSID = "contactid.tossing.peers.sysid:main"  # a reference, so that fingerprints know of it


def whole_files(
    prepared: xr.Dataset, problem: Problem, scale: float, folder: str | Path, start: str
) -> Problem:
    """The problem's tosses over all rows of their files.

    Parameters
    ----------
    prepared : the dataset that ``problem`` was set up from, calibrated where ``scale`` (true length
        per length of the files) isn't 1
    folder : with the files, ``tosses_processed/<toss>.pt``
    start : by :data:`FILE`, the first row's pose and velocities; by :data:`FLIGHT`, the state there
        that fits all rows before contact best, which a prediction from one row can't know
    """
    recorded = dict(iterate_recordings(prepared))

    def moved(item: PreparedToss) -> PreparedToss:
        samples = recorded[item.toss.name]
        position, orientation = samples["position"].values, samples["orientation"].values
        if start == FLIGHT:
            rows = slice(0, int(samples["contact"]))
            fitted = fit_flight(
                problem.body,
                position[rows],
                orientation[rows],
                problem.options.time_step,
                item.gravity,
            )
            state = fitted.state
        else:
            file = Path(folder) / "tosses_processed" / f"{item.toss.name}.pt"
            quaternion, velocity, spin = read_first_row(file)
            turned = rotations.as_rotation(orientation[0])
            # the surface was levelled, so the file's frame isn't quite that of the prepared poses
            levelled = turned * rotations.as_rotation(quaternion).inv()
            # the spin is given in the body, so it needs no levelling
            state = State(
                position[0], orientation[0], scale * levelled.apply(velocity), turned.apply(spin)
            )
        return replace(
            item, toss=replace(item.toss, start=state, position=position, orientation=orientation)
        )

    return replace(problem, tosses=[moved(item) for item in problem.tosses])


def staying(prepared: xr.Dataset, problem: Problem) -> pd.DataFrame:
    """The naive answer, that a toss stays where it first touches: a row of errors per toss of a
    problem.

    Both errors of :func:`trajectory_errors` over whole files, and ``loss`` over the problem's own
    rows.
    """
    recorded, rows = dict(iterate_recordings(prepared)), []
    for item in problem.tosses:
        samples = recorded[item.toss.name]
        position, orientation = samples["position"].values, samples["orientation"].values
        # rows of the pose that counts: its own until the contact, the contact's since then
        kept = np.minimum(np.arange(len(position)), int(samples["contact"]))
        end = int(samples["rest"]) + 1
        stays = position[kept], orientation[kept]
        whole = trajectory_errors(position, orientation, *stays, problem.length)
        # eq. 18 is from release to rest, the other measure over the whole file
        of_loss = slice(end - len(item.toss.position), end)
        parts = (part[of_loss] for part in (position, orientation, *stays))
        rows.append(whole | {"loss": trajectory_errors(*parts, problem.length)["loss"]})  # type: ignore[call-arg, arg-type]
    return pd.DataFrame(rows)


def score_row(
    prepared: str,
    calibration: str,
    folder: str,
    row: str,
    variant: dict[str, Any],
    budget: dict[str, int],
    scored: str,
) -> None:
    """Identify one row's simulator and score it on the test tosses; write a line per start.

    ``row`` is a simulator of the catalogue or :data:`SYSID`, each with the calibrated body;
    :data:`NOMINAL`, our own with the body and the parameters that the data's authors published; or
    :data:`STAYS`. ``variant`` is one of the configuration's without name and law; steps per sample
    and search are by ``budget``.

    Columns: ``row``, ``start``, ``simulator``, ``body``, ``parameters``, what identified them,
    ``position_pct`` and ``rotation_deg`` with standard deviations over tosses, mean ``loss`` (eq.
    18) with its standard error, ``failed_tosses`` and ``us_per_step``.
    """
    # starts, sub-steps and tosses; the row's simulator has its own law
    chosen = Variant(name=row, law="newton", **variant)
    found = Calibration(**read_json(calibration))
    data, scale = read_dataset(prepared), 1.0
    if row != NOMINAL:
        data, scale = found.apply(data), found.scale
    test = set_up(data, chosen, TEST)
    body = "nominal" if row == NOMINAL else "calibrated"
    files = {start: whole_files(data, test, scale, folder, start) for start in (FILE, FLIGHT)}
    if row == STAYS:
        errors = staying(data, test)
        scores = summarise(errors["position_error_pct"], errors["rotation_error_deg"])
        line = {"row": row, "start": FILE, "simulator": "none", "body": body, "n_test": len(errors)}
        line |= scores | _loss(errors["loss"].to_numpy())
        write_csv(pd.DataFrame([line]), scored)
        return
    fit = _identified(row, peer_problem(set_up(data, chosen, IDENTIFICATION)), budget)
    name = row if row not in (NOMINAL, SYSID) else OWN if row == NOMINAL else "mujoco"
    lines = []
    with open_session(name, peer_problem(test)) as session:
        loss = penalised(evaluate(session, fit["parameters"], budget["substeps"]))[0]
    for start, problem in files.items():
        with open_session(name, peer_problem(problem)) as session:
            answers = [
                evaluate(session, fit["parameters"], budget["substeps"]) for _ in range(_REPEATS)
            ]
        # all of them are the same motion; only the times differ
        answer = answers[0]
        fastest = min(float(one.seconds[0]) for one in answers)
        lines.append(
            {
                "row": row,
                "start": start,
                "simulator": fit.get("simulator", answer.simulator),
                "body": body,
                "parameters": "; ".join(
                    f"{key} = {value:.4g}" for key, value in fit["parameters"].items()
                ),
                **{
                    key: fit.get(key)
                    for key in ("n_identification", "simulated", "iterations", "step")
                },
                "n_test": len(loss),
                **summarise(100.0 * answer.position_error[0], np.degrees(answer.rotation_error[0])),
                **_loss(loss),
                "failed_tosses": int(answer.failed.sum()),
                "us_per_step": 1e6 * fastest / answer.steps,
            }
        )
    write_csv(pd.DataFrame(lines), scored)


def summarise(position: Any, rotation: Any) -> dict[str, float]:
    """Means and standard deviations over tosses of both errors (t,), % and degrees."""
    return {
        "position_pct": float(np.nanmean(position)),
        "position_sd": float(np.nanstd(position, ddof=1)),
        "rotation_deg": float(np.nanmean(rotation)),
        "rotation_sd": float(np.nanstd(rotation, ddof=1)),
    }


def _loss(loss: np.ndarray) -> dict[str, float]:
    return {"loss": float(loss.mean()), "sem_loss": float(loss.std(ddof=1) / np.sqrt(len(loss)))}


def _identified(row: str, problem: PeerProblem, budget: Mapping[str, int]) -> dict[str, Any]:
    """A row's ``parameters``, the ``simulator``, and the cost: ``n_identification``, ``simulated``
    tosses.
    """
    if row == NOMINAL:
        return {"parameters": _MEASURED}
    cost = {
        "n_identification": problem.n_tosses,
        "simulated": simulations(problem.n_tosses, budget),
    }
    if row == SYSID:
        return {**cost, **identify_by_sysid(problem, cost["simulated"], budget["substeps"])}
    record = identify(row, problem, budget)
    return {**cost, "parameters": record["parameters"], "simulator": record["simulator"]}


def identify_by_sysid(problem: PeerProblem, budget: int, substeps: int) -> dict[str, Any]:
    """What :func:`contactid.tossing.peers.sysid.identify` finds, in MuJoCo's own environment."""
    with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
        problem.save(Path(folder) / "problem.npz")
        found = Path(folder) / "found.json"
        module = _SYSID.partition(":")[0]
        command = [
            str(peer_python("mujoco")),
            "-m",
            module,
            "problem.npz",
            found.name,
            str(budget),
            str(substeps),
        ]
        ended = subprocess.run(
            command, cwd=folder, env=peer_environment(), capture_output=True, text=True, check=False
        )
        if ended.returncode:
            said = ended.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ContactIdError(f"mujoco.sysid failed ({said[0]})", "Run make peers")
        result: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
        return result
