"""What a bundle says in two places agrees, or is told: logs, configuration, accepted verdicts,
records, names.
"""

import hashlib
import json

import numpy as np
import pytest
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.claims import judged_claims, read_claims
from contactid.output.comparison import COLUMNS, Reproduced, compare
from contactid.output.tables import write_csv
from contactid.review.bundle import write_zip
from contactid.review.check import ACCEPTED_COLUMNS, made_with, read_verdicts
from contactid.review.contents import opened
from contactid.review.looks import (
    other_settings,
    results_in,
    unaccepted,
    unrecorded,
    wrong_configuration,
    wrong_logs,
    wrong_sentences,
)
from contactid.review.provenance import git
from contactid.run.records import FOLDER, path_of_record
from printed_rows import printed_masses
from sealed_bundles import logged

RUN = "results/r"
RECORD, SETTINGS, LOG = (
    f"{RUN}/provenance.json",
    f"{RUN}/crate/configuration.yaml",
    f"{RUN}/logs/tables.log",
)
HERE = {
    "git_dirty": False,
    "arithmetic": {"blas": "Haswell"},
    "jobs": {},
    "solver": {},
    "packages": {},
}
ELSEWHERE = HERE | {"arithmetic": {"blas": "Nehalem"}}


@pytest.fixture
def bundle(tmp_path):
    """Opens an archive of an honest run's files, some of them replaced; None takes away, and logs
    stay as they are.
    """
    configuration = {"run": "r", "studies": ["s"]}
    files = {
        RECORD: json.dumps({**HERE, "configuration": configuration}).encode(),
        SETTINGS: yaml.safe_dump(configuration, sort_keys=False).encode(),
        f"{RUN}/s/tables/tab01.csv": b"x\n1\n",
        f"{RUN}/report.html": b"<p>1</p>\n",
        LOG: b"",
    }
    files |= logged(files)

    def made(**changed):
        write_zip(
            tmp_path / "b.zip",
            {name: one for name, one in (files | changed).items() if one is not None},
        )
        return opened(tmp_path / "b.zip")

    made.files = files
    return made


def sums(bundle):
    return {name: bundle.digest(name) for name in bundle.sizes}


@pytest.mark.parametrize(
    ("changed", "problems"),
    [
        ({}, []),
        (
            {f"{RUN}/s/tables/tab01.csv": b"x\n2\n"},
            [f"{RUN}/s/tables/tab01.csv: isn't what its job wrote ({LOG})"],
        ),
        (
            {f"{RUN}/report.html": b"<script>"},
            [f"{RUN}/report.html: isn't what its job wrote ({LOG})"],
        ),
        ({f"{RUN}/more.csv": b"x\n"}, [f"{RUN}/more.csv: no log says that a job wrote it"]),
        ({f"{RUN}/benchmarks/a.tsv": b"s\n1\n", f"{RUN}/logs/other.log": b"Finished.\n"}, []),
        ({f"{RUN}/report.html": None}, []),  # what the manifest and the descriptions tell of
    ],
)
def test_a_result_is_what_the_log_of_its_job_says(bundle, changed, problems):
    with bundle(**changed) as contents:
        assert wrong_logs(contents, RUN, sums(contents)) == problems


def test_without_logs_no_result_is_known(bundle):
    with bundle(**{LOG: None}) as contents:
        assert len(wrong_logs(contents, RUN, sums(contents))) == len(results_in(contents, RUN)) == 4


def test_the_configuration_is_the_same_in_both_places_and_its_departures_are_named(
    bundle, tmp_path
):
    root, commit = committed(
        tmp_path / "home", {"config/default.yaml": "run: default\nstudies: [s]\nseed: 1\n"}
    )
    with bundle() as contents:
        assert wrong_configuration(contents, RUN) == []
        assert other_settings(contents, RUN, root, commit) == ["run", "seed"]
        assert other_settings(contents, RUN, root, "f" * 40) is None
    other = {"run": "r", "studies": ["s"], "datasets": {"x": {"path": "/etc"}}}
    with bundle(**{RECORD: json.dumps({"configuration": other}).encode()}) as contents:
        (line,) = wrong_configuration(contents, RUN)
        assert "another configuration" in line
    deep = b'{"configuration": ' + b"[" * 700 + b"]" * 700 + b"}"
    with bundle(**{RECORD: deep}) as contents, pytest.raises(ContactIdError, match="isn't whole"):
        wrong_configuration(contents, RUN)


