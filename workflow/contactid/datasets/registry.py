"""Which datasets there are: ``config/datasets.tsv`` and the user's own from the configuration."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contactid.errors import ContactIdError

EMBEDDED, GENERATED, GITHUB, OWN = "embedded", "generated", "github", "own"


@dataclass(frozen=True)
class Dataset:
    """One row of the registry.

    Attributes
    ----------
    name : used in the configuration and in file names
    kind : ``embedded`` (in the repository), ``generated`` (simulated by the run), ``github`` (an archive at a commit)
        or ``own`` (a path of the user's)
    reader : ``contactnets`` or ``iam`` (tosses), ``planar_throws`` or ``planar_impacts``, ``arm_mat`` (arm impacts)
    source : path (embedded, own) or URL (github)
    folder : the folder inside a downloaded archive that holds the data
    object, surface, surface_height : what to read from an I.AM. archive; with a height (m), a recording without the
        surface object lies on a level plane at that height
    licence, citation, version : as published
    """

    name: str
    kind: str
    reader: str
    source: str
    version: str = ""
    folder: str = ""
    object: str = ""
    surface: str = ""
    surface_height: float | None = None
    size_mb: str = ""
    licence: str = "unknown"
    citation: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether it stands in for real data."""
        return self.kind in (EMBEDDED, GENERATED)


def load_registry(path: str | Path, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Dataset]:
    """Datasets by name: those of the file, and the user's, which must not take a name that is there already."""
    registry: dict[str, Dataset] = {}
    with Path(path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            fields: dict[str, Any] = {key: row[key] for key in row if key in Dataset.__dataclass_fields__}
            registry[row["name"]] = Dataset(**fields)
    for name, entry in own.items():
        if name in registry:
            raise ContactIdError(f"configuration: datasets.{name} is a dataset of config/datasets.tsv", "Rename yours")
        source = Path(entry["path"])
        if not source.exists():
            raise ContactIdError(f"configuration: datasets.{name}.path: {source} does not exist", "Correct the path")
        options = {key: entry[key] for key in entry if key not in ("path", "reader")}
        registry[name] = Dataset(name=name, kind=OWN, reader=entry["reader"], source=str(source), **options)
    return registry


def pick(registry: Mapping[str, Dataset], name: str) -> Dataset:
    """The dataset of that name.

    Raises
    ------
    ContactIdError
        For an unknown name; the nearest known one is suggested.
    """
    if name not in registry:
        near = difflib.get_close_matches(name, list(registry), n=1)
        hint = f"Did you mean {near[0]}" if near else f"Known are {', '.join(registry)}"
        raise ContactIdError(f"configuration: unknown dataset {name}", f"{hint}, or add it under datasets")
    return registry[name]


def check_reader(registry: Mapping[str, Dataset], name: str, reader: str, key: str) -> None:
    """Raise :class:`ContactIdError` where a key of the configuration names a dataset of another kind."""
    found = pick(registry, name).reader
    if found != reader:
        known = [dataset.name for dataset in registry.values() if dataset.reader == reader]
        raise ContactIdError(
            f"configuration: {key} is {name}, which the reader {found} reads",
            f"It takes data for {reader}: {', '.join(known)}",
        )
