"""Friction that follows the slip during an impact, in motions from event to event."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contactid.planar.identify.impacts import PlanarImpacts, incremental_impulses
from contactid.planar.simulate.kernel import contact_impulse, incremental_impulse

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
