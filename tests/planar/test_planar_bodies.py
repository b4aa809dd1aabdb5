"""Eq. 31 over impacts, and what it says of bodies: exact impacts, rivals on plates, twins, and
another simulator.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from contactid.output.style import styled
from contactid.planar.artefacts.real_bodies import bodies_figure, bodies_table, draw_bodies
from contactid.planar.readers.csv_throws import read_square_throws
from contactid.planar.readers.throws import SQUARE_SIDE, square
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.squares import bodies
from contactid.planar.squares.bodies import (
    AS_PUBLISHED,
    COLUMNS,
    ELLIPSE,
    EQ31,
    RIVAL,
    RIVALS,
    SUBSET,
    EllipseImpacts,
    eq31_rows,
    plate_with,
    profile,
    write_bodies,
)
from contactid.planar.squares.impacts import (
    FREE,
    LAGGED,
    TYPICAL_SCATTER,
    Impacts,
    LeverGeometry,
    every_impact,
    fit_impacts,
    impacts_of,
)
from contactid.planar.squares.windows import prepare_throws
from contactid.sources.motion import write_dataset

RATIO, SQUARE = SQUARE_SIDE**2 / 6.0, square(SQUARE_SIDE)
TWIN_FOLDER = (
    Path(__file__).parents[2] / "workflow" / "resources" / "embedded" / "planar_square_twin"
)
PYBULLET = Path(os.environ.get("DATA_MIRROR") or "../shared/data") / "planar-pybullet"
TRUTH = LeverGeometry(radius=0.005, turn=0.006, centre=(2e-4, -1e-4))
START = LeverGeometry(radius=0.003)
REFUSED = 3.0  # standard errors, from which on the table's caption refuses a rival


def exact_impacts(
    geometry: LeverGeometry = TRUTH, number: int = 60, ratio: float = RATIO
) -> Impacts:
    """Impacts of a square, three a throw, without noise: contact points by the study's own geometry
    of outlines.
    """
    random, rows = np.random.default_rng(5), []
    body, sharp = replace(SQUARE, radius=geometry.radius), np.array(SQUARE.vertices)
    for k in range(number):
        theta, push = (
            random.uniform(0.1, 1.4) + 0.5 * np.pi * (k % 4),
            np.array([random.uniform(-0.3, 0.3), 1.0]) * random.uniform(1.0, 3.0),
        )
        at = contacts(body, Ground(), (0.0, 0.0, theta))
        corner = int(at.gap.argmin())
        turned = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
        to_mass = turned @ geometry.centre
        arm = at.point[corner] - to_mass
        spin = (arm[0] * push[1] - arm[1] * push[0]) / ratio
        of_centre = push + spin * np.array([to_mass[1], -to_mass[0]])
        before = np.array([random.normal(), -1.0, random.uniform(-15.0, 15.0)])
        seen = theta + geometry.turn - geometry.lag * before[2]
        rows.append(
            (
                k // 3,
                sharp[corner],
                -np.sign(sharp[corner]),
                seen,
                of_centre,
                spin,
                before,
                np.zeros(3),
                0.0,
            )
        )
    return Impacts(*(np.array(column) for column in zip(*rows, strict=True)))


def ellipse_impacts(number: int = 200) -> xr.Dataset:
    """Impacts of a uniform plate with the real ellipse's outline, as their reader gives them."""
    random, shape = np.random.default_rng(4), Ellipse(0.035, 0.025)
    pose = np.column_stack([np.zeros((number, 2)), random.uniform(-3.0, 3.0, number)])
    at = contacts(shape, Ground(), pose)
    c_n, c_t = random.uniform(1.0, 3.0, number), random.uniform(-0.4, 0.4, number)
    spin = (at.normal[:, 0, 2] * c_n + at.tangent[:, 0, 2] * c_t) / shape.uniform_inertia_ratio
    before = np.column_stack(
        [
            random.normal(size=number),
            -random.uniform(0.5, 2.0, number),
            10.0 * random.normal(size=number),
        ]
    )
    rows = ("impact", "coordinate")
    return xr.Dataset(
        {
            "before": (rows, pose),
            "velocity_before": (rows, before),
            "velocity_after": (rows, before + np.column_stack([c_t, c_n, spin])),
            "semi_axes": ("axis", np.array([0.035, 0.025])),
            "inertia_ratio": 3.7e-4,
        }
    )


def off(impacts: Impacts, scatter: float, seed: int = 3) -> Impacts:
    """With contact points off at random, standard deviation in m."""
    return replace(impacts, aside=np.random.default_rng(seed).normal(0.0, scatter, len(impacts)))


