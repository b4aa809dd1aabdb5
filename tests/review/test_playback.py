"""What the report's players show: it starts as measured, errs as the metrics say, stays small, and
stays text.
"""

import json
import re

import jinja2
import numpy as np
import pytest

from contactid.core import rotations
from contactid.output.fits import compact_json
from contactid.planar.artefacts.playback import played_throw
from contactid.planar.artefacts.playback import write_playback as write_throws
from contactid.planar.identify.states import StoredFit, ThrowStates, write_fits
from contactid.planar.simulate.geometry import Ellipse, Ground
from contactid.planar.simulate.throws import MeasuredThrow, Truth
from contactid.review.report.playback import playback_section
from contactid.tossing.artefacts.playback import chosen_tosses, faces, played_toss, shown_tosses
from contactid.tossing.predict.prediction import predict
from contactid.tossing.prepare.tosses import Problem, Variant, set_up
from contactid.tossing.simulate.box import ContactParameters
from report_run import TEXTS
from tosses_for_tests import box, motion, prepare_tosses, recordings

WRONG = ContactParameters(0.4, 0.3)
PAPER = Variant("paper", "central_difference", 1, "newton", "newton", False, False)
MM = 1e3


@pytest.fixture(scope="module")
def problem() -> Problem:
    body = box()
    made = recordings(body, 4, seed=5)
    return set_up(prepare_tosses(motion(made, body)), PAPER, None)


@pytest.fixture(scope="module")
def predicted(problem):
    return predict(problem, WRONG)


def test_a_toss_starts_as_it_was_measured_and_ends_with_its_last_sample(problem):
    item = problem.tosses[0]
    shown = played_toss(problem, item, WRONG, every=7)
    for name in ("measured", "predicted"):
        assert np.allclose(shown[name][0][:3], MM * item.toss.position[0], atol=0.051)
        assert np.allclose(
            np.abs(np.dot(shown[name][0][3:], item.toss.orientation[0])), 1.0, atol=1e-3
        )
    assert np.allclose(shown["measured"][-1][:3], MM * item.toss.position[-1], atol=0.051)
    assert shown["time_ms"][0] == 0.0
    assert shown["time_ms"][-1] == pytest.approx(
        MM * problem.options.time_step * (len(item.toss.position) - 1), abs=0.1
    )
    assert shown["position_error_mm"][0] == 0.0
    assert shown["angle_error_deg"][0] == pytest.approx(0.0, abs=1e-3)


def test_errors_are_those_that_the_study_reports(problem, predicted):
    """Eq. 18's two parts are the means of what the readout says over all samples."""
    for item, row in zip(problem.tosses, predicted.to_dict("records"), strict=True):
        every = played_toss(problem, item, WRONG, every=1)
        place = row["position_error_pct"] / 100.0 * problem.length * MM
        assert np.mean(every["position_error_mm"]) == pytest.approx(place, abs=0.01)
        assert np.mean(every["angle_error_deg"]) == pytest.approx(
            row["rotation_error_deg"], abs=0.001
        )
        assert every["mean_position_error_mm"] == pytest.approx(place, abs=0.01)
        # thinned, the same errors stand at the same times, and agree with the poses beside them
        thin = played_toss(problem, item, WRONG, every=5)
        at = [every["time_ms"].index(time) for time in thin["time_ms"]]
        assert thin["position_error_mm"] == [every["position_error_mm"][k] for k in at]
        measured, simulated = np.array(thin["measured"]), np.array(thin["predicted"])
        apart = np.linalg.norm(measured[:, :3] - simulated[:, :3], axis=1)
        assert np.allclose(apart, thin["position_error_mm"], atol=0.2)
        turned = np.degrees(rotations.angle_between(measured[:, 3:], simulated[:, 3:]))
        assert np.allclose(turned, thin["angle_error_deg"], atol=0.05)


def test_the_best_the_median_and_the_worst_are_shown_in_few_frames(problem, predicted):
    chosen = chosen_tosses(predicted)
    ordered = predicted.sort_values("loss")["toss"].tolist()
    assert chosen == {ordered[0]: "best", ordered[1]: "median", ordered[-1]: "worst"}
    assert list(chosen_tosses(predicted.head(1)).values()) == ["best"]
    for longest in (30, 100):
        shown = shown_tosses(problem, WRONG, predicted, longest=longest)
        assert sum(len(toss["time_ms"]) for toss in shown) <= longest
        assert [toss["rank"] for toss in shown] == ["best", "median", "worst"]
        assert all(toss["of"] == 4 for toss in shown)
    losses = predicted.set_index("toss")["loss"]
    assert all(toss["loss"] == pytest.approx(losses[toss["toss"]], abs=1e-4) for toss in shown)
    assert len(compact_json(shown)) < 110 * longest + 2000


def test_faces_of_a_box_are_six_rectangles_seen_from_outside():
    vertices = box().vertices * [1.0, 2.0, 3.0]
    found = faces(vertices)
    assert sorted(len(face) for face in found) == [4] * 6
    assert sorted(corner for face in found for corner in face) == sorted(3 * list(range(8)))
    for a, b, c, _ in found:
        normal = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[b])
        assert normal @ vertices[a] > 0.0
        assert (vertices[b] - vertices[a]) @ (vertices[c] - vertices[b]) == pytest.approx(
            0.0, abs=1e-12
        )


