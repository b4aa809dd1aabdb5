"""Friction that follows the slip during an impact: motions from event to event, and throws that are
identified by it.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.planar.identify.impacts import PlanarImpacts, incremental_impulses
from contactid.planar.own.body import OwnBody, read_own_throws_of
from contactid.planar.own.doubts import notes_of
from contactid.planar.own.identify import identify_own
from contactid.planar.readers.csv_throws import PartOfTable
from contactid.planar.simulate.geometry import Ellipse, Ground
from contactid.planar.simulate.kernel import contact_impulse, incremental_impulse
from contactid.planar.simulate.motion import (
    HEIGHT,
    MU,
    N_PARAMETERS,
    RATIO,
    event_motion,
    outline_of,
)

speed = st.floats(-3.0, 3.0).map(lambda value: round(value, 3))


@given(
    u_n=st.floats(-3.0, -0.05),
    u_t=speed,
    arm_t=st.floats(-0.05, 0.05),
    arm_n=st.floats(-0.05, -0.005),
    mu=st.floats(0.0, 1.0),
    e_n=st.floats(0.0, 1.0),
)
def test_an_impact_adds_no_energy_keeps_the_cone_and_leaves_no_approach(
    u_n, u_t, arm_t, arm_n, mu, e_n
):
    ratio = 6e-4
    w_nn, w_nt, w_tt = 1 + arm_t**2 / ratio, -arm_t * arm_n / ratio, 1 + arm_n**2 / ratio
    c_n, c_t = incremental_impulse(w_nn, w_nt, w_tt, u_n, u_t, mu, e_n)
    assert abs(c_t) <= mu * c_n + 1e-12
    after_n, after_t = u_n + w_nn * c_n + w_nt * c_t, u_t + w_nt * c_n + w_tt * c_t
    assert after_n >= -1e-9
    # work of the impulses: c . (u- + u+) / 2
    work = 0.5 * (c_n * (u_n + after_n) + c_t * (u_t + after_t))
    assert work <= 1e-9


def test_both_laws_agree_where_nothing_couples():
    for mu in (0.0, 0.2, 2.0):
        one = contact_impulse(1.5, 0.0, 2.0, 1.4 * 1.0, -0.5, mu)
        other = incremental_impulse(1.5, 0.0, 2.0, -1.0, 0.5, mu, 0.4)
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_compiled_law_is_that_of_single_impacts():
    random = np.random.default_rng(4)
    n, ratio = 200, 5e-4
    normal = np.column_stack([np.zeros(n), np.ones(n), random.uniform(-0.04, 0.04, n)])
    tangent = np.column_stack([np.ones(n), np.zeros(n), random.uniform(0.01, 0.04, n)])
    before = random.normal(size=(n, 3)) * [1.0, 0.5, 10.0] - [0.0, 2.0, 0.0]
    approaches = np.einsum("ij,ij->i", normal, before) < -0.05
    normal, tangent, before = normal[approaches], tangent[approaches], before[approaches]
    impacts = PlanarImpacts(before, before, normal, tangent, np.zeros(len(before)), 0.02)
    columns = zip(*impacts.delassus(ratio), impacts.approach, impacts.slip, strict=True)
    compiled = [incremental_impulse(*row, 0.2, 0.4) for row in columns]
    assert len(compiled) > 100
    np.testing.assert_allclose(compiled, incremental_impulses(impacts, ratio, 0.2, 0.4), atol=1e-12)


ELLIPSE, SIGMA = Ellipse(0.05, 0.025), np.array([2e-4, 2e-4, 1e-3])
RATIO_TRUTH, MU_TRUTH = 600e-6, 0.3


def throw_by(incremental, start):
    """Poses of a throw (240 frames/s, a third of a second) whose slip turns round in an impact."""
    parameters = np.zeros(N_PARAMETERS)
    parameters[:6], parameters[RATIO], parameters[MU] = start, RATIO_TRUTH, MU_TRUTH
    parameters[HEIGHT + 1 :] = 0.4
    outline = outline_of(ELLIPSE, (0.0, 0.0), incremental)
    motion = event_motion(outline, parameters, 9.81, 1.0 / 240.0, 80)
    poses = motion.position[motion.frame][:80]
    noise = np.random.default_rng(5).normal(size=poses.shape) * SIGMA
    columns = np.column_stack([np.arange(80) / 240.0, poses + noise])
    return PartOfTable("throw", pd.DataFrame(columns, columns=["t", "x", "y", "theta"]))


# by the second the paper's law explains the poses, too, with another friction
@pytest.mark.parametrize(
    "start", [(0.0, 0.12, -0.7, -0.4, -0.3, -1.7), (0.0, 0.12, -1.5, 0.6, -0.4, -9.2)]
)
@pytest.mark.parametrize("incremental", [True, False])
def test_a_throw_comes_back_by_the_law_that_made_it(incremental, start):
    body = OwnBody(ELLIPSE, Ground(), SIGMA, None, 9.81)
    found = identify_own(body, read_own_throws_of(body, [throw_by(incremental, start)]))
    fit = found.fit
    assert fit.incremental == incremental
    assert any("follows the slip" in note for note in notes_of(found)) == incremental
    assert abs(fit.inertia_ratio - RATIO_TRUTH) < 2.0 * fit.inertia_ratio_se < 0.03 * RATIO_TRUTH
    assert abs(fit.friction_mu - MU_TRUTH) < 2.0 * fit.friction_mu_se < 0.1 * MU_TRUTH


def test_the_models_error_grows_with_a_misfit_that_noise_does_not_explain():
    start = (0.0, 0.12, -0.7, -0.4, -0.3, -1.7)
    body = OwnBody(ELLIPSE, Ground(), SIGMA, None, 9.81)
    throws = read_own_throws_of(body, [throw_by(True, start)])
    fine = identify_own(body, throws).fit
    # as if the noise were 1.5 times smaller than it is
    small = SIGMA / 1.5
    quiet = tuple(replace(throw, sigma=small) for throw in throws.throws)
    noise = throws.noise._replace(sigma=small)
    off = identify_own(body, replace(throws, throws=quiet, noise=noise)).fit
    share = 0.01 * np.sqrt(off.misfit_per_degree)
    assert off.misfit_per_degree > 2.0 and off.incremental
    for fit, least in ((fine, 0.01), (off, share)):
        assert fit.inertia_ratio_se > least * fit.inertia_ratio
        assert fit.friction_mu_se > least * fit.friction_mu
