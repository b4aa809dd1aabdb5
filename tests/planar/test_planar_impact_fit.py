"""Impact laws of a planar body: the step law is the simulator's, and parameters come back."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.planar.artefacts.real_ellipse import draw_real_ellipse
from contactid.planar.identify.impact_laws import (
    Prediction,
    best_impulses,
    ellipse_impacts,
    fit_law,
    place_knots,
    published_fit,
)
from contactid.planar.identify.impact_tables import departures, ellipse_tables
from contactid.planar.identify.impacts import (
    SMOOTHING,
    PlanarImpacts,
    impulse_ratios,
    incremental_impulses,
    place_weights,
    smoothed_mean,
    step_impulses,
)
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.simulate.kernel import contact_impulse

AXES, RATIO = (0.035, 0.025), 3.7e-4  # m, m2
LENGTH = float(np.sqrt(RATIO))


def approaching(n, seed, slip=1.0):
    """Impacts of an ellipse without an outcome yet: their velocities after are those before."""
    random = np.random.default_rng(seed)
    pose = np.column_stack([random.uniform(-0.5, -0.3, n), np.zeros(n), random.uniform(-3, 3, n)])
    at = contacts(Ellipse(*AXES), Ground(), pose)
    before = random.uniform([-slip, -2.8, -9], [slip, -2.2, 9], (n, 3))
    impacts = (before, before, at.normal[:, 0], at.tangent[:, 0], at.point[:, 0, 0], LENGTH)
    return PlanarImpacts(*impacts), pose


def impacts_of(n, seed, mu, e_n, law=step_impulses, noise=0.0):
    """Impacts that obey a law, with noise (m/s) of the velocities after them; e_n may depend on the
    place.
    """
    impacts, _ = approaching(n, seed)
    e_n = e_n(impacts.place) if callable(e_n) else e_n
    after = impacts.pushed(RATIO, law(impacts, RATIO, mu, e_n))
    after += noise * np.random.default_rng(seed + 1).normal(size=(n, 3)) / [1.0, 1.0, LENGTH]
    return PlanarImpacts(
        impacts.before, after, impacts.normal, impacts.tangent, impacts.place, LENGTH
    )


def files_of(n, seed, mu, e_n, published=(0.1, 0.5), noise=0.0):
    """The same as a dataset, with predictions of two models, made for the body of the other
    handedness.
    """
    impacts = impacts_of(n, seed, mu, e_n, noise=noise)
    pose = approaching(n, seed)[1]
    wrong, flip = impacts.mirrored(), np.array([-1.0, 1.0, 1.0])
    theirs = sum(a * a for a in AXES) / 5.0
    predicted = [
        wrong.pushed(theirs, law(wrong, theirs, *published)) * flip
        for law in (step_impulses, incremental_impulses)
    ]
    rows = ("impact", "coordinate")
    return xr.Dataset(
        {
            "before": (rows, pose),
            "velocity_before": (rows, impacts.before),
            "velocity_after": (rows, impacts.after),
            "normal": (rows, impacts.normal),
            "tangent": (rows, impacts.tangent),
            "predicted": (("model", *rows), np.array(predicted)),
            "semi_axes": ("axis", np.array(AXES)),
            "inertia_ratio": ((), RATIO),
        },
        coords={"model": ["Anitescu-Potra (Newton)", "Wang-Mason"]},
    )


# laws


@given(seed=st.integers(0, 2**32 - 1), mu=st.floats(0.0, 1.5), e_n=st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_step_law_is_the_simulators(seed, mu, e_n):
    impacts, _ = approaching(20, seed)
    impulses = step_impulses(impacts, RATIO, mu, e_n)
    for i, (w_nn, w_nt, w_tt) in enumerate(zip(*impacts.delassus(RATIO), strict=True)):
        wanted = -(1.0 + e_n) * impacts.approach[i], -impacts.slip[i]
        assert impulses[i] == pytest.approx(
            contact_impulse(w_nn, w_nt, w_tt, *wanted, mu), rel=1e-12, abs=1e-12
        )


@given(seed=st.integers(0, 2**32 - 1), mu=st.floats(0.0, 1.5), e_n=st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_incremental_law_is_its_own_differential_equation(seed, mu, e_n):
    """Small normal impulses, friction against the slip of the moment; restitution by the impulse of
    compression.
    """
    impacts, _ = approaching(1, seed)
    (w_nn,), (w_nt,), (w_tt,) = impacts.delassus(RATIO)
    d, u_n, u_t, c_t, c_n, end = 1e-3, impacts.approach[0], impacts.slip[0], 0.0, 0.0, np.inf
    while c_n < end:
        rest = -u_t - w_nt * d  # what friction must do in this step for the slip to be 0 at its end
        push = np.clip(rest / w_tt, -mu * d, mu * d)
        u_n, u_t, c_n, c_t = (
            u_n + w_nn * d + w_nt * push,
            u_t + w_nt * d + w_tt * push,
            c_n + d,
            c_t + push,
        )
        if u_n >= 0.0 and end == np.inf:
            end = (1.0 + e_n) * c_n
    assert incremental_impulses(impacts, RATIO, mu, e_n)[0] == pytest.approx([c_n, c_t], abs=2e-2)


@given(seed=st.integers(0, 2**32 - 1), mu=st.floats(0.0, 1.5), e_n=st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_both_laws_keep_the_cone_and_a_plastic_incremental_impact_adds_no_energy(seed, mu, e_n):
    impacts, _ = approaching(30, seed)
    for law in (step_impulses, incremental_impulses):
        impulses = law(impacts, RATIO, mu, e_n)
        assert (impulses[:, 0] > 0.0).all()
        assert (np.abs(impulses[:, 1]) <= mu * impulses[:, 0] * (1.0 + 1e-12)).all()
    after = impacts.pushed(RATIO, incremental_impulses(impacts, RATIO, mu, 0.0))
    energy = [(v * v) @ [1.0, 1.0, RATIO] for v in (impacts.before, after)]
    assert (energy[1] <= energy[0] * (1.0 + 1e-12)).all()


def test_the_laws_agree_where_the_slip_neither_stops_nor_turns():
    impacts, _ = approaching(200, 3, slip=40.0)
    step, gradual = (
        impacts.pushed(RATIO, law(impacts, RATIO, 0.1, 0.0))
        for law in (step_impulses, incremental_impulses)
    )
    after = np.einsum("ij,ij->i", impacts.tangent, step)
    on = after * impacts.slip > 1e-9
    assert on.sum() > 100 and np.allclose(step[on], gradual[on], atol=1e-12)
    assert not np.allclose(step[~on], gradual[~on], atol=1e-3)


def test_the_mirror_image_of_an_impact_has_the_mirrored_impulse():
    impacts, _ = approaching(50, 4)
    turn = np.array([-1.0, 1.0, -1.0])
    image = PlanarImpacts(
        impacts.before * turn,
        impacts.after * turn,
        impacts.normal * [1, 1, -1],
        impacts.tangent,
        impacts.place,
        LENGTH,
    )
    for law in (step_impulses, incremental_impulses):
        there = law(image, RATIO, 0.2, 0.5)
        assert np.allclose(there, law(impacts, RATIO, 0.2, 0.5) * [1.0, -1.0], atol=1e-12)


# identification


@pytest.mark.parametrize("law", [step_impulses, incremental_impulses])
@pytest.mark.parametrize("given_ratio", [None, RATIO])
def test_parameters_come_back_exactly_without_noise(law, given_ratio):
    """Also where the length that omega is weighed with, from which J/m is searched, is another."""
    impacts = replace(impacts_of(24, 6, 0.2, 0.6, law), length=1.3 * LENGTH)
    fit = fit_law(impacts, law, given_ratio)
    assert fit.converged and fit.ratio == pytest.approx(RATIO, rel=1e-4)
    assert fit.mu == pytest.approx(0.2, abs=1e-4) and fit.e_n == pytest.approx([0.6], abs=1e-4)


def test_with_noise_no_parameters_nearby_have_a_smaller_error():
    impacts = impacts_of(80, 7, 0.2, 0.6, noise=0.1)
    fit = fit_law(impacts, step_impulses, None)
    assert (
        abs(fit.mu - 0.2) < 0.02
        and abs(fit.e_n[0] - 0.6) < 0.02
        and fit.ratio == pytest.approx(RATIO, rel=0.1)
    )
    for ratio, mu, e_n in np.random.default_rng(1).uniform(0.98, 1.02, (50, 3)) * [
        fit.ratio,
        fit.mu,
        fit.e_n[0],
    ]:
        beside = impacts.pushed(ratio, step_impulses(impacts, ratio, mu, e_n))
        assert smoothed_mean(impacts.errors(beside)) > fit.objective


def test_restitution_by_place_comes_back():
    knots = np.array([-0.48, -0.4, -0.32])
    impacts = impacts_of(60, 8, 0.2, lambda place: place_weights(place, knots) @ [0.4, 0.7, 0.5])
    found = fit_law(impacts, step_impulses, RATIO, knots)
    assert found.converged and found.e_n == pytest.approx([0.4, 0.7, 0.5], abs=1e-4)
    gradual = impacts_of(
        60,
        8,
        0.2,
        lambda place: place_weights(place, knots) @ [0.4, 0.7, 0.5],
        incremental_impulses,
    )
    fit = fit_law(gradual, incremental_impulses, RATIO, knots=knots)
    assert fit.converged and fit.e_n == pytest.approx([0.4, 0.7, 0.5], abs=1e-3)
    assert fit.mu == pytest.approx(0.2, abs=1e-3)


def test_one_impact_gone_wrong_counts_little():
    impacts = impacts_of(40, 9, 0.2, 0.6)
    impacts.after[3] += [5.0, 2.0, 100.0]
    found = fit_law(impacts, step_impulses, RATIO)
    assert found.mu == pytest.approx(0.2, abs=0.01) and found.e_n == pytest.approx([0.6], abs=0.01)


# bounds and estimates


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_no_law_beats_the_best_impulse(seed):
    impacts = impacts_of(30, seed, 0.2, 0.6, noise=0.3)
    least = impacts.errors(best_impulses(impacts, RATIO))
    for mu, e_n in ((0.2, 0.6), (0.5, 0.3), (0.0, 1.0)):
        for law in (step_impulses, incremental_impulses):
            assert (
                least <= impacts.errors(impacts.pushed(RATIO, law(impacts, RATIO, mu, e_n))) + 1e-12
            ).all()


def test_restitution_and_impulse_ratios_are_those_of_the_law():
    impacts = impacts_of(200, 10, 0.2, 0.6)
    assert np.allclose(impacts.restitution, 0.6) and np.abs(
        impulse_ratios(impacts)
    ).max() == pytest.approx(0.2)


# tables and figure


@pytest.fixture(scope="module")
def tables():
    data = files_of(
        60,
        11,
        0.2,
        lambda place: place_weights(place, np.array([-0.5, -0.4, -0.3])) @ [0.5, 0.7, 0.5],
        noise=0.02,
    )
    return data, ellipse_tables(data, seeds=(0, 1))


def test_published_laws_are_recognised():
    data = files_of(60, 12, 0.2, 0.6, published=(0.11, 0.55))
    for name in ("Anitescu-Potra (Newton)", "Wang-Mason"):
        fit = published_fit(data, name)
        assert fit.mu == pytest.approx(0.11, abs=1e-4) and fit.e_n == pytest.approx(
            [0.55], abs=1e-4
        )
        theirs = replace(
            ellipse_impacts(data, published_rows=True),
            after=data["predicted"].sel(model=name).values,
        )
        assert np.median(theirs.mirrored().errors(fit.predict(theirs.mirrored()))) < 1e-3


def test_the_models_true_law_wins(tables):
    models = tables[1]["ext_real_ellipse"].set_index(["model", "kind"])["error_mean_m_s"]
    ours = models["step law, e_N by place", "identified"]
    assert models["best impulse of each impact", "bound"] < ours < models["step law", "identified"]
    assert ours < 0.06 < models.xs("published", level="kind").min()
    assert (tables[1]["ext_real_ellipse"]["converged"] == 2).all()


def test_tables_are_whole_and_tell_the_reason(tables):
    data, made = tables
    impacts, reasons = made["ext_real_ellipse_impacts"], made["ext_real_ellipse_reasons"]
    assert len(impacts) == 60 and not impacts.isna().any().any()
    explained = reasons[reasons["quantity"] == "variance of restitution explained"].set_index(
        "group"
    )["measured"]
    assert explained["place of the contact"] > 0.8 > 0.3 > explained["approach speed"]
    turned = reasons[reasons["quantity"] == "median impulse ratio"]
    assert turned["impacts"].sum() == 60 and set(reasons) == set(departures(data, _laws(impacts)))


def test_no_impact_is_predicted_by_a_fit_that_saw_it():
    data = files_of(40, 16, 0.2, 0.6, noise=0.05)
    tables = []
    for change in (0.0, 1.5):
        data["velocity_after"].values[7] += change
        tables.append(ellipse_tables(data, seeds=(0,))["ext_real_ellipse_impacts"])
    names = [
        name
        for name in tables[0]
        if str(name).startswith(("step law:", "incremental law:")) and "error" not in name
    ]
    same = [
        (table[names].iloc[7].to_numpy(), table[names].drop(index=7).to_numpy()) for table in tables
    ]
    assert np.array_equal(same[0][0], same[1][0]) and not np.array_equal(same[0][1], same[1][1])


def _laws(impacts):
    """Predictions by name, as far as the table of reasons looks at them."""
    columns = ("v_x_m_s", "v_y_m_s", "omega_rad_s")
    none = np.full(len(impacts), np.nan)
    return {
        name: Prediction(
            name,
            "identified",
            impacts[[f"{name}: {c}" for c in columns]].to_numpy(),
            RATIO,
            0.2,
            none,
        )
        for name in ("step law", "incremental law")
    }


def test_the_figure_shows_every_model(tables):
    with style.styled():
        figure = draw_real_ellipse(tables[1]["ext_real_ellipse_impacts"])
        legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert len(figure.axes) == 4 and len(figure.axes[0].get_lines()) == 5 + 2 + 2
        assert "six models as published" in legend and len(legend) == 7
        few = tables[1]["ext_real_ellipse_impacts"].filter(
            regex="^(?!incremental|step law, e_N by)"
        )
        assert len(draw_real_ellipse(few).axes[0].get_lines()) == 2 + 4


# misuse


def test_bad_input_is_named():
    good, _ = approaching(5, 13)
    table = np.array(good.before)
    with pytest.raises(ContactIdError, match="doesn't approach"):
        PlanarImpacts(-table, table, good.normal, good.tangent, good.place, LENGTH)
    with pytest.raises(ContactIdError, match="same place"):
        place_knots(np.zeros(9))
    with pytest.raises(ContactIdError, match="20 impacts"):
        ellipse_tables(files_of(20, 14, 0.2, 0.6), (0,))


def test_rows_are_those_of_the_pose_or_as_published():
    data = files_of(10, 15, 0.2, 0.6)
    assert np.allclose(ellipse_impacts(data).normal, data["normal"])
    data["normal"] = data["normal"] * [1.0, 1.0, 2.0]
    assert np.allclose(ellipse_impacts(data, published_rows=True).normal, data["normal"])
    assert not np.allclose(ellipse_impacts(data).normal, data["normal"])
    assert smoothed_mean(np.array([0.0, 0.0])) == pytest.approx(SMOOTHING)