def fit(label="120 frames/s", known=True, n=300, frames=7, mass=0.064):
    """A body that hops: measured 1 mm beside and 0.01 rad beyond what was identified, one push at
    instant 60.
    """
    time = 5.0 + np.linspace(0.0, 0.3, n + 1)
    q = np.column_stack([time - 5.0, 0.1 + 0.0 * time, 0.5 * time])
    pushes = np.zeros((n, 1))
    pushes[60] = 2.0
    states = ThrowStates(
        time=time,
        frame=np.linspace(0, n, frames).round().astype(int),
        position=q,
        velocity=np.zeros((n + 1, 3)),
        impulse_n=pushes,
        impulse_t=-0.25 * pushes,
        gap=np.ones((n + 1, 1)),
        sliding=np.zeros((n, 1)),
    )
    throw = MeasuredThrow(
        time[states.frame], q[states.frame] + [0.0006, 0.0008, 0.01], np.full(3, 1e-3), Ground(0.1)
    )
    truth = Truth(time, q, np.zeros(n + 1), np.zeros(n + 1)) if known else None
    return StoredFit(
        label=label, frames_per_second=20.0, shape=Ellipse(0.05, 0.025), throw=throw, states=states,
        inertia_ratio=7e-4, inertia_ratio_se=1e-5, friction_mu=0.2, friction_mu_se=0.01, friction_is_bound=False,
        truth=truth, mass=mass,
    )  # fmt: skip


def test_a_throw_keeps_its_frames_impulses_and_errors():
    shown = played_throw(fit())
    assert shown["frame_ms"][0] == 0.0 and shown["time_ms"][-1] == 300.0 == shown["frame_ms"][-1]
    assert set(shown["frame_ms"]) <= set(shown["time_ms"])
    assert len(shown["time_ms"]) < 200
    assert shown["measured"][0] == [0.6, 100.8, 2.51]
    assert shown["position_error_mm"] == [1.0] * 7
    assert shown["angle_error_deg"] == pytest.approx([0.573] * 7)
    (hit,) = shown["contacts"]
    assert (hit["time_ms"], hit["normal"], hit["tangential"], shown["impulse_unit"]) == (
        60.0,
        128.0,
        -32.0,
        "mN s",
    )
    assert hit["time_ms"] in shown["time_ms"]
    per_mass = played_throw(fit(mass=float("nan")))
    assert per_mass["contacts"][0]["normal"] == 2.0 and "per mass" in per_mass["impulse_unit"]


def test_what_is_synthetic_is_said():
    assert played_throw(fit())["synthetic"]
    assert played_throw(fit("synthetic throws of a square, a", known=False))["synthetic"]
    assert not played_throw(fit("public throws of a square, a", known=False))["synthetic"]


def write_run(folder, problem, predicted, name="Box"):
    about = {"object": name, "dataset": "tosses", "identified_on": "others", "synthetic": True}
    (folder / "tossing").mkdir()
    shown = shown_tosses(problem, WRONG, predicted, about=about)
    (folder / "tossing/playback.json").write_text(compact_json({"tosses": shown}))
    write_fits([fit(f"throw {k}") for k in range(9)], folder / "shown.nc")
    write_throws([folder / "shown.nc"], folder / "planar/playback.json")


def section_of(folder):
    files = {"box": folder / "tossing/playback.json", "planar": folder / "planar/playback.json"}
    environment = jinja2.Environment(loader=jinja2.DictLoader(TEXTS), autoescape=True)
    return playback_section(
        {kind: file for kind, file in files.items() if file.is_file()}, environment, TEXTS
    )


def test_without_tosses_there_is_no_section(tmp_path):
    assert section_of(tmp_path) is None


def test_a_study_alone_has_its_player_alone(tmp_path, problem, predicted):
    write_run(tmp_path, problem, predicted)
    (tmp_path / "tossing/playback.json").unlink()
    section = section_of(tmp_path)
    assert 'data-playback="planar"' in section and 'data-playback="box"' not in section


def test_the_section_is_small_self_contained_and_escapes_what_it_shows(
    tmp_path, problem, predicted
):
    write_run(tmp_path, problem, predicted, name="<b>Box</script>")
    section = section_of(tmp_path)
    assert len(section.encode()) < 300_000
    assert not re.search(r"""(src|href)=|https?://|@import|url\(|<b>Box|Box</script>""", section)
    assert "SYNTHETIC data." in section
    assert section.count("<script") == section.count("</script>") == 3
    data = re.findall(r'<script type="application/json" class="data">(.*?)</script>', section, re.S)
    tosses, throws = (json.loads(text)["tosses"] for text in data)
    assert tosses[0]["object"] == "<b>Box</script>"
    assert len(throws) == 4, "some throws of many"
    for hook in ("button", "select", "range", "readout"):
        assert hook in section


def test_the_median_toss_is_shown_first(tmp_path, problem, predicted):
    write_run(tmp_path, problem, predicted)
    selected = re.findall(r"<option[^>]*selected[^>]*>(.*?)</option>", section_of(tmp_path))
    assert selected[0].startswith("Box: median of 4")
