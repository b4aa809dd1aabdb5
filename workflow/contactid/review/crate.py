"""A run as a research object, by the profile Workflow Run Crate.

It tells of the run's workflow, data, results, times and papers. The same description serves two
folders: the run's own (``results/<run>``, with a copy of the Snakefile beside the results) and an
unpacked bundle, where the workflow itself is inside. Equal inputs give equal bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from contactid.core.atomic import replacing, write_text
from contactid.core.reading import read_yaml
from contactid.output.fits import read_json, write_json
from contactid.sources.lockfile import digest

# what is said of whose a run is without a CITATION.cff
UNCITED: Mapping[str, Any] = {
    "title": "contactid",
    "version": "",
    "licence": "MIT",
    "authors": [],
    "papers": [],
}
FILE_NAME = "ro-crate-metadata.json"
_RUN_PROFILES = {"process": "Process Run Crate", "workflow": "Workflow Run Crate"}
_WORKFLOW_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
_FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
# drawings are there in several formats; one is listed, its folder holds the others
_LISTED = {".csv", ".gif", ".html", ".json", ".md", ".svg", ".yaml", ".yml"}
# ... an article is no drawing
_ARTICLE = "article.pdf"
_FOLDERS = {
    "benchmarks": "Seconds and memory of every job",
    "data": "Datasets in canonical form, with a card for each",
    "logs": "Everything that every job printed",
    "arm": "Study of a robot arm's post-impact velocity: intermediate results, tables, figures",
    "inhand": "Study of in-hand estimation with tactile fingertips: intermediate results, tables, figures",
    "planar": "Study of a falling planar body: intermediate results, tables, figures",
    "tossing": "Study of tossed boxes: intermediate results, tables, figures",
}


def read_citation(path: str | Path) -> dict[str, Any]:
    """Whose the results are, from a CITATION.cff.

    Returns
    -------
    dict
        ``title``, ``version`` and ``licence`` (its SPDX name) of the software, ``authors`` (names),
        ``papers``: each with ``name``, ``authors``, ``year``, ``url`` and ``doi`` (empty where unknown),
        ``study``.
    """
    content = read_yaml(path)
    papers = []
    for entry in content.get("references", []):
        papers.append(
            {
                # a long title has line ends in the file
                "name": " ".join(entry["title"].split()),
                "authors": [_name(author) for author in entry.get("authors", [])],
                "year": str(entry.get("year", "")),
                "url": entry.get("url", ""),
                "doi": entry.get("doi", ""),
                # the format has no field for it
                "study": entry.get("notes", "").removeprefix("study "),
            }
        )
    return {
        "title": content["title"],
        "version": str(content.get("version", "")),
        "licence": content.get("license", UNCITED["licence"]),
        "authors": [_name(author) for author in content.get("authors", [])],
        "papers": papers,
    }


def _name(author: Mapping[str, str]) -> str:
    # a person has the first three, a group the last
    keys = ("given-names", "name-particle", "family-names", "name")
    return " ".join(filter(None, map(author.get, keys)))


def describe(
    root: Path,
    record: Mapping[str, Any],
    citation: Mapping[str, Any],
    *,
    workflow: str,
    configuration: str,
    results: Sequence[str],
    folders: Mapping[str, str],
) -> dict[str, Any]:
    """The content of ``ro-crate-metadata.json``; all paths are relative to the crate's folder.

    Parameters
    ----------
    root : the crate's folder
    record : ``provenance.json``
    citation : as :func:`read_citation` has it
    workflow, configuration : the Snakefile, and the configuration that the run was made with
    results : files that the run made
    folders : what else is there, by folder, with a description
    """
    run = record["configuration"]["run"]
    # the version that the profile Workflow Run Crate 0.5 builds on
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    spdx = citation["licence"]
    licence = _add(crate, f"https://spdx.org/licenses/{spdx}", "CreativeWork", name=spdx)
    authors = []
    for number, name in enumerate(citation["authors"]):
        authors.append(_add(crate, f"#author-{number}", "Organization", name=name))
    instrument = _workflow(crate, root, workflow, record, citation)
    settings = _file(crate, root, configuration, "Configuration of the run")
    made = [_file(crate, root, path) for path in sorted(results)]
    for path, text in sorted(folders.items()):
        crate.add_dataset(root / path, f"{path}/", properties={"name": path, "description": text})
    data = [_dataset(crate, entry) for entry in record.get("data") or []]
    papers = [_paper(crate, paper) for paper in citation["papers"]]
    times = record.get("jobs") or {}
    action = crate.add_action(
        instrument,
        f"#run-{run}",
        object=[*data, settings],
        result=made,
        properties={"name": f"Run {run}"},
    )
    _set(
        action,
        startTime=times.get("begin"),
        endTime=times.get("end"),
        actionStatus="http://schema.org/CompletedActionStatus",
        agent=authors,
    )
    _set(
        crate.root_dataset,
        name=f"{citation['title']}: run {run}",
        description="Tables, figures and verdicts on printed numbers, re-derived from data by one Snakemake run.",
        datePublished=times.get("end"),
        license=licence,
        author=authors,
        citation=papers,
        mentions=[action],
        conformsTo=_profiles(crate),
    )
    return crate.metadata.generate()


def _add(crate: ROCrate, identifier: str, kind: str, /, **properties: Any) -> Any:
    entity = crate.add(ContextEntity(crate, identifier, properties={"@type": kind}))
    _set(entity, **properties)
    return entity


def _set(entity: Any, **properties: Any) -> None:
    """Only what is known: the profile forbids empty values."""
    for name, value in properties.items():
        if value not in (None, "", []):
            entity[name] = value


def _profiles(crate: ROCrate) -> list[Any]:
    profiles = []
    for profile, name in _RUN_PROFILES.items():
        address = f"https://w3id.org/ro/wfrun/{profile}/0.5"
        profiles.append(_add(crate, address, "CreativeWork", name=name, version="0.5"))
    workflow = _add(
        crate, _WORKFLOW_PROFILE, "CreativeWork", name="Workflow RO-Crate", version="1.0"
    )
    return [*profiles, workflow]


def _workflow(
    crate: ROCrate, root: Path, path: str, record: Mapping[str, Any], citation: Mapping[str, Any]
) -> Any:
    entity = crate.add_workflow(
        root / path,
        path,
        main=True,
        lang="snakemake",
        lang_version=(record.get("snakemake") or {}).get("version"),
        properties={"name": citation["title"], "sha256": digest(root / path)},
    )
    solver = record.get("solver") or {}
    name, application = solver.get("name"), "SoftwareApplication"
    software = [
        _add(crate, "#python", application, name="Python", softwareVersion=record.get("python")),
        _add(crate, "#solver", application, name=name or "IPOPT", softwareVersion=name),
    ]
    _set(
        entity,
        version=record.get("git_commit") or citation["version"],
        softwareRequirements=software,
    )
    return entity


def _file(crate: ROCrate, root: Path, path: str, name: str = "") -> Any:
    source = root / path
    properties = {
        "name": name or path,
        "contentSize": str(source.stat().st_size),
        "sha256": digest(source),
    }
    if source.suffix in _FORMATS:
        properties["encodingFormat"] = _FORMATS[source.suffix]
    return crate.add_file(source, path, properties=properties)


def _dataset(crate: ROCrate, entry: Mapping[str, Any]) -> Any:
    doi = entry.get("doi")
    files = entry.get("files") or []
    making = "synthetic" if entry.get("synthetic") else "measured"
    return _add(
        crate,
        f"#data-{entry['name']}",
        "CreativeWork",
        name=entry["name"],
        description=f"{making} data, {len(files)} files; sizes and checksums are in provenance.json",
        additionalType="http://schema.org/Dataset",
        identifier=f"https://doi.org/{doi}" if doi else entry.get("source"),
        version=entry.get("version"),
        license=entry.get("licence"),
        creditText=entry.get("citation"),
        sha256=files[0]["sha256"] if len(files) == 1 else None,
    )


def _paper(crate: ROCrate, paper: Mapping[str, Any]) -> Any:
    authors = []
    for name in paper["authors"]:
        identifier = "#" + name.replace(" ", "-")
        authors.append(_add(crate, identifier, "Person", name=name))
    identifier = paper["url"] or f"#paper-{paper['study']}"
    return _add(
        crate,
        identifier,
        "ScholarlyArticle",
        name=paper["name"],
        author=authors,
        datePublished=paper["year"],
    )


def entries_of(value: Any) -> list[Any]:
    """A description's list: JSON-LD writes a list of one as the one."""
    return value if isinstance(value, list) else [value]


