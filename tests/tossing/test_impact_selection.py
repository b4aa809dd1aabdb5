"""Impacts found in synthetic drops whose every contact is known, and the files that they are kept
in.
"""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import Recording
from contactid.tossing.impacts.impact import Impact, impact_geometry, read_impacts, write_impacts
from contactid.tossing.impacts.selection import (
    SelectionOptions,
    candidate_table,
    find_impacts,
    pose_noise,
)
from contactid.tossing.prepare.poses import vertex_positions
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from iam_twins import MocapNoise, write_twin
from tosses_for_tests import RATE, box, motion, prepare_tosses, recordings
from true_impacts import BOXES, SAMPLE_FREQUENCY, WINDOW, load_drops

OPTIONS = SelectionOptions()
REASONS = {
    "too near an end of the recording",
    "another corner touches in the window",
    "slower than 0.3 m/s",
    "no free motion on both sides",
    "the motion around it is not free",
    "the impulse is not that of one corner",
}


def instant_of(candidate):
    return candidate.sample + candidate.instant * SAMPLE_FREQUENCY


def kept(candidates):
    return [candidate for candidate in candidates if candidate.impact is not None]


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Drops and candidates of the four boxes, without lost frames: twenty of each, which is enough."""
    folder = tmp_path_factory.mktemp("drops")
    for name in BOXES:
        planes = ("GroundPlane001",) * 2
        write_twin(
            folder / name,
            name.capitalize(),
            "drops",
            48,
            20230206,
            planes=planes,
            lost_frames=False,
        )
    loaded = [load_drops(folder / name, last=20) for name in BOXES]
    return [(drops, find_impacts(drops.prepared)) for drops in loaded]


@pytest.fixture(scope="module")
def still_frame(tmp_path_factory):
    """Drops whose poses have only the noise that the selection expects: independent from sample to
    sample.
    """
    path = tmp_path_factory.mktemp("twin") / "drops.h5"
    noise = MocapNoise(position_drift=0.0, orientation_drift=0.0)
    write_twin(
        path,
        "Box006",
        "drops",
        24,
        1,
        noise=noise,
        planes=("GroundPlane001",) * 2,
        lost_frames=False,
    )
    drops = load_drops(path)
    return drops, find_impacts(drops.prepared)


# against the truth


def test_the_impacts_that_must_be_found_are_found(twins):
    must, missed = 0, []
    for drops, candidates in twins:
        found = {
            (one.toss, id(drops.matching(one.toss, one.vertex, instant_of(one))))
            for one in kept(candidates)
        }
        fastest = OPTIONS.slowest + 3.0 * drops.speed_deviation
        for toss, drop in drops.drops.items():
            wanted = [one for one in drop.impacts if one.alone and one.speed > fastest]
            must += len(wanted)
            missed += [(toss, one.instant) for one in wanted if (toss, id(one)) not in found]
    assert must > 160
    assert len(missed) <= 0.05 * must, missed


def test_what_is_kept_is_an_impact(twins):
    for drops, candidates in twins:
        assert len(kept(candidates)) > 20
        for one in kept(candidates):
            true = drops.matching(one.toss, one.vertex, instant_of(one))
            assert true is not None, (one.toss, one.sample)
            assert true.speed > OPTIONS.slowest - 3.0 * drops.speed_deviation
            assert abs(one.normal_speed - true.speed) < 0.15, (one.toss, one.sample)


def test_what_is_kept_is_the_impulse_of_one_corner(twins):
    """The paper's second condition, against the truth: no other corner touches between a window's
    samples.
    """
    crowded = [
        (one.toss, one.sample)
        for drops, candidates in twins
        for one in kept(candidates)
        if np.delete(
            drops.drops[one.toss].normal_impulses(one.sample - WINDOW, one.sample + WINDOW),
            one.vertex,
        ).any()
    ]
    assert not crowded


def test_an_impact_is_dropped_for_a_neighbour_that_no_sample_shows():
    """Two corners of an edge hit in turn; the second is over the surface in every sample of the
    window.
    """
    random, body, law, seen = np.random.default_rng(2), box(), ContactParameters(0.3, 0.4), 0
    for lean in np.linspace(0.01, 0.12, 12):
        tilt = rotations.Rotation.from_euler("yx", [0.5, lean]).as_quat(scalar_first=True)
        start = State(np.array([0.0, 0.0, 0.12]), tilt, np.array([0.4, 0.2, -0.8]), np.zeros(3))
        fine = simulate(body, start, law, SteppingOptions(1 / RATE / 32), 40 * 32)
        hits = {
            k: np.flatnonzero(fine.impulses[:, k, 2])[0] / 32
            for k in range(8)
            if fine.impulses[:, k, 2].any()
        }
        (first, at), (second, later) = sorted(hits.items(), key=lambda item: item[1])[:2]
        position, orientation = fine.position[::32], fine.orientation[::32]
        heights = vertex_positions(position, orientation, body.vertices)[:, :, 2]
        sample = int(np.argmin(heights[: int(at) + 2, first]))
        above = heights[sample - WINDOW : sample + WINDOW + 1, second].min() > 1e-3
        if 0.5 < later - at < WINDOW - 1 and above:
            shaken = rotations.Rotation.from_rotvec(1e-4 * random.normal(size=position.shape))
            orientation = rotations.as_quaternions(shaken * rotations.as_rotation(orientation))
            made = Recording(
                "drop", position + 3e-5 * random.normal(size=position.shape), orientation
            )
            found = find_impacts(_prepared_of([made]))
            reasons = [one.reason for one in found if (one.sample, one.vertex) == (sample, first)]
            assert reasons == ["another corner touches in the window"]
            seen += 1
    assert seen >= 3


def test_twists_are_unbiased_and_spread_as_their_covariance_says(still_frame):
    """Each of the twelve components on its own; the truth is that of the middle of the step with
    the impulse.
    """
    drops, candidates = still_frame
    scores = []
    for one in kept(candidates):
        true = drops.matching(one.toss, one.vertex, instant_of(one))
        impact = one.impact.impact
        before = (impact.pre_twist - true.pre_twist) / np.sqrt(np.diag(impact.pre_covariance))
        after = (impact.post_twist - true.post_twist) / np.sqrt(np.diag(impact.post_covariance))
        scores.append(np.concatenate([before, after]))
    n = len(scores)
    assert n > 40
    assert (np.abs(np.mean(scores, axis=0)) < 3.0 / np.sqrt(n)).all()
    assert np.std(scores, axis=0) == pytest.approx(1.0, abs=3.0 / np.sqrt(2.0 * n))
    assert np.mean(np.square(scores)) == pytest.approx(1.0, abs=0.1)


def test_the_instant_and_the_height_of_an_impact_are_known_to_a_fraction_of_a_sample(still_frame):
    drops, candidates = still_frame
    late = [
        instant_of(one) - drops.matching(one.toss, one.vertex, instant_of(one)).instant
        for one in kept(candidates)
    ]
    assert np.sqrt(np.mean(np.square(late))) < 0.02
    heights = [one.contact_height for one in kept(candidates)]
    assert np.abs(heights).max() < 2e-4


def test_samples_on_either_side_of_the_instant_are_those_that_are_fitted(still_frame):
    for one in kept(still_frame[1]):
        instant = one.instant * SAMPLE_FREQUENCY
        assert one.last_pre < instant + 0.02 and one.first_post > instant - 0.02
        assert one.before.sample_times.size == one.last_pre + WINDOW + 1
        assert one.after.sample_times.size == WINDOW - one.first_post + 1


def test_a_kept_impact_obeys_the_balance_of_momentum(still_frame):
    """An impulse at the corner explains the change of twist; no contact law is asked."""
    drops, candidates = still_frame
    for one in kept(candidates):
        impact = one.impact.impact
        response = impact_geometry(drops.body, impact).response
        change = impact.post_twist - impact.pre_twist
        covariance = impact.pre_covariance + impact.post_covariance
        precision = np.linalg.inv(covariance)
        impulse = np.linalg.solve(
            response.T @ precision @ response, response.T @ precision @ change
        )
        left = change - response @ impulse
        assert left @ precision @ left < 25.0  # chi-square of three degrees of freedom
        assert impulse[2] > 0.0


def test_the_window_starts_on_the_motion_before_and_ends_on_the_one_after(still_frame):
    drops, candidates = still_frame
    for one in kept(candidates):
        window = one.impact
        samples = drops.prepared.isel(sample=slice(*_rows(drops.prepared, one.toss)))
        start = one.sample - WINDOW
        measured = samples["position"].values[start] - [0.0, 0.0, one.contact_height]
        assert window.start.position == pytest.approx(measured, abs=8e-5)
        assert window.n_steps == WINDOW + one.first_post + 1
        flown = (WINDOW + one.instant * SAMPLE_FREQUENCY) / SAMPLE_FREQUENCY * window.gravity
        assert window.start.linear_velocity == pytest.approx(
            window.impact.pre_twist[:3] - flown, abs=1e-9
        )
        flown = (
            (one.first_post + 1 - one.instant * SAMPLE_FREQUENCY)
            / SAMPLE_FREQUENCY
            * window.gravity
        )
        assert window.end_twist[:3] == pytest.approx(window.impact.post_twist[:3] + flown, abs=1e-9)


def _rows(prepared, toss):
    ends = np.cumsum(prepared["row_size"].values)
    index = list(map(str, prepared["recording"].values)).index(toss)
    return int(ends[index] - prepared["row_size"].values[index]), int(ends[index])


# the table of candidates


def test_every_candidate_is_an_impact_or_has_a_reason(twins):
    for _, candidates in twins:
        table = candidate_table(candidates, "drops")
        assert len(table) == len(candidates)
        assert (table["kept"] == (table["reason"] == "")).all()
        assert set(table.loc[~table["kept"], "reason"]) <= REASONS
        assert table["vertex"].between(1, 8).all() and (table["dataset"] == "drops").all()
        chosen = table[table["kept"]]
        assert (chosen["normal_speed"] >= OPTIONS.slowest).all()
        assert (chosen[["misfit_pre", "misfit_post"]] <= OPTIONS.largest_misfit).all().all()
        assert (chosen["imbalance"] <= OPTIONS.largest_imbalance).all()
        assert not chosen.isna().any().any()
        assert not table.duplicated(["toss", "sample", "vertex"]).any()


def test_sharp_corners_turn_round_at_one_height_however_far_they_stand_out(twins):
    table = pd.concat([candidate_table(candidates, "drops") for _, candidates in twins])
    table = table[table["kept"]]
    assert table["stands_out"].between(0.0, np.sqrt(3.0) - 1.0).all()
    radius, _ = np.polyfit(-table["stands_out"], table["contact_height_mm"], 1)
    assert abs(radius) < 0.5  # mm


def test_each_reason_is_one_that_the_candidate_shows(twins):
    """Where the fit was reached, the numbers in the table are those that the reason is about."""
    seen = set()
    for drops, candidates in twins:
        lengths = dict(
            zip(drops.prepared["recording"].values, drops.prepared["row_size"].values, strict=True)
        )
        for one in candidates:
            seen.add(one.reason)
            near_an_end = one.sample - WINDOW < 1 or one.sample + WINDOW > lengths[one.toss] - 2
            assert (one.reason == "too near an end of the recording") == near_an_end
            if one.reason == "slower than 0.3 m/s":
                assert one.normal_speed < OPTIONS.slowest
            if one.reason == "the impulse is not that of one corner":
                assert one.imbalance > OPTIONS.largest_imbalance
            if one.reason == "the motion around it is not free":
                assert (
                    max(one.misfit_pre, one.misfit_post) > OPTIONS.largest_misfit or one.bend > 0.06
                )
    assert {"", "too near an end of the recording", "another corner touches in the window"} <= seen


def test_a_recording_cut_at_an_impact_says_so(still_frame):
    """A window needs one sample more on either side, before the impact and after it alike."""
    drops, candidates = still_frame
    one = kept(candidates)[0]
    first, _ = _rows(drops.prepared, one.toss)
    index = [list(map(str, drops.prepared["recording"].values)).index(one.toss)]
    for more, near_an_end in ((0, True), (1, False)):
        for cut in (
            slice(first, first + one.sample + WINDOW + 1 + more),
            slice(first + one.sample - WINDOW - more, None),
        ):
            begin, end = _rows(drops.prepared, one.toss)
            rows = slice(max(cut.start, begin), min(cut.stop or end, end))
            short = drops.prepared.isel(sample=rows, recording=index).copy()
            short["row_size"] = ("recording", np.array([rows.stop - rows.start]))
            sample = one.sample - (rows.start - begin)
            again = [
                item.reason == "too near an end of the recording"
                for item in find_impacts(short)
                if (item.sample, item.vertex) == (sample, one.vertex)
            ]
            assert again == [near_an_end]


def test_stricter_thresholds_keep_fewer(still_frame):
    drops, candidates = still_frame
    everything = {(one.toss, one.sample, one.vertex) for one in kept(candidates)}
    strict = find_impacts(drops.prepared, SelectionOptions(slowest=1.0))
    some = {(one.toss, one.sample, one.vertex) for one in kept(strict)}
    assert some < everything and some
    assert min(one.normal_speed for one in kept(strict)) >= 1.0
    assert "slower than 1 m/s" in {one.reason for one in strict}


# the noise


def test_the_noise_of_the_poses_is_recovered(twins, still_frame):
    for drops in (*(drops for drops, _ in twins), still_frame[0]):
        noise = pose_noise(drops.prepared)
        assert noise.position == pytest.approx(drops.noise.position_jitter, rel=0.1)
        assert noise.rotation == pytest.approx(drops.noise.orientation_jitter, rel=0.1)


def test_the_noise_of_a_twin_with_more_noise_is_recovered(tmp_path):
    noise = MocapNoise(
        position_drift=0.0, orientation_drift=0.0, position_jitter=6e-5, orientation_jitter=5e-4
    )
    write_twin(tmp_path / "drops.h5", "Box007", "drops", 4, 5, noise=noise, lost_frames=False)
    found = pose_noise(load_drops(tmp_path / "drops.h5").prepared)
    assert found.position == pytest.approx(6e-5, rel=0.1)
    assert found.rotation == pytest.approx(5e-4, rel=0.1)


def test_what_is_tested_on_shapes_no_selection(still_frame):
    """Ten times the noise in the test part leaves the other part's candidates as they are."""
    prepared = still_frame[0].prepared
    split = prepared["split"].copy(
        data=np.where(np.arange(prepared.sizes["recording"]) % 3, IDENTIFICATION, TEST)
    )
    tested = np.repeat(split.values == TEST, prepared["row_size"].values)
    position = prepared["position"].values
    shaken = np.random.default_rng(2).normal(0.0, 5e-4, position.shape) * tested[:, None]
    plain = prepared.assign(split=split)
    other = plain.assign(position=prepared["position"].copy(data=position + shaken))
    known = set(prepared["recording"].values[split.values == IDENTIFICATION])
    tables = [candidate_table(find_impacts(one), "drops") for one in (plain, other)]
    first, second = (one[one["toss"].isin(known)].reset_index(drop=True) for one in tables)
    pd.testing.assert_frame_equal(first, second)
    assert first["kept"].any()


