"""What a run tells on the terminal: a line per job that ended, failures as before, nothing of the
scheduler's work.
"""

import io
import logging

import pytest

from contactid.run.kept import studies_of, tell_kept
from contactid.run.progress import HANDLER, first_clause, show


@pytest.fixture
def terminal(tmp_path, monkeypatch):
    """A logger with Snakemake's handler, shown as a run; what it wrote; the clock."""
    clock = [100.0]
    monkeypatch.setattr("contactid.run.progress.time.monotonic", lambda: clock[0])
    measured = tmp_path / "measured.csv"
    measured.write_text("rule,seconds_median\nplanar_simulate,30\nreport,10\n")
    logger, text = logging.Logger("run"), io.StringIO()
    handler = logging.StreamHandler(text)
    handler.name = HANDLER
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    words = {
        "planar_simulate": "Simulate every scene (eq. 16).",
        "report": "Set the run as one page; no network.",
    }
    show(logger, words.__getitem__, ["planar"], measured)
    return logger, text, clock


def job(logger, number, rule, **wildcards):
    logger.info(
        None,
        extra={"event": "job_info", "jobid": number, "rule_name": rule, "wildcards": wildcards},
    )


def test_a_job_is_one_line_with_study_words_seconds_number_and_time_left(terminal):
    logger, text, clock = terminal
    logger.info("Building DAG of jobs...")
    logger.info(
        "stats",
        extra={
            "event": "run_info",
            "stats": {"planar_simulate": 1, "report": 1, "all": 1, "total": 3},
        },
    )
    logger.info("Execute 1 jobs...", extra={"event": "job_started", "jobs": [7]})
    job(logger, 7, "planar_simulate", scene="drop")
    clock[0] += 300.0
    logger.info("Finished jobid: 7", extra={"event": "job_finished", "job_id": 7})
    logger.info(None, extra={"event": "progress", "done": 1, "total": 3})
    job(logger, 8, "report")
    clock[0] += 20.0
    logger.info("Finished jobid: 8", extra={"event": "job_finished", "job_id": 8})
    job(logger, 0, "all")
    logger.info("Finished jobid: 0", extra={"event": "job_finished", "job_id": 0})
    assert text.getvalue().splitlines() == [
        "2 jobs to do",
        # a quarter of the work is left
        "1 of 2  planar   Simulate every scene: drop (300 s; about 2 min left)",
        "2 of 2           Set the run as one page (20 s)",
    ]


def test_what_isn_t_routine_is_told_as_before(terminal):
    logger, text, _ = terminal
    logger.warning("Building DAG of jobs took long")
    logger.info("Nothing to be done")
    logger.error("Error in rule a", extra={"event": "job_error"})
    assert text.getvalue().splitlines() == [
        "Building DAG of jobs took long",
        "Nothing to be done",
        "Error in rule a",
    ]


def test_a_long_sentence_ends_at_a_comma_or_between_words():
    assert first_clause("word " * 30).endswith(" word ...") and len(first_clause("word " * 30)) < 82
    assert first_clause("Read it, and\n   write it; then more.") == "Read it, and write it"
    first = "Read every recording that there is in the archive"
    assert first_clause(f"{first}, and write it in the form that all of the others have.") == first
    assert first_clause(f"{'a' * 76}, and more.") == "a" * 76


def test_studies_that_a_run_has_are_kept_and_named(tmp_path, capsys):
    for name in ("arm", "planar", "data"):
        (tmp_path / "run" / name).mkdir(parents=True)
    for name in ("arm", "planar"):
        (tmp_path / "run" / name / "checks.csv").touch()
        (tmp_path / f"{name}.smk").touch()
    assert studies_of(tmp_path / "run", tmp_path) == ["arm", "planar"]
    assert studies_of(tmp_path / "none", tmp_path) == []
    tell_kept(tmp_path / "run", ["planar"], ["arm"])
    line = capsys.readouterr().err
    assert line.count("\n") == 1 and "run has arm besides" in line and "planar alone" in line
    tell_kept(tmp_path / "run", ["arm", "planar"], [])
    assert capsys.readouterr().err == ""
