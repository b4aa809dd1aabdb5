"""A thousand frames a second and more: one of every few is used."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import yaml

from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.own.identify import identify_own
from own_throws import _AXES, twins_of

SIGMA = np.array([3e-4, 3e-4, 3e-3])  # m, m, rad
JITTER = 3e-3  # s


def identified(folder, seed, rate, jitter):
    """The answer to a simulated throw of an ellipse, its truth, and its CPU seconds."""
    (twin,) = twins_of("ellipse", seed)
    q = replace(twin, slope=0.0).poses(0.35, rate)
    noise = np.random.default_rng([seed, 3]).normal(size=q.shape)
    # a first-order process of unit variance; white without jitter
    kept = np.exp(-1.0 / (rate * jitter)) if jitter else 0.0
    for k in range(1, len(noise)):
        noise[k] = kept * noise[k - 1] + np.sqrt(1.0 - kept**2) * noise[k]
    table = np.column_stack([np.arange(len(q)) / rate, q + SIGMA * noise])
    np.savetxt(folder / "toss.csv", table, delimiter=",", header="t,x,y,theta", comments="")
    body = {"shape": {"ellipse": dict(zip("ab", _AXES, strict=True))}}
    body["noise"] = {"position": float(SIGMA[0]), "orientation": float(SIGMA[2])}
    (folder / "body.yaml").write_text(yaml.safe_dump(body))
    begin = time.process_time()
    own = read_own_body(folder / "body.yaml")
    found = identify_own(own, read_own_throws_of(own, [folder / "toss.csv"]))
    return found, twin.ratio, time.process_time() - begin


@pytest.mark.parametrize("jitter", [0.0, JITTER])
@pytest.mark.parametrize("rate", [1000.0, 2000.0])
def test_a_fast_camera_is_as_good_as_a_slow_one_at_its_cost(tmp_path, rate, jitter):
    """Also where noise lasts for milliseconds, so that frames have it in common."""
    found, truth, seconds = identified(tmp_path, 4, rate, jitter)
    assert len(found.throws.throws[0].time) < 100
    assert "one of every" in found.notes[-2]
    assert abs(found.fit.inertia_ratio - truth) < 2.0 * found.fit.inertia_ratio_se < 0.06 * truth
    assert seconds < 5.0