# refusals


def _prepared_of(made):
    return prepare_tosses(motion(made, box()), require_usable=False)


def test_bodies_that_never_leave_the_surface_are_refused():
    lying = Recording(
        "lying", np.tile([0.0, 0.0, 0.05], (150, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (150, 1))
    )
    prepared = _prepared_of([lying])
    with pytest.raises(ContactIdError, match="no sample is off the surface") as error:
        pose_noise(prepared)
    assert "\n" not in str(error.value)
    with pytest.raises(ContactIdError, match="no impact found"):
        find_impacts(prepared)


def test_flight_without_an_impact_is_refused():
    flying = recordings(box(), 1, seed=4)[0]
    short = Recording(
        "flying", flying.position[:15] + np.array([0.0, 0.0, 1.0]), flying.orientation[:15]
    )
    with pytest.raises(ContactIdError, match="test: no impact found") as error:
        find_impacts(_prepared_of([short]))
    assert "\n" not in str(error.value)


# the files


@pytest.fixture(scope="module")
def written(still_frame, tmp_path_factory):
    drops, candidates = still_frame
    windows = [one.impact for one in kept(candidates)]
    windows = [
        replace(window, split=("identification", "test")[k % 3 == 0])
        for k, window in enumerate(windows)
    ]
    path = tmp_path_factory.mktemp("impacts") / "impacts.nc"
    write_impacts(windows, drops.prepared, path)
    return drops, windows, path


def same(one, other, kind):
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(kind)
    )


