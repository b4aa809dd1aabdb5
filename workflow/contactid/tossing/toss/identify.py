"""Friction, restitution, centre of mass and inertia of a box from a user's own tosses, with
predictions of each toss.

The body is calibrated first (:mod:`contactid.tossing.identify.body`), then friction and
restitution are where simulated trajectories lie nearest to measured ones (eqs. 16 and 18 of the
tossing paper). Every toss is predicted by what the others say, body and all, in blocks of
neighbours; what these blocks' answers differ by widens the intervals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.threads import one_blas_thread
from contactid.output.result import Result, parameter_row, parameter_table
from contactid.sources.conventions import Convention
from contactid.sources.left_out import summary
from contactid.sources.motion import body_of, iterate_recordings, some_recordings
from contactid.tossing.identify.body import FEWEST_TOSSES, calibrate, inertia_by_data
from contactid.tossing.identify.trajectories import (
    Grid,
    Search,
    best_point,
    grid_values,
    sweep_grid,
)
from contactid.tossing.own.conventions import explained_motion
from contactid.tossing.own.predict import LAWS, no_impact, problem_of
from contactid.tossing.own.recordings import Box, Tosses, read_box, read_own
from contactid.tossing.own.result import simulator_body
from contactid.tossing.own.toss_regions import TossRegions
from contactid.tossing.own.usable import on_one_surface, prepared_own, recording_warnings
from contactid.tossing.predict.prediction import predict
from contactid.tossing.predict.rest_pose_cloud import Cloud, parameter_draws, simulate_clouds
from contactid.tossing.prepare.calibration import Calibration, uncalibrated
from contactid.tossing.prepare.metrics import mean_loss
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST, toss_table
from contactid.tossing.prepare.tosses import Problem, simulated
from contactid.tossing.simulate.box import ContactParameters
from contactid.tossing.toss import draw
from contactid.tossing.toss.slides import friction_fall, slide_friction

MU, E_N = "friction_mu", "restitution_e_n"
_ELEMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")  # of an inertia, as calibrations have them

_FEWEST = 5  # tosses: fewer blocks than that say nothing of how far answers differ
_BLOCKS = 5  # of neighbouring tosses; a quarter more of the work buys each further one
# of both parameters: the loss has one valley, some tenths wide
_COARSE = grid_values(0.0, 1.0, 0.1)
# of tosses with replacement: the ends of 95 % then move by a tenth of a grid's step
_DRAWS, _SEED = 1000, 20230206
_OUTCOMES = 120  # simulated rest poses of a toss, as in config/default.yaml
_JACKKNIFE = 2.0  # standard errors by blocks that an interval reaches at least
_OFF_SCALE = 0.05  # cameras are up to 2 % off; more means another unit, or another size of the box
# of the scale, standard deviation: a box of 10 cm and 0.2 kg that falls at 1 to 2 m/s is held back by
# so much of gravity, which flights take for longer lengths
_AIR = 0.003
_SURELY = 2.0  # standard errors
# of what noise alone makes turn: a tenth then is noise, which draws a centre towards the tracked point
_OVER_NOISE = 10.0
# of a side, standard deviation: a centre of mass that nothing tells
_CENTRE_OPEN = 0.1


@dataclass(frozen=True)
class TossFit:
    """Body, friction and restitution by some tosses.

    Attributes
    ----------
    calibration : of the body, whose ``stated`` inertia was the prior's mean
    by_data : share of the inertia's prior variance that the data take away
    problem : what was simulated
    search : friction and restitution, losses over the finest grid and resampled optima
    centre_open : (3,) axes of B along which no flight tells the centre of mass: it is as stated
    """

    calibration: Calibration
    by_data: float
    problem: Problem
    search: Search
    centre_open: np.ndarray

    def clouds(self, problem: Problem) -> list[Cloud]:
        """Simulated rest poses of a problem's tosses, from uncertain parameters and releases."""
        covariances = problem.start_covariances()
        return simulate_clouds(problem, self.parameters, self.outcomes(), covariances, _SEED)

    def outcomes(self) -> np.ndarray:
        """(n, 2) friction and restitution of simulated rest poses."""
        return parameter_draws(self.search.swept["loss"], _OUTCOMES, _SEED)

    @property
    def parameters(self) -> ContactParameters:
        """Friction and restitution."""
        return ContactParameters(**self.search.parameters)


