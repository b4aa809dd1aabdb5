"""A whole run of the test configuration: its outputs, what reruns after which edit, and how
failures read.
"""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from contactid.__main__ import main
from contactid.output.claims import WEAKEST_FIRST
from contactid.output.comparison import (
    COLUMNS,
    INPUTS,
    KEY,
    STATEMENT,
    comparable,
    origin_of,
    rests_on_print,
    tried_answers,
)
from contactid.output.statements import read_statements
from contactid.output.verdicts import (
    BASES,
    COUNTEREXAMPLE,
    DIFFERS,
    INPUT,
    REPRODUCED,
    UNINFORMATIVE,
    VERDICTS,
    judge_number,
)
from contactid.review.check import read_verdicts, row_name
from contactid.review.verify import wrong_verdicts
from contactid.sources.origin import SYNTHETIC, Origin, read_origins
from recorded import unfounded
from report_data import contradictions
from tex_widths import tabular_widths
from whole_run import ROOT, snakemake, whole_run


def to_be_done(folder):
    """Rules that a dry run would execute."""
    run = snakemake(folder, "--dry-run", "--quiet", "host")
    assert run.returncode == 0, run.stderr
    lines = (run.stdout + run.stderr).splitlines()
    start = next(
        (number for number, line in enumerate(lines) if line.startswith("Job stats")), None
    )
    if start is None:
        return set()
    rows = [line.split() for line in lines[start + 3 :]]
    names = set()
    for row in rows:
        if len(row) != 2 or row[0] == "total":
            break
        names.add(row[0])
    return names


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return whole_run(tmp_path_factory)[0]


def artefacts(folder, study):
    """The study's declared tables and figures, from the run's list."""
    return json.loads((folder / "results/test/artefacts.json").read_text())["studies"][study]


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return text


def test_jobs_execute_and_open_only_what_they_are_tied_to(finished):
    """Every function that a job executes is in its fingerprint, every file of the repository among
    its inputs.
    """
    assert len(list((finished / "recorded").glob("*.json"))) > 65
    assert unfounded(finished) == []


@pytest.mark.parametrize("study", ["tossing", "planar", "arm", "inhand"])
def test_every_declared_artefact_is_there_and_a_synthetic_one_says_so(finished, study):
    results = finished / "results/test"
    for row in artefacts(finished, study):
        for file in row["files"]:
            assert (results / file).stat().st_size > (0 if file.endswith(".csv") else 100), file
        if row["kind"] == "table" and any(file.endswith(".tex") for file in row["files"]):
            text = (results / study / f"{row['place']}.tex").read_text()
            assert (
                "\\caption{" in text and "\\toprule" in text and max(tabular_widths(text)) <= 17.0
            ), row["place"]


def test_the_twins_figures_and_tables_say_synthetic(finished):
    results = finished / "results/test"
    for row in artefacts(finished, "tossing"):
        if row["kind"] == "figure":
            assert "synthetic data: " in (results / f"tossing/{row['place']}.svg").read_text()
    assert "synthetic" in (results / "arm/figures/fig06_cartesian_fit.svg").read_text()
    sources = json.loads((results / "tossing/figures/sources.json").read_text())
    of_figures = [source for name, source in sources.items() if name.startswith("fig")]
    assert of_figures
    assert all(
        source["said"].startswith("synthetic data: ") and source["datasets"]
        for source in of_figures
    )
    rest = pd.read_csv(results / "tossing/tables/tab03_rest_pose_errors.csv")
    assert set(rest["data"]) == {"synthetic twin", "printed, Table III"}
    tosses = pd.read_csv(results / "tossing/tosses.csv")
    assert len(tosses) == 30 and tosses["used"].all()
    record = json.loads((results / "provenance.json").read_text())
    assert record["configuration"]["run"] == "test" and record["packages"]["numba"]


def test_the_report_says_of_data_what_pictures_tables_and_verdicts_say(finished, tmp_path):
    results = finished / "results/test"
    assert contradictions(results) == []
    # and what isn't so is found: a dataset too few, one too many, and another footer
    page = (results / "report.html").read_text()
    for old, new in (
        ("<dt>Data</dt><dd><a", "<dt>Data</dt><dd>no dataset<a"),
        ("<dt>Data</dt><dd>no dataset", "<dt>Data</dt><dd>arm_twin"),
        ("the figure says: drawing", "the figure says: recorded data"),
    ):
        assert page.count(old) > 0
        changed = shutil.copytree(results, tmp_path / "changed", dirs_exist_ok=True)
        (changed / "report.html").write_text(page.replace(old, new, 1))
        assert contradictions(changed) != [], old