def test_exact_impacts_tell_the_body_and_its_geometry() -> None:
    fit = fit_impacts(exact_impacts(), START, FREE)
    assert fit.ratio == pytest.approx(RATIO, rel=1e-5) and fit.residual < 1e-4
    assert fit.geometry.numbers() == pytest.approx(TRUTH.numbers(), abs=1e-3)
    held = fit_impacts(exact_impacts(), START, LeverGeometry())
    assert held.ratio != pytest.approx(RATIO, rel=0.02) and held.geometry == START


def test_a_lag_is_found_and_moves_the_answer_without_it() -> None:
    impacts = exact_impacts(replace(TRUTH, lag=1e-3))
    fit = fit_impacts(impacts, START, LAGGED)
    assert fit.ratio == pytest.approx(RATIO, rel=1e-4) and fit.geometry.lag == pytest.approx(
        1e-3, rel=1e-3
    )
    assert fit_impacts(impacts, START, FREE).residual > 1e-3 > 10.0 * fit.residual


def test_wild_impacts_do_not_move_the_answer() -> None:
    impacts = off(exact_impacts(number=150), 1e-5)
    spin = impacts.spin.copy()
    spin[::5] += np.random.default_rng(2).normal(0.0, 20.0, len(spin[::5]))
    fit = fit_impacts(replace(impacts, spin=spin), START, FREE)
    assert fit.ratio == pytest.approx(RATIO, rel=0.003)


def test_intervals_of_single_throws_hold_the_truth_as_often_as_they_say() -> None:
    impacts, held, known = off(exact_impacts(number=300), TYPICAL_SCATTER), [], []
    for name in np.unique(impacts.throw):
        fit = fit_impacts(
            impacts.of(impacts.throw == name), TRUTH, LeverGeometry(), scatter=TYPICAL_SCATTER
        )
        held.append(abs(fit.ratio - RATIO) < 1.96 * fit.ratio_se)
        wide = fit_impacts(
            impacts.of(impacts.throw == name),
            TRUTH,
            LeverGeometry(radius=5e-4),
            scatter=TYPICAL_SCATTER,
        )
        known.append(wide.ratio_se > fit.ratio_se)
    assert np.mean(held) >= 0.9 and np.mean(known) > 0.9


def test_the_scatter_of_contact_points_is_measured() -> None:
    fit = fit_impacts(off(exact_impacts(number=600), 3e-4), TRUTH, LeverGeometry())
    assert fit.scatter == pytest.approx(3e-4, rel=0.15) and fit.misfit == pytest.approx(
        1.0, abs=0.02
    )
    assert abs(fit.ratio - RATIO) < 3.0 * fit.ratio_se < 0.02 * RATIO


def test_a_plate_is_flat_over_subsets_and_each_rival_is_not() -> None:
    """The law first: without a rival every subset has J/m; then each rival of 1 mm or ms shows its
    profile.
    """
    impacts = off(exact_impacts(number=600), 1e-4)
    fit = fit_impacts(impacts, START, FREE, draws=0)
    plain = plate_with(lambda impacts, z, size: np.zeros(len(impacts)), 0.0, impacts, fit, RATIO)
    again = fit_impacts(plain, START, FREE, draws=0)
    flat = profile(plain, again)
    assert flat["inertia_ratio_mm2"].to_numpy() == pytest.approx(1e6 * RATIO, rel=0.01)
    steepness = {}
    for name, (rival, _) in RIVALS.items():
        made = plate_with(rival, 1.0, impacts, fit, RATIO)
        found = profile(made, fit_impacts(made, START, LeverGeometry(), draws=0))
        away = found["inertia_ratio_mm2"] / found["inertia_ratio_mm2"].mean() - 1.0
        steepness[name] = float(away.abs().max())
    assert all(steep > 0.02 for steep in steepness.values()), steepness
    moment = plate_with(RIVALS["contact patch"][0], 1.0, impacts, fit, RATIO)
    low, high = profile(moment, fit)["inertia_ratio_mm2"].iloc[[0, 3]]
    assert low < high < 1e6 * RATIO  # a patch matters most where the lever is short


def test_rivals_are_refused_on_a_body_that_is_no_plate_and_not_on_their_own_plate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "_TRIED", np.array([1.8, 12.0]))
    impacts = off(exact_impacts(number=450, ratio=0.75 * RATIO), 1e-4)
    rows = eq31_rows("body", impacts, START, FREE, RATIO)
    nearest = rows[(rows["route"] == RIVAL) & rows["case"].str.endswith("sized")]
    assert len(nearest) == len(RIVALS) and (nearest["departure_se"] > REFUSED).all()
    assert rows.loc[rows["route"] == EQ31, "departure_se"].iloc[0] < REFUSED
    rival = RIVALS["contact patch"][0]
    fit = fit_impacts(off(exact_impacts(number=450), 2e-4), START, FREE, draws=0)
    rows = eq31_rows(
        "body",
        plate_with(rival, 1.0, off(exact_impacts(number=450), 2e-4), fit, RATIO),
        START,
        FREE,
        RATIO,
    )
    own = rows[(rows["route"] == RIVAL) & (rows["case"] == "contact patch, sized")].iloc[0]
    assert own["departure_se"] < REFUSED and own["size"] == pytest.approx(1.0, abs=0.4)