@one_blas_thread
def toss(
    tosses: Tosses,
    box: Box = None,
    *,
    law: str = LAWS[0],
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    frame: Mapping[str, str] | None = None,
    object_name: str = "",
    progress: Callable[[str], None] = lambda line: None,
) -> Result:
    """Friction, restitution, centre of mass and inertia of a box from its tosses, which come to
    rest on a plane.

    Parameters
    ----------
    tosses
        Poses in m and unit quaternions (real part first, body to a frame with z upwards), evenly
        spaced in time but for frames that are lost: a DataFrame, csv files or a folder of them, as
        :mod:`contactid.tossing.own.recordings` describes; .pt files and .h5 archives; or a dataset
        of :mod:`contactid.sources.motion`.
    box
        ``size`` (m), ``mass`` (kg) and ``inertia`` (kg m2), as a mapping or a YAML file; files that
        say it need none.
    law
        Of impacts: ``incremental`` (Routh) or ``newton`` (the paper's).
    columns, units, frame
        What is otherwise than stated above (:class:`contactid.sources.conventions.Convention`).
    object_name
        Of an archive with several boxes.
    progress
        Called with a line of text as each step is done.

    Returns
    -------
    Result
        ``params``: ``friction_mu``, ``restitution_e_n``, ``scale`` (true length per length of the
        data), ``center_x``, ``_y``, ``_z`` (m in B) and ``inertia_xx`` to ``_yz`` (kg m2, or m2 per
        mass where none is stated). Tables: ``predictions``, each toss by the others, beside a box
        that stays where it first touches; ``regions`` and ``outlines`` of where each comes to rest,
        by the others (:class:`contactid.tossing.own.toss_regions.TossRegions`; seven tosses have
        them); ``tosses``, what was used. ``residuals`` are of all tosses at the optimum, m and rad.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files; where another convention explains them; for fewer than
        five usable tosses.
    """
    begin = time.process_time()
    if law not in LAWS:
        raise ContactIdError(f"law {law}", f"Known are {', '.join(LAWS)}")
    body, mass_stated = read_box(box)
    convention = Convention(columns or {}, units or {}, frame or {})
    own = read_own(tosses, body, convention, object_name)
    source = str(own.motion.attrs["source"])
    meant = explained_motion(own.motion, own.convention, placed=own.placed, length=own.length)
    # every toss is to identify on; blocks of them take turns as test part below
    prepared = on_one_surface(prepared_own(meant, share=1.0, require_usable=False))
    table = toss_table(prepared, "").drop(columns=["dataset", "split", "events"])
    usable = np.flatnonzero(prepared["reason"].values == "")
    if len(usable) < _FEWEST:
        others = table[~table["used"]]
        reasons = dict(zip(map(str, others["toss"]), map(str, others["reason"]), strict=True))
        said = f"; {summary(reasons)}" if reasons else ""
        raise ContactIdError(
            f"{source}: {len(usable)} of {len(table)} tosses can be used{said}",
            f"Give {_FEWEST} or more that begin in flight and end at rest",
        )
    progress(f"{len(usable)} of {len(table)} tosses can be used")
    whole = _fitted(prepared, law)
    progress(
        f"mu = {whole.parameters.friction_mu:.3g}, e_N = {whole.parameters.restitution_e_n:.3g}"
    )
    predictions, blocks, clouds = _predicted_by_others(prepared, law, usable, progress)
    naive = no_impact(
        prepared.assign(
            split=prepared["split"].copy(data=np.full(prepared.sizes["recording"], TEST))
        )
    )
    named = {"loss": "naive_loss", "rest_position_error_cm": "naive_rest_position_error_cm"}
    predictions = predictions.merge(naive[["toss", *named]].rename(columns=named), on="toss")
    mass_known = mass_stated or body is None
    slides = slide_friction(whole.problem, whole.parameters)
    by_speed, falls = friction_fall(whole.problem, whole.parameters)
    contact = _contact_rows(whole, blocks, slides.interval if slides else None, by_speed)
    params = parameter_table([*contact, *_body_rows(whole, mass_known)])
    other = _other_law(whole, law)
    identified_body = simulator_body(whole.problem.body, vars(whole.parameters))
    regions = TossRegions.by_others(clouds, whole.problem, _SEED)
    residuals = _residuals(whole)
    against = [
        *_reasons(whole, predictions),
        *([slides.doubt] if slides and slides.refutes else []),
    ]
    recorded = recording_warnings(prepared)
    return Result(
        title=f"Box from {len(usable)} tosses",
        params=params,
        covariance=_covariance(params, whole),
        residuals=residuals,
        # where there is no answer, a wrong size or a slope may be why
        reasons=(*against, *(recorded if against else [])),
        warnings=(
            *_warnings(whole, table, law, other, predictions),
            *(
                [f"The interval of friction reaches on: {slides.doubt}."]
                if slides and slides.doubt
                else []
            ),
            *(f"{said}." for said in (*falls, *recorded)),
            *regions.warnings(),
        ),
        notes=(*_notes(predictions, whole, law), *regions.notes()),
        record={
            **_record(whole, source, law, time.process_time() - begin),
            "law": law,
            "box": {
                "size": np.ptp(prepared["vertices"].values, axis=0).tolist(),
                "mass": whole.problem.body.mass if mass_known else None,
            },
            **regions.record(whole.outcomes(), _SEED),
        },
        tables={"predictions": regions.beside(predictions), "tosses": table, **regions.tables()},
        figures={
            "Friction and restitution": partial(
                draw.draw_region, whole.search.swept, whole.search.draws
            ),
            "Tosses predicted by the others": partial(draw.draw_predictions, predictions),
            "Residuals": partial(draw.draw_residuals, residuals),
            **regions.figures(),
        },
        body=identified_body if mass_known else None,
        remedy="Look at lengths, frame rate and box, or take slides' friction for slides alone",
    )