def test_checks_cover_every_printed_number(finished):
    checks = pd.read_csv(finished / "results/test/checks.csv", keep_default_na=False)
    for study in ("tossing", "planar", "arm", "inhand"):
        published = pd.read_csv(
            ROOT / f"workflow/resources/published/{study}.csv", keep_default_na=False
        )
        rows = checks[checks["study"] == study]
        keys, printed = (
            set(map(tuple, table[list(KEY)].to_numpy())) for table in (rows, published)
        )
        assert len(keys & printed) > 50
        # what the run starts from is one row for each table, which counts its numbers
        inputs = rows[rows["quantity"] == INPUTS]
        assert len(printed - keys) == inputs["published"].astype(float).sum()
        statements = read_statements(ROOT / f"workflow/resources/published/{study}_claims.yaml")
        assert keys - printed == {(one.artefact, one.name, one.condition) for one in statements} | {
            (artefact, INPUTS, "") for artefact in inputs["artefact"]
        }
    assert set(checks["verdict"]) <= set(VERDICTS)
    assert (checks.loc[~comparable(checks), "note"] != "").all()
    inertia = checks[(checks["study"] == "tossing") & checks["quantity"].str.startswith("inertia")]
    assert len(inertia) == 12 and (inertia["verdict"] == "print_consistent").all()


@pytest.fixture(scope="module")
def checks(finished):
    return read_verdicts(finished / "results/test/checks.csv", COLUMNS, "")


def test_every_wrong_answer_to_a_reproduced_number_would_have_changed_its_verdict(checks):
    rows = checks[checks["verdict"] == REPRODUCED]
    assert len(rows) > 0
    for row in rows.to_dict("records"):
        wrong = tried_answers(row["wrong_answers"])
        assert len(wrong) >= 2 and set(wrong) != {COUNTEREXAMPLE}, row_name(row)
        for name, value in wrong.items():
            if row["unit"] == STATEMENT:
                assert not value, f"{row_name(row)}: {name}"
            else:
                tried = [value]
                verdict = judge_number(
                    value, row["published"], row["tolerance"], row["basis"], tried, False
                )
                assert verdict in (DIFFERS, UNINFORMATIVE), f"{row_name(row)}: {name}"
    # that none of those which must be tried was left out, and that all other verdicts follow
    assert wrong_verdicts(checks) == []


def test_no_row_is_judged_by_data_that_were_made_from_its_number(finished, checks):
    origins = read_origins((finished / "results/test/data").glob("*/card.json"))
    # arms of another simulator, which come with the repository
    origins["mujoco_arms"] = Origin(False, SYNTHETIC, ("tab02/vx_plus_map/*",))
    judged = checks[comparable(checks)]
    for row in judged.to_dict("records"):
        if rests_on_print(row, row["data"], origins):
            assert row["verdict"] == INPUT, row_name(row)
        if row["reproduced"] == row["reproduced"]:
            assert row["origin"] == origin_of(row["basis"], row["data"], origins), row_name(row)


def test_no_sentence_is_better_than_its_weakest_row_and_only_what_is_stated_differs(
    finished, checks
):
    claims = pd.read_csv(finished / "results/test/claims.csv", keep_default_na=False)
    strength = {verdict: place for place, verdict in enumerate((*WEAKEST_FIRST, INPUT))}
    judged = claims[claims["rows"] != ""]
    assert len(judged) > 150
    stated = set()
    for claim in judged.to_dict("records"):
        rows = checks.iloc[[int(number) - 1 for number in claim["rows"].split()]]
        assert set(rows["study"]) == {claim["study"]}
        needed = rows[~rows["verdict"].isin(["print_consistent"])]
        if claim["verdict"] in strength and len(needed):
            weakest = min(strength[verdict] for verdict in needed["verdict"])
            assert strength[claim["verdict"]] <= weakest, claim["claim"]
        stated |= set(rows.index)
    statements = checks.index[
        (checks["unit"] == STATEMENT) & checks["verdict"].isin(["differs", "print_inconsistent"])
    ]
    assert set(statements) <= stated, "what differs is what a sentence of the paper says"


