"""A small finished run on disk, as the workflow would leave it."""

import base64
import json
from contextlib import chdir
from pathlib import Path

from contactid.output.artefacts import figure, table
from contactid.review.report.artefacts import listed, write_list
from contactid.review.report.collect import collect
from contactid.review.report.page import render

RESOURCES = Path(__file__).parents[2] / "workflow/resources/report"
TEXTS = {
    file.name: file.read_text(encoding="utf-8")
    for file in RESOURCES.rglob("*")
    if file.suffix != ".yaml" and file.is_file()
}
RESULTS = Path("results/small")
_MADE = {"rule": "tossing_tables", "compute": "contactid.output.tables:read_csv"}
_DRAWN = {**_MADE, "draw": "contactid.output.style:label_data"}
DECLARED = (
    table(
        "tab03_rest_pose_errors",
        **_MADE,
        caption="Errors of the rest pose (\\%)",
        datasets=["box_a"],
    ),
    figure("fig01_example_toss", **_DRAWN, caption="A box in time lapse.", title="a box"),
    figure("fig02_frames", **_DRAWN, caption="Frames of motion capture, and others."),
    table("ext_solver", **_MADE, caption="Steps of the solver"),
)

_CHECKS = """study,artefact,quantity,condition,published,reproduced,unit,tolerance,basis,origin,data,wrong_answers,\
rejects,moved,cases,repeats,verdict,note,where
tossing,tab03,error,object=a,2.0,2.04,cm,0.05,computed,twin,"box_a, box_b",zero=0;half=1;twice=4,zero;half;twice,,,,\
reproduced,,Table III
tossing,tab03,error,object=b,2.0,3.0,cm,0.05,computed,twin,box_b,zero=0,zero,,,,differs,<script>alert(1)</script>,
tossing,tab03,error,object=c,2.0,2.5,cm,0.05,computed,twin,box_a,zero=0,zero,,,,needs_archive,\
"errors of c (Table III) in box_c, 10.4121/17122553.v1; 12 tosses",
tossing,tab03,error,object=d,2.0,2.04,cm,0.05,computed,twin,box_a,zero=0,zero,,,object=a,reproduced,,
tossing,tab03,size,,4.0,4.0,cm,5,computed,,,zero=0;half=2;twice=8,twice,,,,uninformative,,
tossing,tab03,inputs_as_printed,,2,2,numbers,0,input,print,,,,,2 of 2,,input,what the run starts from,Table III
planar,text,peak,,133,133.02,N*s,0.5,print,print,,zero=0,zero,,,,print_consistent,,
planar,text,mass,,1,2,kg,0.5,print,print,,zero=0,zero,,,,print_inconsistent,friction_mu is +-2,
planar,text,bounces,from=twins,1,0,holds,0,computed,simulation,,exchanged=0;uniform body=0,exchanged;uniform body,\
margin*0.8=0;margin*1.2=0,3 of 16,,differs,,"section 4, eq. 12"
"""
_CLAIMS = """study,claim,section,quote,asks,verdict,evidence,rows
tossing,errors_small,abstract,"The *errors* are $\\mu < 2$ , and <small>.",Errors are small.,differs,\
"1 differs, 1 reproduced: b is off; by a lot",1 2
tossing,opinion,I,Boxes are nice.,Nothing.,no_result,opinion: about boxes,
tossing,data_needed,I,They were recorded.,The recordings have them.,needs_archive,1 needs archive: a box,3
tossing,errors_again,abstract,Errors again.,Errors are small again.,not_done,not done: the errors,
planar,bounces,4,It bounces by eq. 12.,The ellipse bounces.,differs,1 differs: in 3 of 16 cases; see there,9
"""
_LEDGER = """statements:
- name: bounces
  artefact: text
  condition: from=twins
  where: "section 4, eq. 12"
  asks: "The ellipse bounces at every step."
  predicate: contactid.output.predicates:Smaller
sentences: []
"""
# of Table III's grid, as the templates' studies.yaml has it: two numbers that the run starts from
_PRINTED = """artefact,quantity,condition,value,unit,tolerance,tolerance_from,where
tab03,error,object=a,2.0,cm,0.05,rounding,Table III
tab03,position_error_mean_cm,object=Box4;parameters=velocity;simulator=matlab,19.7,cm,0.05,rounding,Table III
tab03,position_error_std_cm,object=Box4;parameters=velocity;simulator=matlab,3.5,cm,0.05,rounding,Table III
"""
_IDENTIFIED = """noise_model,mu,fps,seed,converged,plausible,iterations,complementarity,seconds,reformulation
one_mrad,0.2,30,1,True,True,10,1e-9,2.0,l1_penalty
one_mrad,0.3,30,1,True,False,20,1e-9,2.0,l1_penalty
one_mrad,0.4,30,1,False,False,30,1e-2,2.0,l1_penalty
"""
_SVG = '<svg viewBox="0 0 300 200" xmlns="http://www.w3.org/2000/svg"></svg>'


