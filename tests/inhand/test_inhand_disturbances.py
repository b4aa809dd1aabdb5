"""Disturbances by evidence: each is named and taken out where it is, none where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from contactid.inhand.identify.disturbance_models import DISTURBANCES, PENALTY, models, thinkable
from contactid.inhand.identify.likelihood import INTERVAL, told_parameters
from contactid.inhand.identify.linearised import ANCHOR, AXES, LAG, PLACES, SPRING, WORLD
from contactid.inhand.identify.ours import our_fit
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.own.doubts import doubts
from contactid.inhand.own.estimate import estimate_own
from contactid.inhand.own.prepare import read_own_recording
from grasp_for_tests import BODY, HULL, recording
from own_recordings import NOISE as RECORDED_NOISE
from own_recordings import table_of

NOISY = {"force_sd": 0.02, "position_sd": 5e-5, "orientation_sd": 2e-4}
PULL = np.array([1.0, 0.5, 4.0])  # N in the world


def clean(data):
    return data


def late(data):
    force = data["contact_force"].values
    return data.assign(
        contact_force=(
            data["contact_force"].dims,
            np.concatenate([force[:1].repeat(4, 0), force[:-4]]),
        )
    )


def pulled(data):
    w, x, y, z = data["object_orientation"].values.T
    to_world = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    share = np.einsum("jin,j->ni", to_world, PULL) / data.sizes["contact"]
    return data.assign(contact_force=data["contact_force"] - share[:, None, :])


def mirrored(data):
    return data.assign(object_position=data["object_position"] * np.array([1.0, 1.0, -1.0]))


@pytest.mark.parametrize(
    ("disturb", "names"), [(clean, ()), (late, (LAG,)), (pulled, (WORLD,)), (mirrored, (AXES,))]
)
def test_a_disturbance_is_named_and_taken_out(disturb, names):
    fit = our_fit(disturb(recording(200, 0.01, **NOISY)))
    assert fit.models[0].names == names
    # with accelerations that don't fit, the weight alone tells the mass
    assert abs(fit.body.mass - BODY.mass) < max(0.03 * BODY.mass, INTERVAL * fit.fit_errors[0])
    assert fit.answer[PLACES[LAG]] == pytest.approx(0.04 if LAG in names else 0.0, abs=2e-3)
    if WORLD in names:
        assert fit.answer[PLACES[WORLD]] == pytest.approx(PULL, abs=0.3)


def test_the_evidence_is_the_likelihood_with_the_unknowns_integrated_out():
    """Against normal densities of data with the unknowns' covariance written out; parameters nearly
    free in both.
    """
    random = np.random.default_rng(0)
    count = PARAMETERS + WRENCH + sum(place.stop - place.start for place in PLACES.values())
    deviations = np.minimum(thinkable(0.5, 0.1, 9.81), 3.0)
    slope = random.normal(size=(60, count))
    value = slope @ (random.normal(size=count) * deviations) + random.normal(size=60)
    about = np.zeros(count)
    about[PLACES[LAG]], about[PLACES[ANCHOR]] = 0.03, [0.02, -0.01, 0.05]
    every = models(slope.T @ slope, slope.T @ value, deviations, about, DISTURBANCES, wrench=True)

    def penalty(model):
        mass, error = model.mass
        slow = WORLD in model.names and error > 0.1 * abs(mass)
        return 10.0 * len(model.names) + 50.0 * slow

    def log_density(names):
        # a force of the world has an anchor, which adds nothing where there is none
        kinds = (*names, ANCHOR) if WORLD in names else names
        within = np.concatenate(
            [np.arange(PARAMETERS + WRENCH), *(np.arange(count)[PLACES[kind]] for kind in kinds)]
        )
        shifted = [LAG, ANCHOR] if WORLD in names else [LAG]
        mean = -sum(slope[:, PLACES[kind]] @ about[PLACES[kind]] for kind in shifted)
        covariance = (
            np.eye(60) + slope[:, within] @ np.diag(deviations[within] ** 2) @ slope[:, within].T
        )
        residual = value - mean
        return -0.5 * (
            residual @ np.linalg.solve(covariance, residual) + np.linalg.slogdet(covariance)[1]
        )

    penalised = [one.log_likelihood + penalty(one) for one in every]
    expected = [log_density(one.names) for one in every]
    assert np.diff(penalised) == pytest.approx(np.diff(expected), abs=1e-6)
    assert not any({WORLD, AXES} <= set(one.names) for one in every)


def test_a_cable_that_explains_as_much_and_means_another_mass_is_a_doubt():
    data = recording(160, 0.01, **NOISY)
    noise = {name: data.attrs[name] for name in RECORDED_NOISE}
    found = estimate_own(read_own_recording(table_of(data), HULL, noise))
    best = found.fit.models[0]
    pulled = next(one for one in found.fit.models if one.names == (WORLD,))
    assert best.names == () and not any("cable" in one for one in found.warnings)

    def doubted(against, heavier):
        answer = pulled.answer * np.where(np.arange(len(pulled.answer)) == 0, heavier, 1.0)
        # a disturbance has to bring as much as its penalty to be taken
        likelihood = best.log_likelihood - PENALTY - against
        other = replace(pulled, answer=answer, log_likelihood=likelihood)
        fit = replace(found.fit, models=(best, other))
        return any(
            "explains the data about as well" in one for one in doubts(replace(found, fit=fit))
        )

    assert doubted(2.0, 1.3)
    assert not doubted(2.0, 1.0) and not doubted(8.0, 1.3)


AT = np.array([0.05, -0.03, 0.1])  # m, in the body
STIFFNESS = np.diag([4.0, 2.0, 8.0])  # N/m


def held_at(stiffness):
    """A recording whose object also hangs at a point of its own, on a cable or a spring."""

    def disturbed(data):
        w_first = data["object_orientation"].values
        to_world = Rotation.from_quat(w_first, scalar_first=True).as_matrix()
        anchors = data["object_position"].values + to_world @ AT
        force = PULL - (anchors - anchors.mean(axis=0)) @ stiffness
        in_body = np.einsum("nij,ni->nj", to_world, force)
        unsensed = np.hstack([in_body, np.cross(AT, in_body)])
        points = data["contact_position"].values
        arms = [np.vstack([np.eye(3), np.cross(point, np.eye(3)).T]) for point in points[0]]
        shared = unsensed @ np.linalg.pinv(np.hstack(arms)).T
        return data.assign(contact_force=data["contact_force"] - shared.reshape(points.shape))

    return disturbed


@pytest.mark.parametrize(
    ("stiffness", "names"),
    [(np.zeros((3, 3)), (WORLD,)), (STIFFNESS, (WORLD, SPRING))],
    ids=["cable", "spring"],
)
def test_a_cable_may_pull_anywhere_and_change_with_the_place(stiffness, names):
    fit = our_fit(held_at(stiffness)(recording(200, 0.01, **NOISY)))
    assert fit.models[0].names == names
    anchor = fit.answer[PLACES[ANCHOR]] + _points_mean()
    assert anchor == pytest.approx(AT, abs=5e-3)
    assert fit.answer[PLACES[WORLD]] == pytest.approx(PULL, abs=0.1)
    assert fit.answer[PLACES[SPRING]][:3] == pytest.approx(np.diag(stiffness), abs=0.6)
    truth = told_parameters(BODY.vector)
    off = np.abs(told_parameters(fit.body.vector) - truth)
    assert np.all(off[:10] < 2.5 * fit.errors[:10])
    # accelerations tell the mass well
    assert fit.fit_errors[0] < 0.01 * BODY.mass


def _points_mean():
    return recording(5)["contact_position"].values.mean(axis=(0, 1))