def test_no_reason_serves_two_artefacts_and_every_number_rests_on_something(checks):
    rows = checks[~comparable(checks)]
    reasons = rows["note"].str.partition(";")[0]
    assert (reasons != "").all()
    served = (rows["study"] + " " + rows["artefact"]).groupby(reasons).unique()
    assert served[served.map(len) > 1].to_dict() == {}
    there = checks["reproduced"].notna()
    assert set(checks.loc[there, "basis"]) <= set(BASES)
    assert set(checks.loc[~there, "basis"]) <= {""}


def test_the_numbers_are_the_accepted_ones_and_one_that_moved_is_found(finished, checks, tmp_path):
    command = [sys.executable, "-m", "contactid.review.check", "--run", "test", "--results"]
    environment = {**os.environ, "PYTHONPATH": str(finished / "workflow")}
    options = {"env": environment, "capture_output": True, "text": True}
    run = subprocess.run([*command, str(finished / "results")], **options)
    assert run.returncode == 0, run.stdout + run.stderr
    row = checks.index[checks["verdict"] == REPRODUCED][-1]
    told = f"  {row_name(checks.loc[row])}: reproduced"
    (tmp_path / "test").mkdir()
    # nothing there says where this run was made, so drift fails
    for factor, verdict, problem in (
        (1.5, REPRODUCED, "numbers drifted"),
        (3.0, DIFFERS, "checks got worse"),
    ):
        changed = checks.copy()
        changed.loc[row, ["reproduced", "verdict"]] = [
            factor * checks.loc[row, "reproduced"] + factor,
            verdict,
        ]
        changed.to_csv(tmp_path / "test/checks.csv", index=False)
        run = subprocess.run([*command, str(tmp_path)], **options)
        assert run.returncode == 1 and run.stderr.startswith(f"ERROR run test: {problem} ("), (
            run.stderr
        )
        assert len([line for line in run.stdout.splitlines() if line.startswith(told)]) == 1


def test_the_laws_of_the_planar_study_hold(finished):
    results = finished / "results/test/planar"
    energy = pd.read_csv(results / "tables/ext_energy.csv")
    assert (energy["closure"] < 1e-10).all() and len(energy) == 21
    steps = pd.read_csv(results / "tables/ext_nlp_step.csv")
    assert (steps["converged"] == steps["steps"]).all()
    assert (steps["largest_position_difference_m"] < 1e-8).all()
    assert (steps["speed_ratio"] > 1000).all()


def test_a_scene_of_ones_own_needs_no_code(finished):
    """An overlay adds a scene, and its figure can be asked for alone."""
    overlay = finished / "mine.yaml"
    scene = """{body: square, ground: {slope: 0.1, start: [0.0, -1.0]}, position: [0.0, 0.0, 0.5],
       velocity: [0.1, 0.0, 2.0], duration: 0.6, time_step: 0.001,
       friction_mu: [0.3], restitution_e_n: [0.5], restitution_e_t: 0.0}"""
    overlay.write_text(f"run: mine\nplanar:\n  scenes:\n    mine:\n      {scene}\n")
    target = "results/mine/planar/figures/ext_scene_mine.svg"
    run = snakemake(finished, "--", target, configfile=("config/test.yaml", "mine.yaml"))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "centre of mass" in (finished / target).read_text()


def test_fits_have_the_promised_keys(finished):
    fit = json.loads(
        (finished / "results/test/tossing/fits/box006_trajectories.exact_contact.json").read_text()
    )
    promised = "parameters objective status converged residuals iterations seconds seed data model reformulation"
    assert set(promised.split()) <= set(fit)
    assert fit["parameters"] == {"friction_mu": 0.4, "restitution_e_n": 0.25} and fit["converged"]


def test_logs_and_benchmarks_exist_for_every_job(finished):
    results = finished / "results/test"
    logs = {
        file.relative_to(results / "logs").with_suffix("")
        for file in (results / "logs").rglob("*.log")
    }
    measured = {
        file.relative_to(results / "benchmarks").with_suffix("")
        for file in (results / "benchmarks").rglob("*.tsv")
    }
    assert logs == measured and len(logs) > 65