def test_impacts_come_back_exactly(written):
    drops, windows, path = written
    body, read, options = read_impacts(path, substeps=16)
    assert len(read) == len(windows)
    for one, other in zip(windows, read, strict=True):
        assert same(one.impact, other.impact, Impact) and same(one.start, other.start, State)
        assert (one.split, one.n_steps) == (other.split, other.n_steps)
        assert np.array_equal(one.end_twist, other.end_twist) and np.array_equal(
            one.gravity, other.gravity
        )
    assert options.time_step == 1.0 / SAMPLE_FREQUENCY and options.substeps == 16
    assert body.mass == drops.body.mass and np.array_equal(
        body.vertices, drops.prepared["vertices"].values
    )


def test_each_part_is_read_on_its_own(written):
    _, windows, path = written
    parts = {split: read_impacts(path, split=split)[1] for split in ("identification", "test")}
    for split, part in parts.items():
        assert [one.impact.sample for one in part] == [
            one.impact.sample for one in windows if one.split == split
        ]
    assert sum(map(len, parts.values())) == len(windows)


def test_a_part_that_does_not_exist_or_is_empty_is_refused(written, tmp_path):
    drops, windows, path = written
    with pytest.raises(ContactIdError, match=r"the training part of .* has no usable impact"):
        read_impacts(path, split="training")
    write_impacts(
        [replace(window, split="test") for window in windows[:2]],
        drops.prepared,
        tmp_path / "some.nc",
    )
    with pytest.raises(ContactIdError, match=r"the identification part of .* has no usable impact"):
        read_impacts(tmp_path / "some.nc", split="identification")
    write_impacts([], drops.prepared, tmp_path / "none.nc")
    with pytest.raises(ContactIdError, match="has no usable impact"):
        read_impacts(tmp_path / "none.nc")
