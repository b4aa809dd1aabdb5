"""A run described as a Workflow Run RO-Crate."""

import json
from pathlib import Path

import pytest
import yaml

from contactid.review.crate import UNCITED, describe, read_citation, write_crate
from contactid.sources.lockfile import digest

ROOT = Path(__file__).parents[2]
RECORD = {
    "git_commit": "a" * 40,
    "python": "3.11.7",
    "snakemake": {"version": "9.27.1"},
    "solver": {"name": "IPOPT 3.14.11 in CasADi 3.8.2"},
    "jobs": {"begin": "2026-01-01T00:00:00+00:00", "end": "2026-01-01T00:10:00+00:00"},
    "data": [
        {
            "name": "twin",
            "synthetic": True,
            "source": "box.h5",
            "licence": "CC0-1.0",
            "files": [{"sha256": "ab"}],
        },
        {
            "name": "far",
            "synthetic": False,
            "doi": "10.4121/1.v2",
            "licence": "CC-BY-4.0",
            "version": "2",
            "files": [],
        },
    ],
    "configuration": {"run": "r", "rates": [1.0e-5, 0.1]},
}


@pytest.fixture
def contents(tmp_path):
    for name in ("Snakefile", "configuration.yaml", "checks.csv", "arm/tables/tab01.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return {
        "root": tmp_path,
        "workflow": "Snakefile",
        "configuration": "configuration.yaml",
        "results": ["checks.csv", "arm/tables/tab01.csv"],
        "folders": {"arm": "A study"},
    }


def by_id(crate):
    found = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(found) == len(crate["@graph"])
    return found


def ids(value):
    return [entry["@id"] for entry in (value if isinstance(value, list) else [value])]


def test_the_run_ties_workflow_data_configuration_and_results_together(contents):
    entities = by_id(
        describe(**contents, record=RECORD, citation=read_citation(ROOT / "CITATION.cff"))
    )
    root, action = entities["./"], entities["#run-r"]
    assert ids(root["mainEntity"]) == ids(action["instrument"]) == ["Snakefile"]
    assert set(entities["Snakefile"]["@type"]) == {
        "File",
        "SoftwareSourceCode",
        "ComputationalWorkflow",
    }
    assert ids(action["object"]) == ["#data-twin", "#data-far", "configuration.yaml"]
    assert ids(action["result"]) == ["arm/tables/tab01.csv", "checks.csv"]
    assert (action["startTime"], action["endTime"]) == (
        RECORD["jobs"]["begin"],
        RECORD["jobs"]["end"],
    )
    assert set(ids(root["hasPart"])) == {
        "Snakefile",
        "configuration.yaml",
        "arm/",
        *ids(action["result"]),
    }
    assert entities["checks.csv"]["sha256"] == digest(contents["root"] / "checks.csv")
    assert entities["#data-far"]["identifier"] == "https://doi.org/10.4121/1.v2"
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in ids(root["conformsTo"])
    assert len(ids(root["citation"])) == 4 and entities[ids(root["citation"])[0]]["author"]


def test_every_reference_leads_somewhere_and_nothing_is_made_up_anew(contents):
    first = describe(**contents, record=RECORD, citation=UNCITED)
    assert json.dumps(first) == json.dumps(describe(**contents, record=RECORD, citation=UNCITED))
    entities = by_id(first)
    outside = {"https://w3id.org/ro/crate/1.1", "https://snakemake.readthedocs.io"}
    for entity in first["@graph"]:
        for key, value in entity.items():
            for entry in value if isinstance(value, list) else [value]:
                if isinstance(entry, dict) and key != "conformsTo":
                    assert (
                        entry["@id"] in entities
                        or entry["@id"] in outside
                        or "doi.org" in entry["@id"]
                    ), entry


def test_what_is_unknown_is_left_out_and_never_empty(contents):
    entities = by_id(describe(**contents, record={"configuration": {"run": "r"}}, citation=UNCITED))
    assert "startTime" not in entities["#run-r"] and "author" not in entities["./"]
    assert all(
        value not in ("", None, []) for entity in entities.values() for value in entity.values()
    )


def test_a_runs_own_folder_gets_workflow_and_configuration(tmp_path):
    folder = tmp_path / "results/r"
    for name in ("checks.csv", "arm/figures/fig01.svg", "arm/figures/fig01.pdf"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    record = folder / "provenance.json"
    record.write_text(json.dumps(RECORD))
    write_crate(
        str(record),
        [
            str(folder / name)
            for name in ("checks.csv", "arm/figures/fig01.svg", "arm/figures/fig01.pdf")
        ],
        str(ROOT / "Snakefile"),
        [str(ROOT / "CITATION.cff")],
        str(folder / "ro-crate-metadata.json"),
        str(folder / "crate/Snakefile"),
        str(folder / "crate/configuration.yaml"),
    )
    crate = json.loads((folder / "ro-crate-metadata.json").read_text())
    assert (folder / "crate/Snakefile").read_text() == (ROOT / "Snakefile").read_text()
    assert (
        yaml.safe_load((folder / "crate/configuration.yaml").read_text()) == RECORD["configuration"]
    )
    entities = by_id(crate)
    assert ids(entities["./"]["mainEntity"]) == ["crate/Snakefile"]
    # a drawing is listed in one format, the others are in its folder
    assert ids(entities["#run-r"]["result"]) == [
        "arm/figures/fig01.svg",
        "checks.csv",
        "provenance.json",
    ]
    assert "arm/" in entities and "planar/" not in entities
