"""A small run as an honest bundle, for what somebody may make of it."""

import base64
import json

from contactid.output.comparison import Reproduced, compare
from contactid.output.summary import conclude
from contactid.output.tables import write_csv
from contactid.review.crate import UNCITED, describe, write_crate
from contactid.review.provenance import git
from printed_rows import printed_masses

RUN = "results/r"
TABLE, FITS = f"{RUN}/s/tables/tab01.csv", f"{RUN}/s/fits.csv"


def record(**changes):
    """Snakemake's record of a job, with changes."""
    told = {"rule": "tables", "input": [FITS], "log": ["x.log"], "starttime": 1.0, "endtime": 2.0}
    return json.dumps(told | changes).encode()


def of_job(output):
    """Where the record of what made an output is."""
    return f".snakemake/metadata/{base64.urlsafe_b64encode(output.encode()).decode()}"


def honest_bundle(root):
    """Make a folder a checkout with one commit; the files of a run's bundle by name."""
    (root / "Snakefile").write_text("rule all:\n")
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"):
        assert git(root, *command.split()) is not None
    commit = git(root, "rev-parse", "HEAD").decode().strip()
    folder = root / RUN
    (folder / "s/tables").mkdir(parents=True)
    printed = printed_masses("ab")
    found = {("t", q, ""): Reproduced(1.05, naive={"mean": 3.0}) for q in "ab"}
    write_csv(compare("s", printed, found), folder / "s/checks.csv")
    (folder / "section.md").write_text("## s\n")
    files = [folder / name for name in ("checks.csv", "claims.csv", "summary.md")]
    conclude("r", [folder / "s/checks.csv"], [folder / "section.md"], [], [], *files)
    for name in ("s/tables/tab01.csv", "s/fits.csv"):
        (folder / name).write_text("x\n1\n")
    provenance = {"git_commit": commit, "data": [], "configuration": {"run": "r"}}
    (folder / "provenance.json").write_text(json.dumps(provenance))
    ends = ("ro-crate-metadata.json", "crate/Snakefile", "crate/configuration.yaml")
    tables = [str(folder / name) for name in ("checks.csv", "s/tables/tab01.csv")]
    write_crate(
        str(folder / "provenance.json"),
        tables,
        str(root / "Snakefile"),
        [],
        *(str(folder / end) for end in ends),
    )
    described = describe(
        root, provenance, UNCITED, workflow="Snakefile", configuration=f"{RUN}/crate/configuration.yaml",
        results=[f"{RUN}/checks.csv", TABLE], folders={},
    )  # fmt: skip
    (folder / "logs").mkdir()
    (folder / "logs/all.log").write_text("")
    (folder / "report.html").write_text("<p>As it is.</p>\n")
    paths = [root / "Snakefile", *folder.rglob("*")]
    files = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in paths if path.is_file()
    }
    return files | {
        "ro-crate-metadata.json": json.dumps(described).encode(),
        of_job(TABLE): record(),
    }
