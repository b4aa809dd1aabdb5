"""Trajectory-based identification of friction and restitution (eqs. 16 and 18 of the tossing
paper).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.sources.motion import write_dataset
from contactid.tossing.prepare.metrics import mean_loss
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Problem, Variant, load_problem
from contactid.tossing.simulate.sweep import sweep

# of mu and e_N, which trajectories tell less of. The cube's losses have their least value between
# steps of .05 in e_N: the mean of resampled optima is .009 lower with half of that
_FINE_STEPS = (0.005, 0.025)
# steps on either side of the coarse optimum; those in mu cost little, as runs share what sticks
_REACH = (12, 6)
# times that the fine grid may grow by as much where resampled optima reach its end: to all e_N
_FURTHER = 4
FLAT = 0.02  # a loss within this share of the optimum is as good
_AXES = ("friction_mu", "restitution_e_n")
_LARGEST = (np.inf, 1.0)


@dataclass(frozen=True)
class Grid:
    """The parameter grid: values of mu and of e_N, each ascending."""

    friction_mu: np.ndarray
    restitution_e_n: np.ndarray

    @classmethod
    def of(cls, block: Mapping[str, Mapping[str, float]]) -> Grid:
        """From the configuration's block: ``start``, ``stop`` and ``step`` of both parameters."""
        return cls(**{name: grid_values(**steps) for name, steps in block.items()})

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """All pairs, flattened with e_N running fastest."""
        mu, e_n = np.meshgrid(self.friction_mu, self.restitution_e_n, indexing="ij")
        return mu.ravel(), e_n.ravel()


def grid_values(start: float, stop: float, step: float) -> np.ndarray:
    """``start``, ``start + step``, ... up to and including ``stop``, rounded so that 0.15 prints as
    0.15.
    """
    if not step > 0 or stop < start:
        raise ContactIdError(
            f"a grid from {start} to {stop} in steps of {step} is empty", "Check the configuration"
        )
    return np.round(start + step * np.arange(round((stop - start) / step) + 1), 10)


def sweep_grid(problem: Problem, grid: Grid) -> xr.Dataset:
    """Losses of all tosses over the whole grid: variables ``loss`` (eq. 18) and ``failed_steps``
    (toss, friction_mu, restitution_e_n).
    """
    result = sweep(
        problem.body, problem.measured, *grid.pairs(), problem.options, length=problem.length
    )
    shape = (len(problem.tosses), len(grid.friction_mu), len(grid.restitution_e_n))
    dims = ("toss", *_AXES)
    return xr.Dataset(
        {
            "loss": (dims, result.loss.reshape(shape), {"units": "1"}),
            "failed_steps": (
                dims,
                result.failed_steps.reshape(shape).astype("int64"),
                {"units": "1"},
            ),
        },
        coords={
            "toss": np.array([toss.name for toss in problem.measured], dtype=object),
            "friction_mu": grid.friction_mu,
            "restitution_e_n": grid.restitution_e_n,
        },
    )