# Identification


def _fitted(prepared: xr.Dataset, law: str) -> TossFit:
    """By the identification part of prepared tosses, with the body as stated where these are too
    few to calibrate it.
    """
    body = body_of(prepared)
    count = int((prepared["split"] == IDENTIFICATION).sum())
    calibration = calibrate(prepared) if count >= FEWEST_TOSSES else uncalibrated(body)
    by_data = inertia_by_data(calibration, body)
    centre_open = _centre_open(prepared)
    wide = _CENTRE_OPEN * np.ptp(body.vertices, axis=0)
    pairs = (calibration.center_of_mass, body.center_of_mass), (calibration.center_of_mass_se, wide)
    centre, error = (tuple(np.where(centre_open, stated, own)) for own, stated in pairs)
    calibration = replace(calibration, center_of_mass=centre, center_of_mass_se=error)
    problem = problem_of(calibration.apply(prepared), law, IDENTIFICATION)
    return TossFit(calibration, by_data, problem, searched(problem), centre_open)


def _centre_open(prepared: xr.Dataset) -> np.ndarray:
    """(3,) whether flights turn so little that a camera's noise of orientations would tell the
    centre along an axis of B.

    A centre off the tracked point bends its path as far as the axis turns otherwise than evenly.
    """
    part = prepared["split"].values == IDENTIFICATION
    turns, by_noise = 1e-12 * np.eye(3), 1e-12
    usable = some_recordings(prepared, part & (prepared["reason"].values == ""))
    for _, samples in iterate_recordings(usable):
        rows = slice(int(samples["release"]), int(samples["contact"]))
        axes = rotations.matrices(samples["orientation"].values[rows]).reshape(-1, 9)
        if len(axes) > 3:
            even = np.vander(np.linspace(-1.0, 1.0, len(axes)), 2)
            bent = (axes - even @ np.linalg.lstsq(even, axes, rcond=None)[0]).reshape(-1, 3)
            turns += bent.T @ bent
            # a third difference has 1 + 9 + 9 + 1 variances of what is white
            by_noise += len(bent) * float(np.mean(np.diff(axes, n=3, axis=0) ** 2)) / 20.0
    return 1.0 / np.diag(np.linalg.inv(turns)) < _OVER_NOISE * by_noise


def searched(problem: Problem) -> Search:
    """Friction and restitution by a problem's tosses."""
    swept_on = partial(sweep_grid, problem)
    return Search.about(swept_on(Grid(_COARSE, _COARSE)), swept_on, _DRAWS, _SEED)


def _predicted_by_others(
    prepared: xr.Dataset, law: str, usable: np.ndarray, progress: Callable[[str], None]
) -> tuple[pd.DataFrame, np.ndarray, list[list[Cloud]]]:
    """A row per toss, predicted by the tosses of other blocks, the blocks' (mu, e_N), (b, 2), and
    clouds of where each block's tosses come to rest.
    """
    rows, answers, clouds = [], [], []
    # of six tosses each is a block by itself, so that the others calibrate the body
    n_blocks = len(usable) if len(usable) <= FEWEST_TOSSES + 1 else _BLOCKS
    for number, block in enumerate(np.array_split(usable, n_blocks), start=1):
        # neighbours may share a camera's drift, so they are left out together
        split = np.full(prepared.sizes["recording"], "unused", dtype=object)
        split[usable] = IDENTIFICATION
        split[block] = TEST
        parted = prepared.assign(split=prepared["split"].copy(data=split))
        # the body, too, is fitted without the block
        fit = _fitted(parted, law)
        answers.append([fit.parameters.friction_mu, fit.parameters.restitution_e_n])
        unseen = problem_of(fit.calibration.apply(parted), law, TEST)
        rows.append(predict(unseen, fit.parameters))
        clouds.append(fit.clouds(unseen))
        progress(f"{number} of {n_blocks} blocks predicted by the others")
    return pd.concat(rows, ignore_index=True), np.array(answers), clouds


