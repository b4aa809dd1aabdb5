"""Which datasets there are, and who reads them: ``config/datasets.tsv``, and the user's own from
the configuration.

A dataset of 4TU.ResearchData is named by its DOI, which is taken apart without asking anyone:
``10.4121/<id>.v<n>`` is one version of a dataset, ``10.4121/<id>`` the dataset whatever its
version, ``10.4121/c.<id>`` a collection. ``<id>`` is a number (deposits of the figshare era) or the
uuid of the container (since then). Older DOIs (``10.4121/uuid:...``) say nothing about the id that
the server wants; they have to be looked up. Files, sizes and checksums of what is downloaded are in
the lock file beside the table (:mod:`contactid.sources.lockfile`).
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from contactid.core.errors import ContactIdError

EMBEDDED, GENERATED, OWN = "embedded", "generated", "own"
FOURTU, GITHUB, FILE = "4tu", "github", "file"
DOWNLOADED = (FOURTU, GITHUB, FILE)
AS_PUBLISHED = "as published"
#: Of all DOIs of 4TU.ResearchData.
PREFIX = "10.4121"
# what people copy along with a DOI
_RESOLVERS = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SUFFIX = re.compile(
    rf"^(?P<collection>c\.)?(?P<id>[0-9]+|{_UUID})(?:\.v(?P<version>[1-9][0-9]*))?$"
)


@dataclass(frozen=True)
class Reader:
    """Who understands the files of a dataset. Functions are named ``"contactid.module:function"``.

    Attributes
    ----------
    form : name of the canonical form, and of its netCDF file
    read : from the files to a :class:`contactid.sources.motion.MotionStream` or an xarray dataset
        of that form. It asks by name for what it needs: ``path``, the fields of a :class:`Dataset`,
        whether that is ``synthetic``, and ``robot``, the table of an arm's links
    signals : from the canonical dataset to what its data card says of it
        (:class:`contactid.sources.card.Signals`)
    """

    form: str
    read: str
    signals: str


READERS = {
    "iam": Reader(
        form="motion",
        read="contactid.tossing.readers.iam_archive:stream_iam_archive",
        signals="contactid.tossing.readers.card:toss_signals",
    ),
    "contactnets": Reader(
        form="motion",
        read="contactid.tossing.readers.contactnets:stream_contactnets",
        signals="contactid.tossing.readers.card:toss_signals",
    ),
    "author_plots": Reader(
        form="plots",
        read="contactid.tossing.readers.author_plots:read_author_plots",
        signals="contactid.tossing.readers.author_plots:plot_signals",
    ),
    "planar_throws": Reader(
        form="planar",
        read="contactid.planar.readers.csv_throws:read_throws",
        signals="contactid.planar.readers.card:throw_signals",
    ),
    "planar_impacts": Reader(
        form="planar",
        read="contactid.planar.readers.impacts:read_ellipse_impacts",
        signals="contactid.planar.readers.card:impact_signals",
    ),
    "arm_mat": Reader(
        form="arm",
        read="contactid.arm.readers.mat:read_arm_mat",
        signals="contactid.arm.readers.card:arm_signals",
    ),
    "cassie": Reader(
        form="landings",
        read="contactid.arm.readers.landings:read_landings",
        signals="contactid.arm.readers.landings:landing_signals",
    ),
    "wrist": Reader(
        form="wrist",
        read="contactid.inhand.readers.wrist:read_wrist",
        signals="contactid.inhand.readers.wrist:wrist_signals",
    ),
}


@dataclass(frozen=True)
class FourTuDoi:
    """A DOI of the repository.

    Attributes
    ----------
    suffix : what follows ``10.4121/``, without the version
    identifier : what the server calls the dataset or collection; empty where the DOI doesn't say it
    version : None where the DOI means whichever version
    is_collection : whether it names a collection of datasets
    """

    suffix: str
    identifier: str
    version: int | None = None
    is_collection: bool = False

    def __str__(self) -> str:
        """The DOI as it is cited."""
        return f"{PREFIX}/{self.suffix}" + (f".v{self.version}" if self.version else "")

    def at(self, version: int) -> FourTuDoi:
        """The DOI of one version of the same dataset."""
        return FourTuDoi(self.suffix, self.identifier, version, self.is_collection)


def parse_doi(text: str) -> FourTuDoi:
    """Take a DOI apart; a resolver's address or ``doi:`` before it is dropped, letter case doesn't
    matter.

    Raises :class:`ContactIdError` for what isn't a DOI of this repository.
    """
    bare = _RESOLVERS.sub("", text.strip()).lower()
    prefix, _, suffix = bare.partition("/")
    if prefix != PREFIX or not suffix or re.search(r"\s", suffix):
        raise ContactIdError(
            f"{text!r} is no DOI of 4TU.ResearchData", f"Those begin with {PREFIX}/"
        )
    match = _SUFFIX.match(suffix)
    if match is None:
        return FourTuDoi(suffix, "")
    version = int(match["version"]) if match["version"] else None
    prefix = match["collection"] or ""
    return FourTuDoi(prefix + match["id"], match["id"], version, bool(prefix))


@dataclass(frozen=True)
class Dataset:
    """One row of the registry.

    Attributes
    ----------
    name : used in the configuration and in file names
    kind : ``embedded`` (in the repository), ``generated`` (simulated by the run), ``own`` (a path
        of the user's), or downloaded: ``4tu`` (a dataset of 4TU.ResearchData), ``github`` (a
        repository at a commit), ``file`` (one file)
    reader : a key of :data:`READERS`
    source : path (embedded, own), DOI (4tu) or address (github, file)
    study : which study it is for
    title : where the DOI is a collection's: words that the wanted dataset's title or files have
    version : of the data; empty for the newest when the lock file is written
    folder : the folder inside a downloaded archive that holds the data
    object, surface, surface_height : what to read from an I.AM. archive: the box, names of planes
        in order, with commas between them, and the height (m) of a level surface where the box
        rests on no tracked plane
    outline, semi_axes, frame_rate : of the user's own planar throws: a polygon's corners about its
        centre of mass or an ellipse's semi-axes (m), and frames per second (Hz) where the files
        have no times
    size : sides (m) of that box in place of the archive's; empty: the archive's
    made_from
        of a synthetic dataset: printed numbers that it was made with, and those that print the
        same, as ``artefact/quantity/condition`` of ``resources/published``, with wildcards
        (``tab01/*``)
    licence, citation : as published; the licence ``as published`` is the one in the lock file
    """

    name: str
    kind: str
    reader: str
    source: str
    study: str = ""
    title: str = ""
    version: str = ""
    folder: str = ""
    object: str = ""
    surface: str = ""
    surface_height: float | None = None
    outline: tuple[tuple[float, float], ...] = ()
    semi_axes: tuple[float, ...] = ()
    frame_rate: float | None = None
    size: tuple[float, ...] = ()
    made_from: tuple[str, ...] = ()
    licence: str = "unknown"
    citation: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether it stands in for real data."""
        return self.kind in (EMBEDDED, GENERATED)

    @property
    def downloaded(self) -> bool:
        """Whether its files come from the network."""
        return self.kind in DOWNLOADED

    @property
    def archive(self) -> str:
        """Name of the archive that it is read from: datasets of one DOI share one."""
        if self.kind != FOURTU:
            return self.name
        words = [parse_doi(self.source).suffix, *self.title.split()]
        # it becomes a folder's name
        return "4tu_" + re.sub(r"\W+", "", "_".join(words))


def load_registry(path: str | Path, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Dataset]:
    """Datasets by name: those of the file, and the user's, which must not take a name that is there
    already.

    The file lies in a folder of the repository, and names embedded datasets from the repository's
    own.
    """
    registry: dict[str, Dataset] = {}
    with Path(path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            dataset = _from_row(row, path)
            if dataset.kind == EMBEDDED:
                dataset = replace(dataset, source=str(Path(path).parents[1] / dataset.source))
            registry[dataset.name] = dataset
    for name, entry in own.items():
        if name in registry:
            raise ContactIdError(
                f"configuration: datasets.{name} is a dataset of config/datasets.tsv",
                "Rename yours",
            )
        source = Path(entry["path"])
        if not source.exists():
            raise ContactIdError(
                f"configuration: datasets.{name}.path: {source} does not exist", "Correct the path"
            )
        options = {key: entry[key] for key in entry if key not in ("path", "reader")}
        registry[name] = Dataset(
            name=name, kind=OWN, reader=entry["reader"], source=str(source), **options
        )
    for dataset in registry.values():
        if dataset.reader not in READERS:
            raise ContactIdError(
                f"configuration: datasets.{dataset.name}.reader is {dataset.reader!r}, but must be one of "
                f"{', '.join(READERS)}",
                "Name the one that understands the files",
            )
    return registry


def with_sizes(
    registry: Mapping[str, Dataset], sizes: Mapping[str, Iterable[float]]
) -> dict[str, Dataset]:
    """The registry with other sizes (m) of the boxes of these names (``tossing.box_sizes``).

    Raises :class:`ContactIdError` where no archive has a box of that name.
    """
    # of I.AM. archives alone: other readers have the box's size in the data
    boxes = sorted({dataset.object for dataset in registry.values() if dataset.reader == "iam"})
    for name in sizes:
        if name not in boxes:
            raise ContactIdError(
                f"configuration: tossing.box_sizes has {name}, a box of no archive",
                f"Boxes are {', '.join(boxes)}",
            )
    resized = dict(registry)
    for name, dataset in registry.items():
        if dataset.reader == "iam" and dataset.object in sizes:
            resized[name] = replace(dataset, size=tuple(sizes[dataset.object]))
    return resized


def _from_row(row: Mapping[str, Any], path: str | Path) -> Dataset:
    names = Dataset.__dataclass_fields__
    fields: dict[str, Any] = {name: row[name] or "" for name in row if name in names}
    try:
        height = fields.get("surface_height")
        fields["surface_height"] = float(height) if height else None
        patterns = fields.get("made_from", "").split(", ")
        fields["made_from"] = tuple(filter(None, patterns))
        dataset = Dataset(**fields)
    except (TypeError, ValueError) as error:
        raise ContactIdError(
            f"{path}: the row of {row.get('name')!r} is wrong ({error})", "Correct it"
        ) from None
    if dataset.kind == FOURTU:
        doi = parse_doi(dataset.source)
        if doi.is_collection != bool(dataset.title):
            raise ContactIdError(
                f"{path}: {dataset.name} needs a title if and only if {doi} is a collection",
                "Correct the row",
            )
    return dataset


def archives_of(registry: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """One dataset for each downloaded archive, in the registry's order."""
    archives: dict[str, Dataset] = {}
    for dataset in registry.values():
        if dataset.downloaded:
            archives.setdefault(dataset.archive, dataset)
    return archives


def pick(registry: Mapping[str, Dataset], name: str) -> Dataset:
    """The dataset of that name.

    Raises :class:`ContactIdError` for an unknown name; the nearest known one is suggested.
    """
    if name not in registry:
        near = difflib.get_close_matches(name, list(registry), n=1)
        hint = f"Did you mean {near[0]}" if near else f"Known are {', '.join(registry)}"
        raise ContactIdError(
            f"configuration: unknown dataset {name}", f"{hint}, or add it under datasets"
        )
    return registry[name]


def check_reader(registry: Mapping[str, Dataset], name: str, reader: str, key: str) -> None:
    """Raise :class:`ContactIdError` where a key of the configuration names a dataset of another
    kind.
    """
    named = pick(registry, name).reader
    if named != reader:
        datasets = [dataset.name for dataset in registry.values() if dataset.reader == reader]
        raise ContactIdError(
            f"configuration: {key} is {name}, which the reader {named} reads",
            f"It takes data for {reader}: {', '.join(datasets)}",
        )