def make_run(folder):
    """Write the run below ``folder``."""
    results = folder / RESULTS
    write(results / "checks.csv", _CHECKS)
    write(results / "claims.csv", _CLAIMS)
    settings = {"run": "small", "tossing": {"seed": 1}, "planar": {}}
    write(results / "provenance.json", json.dumps({"configuration": settings}))
    write(results / "tossing/tables/tab03_rest_pose_errors.csv", "object,error\na,2.04\n")
    write(results / "tossing/tables/ext_solver.csv", "object,steps\na,2\n")
    write_list({"tossing": listed("tossing", DECLARED)}, str(results / "artefacts.json"))
    write(
        results / "tossing/figures/fig01_example_toss.csv", "x,source\n1,SYNTHETIC <twin> & more\n"
    )
    write(results / "tossing/figures/fig02_frames.csv", "x\n1\n")
    for name in ("fig01_example_toss", "fig02_frames"):
        write(results / f"tossing/figures/{name}.svg", _SVG)
    for name, converged, status, residual in (
        ("box_b", True, "solved", 1e-9),
        ("box_a", False, "Maximum_Iterations", -0.5),
    ):
        fit = {
            "converged": converged, "status": status, "residuals": {"gap": residual}, "iterations": 7, "seconds": 0.1,
            "data": {"dataset": name}, "reformulation": "l1_penalty",
        }  # fmt: skip
        write(results / f"tossing/fits/{name}.paper.json", json.dumps(fit))
    write(results / "planar/identification/one_mrad.csv", _IDENTIFIED)
    card = {
        "name": "box_a", "study": "tossing", "what": "poses",
        "synthetic": True, "of_the_paper": False, "told": "synthetic", "made_from": [],
        "recordings": 2, "samples": 10, "duration_s": 1.0, "sample_frequency_hz": 360.0, "left_out": {},
        "noise": {"position_m": 1e-5}, "licence": "CC0-1.0", "panels": [],
    }  # fmt: skip
    write(results / "data/box_a/card.json", json.dumps(card))
    write(results / "stored.csv", "name,verdict\n")
    write(folder / "tossing.csv", _PRINTED)
    write(folder / "planar.csv", _PRINTED.splitlines()[0])
    write(folder / "planar_claims.yaml", _LEDGER)
    write(folder / "said.yaml", 'tossing: {fig01: {text: "An <example>."}}\n')
    write(
        folder / "differences.yaml",
        "- {study: tossing, quantity: err*, printed: errors, why: another box}\n",
    )


def collected(folder):
    """The run below ``folder``, collected as the rule does."""
    with chdir(folder):
        files = sorted(str(file) for file in RESULTS.glob("*/*/*.*") if file.parts[2] != "data")
        return collect(
            str(RESULTS / "checks.csv"),
            str(RESULTS / "claims.csv"),
            str(RESULTS / "provenance.json"),
            str(RESULTS / "artefacts.json"),
            {"tossing": {"fig02_frames": {"said": "twin of a box", "datasets": ["box_a"]}}},
            [str(file) for file in RESULTS.glob("data/*/card.*")],
            files,
            str(RESOURCES / "studies.yaml"),
            str(RESULTS / "stored.csv"),
            ["tossing.csv", "planar.csv"],
            ["planar_claims.yaml"],
            "said.yaml",
            "differences.yaml",
        )


def rendered(folder):
    """The page of that run."""
    with chdir(folder):
        return render(collected(folder), TEXTS)


def record_jobs(folder):
    """Write Snakemake's records and the benchmark files of the jobs that made table III."""
    table = RESULTS / "tossing/tables/tab03_rest_pose_errors.csv"
    write(folder / RESULTS / "logs/tossing_tables.log", "Calls a function\nWith share: 0.7\n")
    record(
        folder,
        table,
        "tossing_tables",
        [RESULTS / f"data/box_{box}/tosses.nc" for box in "ab"],
        "tossing_tables",
    )
    for box in "ab":
        prepared = RESULTS / f"data/box_{box}/tosses.nc"
        write(folder / prepared, "")
        record(
            folder,
            prepared,
            "read_data",
            ["workflow/resources/embedded/box.h5"],
            f"read_data/box_{box}.motion",
        )
        write(
            folder / RESULTS / f"benchmarks/read_data/box_{box}.motion.tsv",
            "s\tmax_rss\tio_out\tcpu_time\n1.5\t-\t0.1\t1.0\n",
        )


def record(folder, output, rule, inputs, log):
    """One of Snakemake's records."""
    name = base64.urlsafe_b64encode(output.as_posix().encode()).decode()
    content = {
        "rule": rule, "input": [str(path) for path in inputs], "log": [f"{RESULTS.as_posix()}/logs/{log}.log"],
        "starttime": 10.0, "endtime": 12.0, "incomplete": False,
    }  # fmt: skip
    write(folder / ".snakemake/metadata" / name, json.dumps(content))


def write(path, text):
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