def _other_law(fit: TossFit, law: str) -> float:
    """By how many standard errors the other law's least mean loss is below this one's; negative
    where it is above.
    """
    other = next(name for name in LAWS if name != law)
    problem = replace(fit.problem, options=replace(fit.problem.options, law=other))
    grid = Grid(fit.search.swept[MU].values, fit.search.swept[E_N].values)
    # toss by toss: both laws have the same tosses
    differences = _at_best(fit.search.swept) - _at_best(sweep_grid(problem, grid))
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences))))


def _at_best(losses: xr.Dataset) -> np.ndarray:
    mu, e_n, _ = best_point(mean_loss(losses))
    # by nearest: values of a grid are rounded
    return losses["loss"].sel({MU: mu, E_N: e_n}, method="nearest").values


# What it says


def _contact_rows(
    fit: TossFit, blocks: np.ndarray, by_slides: tuple[float, float] | None, by_speed: float
) -> Iterator[dict[str, Any]]:
    """Friction and restitution: the wider one of resampled tosses and of a jackknife over blocks,
    of which ``blocks`` (b, 2) are mu and e_N by all blocks but one. Friction's takes in what slides
    say, and reaches ``by_speed`` to either side.

    Resampling keeps the body as it is, and the jackknife makes it anew.
    """
    n = len(blocks)
    squares = ((blocks - blocks.mean(axis=0)) ** 2).sum(axis=0)
    # delete-a-block jackknife
    reaches = _JACKKNIFE * np.sqrt((n - 1) / n * squares)
    for name, reach in zip((MU, E_N), reaches, strict=True):
        value, (low, high) = fit.search.parameters[name], fit.search.intervals[name]
        reach = max(float(reach), by_speed if name == MU else 0.0)
        low, high = max(min(low, value - reach), 0.0), max(high, value + reach)
        if name == E_N:
            high = min(high, 1.0)
        elif by_slides:
            low, high = min(low, by_slides[0]), max(high, by_slides[1])
        error = (high - low) / 4.0  # of a normal error, 95 % are four of them wide
        yield parameter_row(name, value, error, "1", "data", (low, high))


def _body_rows(fit: TossFit, mass_known: bool) -> Iterator[dict[str, Any]]:
    calibration = fit.calibration
    error = float(np.hypot(calibration.scale_se, _AIR))
    yield parameter_row("scale", calibration.scale, error, "1", "data")
    centre = calibration.center_of_mass, calibration.center_of_mass_se, fit.centre_open
    for axis, value, error, is_open in zip("xyz", *centre, strict=True):
        yield parameter_row(f"center_{axis}", value, error, "m", "prior" if is_open else "data")
    # without a mass an inertia is known per mass alone
    mass = 1.0 if mass_known else fit.problem.body.mass
    unit = "kg m2" if mass_known else "m2"
    told_by = "data" if fit.by_data > 0.5 else "prior"
    for axes, value, error in zip(
        _ELEMENTS, calibration.inertia, calibration.inertia_se, strict=True
    ):
        yield parameter_row(f"inertia_{axes}", value / mass, error / mass, unit, told_by)


def _covariance(params: pd.DataFrame, fit: TossFit) -> pd.DataFrame:
    """Diagonal but for friction and restitution, whose draws say how they go together."""
    matrix = np.diag(params["error"].to_numpy(dtype=float) ** 2)
    spread = fit.search.draws.std(axis=0)
    together = float(np.corrcoef(fit.search.draws.T)[0, 1]) if (spread > 0.0).all() else 0.0
    matrix[0, 1] = matrix[1, 0] = together * np.sqrt(matrix[0, 0] * matrix[1, 1])
    return pd.DataFrame(matrix, index=params.index, columns=params.index)


