"""What tosses say of the constants of :mod:`contactid.tossing.identify.body`: ``python
tests/helpers/body_constants.py DATA`` writes the table.

DATA is the folder of ContactNets' tosses. Only those of the public run's identification part are
looked at. Disjoint sets of twenty of them are held against all of them; ``low`` and ``high`` are 95
% of the sets resampled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import chi2

from contactid.output.tables import write_csv
from contactid.sources.motion import body_of, some_recordings
from contactid.tossing.identify import body
from contactid.tossing.impacts.impact import Impact
from contactid.tossing.impacts.selection import SelectionOptions, find_impacts
from contactid.tossing.own.files import read_motion
from contactid.tossing.own.usable import EVENTS
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.preprocess import preprocess

TABLE = Path(__file__).parents[2] / "workflow/resources/tossing_body_constants.csv"
SHARE, SPLIT_SEED = 0.7, 20230206  # of config/public.yaml
TOSSES, PARTITIONS, SEED = 20, 2, 4
#: Unit, and values to try beside the constant's own.
TRIED: dict[str, tuple[str, tuple[float, ...]]] = {
    "_ASKEW": ("m/s2", (0.0, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)),
    "_LEAST_VARIANCE": ("1", (0.05, 0.125, 0.25, 0.5, 1.0)),
}
MM = 1e3  # in a metre
NOTHING = 1e-9  # in place of 0, by which is divided
BROAD = 0.01  # m, a prior on the centre that says nothing
Sets = list[xr.Dataset]


@contextmanager
def with_constants(**values: Any) -> Iterator[None]:
    """The module with other constants."""
    usual = {name: getattr(body, name) for name in values}
    for name, value in values.items():
        setattr(body, name, value)
    try:
        yield
    finally:
        for name, value in usual.items():
            setattr(body, name, value)


def identification_part(data: str) -> xr.Dataset:
    """The prepared tosses that the public run identifies on."""
    prepared = preprocess(
        read_motion([data], ()),
        share=SHARE,
        seed=SPLIT_SEED,
        exclude_tumbling=False,
        require_usable=True,
        events=EVENTS,
    )
    return body._identification(prepared)


def sets_of(part: xr.Dataset, tosses: int = TOSSES) -> Sets:
    """Sets of so many tosses, disjoint within each partition."""
    random = np.random.default_rng(SEED)
    n = part.sizes["recording"]
    sets = []
    for _ in range(PARTITIONS):
        order = random.permutation(n)
        for first in range(0, n - tosses + 1, tosses):
            chosen = np.zeros(n, dtype=bool)
            chosen[order[first : first + tosses]] = True
            sets.append(some_recordings(part, chosen))
    return sets


def root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def with_spread(
    values: np.ndarray, statistic: Callable[[np.ndarray], float]
) -> tuple[float, float, float]:
    """A statistic of sets' values (n, ...), and 95 % of it over resampled sets."""
    random = np.random.default_rng(SEED)
    n = len(values)
    drawn = [statistic(values[random.integers(0, n, n)]) for _ in range(1000)]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return statistic(values), float(low), float(high)


def distance_rows(part: xr.Dataset, sets: Sets) -> Iterator[dict[str, Any]]:
    """How far twenty tosses' centre by flights is from that of all, in mm."""
    for constant, (unit, values) in TRIED.items():
        for value in values:
            with with_constants(**{constant: value or NOTHING}):
                whole = body._from_flights(part)[0][:3]
                centers = np.stack([body._from_flights(one)[0][:3] for one in sets])
            measured = with_spread(MM * (centers - whole), root_mean_square)
            yield row(constant, unit, value, "centre by flights: sets against all, mm", measured)


def row(
    constant: str, unit: str, value: float, quantity: str, measured: tuple[float, float, float]
) -> dict[str, Any]:
    """Of the table; ``value`` is NaN where the tosses give the constant themselves."""
    return {
        "constant": constant,
        "used": getattr(body, constant, np.nan),
        "unit": unit,
        "tried": value,
        "quantity": quantity,
        **dict(zip(("measured", "low", "high"), measured, strict=True)),
    }