def _is_listed(path: Path) -> bool:
    return path.suffix in _LISTED or path.name == _ARTICLE


def write_crate(
    record: str,
    results: Sequence[str],
    source: str,
    citation: Sequence[str],
    metadata: str,
    workflow: str,
    configuration: str,
) -> None:
    """Copy Snakefile and configuration beside a run's results, and describe the run's folder.

    Parameters
    ----------
    record : ``provenance.json``; its folder is the crate's
    results : files that the run made; of a drawing's formats only the one for the web is listed
    source, citation : the Snakefile, and CITATION.cff where there is one
    metadata, workflow, configuration : the description, and where the copies go
    """
    folder = Path(record).parent
    content = read_json(record)
    with replacing(workflow) as partial:
        shutil.copyfile(source, partial)
    text = yaml.safe_dump(content["configuration"], sort_keys=False, allow_unicode=True)
    write_text(configuration, text)
    listed = sorted({Path(path) for path in (record, *results) if _is_listed(Path(path))})
    described = describe(
        folder,
        content,
        read_citation(citation[0]) if citation else UNCITED,
        workflow=Path(workflow).relative_to(folder).as_posix(),
        configuration=Path(configuration).relative_to(folder).as_posix(),
        results=[path.relative_to(folder).as_posix() for path in listed],
        folders={name: text for name, text in _FOLDERS.items() if (folder / name).is_dir()},
    )
    write_json(metadata, described)