def _residuals(fit: TossFit) -> xr.Dataset:
    """Measured less simulated poses at the optimum: position (m, C) and rotation vector (rad, C)."""
    problem, places, turns, names, times = fit.problem, [], [], [], []
    for item in problem.tosses:
        measured = item.toss
        frames = len(measured.position)
        run = simulated(problem, measured, fit.parameters)
        # a turn in C: measured = exp(turn) simulated
        simulated_turn = rotations.as_rotation(run.orientation)
        turned = rotations.as_rotation(measured.orientation) * simulated_turn.inv()
        places.append(measured.position - run.position)
        turns.append(turned.as_rotvec())
        names += [measured.name] * frames
        times.append(problem.options.time_step * np.arange(frames))
    return xr.Dataset(
        {
            "position": (("frame", "xyz"), np.concatenate(places), {"units": "m"}),
            "rotation": (("frame", "xyz"), np.concatenate(turns), {"units": "rad"}),
        },
        coords={
            "toss": ("frame", np.array(names)),
            "time": ("frame", np.concatenate(times), {"units": "s"}),
        },
    )


def _reasons(fit: TossFit, predictions: pd.DataFrame) -> list[str]:
    reasons = []
    loss, naive = predictions["loss"].to_numpy(), predictions["naive_loss"].to_numpy()
    # in shares of both, as tosses that tumble have losses several times the others'
    gain = (naive - loss) / (naive + loss)
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    # toss by toss, with the error of the mean gain
    if gain.mean() < _SURELY * error:
        reasons.append(
            "tosses are predicted no better than by a box that stays where it first touches"
        )
    off = fit.calibration.scale - 1.0
    if abs(off) > _OFF_SCALE + _SURELY * fit.calibration.scale_se:
        reasons.append(
            f"what falls in these lengths is {100.0 * off:+.0f} % off gravity: their unit or the rate is wrong"
        )
    return reasons


def _warnings(
    fit: TossFit, table: pd.DataFrame, law: str, other: float, predictions: pd.DataFrame
) -> list[str]:
    warnings = []
    left_out = table[~table["used"]]
    if len(left_out):
        first = left_out.iloc[0]
        warnings.append(
            f"{len(left_out)} of {len(table)} tosses are left out; {first['toss']}: {first['reason']}."
        )
    if len(fit.problem.tosses) <= FEWEST_TOSSES:
        warnings.append(
            "Each toss is predicted with the body as stated: the others are too few to calibrate it."
        )
    if other > _SURELY:
        warnings.append(
            f"The other law of impact fits better than {law}, by {other:.1f} standard errors: "
            f"compare --law {next(name for name in LAWS if name != law)}."
        )
    same = int(predictions["same_face"].sum())
    if 2 * same < len(predictions):
        warnings.append(
            f"Only {same} of {len(predictions)} come to rest on the predicted face: look at size, tracked "
            "point and surface before you use these numbers."
        )
    if fit.centre_open.any():
        axes = ", ".join(np.array(list("xyz"))[fit.centre_open])
        warnings.append(
            f"Flights hardly turn: the centre of mass along {axes} isn't told, and taken as stated."
        )
    if fit.by_data < 0.5:
        warnings.append(
            "Too few impacts of single corners: the inertia is a uniform box's, more or less."
        )
    # the interval ends at the grid's last value
    if fit.search.intervals[MU][1] >= fit.search.swept[MU].values[-1]:
        warnings.append("Friction is bounded from below alone: hardly anything slides.")
    return warnings


def _notes(predictions: pd.DataFrame, fit: TossFit, law: str) -> list[str]:
    loss, naive = predictions["loss"], predictions["naive_loss"]
    error = loss.std(ddof=1) / np.sqrt(len(loss))
    return [
        f"Predicted by the other tosses, the mean loss (eq. 18) is {loss.mean():.3f} +- {error:.3f}; "
        f"of a box that stays where it first touches {naive.mean():.3f}.",
        f"{int(predictions['same_face'].sum())} of {len(loss)} come to rest on the predicted face.",
        f"Law of impact: {law}. {fit.calibration.n_impacts} impacts of single corners tell the inertia.",
    ]


def _record(fit: TossFit, source: str, law: str, seconds: float) -> dict[str, Any]:
    failed = int(fit.search.swept["failed_steps"].sum())
    return {
        "objective": float(mean_loss(fit.search.swept).min()),
        "status": fit.search.status,
        "converged": failed == 0,
        "residuals": {"failed_contact_steps": failed},
        "iterations": fit.search.evaluations,
        "seconds": seconds,
        "seed": _SEED,
        "data": {"source": source, "n_tosses": len(fit.problem.tosses)},
        "model": f"rigid box, {law} impacts, {fit.problem.options.substeps} steps per frame",
        "reformulation": "simulation and search (eqs. 16 and 18)",
    }