def error_rows(part: xr.Dataset, whole: Calibration) -> Iterator[dict[str, Any]]:
    """How many stated errors sets' answers are from those of all, and how often two are enough."""
    for tosses in (10, TOSSES):
        sets = sets_of(part, tosses)[: part.sizes["recording"] // TOSSES]
        with with_constants(_IMPACT_INFLATION=1.0):
            found = [body.calibrate(one) for one in sets]
        for quantity in ("center_of_mass", "inertia", "scale"):
            values, errors = (
                np.stack([np.atleast_1d(getattr(one, name)) for one in found])
                for name in (quantity, f"{quantity}_se")
            )
            apart = (values - np.atleast_1d(getattr(whole, quantity))) / errors
            constant = "_IMPACT_INFLATION" if quantity == "inertia" else ""
            about = f"{quantity}: {tosses} tosses against all"
            spread = with_spread(apart, root_mean_square)
            yield row(constant, "1", np.nan, f"{about}, stated errors", spread)
            within = with_spread(apart, lambda drawn: float((np.abs(drawn) < 2.0).mean()))
            yield row(constant, "1", np.nan, f"{about}, share within two stated errors", within)


def impact_rows(part: xr.Dataset, sets: Sets, whole: Calibration) -> Iterator[dict[str, Any]]:
    """How many times the fitted motions' errors impacts have, and how far the centre by impacts is
    from that by flights.
    """
    placed = whole.apply(part)
    properties = body_of(placed)
    options = SelectionOptions(body._WINDOW, body._SPEED, body._MISFIT, body._IMBALANCE)
    impacts = [one.impact.impact for one in find_impacts(placed, options) if one.impact is not None]
    estimate = np.concatenate([whole.inertia, whole.center_of_mass])
    whitening = np.stack([body._whitening(impact, properties) for impact in impacts])
    imbalances = body._imbalances(impacts, properties, estimate)
    squares = (np.einsum("nij,nj->ni", whitening, imbalances) ** 2).sum(axis=1)
    quantity = "median imbalance of single impacts, errors of the fitted motions"
    yield row("_TYPICAL_SCALE", "1", np.nan, quantity, with_spread(squares, scale_of))
    counts = np.array([number_of(impacts, one) for one in sets])
    per_set = with_spread(counts, lambda drawn: float(drawn.mean()))
    yield row("_TYPICAL_IMPACTS", "1", np.nan, "single impacts in twenty tosses, mean", per_set)
    stated = np.array(body.uncalibrated(body_of(part)).inertia)
    by_flights = whole.scale * body._from_flights(part)[0][:3]
    prior = np.concatenate([stated, by_flights])
    deviation = np.concatenate([body._inertia_spread(body_of(part)), np.full(3, BROAD)])
    by_impacts, _ = body._from_impacts(impacts, properties, prior, deviation, estimate)
    apart = root_mean_square(by_impacts[6:] - by_flights)
    # of three coordinates, as of normal errors
    low, high = apart * np.sqrt(3.0 / chi2(3).ppf([0.975, 0.025]))
    quantity = "centre by all impacts against that by all flights, a coordinate"
    yield row("_CORNERS", "m", np.nan, quantity, (apart, float(low), float(high)))


def scale_of(squares: np.ndarray) -> float:
    """The scale of errors by squared residuals of three parts each."""
    return float(np.sqrt(np.median(squares) / body._MEDIAN_CHI2_3))


def number_of(impacts: list[Impact], tosses: xr.Dataset) -> int:
    """How many of the impacts are of these tosses."""
    names = set(tosses["recording"].values.astype(str))
    return sum(impact.toss in names for impact in impacts)


def main(data: str) -> None:
    """Write the table."""
    part = identification_part(data)
    sets = sets_of(part)
    whole = body.calibrate(part)
    rows = []
    for group in (
        distance_rows(part, sets),
        impact_rows(part, sets, whole),
        error_rows(part, whole),
    ):
        for one in group:
            rows.append(one)
            print(one, flush=True)
            write_csv(pd.DataFrame(rows), TABLE)


if __name__ == "__main__":
    main(sys.argv[1])