def committed(root, files):
    """A checkout with one commit of these files, and the commit."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"):
        assert git(root, *command.split()) is not None
    return root, git(root, "rev-parse", "HEAD").decode().strip()


@pytest.fixture
def accepted(tmp_path):
    """Checks of a run, and a checkout whose commit accepts them for the run r."""
    printed = printed_masses("abc")
    ours = {
        ("t", q, ""): Reproduced(value, naive={"mean": 3.0})
        for q, value in zip("abc", (1.05, 1.5, 1.0799), strict=True)
    }
    folder = tmp_path / "home/workflow/resources/verdicts"
    folder.mkdir(parents=True)
    write_csv(compare("s", printed, ours), tmp_path / "checks.csv")
    checks = read_verdicts(tmp_path / "checks.csv", COLUMNS, "")
    write_csv(checks[list(ACCEPTED_COLUMNS)], folder / "r.csv")
    root, commit = committed(
        tmp_path / "home", {"workflow/resources/verdicts/r.json": json.dumps(made_with(HERE))}
    )
    return checks, root, commit


@pytest.mark.parametrize(
    ("row", "changes", "told"),
    [
        (0, {}, None),
        (
            1,
            {"verdict": "reproduced", "reproduced": 1.0},
            "s t b: reproduced, 1 with tolerance 0.1; accepted at that",
        ),
        (0, {"verdict": "differs", "reproduced": 1.5}, "s t a: differs, 1.5"),
        (0, {"reproduced": 1.08}, "s t a: reproduced, 1.08"),
        (0, {"tolerance": 0.4}, "with tolerance 0.4"),
        (0, {"rejects": "zero;half"}, "s t a"),
        (0, {"quantity": "z"}, "no such row"),
    ],
)
def test_verdicts_are_those_that_the_commit_accepts(bundle, accepted, row, changes, told):
    checks, root, commit = accepted
    for name, value in changes.items():
        checks.loc[row, name] = value
    with bundle() as contents:
        found = unaccepted(contents, "r", checks, root, commit)
    assert found == [] if told is None else any(told in line for line in found)


def test_on_another_processor_numbers_may_move_and_verdicts_at_the_edge_but_no_others(
    bundle, accepted
):
    checks, root, commit = accepted
    moved = checks.assign(
        reproduced=[1.07, 1.5, 1.0801], verdict=["reproduced", "differs", "uninformative"]
    )
    flipped = checks.assign(reproduced=[1.05, 1.0, 1.0799], verdict="reproduced")
    with bundle(**{RECORD: json.dumps(ELSEWHERE).encode()}) as contents:
        assert unaccepted(contents, "r", moved, root, commit) == []
        assert len(unaccepted(contents, "r", flipped, root, commit)) == 1
    with bundle() as contents:
        assert len(unaccepted(contents, "r", moved, root, commit)) == 2


def test_what_comes_of_sentences_follows_from_their_rows_and_the_commit_s_ledger(
    bundle, accepted, tmp_path
):
    checks, _, _ = accepted
    needs = [{"artefact": "t", "quantity": "[ab]", "condition": ""}]
    sentence = {
        "name": "one",
        "section": "abstract",
        "quote": "So.",
        "asks": "Is it so?",
        "needs": needs,
    }
    ledger = yaml.safe_dump({"statements": [], "sentences": [sentence]})
    root, commit = committed(
        tmp_path / "ledger", {"workflow/resources/published/s_claims.yaml": ledger}
    )
    claims = judged_claims(
        "s", read_claims(root / "workflow/resources/published/s_claims.yaml"), checks
    )
    assert list(claims["verdict"]) == ["differs"]
    for told, problems in (
        (claims, 0),
        (claims.assign(verdict="reproduced"), 2),
        (claims.iloc[:0], 1),
    ):
        write_csv(told, tmp_path / "claims.csv")
        with bundle(**{f"{RUN}/claims.csv": (tmp_path / "claims.csv").read_bytes()}) as contents:
            assert len(wrong_sentences(contents, RUN, checks, root, commit)) == problems


def test_a_run_for_which_the_commit_accepts_nothing_is_no_problem(bundle, accepted):
    checks, root, commit = accepted
    with bundle() as contents:
        assert unaccepted(contents, "mine", checks, root, commit) is None
    assert np.isfinite(checks["reproduced"]).all()


def test_results_without_a_record_of_their_job_are_named(bundle):
    table, folder = f"{RUN}/s/tables/tab01.csv", f"{RUN}/data/twin"
    of_table, of_folder = (f"{FOLDER}/{path_of_record(name)}" for name in (table, folder))
    names = [table, f"{folder}/raw/a.mat"]
    assert unrecorded({}, names) == names
    assert unrecorded({of_table: 1}, names) == names[1:]
    assert unrecorded({of_table: 1, of_folder: 1}, names) == []


@pytest.mark.parametrize(
    "names",
    [("caf\u00e9.csv", "cafe\u0301.csv"), ("a/Table.csv", "a/table.csv"), ("straße", "STRASSE")],
)
def test_two_names_that_some_systems_take_for_one_are_refused(tmp_path, names):
    write_zip(tmp_path / "b.zip", dict.fromkeys(names, b"x"))
    (tmp_path / "folder/a").mkdir(parents=True)
    for name in names:
        (tmp_path / "folder" / name).write_bytes(b"x")
    with (
        pytest.raises(ContactIdError, match="are one name on some systems"),
        opened(tmp_path / "b.zip"),
    ):
        pass
    if (
        len([path for path in (tmp_path / "folder").rglob("*") if path.is_file()]) == 2
    ):  # not so on macOS
        with (
            pytest.raises(ContactIdError, match="are one name on some systems"),
            opened(tmp_path / "folder"),
        ):
            pass


def test_a_log_that_is_no_text_ends_in_nothing_worse_than_a_line(bundle):
    digest = hashlib.sha256(b"").hexdigest()
    strange = b"\xff\0" + f"Wrote ../../etc/passwd: 5 bytes, sha256 {digest}\n".encode() * 3
    with bundle(**{f"{RUN}/logs/strange.log": strange}) as contents:
        assert wrong_logs(contents, RUN, sums(contents)) == []
