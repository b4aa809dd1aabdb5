"""Snakemake's records of a run, read back."""

import base64
import json

from contactid.run.records import FOLDER, read_jobs, upstream


def record(folder, path, rule, inputs, end, **more):
    encoded = base64.urlsafe_b64encode(path.encode()).decode()
    parts = [encoded[k : k + 254] for k in range(0, len(encoded), 254)]
    file = (folder / FOLDER).joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
    file.parent.mkdir(parents=True, exist_ok=True)
    entry = {
        "rule": rule,
        "input": inputs,
        "log": [f"logs/{rule}.log"],
        "starttime": 1.0,
        "endtime": end,
        **more,
    }
    file.write_text(json.dumps(entry))
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("x")


def chain(folder):
    long = "results/a/" + "long_name/" * 25 + "fit.json"
    record(folder, "results/a/data.nc", "read", ["embedded/box.h5"], 2.0)
    record(folder, long, "fit", ["results/a/data.nc", "config/x.yaml"], 3.0)
    record(folder, "results/a/tab.csv", "table", [long], 4.0)
    record(folder, "results/a/tab.tex", "table", [long], 4.0)
    record(folder, "results/b/other.csv", "other", [], 5.0)
    return long


def test_jobs_of_one_run_with_all_their_outputs_and_very_long_names(tmp_path):
    long = chain(tmp_path)
    jobs = read_jobs(tmp_path, "results/a")
    assert [job.rule for job in jobs] == ["read", "fit", "table"]
    assert jobs[2].outputs == ("results/a/tab.csv", "results/a/tab.tex")
    assert jobs[1].outputs == (long,) and jobs[1].log == "logs/fit.log" and jobs[1].seconds == 2.0


def test_a_rule_of_a_module_has_the_name_that_its_log_has(tmp_path):
    for name in ("read", "fit/seed=1"):
        rule = f"mine_{name.partition('/')[0]}"
        record(
            tmp_path, f"a/results/b/{rule}.csv", rule, [], 1.0, log=[f"a/results/b/logs/{name}.log"]
        )
    assert [job.rule for job in read_jobs(tmp_path, "a/results/b")] == ["fit", "read"]


def test_a_file_is_followed_to_the_data(tmp_path):
    chain(tmp_path)
    makers = {output: job for job in read_jobs(tmp_path, "results/a/") for output in job.outputs}
    assert [job.rule for job in upstream(makers, "results/a/tab.csv")] == ["table", "fit", "read"]
    assert upstream(makers, "nowhere") == []


def test_what_is_gone_unfinished_or_damaged_is_not_a_job(tmp_path):
    chain(tmp_path)
    (tmp_path / "results/a/data.nc").unlink()
    record(tmp_path, "results/a/half.csv", "half", [], 1.0, incomplete=True)
    (tmp_path / FOLDER / base64.urlsafe_b64encode(b"results/a/cut.csv").decode()).write_text(
        '{"rule": "cu'
    )
    (tmp_path / FOLDER / "not base64 !").write_text("{}")
    assert [job.rule for job in read_jobs(tmp_path, "results/a")] == ["fit", "table"]


def test_no_records_are_no_error(tmp_path):
    assert read_jobs(tmp_path, "results/a") == []