@dataclass(frozen=True)
class Search:
    """Friction and restitution of least mean loss (eq. 16), and what resampled tosses say of them.

    Attributes
    ----------
    swept : losses over the finest grid at hand: ``loss`` (experiment, friction_mu, restitution_e_n)
    draws : (n, 2) of mu and e_N, this grid's best points of resampled tosses
    parameters : mu and e_N by name
    status : how they were chosen
    evaluations : parameter pairs simulated
    """

    swept: xr.Dataset
    draws: np.ndarray
    parameters: dict[str, float]
    status: str
    evaluations: int

    @classmethod
    def on_grid(
        cls, coarse: xr.Dataset, samples: int, seed: int, tosses: Sequence[str] | None = None
    ) -> Self:
        """The best point of a grid, as in the paper; see :func:`bootstrap_draws`."""
        draws = bootstrap_draws(coarse["loss"], samples, seed, tosses)
        parameters = dict(zip(_AXES, best_point(mean_loss(coarse))[:2], strict=True))
        return cls(coarse, draws, parameters, "best point of the grid", coarse["loss"][0].size)

    @classmethod
    def about(
        cls,
        coarse: xr.Dataset,
        swept_on: Callable[[Grid], xr.Dataset],
        samples: int,
        seed: int,
        *,
        steps: tuple[float, float] = _FINE_STEPS,
        tosses: Sequence[str] | None = None,
    ) -> Self:
        """The mean of resampled optima on a finer grid about the coarse one's best point, which
        grows where they reach its end.

        Trajectories branch, so that their loss is rough, and its very minimum is a toss's whim.
        """
        center = best_point(mean_loss(coarse))[:2]
        axes = [
            _values_about(*about) for about in zip(center, steps, _REACH, _LARGEST, strict=True)
        ]
        swept = swept_on(Grid(*axes))
        draws = bootstrap_draws(swept["loss"], samples, seed, tosses)
        for _ in range(_FURTHER):
            before = swept
            for k, name in enumerate(_AXES):
                axes = [swept[axis].values for axis in _AXES]
                beyond = _beyond(axes[k], draws[:, k], steps[k], _REACH[k], _LARGEST[k])
                if len(beyond):
                    axes[k] = beyond
                    swept = xr.concat([swept, swept_on(Grid(*axes))], name).sortby(name)
            if swept is before:
                break
            draws = bootstrap_draws(swept["loss"], samples, seed, tosses)
        return cls(
            swept,
            draws,
            dict(zip(_AXES, map(float, draws.mean(axis=0)), strict=True)),
            "mean of resampled optima of a grid",
            coarse["loss"][0].size + swept["loss"][0].size,
        )

    @property
    def intervals(self) -> dict[str, list[float]]:
        """95 % intervals by parameter: :func:`intervals_of` the draws."""
        return intervals_of(self.swept["loss"], self.draws)


def _values_about(center: float, step: float, reach: int, largest: float) -> np.ndarray:
    """So many steps to either side of a value, within 0 and ``largest``."""
    low, high = max(center - reach * step, 0.0), min(center + reach * step, largest)
    return grid_values(round(low, 10), round(high, 10), step)


def _beyond(
    values: np.ndarray, drawn: np.ndarray, step: float, reach: int, largest: float
) -> np.ndarray:
    """Further values on a side where the drawn ones' 95 % reach a grid's end."""
    ends = zip((values[0], values[-1]), np.percentile(drawn, [2.5, 97.5]), strict=True)
    further = [
        _values_about(end, step, reach, largest)
        for end, reached in ends
        if np.isclose(end, reached)
    ]
    near = np.concatenate([*further, []])
    outside = (near < values[0] - 0.5 * step) | (near > values[-1] + 0.5 * step)
    return near[outside]


def identify(
    problem: Problem, coarse: xr.Dataset, variant: Variant, *, dataset: str, samples: int, seed: int
) -> tuple[dict[str, Any], xr.Dataset]:
    """Find the minimum of eq. 16.

    Parameters
    ----------
    coarse : :func:`sweep_grid` over the same tosses
    variant : unless it refines, the best point of the coarse grid is taken, as in the paper;
        otherwise the mean of resampled optima of a finer one (:class:`Search`): trajectories
        branch, so the loss is rough, and its very minimum moves with the last digit of a start
    samples, seed : resampling of tosses for the 95 % intervals, on the finest grid at hand

    Returns the record for ``fits/*.json``, and the losses on the finest grid at hand. ``objective``
    is eq. 16 at the optimum. ``converged``: every contact step at the optimum was solved.
    ``restitution_flat_to``: largest e_N whose mean loss, at its best mu, is within 2 % of the
    optimum. ``iterations``: parameter pairs simulated.
    """
    begin = time.perf_counter()
    if variant.refine:
        search = Search.about(coarse, lambda grid: sweep_grid(problem, grid), samples, seed)
    else:
        search = Search.on_grid(coarse, samples, seed)
    # asked once more at the very optimum
    mu, e_n = (np.array([value]) for value in search.parameters.values())
    optimum = sweep(problem.body, problem.measured, mu, e_n, problem.options, length=problem.length)
    failed = int(optimum.failed_steps.sum())
    # (e_N,) at each one's best mu
    profile = mean_loss(coarse).min("friction_mu")
    flat = profile["restitution_e_n"].values[profile.values <= (1.0 + FLAT) * float(profile.min())]
    record = {
        "parameters": search.parameters,
        "objective": float(optimum.loss.mean()),
        "status": search.status,
        "converged": failed == 0,
        "residuals": {"failed_contact_steps": failed},
        "iterations": search.evaluations,
        "seconds": time.perf_counter() - begin,
        "seed": seed,
        "data": {"dataset": dataset, "part": "identification", "n_tosses": len(problem.tosses)},
        "model": f"rigid box, {variant.law} impacts, {variant.substeps} steps per sample, "
        f"start by {variant.start}, {variant.solver}",
        "reformulation": "simulation and search (eqs. 16 and 18)",
        "intervals": search.intervals,
        "restitution_flat_to": float(flat.max()),
        "variant": variant.name,
    }
    return record, search.swept