def test_an_ellipse_has_its_levers_by_the_support_function() -> None:
    theta = np.linspace(-3.0, 3.0, 7)
    one = EllipseImpacts(
        np.arange(7), np.tile([0.035, 0.025], (7, 1)), np.zeros((7, 2)), theta, np.ones((7, 2)), np.ones(7),
        np.zeros((7, 3)), np.zeros((7, 3)), np.zeros(7),
    )  # fmt: skip
    at = contacts(
        Ellipse(0.035, 0.025), Ground(), np.column_stack([0.0 * theta, 0.0 * theta, theta])
    )
    arm, _ = one.levers(np.zeros(8))
    assert 1e-3 * arm[:, 0] == pytest.approx(at.normal[:, 0, 2]) and -1e-3 * arm[
        :, 1
    ] == pytest.approx(at.tangent[:, 0, 2])


def test_the_default_twin_has_its_j_over_m() -> None:
    prepared = prepare_throws(read_square_throws(TWIN_FOLDER, licence="CC0-1.0"))
    impacts = impacts_of(prepared, every_impact(prepared))
    for error in (LeverGeometry(), FREE, LAGGED):
        fit = fit_impacts(impacts, LeverGeometry(radius=prepared.shape.radius), error)
        assert abs(fit.ratio - RATIO) < 2.0 * fit.ratio_se < 0.04 * RATIO


@pytest.mark.skipif(not PYBULLET.is_dir(), reason="no throws of PyBullet (set DATA_MIRROR)")
def test_another_simulators_throws_have_its_j_over_m_pooled_and_one_by_one() -> None:
    """Its damping of .04 /s and .04 a metre or radian and its gravity of 10 m/s2 are measured on
    the way.
    """
    prepared = prepare_throws(read_square_throws(PYBULLET, licence="BSD-3-Clause"))
    flight = prepared.flight
    braking = [flight.braking, flight.quadratic, flight.spin_braking, flight.spin_quadratic]
    assert braking == pytest.approx([0.04] * 4, abs=0.003) and flight.gravity == pytest.approx(
        10.0, abs=0.01
    )
    impacts = impacts_of(prepared, every_impact(prepared))
    for error in (FREE, LAGGED):
        pooled = fit_impacts(impacts, LeverGeometry(radius=prepared.shape.radius), error, draws=20)
        assert pooled.ratio == pytest.approx(RATIO, rel=0.003)
    held = []
    for name in np.unique(impacts.throw):
        one = fit_impacts(
            impacts.of(impacts.throw == name),
            LeverGeometry(),
            LeverGeometry(),
            scatter=TYPICAL_SCATTER,
        )
        held.append(abs(one.ratio - RATIO) < 1.96 * one.ratio_se)
    assert np.mean(held) >= 0.9


def test_the_table_and_the_figure_of_bodies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_SIZED", 0.5)
    monkeypatch.setattr(bodies, "_TRIED", np.array([1.0, 6.0]))
    twin = read_square_throws(TWIN_FOLDER, licence="CC0-1.0")
    write_dataset(twin, tmp_path / "twin.nc")
    write_dataset(ellipse_impacts(), tmp_path / "ellipse.nc")
    squares = pd.DataFrame({"inertia_ratio_mm2": [590.0, 610.0]})
    squares.to_csv(tmp_path / "squares.csv", index=False)
    files = [
        str(tmp_path / name)
        for name in ("twin.nc", "twin.nc", "twin.nc", "ellipse.nc", "squares.csv", "out.csv")
    ]
    write_bodies(*files)
    table = bodies_table(files[-1])["tables/ext_real_bodies"]
    assert (
        list(table.columns) == list(COLUMNS) and not table["route"].str.contains(f"{RIVAL}, ").any()
    )
    found = table[(table["route"] == EQ31) & (table["body"] != ELLIPSE)]
    assert len(found) == 3 and found["inertia_ratio_mm2"].to_numpy() == pytest.approx(
        600.0, rel=0.02
    )
    assert (table["route"] == SUBSET).sum() > 30
    (mirrored,) = table.loc[table["route"] == AS_PUBLISHED, "residual_pct"]
    assert (
        mirrored
        > 20.0
        > table.loc[(table["route"] == EQ31) & (table["body"] == ELLIPSE), "residual_pct"].iloc[0]
    )
    with styled():
        figure = draw_bodies(bodies_figure(files[-1]))
    assert len(figure.axes) == 3