def test_nothing_is_to_be_done_after_a_run_nor_after_a_docstring_edit_and_a_move(finished):
    assert to_be_done(finished) == set()
    file = finished / "workflow/contactid/tossing/simulate/box.py"
    before = edit(file, '"""Simulate a rigid body', '"""Simulates, in other words, a rigid body')
    script = finished / "workflow/call.py"
    script.touch()
    moved = finished.rename(finished.with_name("moved elsewhere"))
    left = to_be_done(moved)
    moved.rename(finished)
    file.write_text(before)
    assert left == set()


def test_a_run_of_one_study_keeps_what_the_run_of_all_has(finished):
    """It would do what that study's edits ask for, and neither replaces nor renews what is made of
    all studies.
    """
    one = ("--dry-run", "--quiet", "host", "--config", 'studies=["planar"]')
    run = snakemake(finished, *one)
    told = run.stdout + run.stderr
    assert "results/test has arm, inhand, tossing besides" in told and "Nothing to be done" in told
    file = finished / "workflow/contactid/planar/summary.py"
    before = edit(file, "First normal impulse:", "First impulse:")
    run = snakemake(finished, *one)
    lines = run.stdout.splitlines() + run.stderr.splitlines()
    rules = {line.split()[0] for line in lines if line.endswith(" 1")}
    file.write_text(before)
    # typeset tables hold verdicts, which that rule writes, too
    assert rules == {"planar_checks", "planar_typeset", "all"}


END = {"report", "articles", "crate", "all"}
TYPESET = {"tossing_typeset", "planar_typeset", "arm_typeset", "inhand_typeset"}
JUDGED = {"checks", "provenance", *END}
# an edit, and all that it reruns
EDITS = {
    "a constant of the simulator": (
        "contactid/tossing/simulate/box.py", "GRAVITY = 9.81", "GRAVITY = 9.80",
        {"tossing_identify_1", "tossing_predict_trajectory", "tossing_predict_velocity", "tossing_predict_printed",
         "artefacts",
         "tossing_velocity_identify", "tossing_impact_mpec_1", "tossing_sensitivity",
         "tossing_sobol_1", "tossing_rest_poses_1", "tossing_tables", "tossing_figures", "tossing_draw_1",
         "tossing_typeset", "tossing_playback", "tossing_checks",
         *JUDGED},
    ),
    "the style": (
        "contactid/output/style.py", '"font.size": 8', '"font.size": 9',
        {"tossing_draw_1", "planar_draw_1", "planar_draw_2", "arm_draw_1",
         "inhand_draw_1",
         # a card says whether its data are the paper's
         "artefacts", "data_cards", "tossing_checks", "arm_checks", "tossing_typeset", "arm_typeset", *JUDGED},
    ),
    "a caption": (
        "contactid/arm/artefacts/__init__.py", "models, printed and used", "models, in print and used",
        {"arm_typeset", "artefacts", *END},
    ),
    "a message of the job": (
        "contactid/run/job.py", "not enough memory. Free some", "too little memory. Free some", set(),
    ),
    "a rule in a table": ("contactid/output/latex.py", r'\bottomrule"', r'\hline"', {*TYPESET, *END}),
    "a number in the link table": (
        "contactid/arm/robots/lwr4.csv", "\n", "\n", {"arm_twin", "arm_fit", "arm_tables", "arm_impact_laws"},
    ),
    "a drawing": (
        "contactid/arm/artefacts/joint_velocities.py", "figsize=(style.SINGLE", "figsize=(0.9 * style.SINGLE",
        {"arm_draw_1", "artefacts", *END},
    ),
    "a docstring": ("contactid/core/rotations.py", '"""', '"""In short: ', set()),
    "what writes bytes": ("contactid/core/atomic.py", "partial.replace(path)", "partial.rename(path)", None),
    "the reading of an archive": (
        "contactid/tossing/readers/iam_recording.py", "def _read_motion(", "def _read_motion (", set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_it_concerns(finished, name):
    path, old, new, expected = EDITS[name]
    file = finished / "workflow" / path
    times = file.stat()
    before = edit(file, old, new)
    if old == new:  # a file of data: its time says that it changed
        file.write_text(before.replace("0.", "0.0", 1))
    rerun = to_be_done(finished)
    file.write_text(before)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # data are known by their time
    if name == "a number in the link table":
        # all cards are one job, and checks read theirs
        others = {rule for rule in rerun if rule.startswith(("planar", "tossing", "inhand"))}
        assert expected <= rerun and others == {"tossing_checks", "tossing_typeset"}
    elif expected is None:
        assert len(rerun) > 5
    else:
        assert rerun == expected


# a setting, and what is said of it
WRONG = {
    'tossing={"gird": {}}': "ERROR configuration: unknown key tossing.gird. Did you mean grid.",
    'planar={"scenes": {"drop": {"position": [0, 0.5, 0]}}}': (
        "ERROR configuration: planar.scenes.drop.position: the body starts 0.5 m inside the ground."
    ),
    'tossing={"predict_on": ["box06_validation"]}': (
        "unknown dataset box06_validation. Did you mean"
    ),
    'datasets={"mine": {"reader": "iam", "path": "nowhere.h5"}}': (
        "ERROR configuration: datasets.mine.path: nowhere.h5 does not exist"
    ),
}


@pytest.mark.parametrize("setting", WRONG)
def test_a_wrong_configuration_is_one_plain_line(finished, setting):
    run = snakemake(finished, "--config", setting)
    output = run.stdout + run.stderr
    assert run.returncode != 0 and "Traceback" not in output
    assert [line for line in output.splitlines() if WRONG[setting] in line]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"<html>not found</html>", "read_data dataset=mine form=motion:"),
        # a whole archive, of another box
        (None, "Box600"),
    ],
)
def test_an_archive_that_is_no_use_fails_with_one_line_and_leaves_nothing(
    finished, tmp_path, content, expected
):
    twin, file = ROOT / "workflow/resources/embedded/box006_trajectories_twin.h5", tmp_path / "m.h5"
    file.write_bytes(twin.read_bytes() if content is None else content)
    own = {"mine": {"reader": "iam", "path": str(file), "object": "Box600"}}
    on_mine = '{"identify_on": ["mine"], "predict_on": ["mine"], "velocity": {"identify_on": []}}'
    settings = ["run=broken", 'studies=["tossing"]', f"datasets={json.dumps(own)}"]
    run = snakemake(finished, "--config", *settings, f"tossing={on_mine}")
    assert run.returncode != 0
    lines = [line for line in (run.stdout + run.stderr).splitlines() if line.startswith("ERROR")]
    # told when it happens, and again at the end of the run
    assert len(lines) == 2 and len(set(lines)) == 1
    assert expected in lines[0] and "Log: results/broken/logs/" in lines[0]
    assert content or "Box006" in lines[0], "those there are"
    assert not list((finished / "results/broken/data").rglob("*.nc"))