def best_point(mean: xr.DataArray) -> tuple[float, float, float]:
    """mu, e_N and mean loss at a grid's best point."""
    i, j = np.unravel_index(int(mean.values.argmin()), mean.shape)
    return float(mean["friction_mu"][i]), float(mean["restitution_e_n"][j]), float(mean[i, j])


def bootstrap_draws(
    loss: xr.DataArray, samples: int, seed: int, tosses: Sequence[str] | None = None
) -> np.ndarray:
    """The grid's best (mu, e_N), (samples, 2), where tosses are drawn with replacement: draws from
    what is known of them.

    ``loss`` (experiment, friction_mu, restitution_e_n) is of the ``tosses`` (experiment,), all
    experiments of a toss being drawn together; of tosses themselves by default.
    """
    sums, sizes = loss.values, None
    if tosses is not None:
        names, index = np.unique(np.asarray(tosses), return_inverse=True)
        sums, sizes = np.zeros((len(names), *loss.shape[1:])), np.bincount(index)
        np.add.at(sums, index, loss.values)
    n = len(sums)
    # (samples, n) how often each toss is drawn; a constant factor doesn't move the minimum
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=samples)
    means = drawn @ sums.reshape(n, -1)
    if sizes is not None:
        # tosses differ in their number of experiments, so a draw's mean has its own
        means = means / (drawn @ sizes)[:, None]
    best = np.unravel_index(means.argmin(axis=1), loss.shape[1:])
    return np.column_stack([loss[name].values[k] for name, k in zip(_AXES, best, strict=True)])


def intervals_of(loss: xr.DataArray, draws: np.ndarray) -> dict[str, list[float]]:
    """95 % percentile intervals by parameter of draws (n, 2) from a grid's points, half a step
    wider on each side, within the grid.

    Half a step is what the grid itself can't resolve.
    """
    intervals = {}
    for name, drawn in zip(_AXES, draws.T, strict=True):
        values = loss[name].values
        half_step = 0.5 * float(np.diff(values).mean()) if len(values) > 1 else 0.0
        low, high = np.percentile(drawn, [2.5, 97.5])
        ends = max(low - half_step, values[0]), min(high + half_step, values[-1])
        intervals[name] = [round(float(end), 10) for end in ends]
    return intervals


def identify_dataset(
    prepared: str,
    calibration: str | None,
    dataset: str,
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    bootstrap: dict[str, int],
    sweep: str,
    finest: str,
    fit: str,
) -> None:
    """Identify friction and restitution on a dataset's identification tosses; write both sweeps of
    grids and the fit.

    Variant, grid (``start``, ``stop`` and ``step`` of both parameters) and bootstrap are the
    configuration's.
    """
    chosen = Variant.from_config(variant)
    problem = load_problem(prepared, calibration, chosen, IDENTIFICATION)
    swept = sweep_grid(problem, Grid.of(grid))
    record, fine = identify(problem, swept, chosen, dataset=dataset, **bootstrap)
    write_dataset(swept, sweep)
    write_dataset(fine, finest)
    write_fit(fit, record)
