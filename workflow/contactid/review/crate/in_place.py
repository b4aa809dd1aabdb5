"""The crate of a run where it lies: ``results/<run>``."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from contactid.core.atomic import replacing, write_text
from contactid.output.fits import read_json
from contactid.review.crate.citation import read_citation
from contactid.review.crate.describe import Contents, describe

ROOT = Path(__file__).resolve().parents[4]
# drawings are there in several formats; one is listed, its folder holds the others
_LISTED = {".csv", ".gif", ".html", ".json", ".md", ".svg"}
_FOLDERS = {
    "benchmarks": "Seconds and memory of every job",
    "data": "Datasets in canonical form, with a card for each",
    "logs": "Everything that every job printed",
    "arm": "Study of a robot arm's post-impact velocity: intermediate results, tables, figures",
    "inhand": "Study of in-hand estimation with tactile fingertips: intermediate results, tables, figures",
    "planar": "Study of a falling planar body: intermediate results, tables, figures",
    "tossing": "Study of tossed boxes: intermediate results, tables, figures",
}


def describe_run(
    provenance: str | Path, results: Iterable[str], *, workflow: str | Path, configuration: str | Path
) -> dict[str, Any]:
    """Copy the Snakefile and the configuration beside the results, and describe the run's folder.

    Parameters
    ----------
    provenance
        ``provenance.json``; its folder is the crate's.
    results
        Files that the run made; of a drawing's formats only the one for the web is listed.
    workflow, configuration
        Where the copies go.
    """
    folder, record = Path(provenance).parent, read_json(provenance)
    with replacing(workflow) as partial:
        shutil.copyfile(ROOT / "Snakefile", partial)
    write_text(configuration, yaml.safe_dump(record["configuration"], sort_keys=False, allow_unicode=True))
    listed = sorted({Path(path) for path in (provenance, *results) if Path(path).suffix in _LISTED})
    contents = Contents(
        root=folder,
        workflow=Path(workflow).relative_to(folder).as_posix(),
        configuration=Path(configuration).relative_to(folder).as_posix(),
        results=[path.relative_to(folder).as_posix() for path in listed],
        folders={name: text for name, text in _FOLDERS.items() if (folder / name).is_dir()},
    )
    return describe(record["configuration"]["run"], contents, record, read_citation(ROOT / "CITATION.cff"))