def test_a_finished_run_predicts_tosses_of_one_s_own(finished, tmp_path, capsys):
    run, report = finished / "results/test", tmp_path / "report"
    words = ["predict", str(ROOT / "examples/predict/box006.h5")]
    assert main([*words, "--run", str(run), "--report", str(report)]) == 0
    told = capsys.readouterr().out
    for scheme in ("exact_contact", "no_restitution", "velocity", "velocity_mpec", "no_impact"):
        assert f"\n{scheme}: loss = " in told
    assert told.count("the run's own test tosses") >= 5


def test_parameters_of_one_dataset_predict_another(finished):
    """Every toss of a dataset that is only identified on is used for that, and every toss of the
    other is predicted.
    """
    path = "workflow/resources/embedded/box006_validation_twin.h5"
    own = {
        "mine": {"reader": "iam", "path": path, "object": "Box006", "surface": "ConveyorPart002"}
    }
    files = [
        f"results/other/tossing/{name}" for name in ("tables/ext_identification.csv", "tosses.csv")
    ]
    settings = ["run=other", 'studies=["tossing"]', f"datasets={json.dumps(own)}"]
    settings.append('tossing={"predict_on": ["mine"], "exclude_tumbling": false}')
    run = snakemake(finished, "--config", *settings, "--", *files)
    assert run.returncode == 0, run.stdout + run.stderr
    table = pd.read_csv(finished / files[0])
    assert set(table["identified_on"]) == {"box006_trajectories", "box006_drops"}
    assert set(table["dataset"]) == {"mine"}
    tosses = pd.read_csv(finished / files[1])
    assert (tosses.loc[tosses["dataset"] == "mine", "split"] == "test").all()
    assert (
        tosses.loc[tosses["dataset"] == "box006_trajectories", "split"] == "identification"
    ).all()
    predicted = tosses.loc[(tosses["dataset"] == "mine") & tosses["used"], "exact_contact_loss"]
    assert len(predicted) and predicted.notna().all()
