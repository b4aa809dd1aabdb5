"""Files of tosses, as the registry's readers read them: ContactNets' ``.pt`` and I.AM. archives.

Tosses of the ContactNets layout are a folder with ``.pt`` files, with or without
``tosses_processed/`` and ``params_processed/experiment.json``; those of the I.AM. layout a ``.h5``
file or a folder with such files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.motion import read_data, read_dataset
from contactid.sources.registry import OWN, READERS, Dataset
from contactid.tossing.readers.iam_fields import entered, open_archive
from contactid.tossing.readers.iam_recording import bodies_with_inertia

ARCHIVES, TENSORS = (".h5", ".hdf5"), (".pt",)
EXPERIMENT = "params_processed/experiment.json"
_PUBLISHED = "tosses_processed"


def read_motion(
    paths: Sequence[str | Path], known: Collection[str], object_name: str = "", surface: str = ""
) -> xr.Dataset:
    """The canonical dataset of files, by way of one as in a run; of several boxes the ``known``
    one.

    Attributes ``assumed``: body and frame rate aren't said there; ``placed``: the file places the
    surface.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, kind = _source([Path(path) for path in paths], Path(folder))
        if kind == "iam" and not object_name:
            object_name = _only_object(source, known)
        entry = Dataset("tosses", OWN, kind, str(source), object=object_name, surface=surface)
        data = str(Path(folder) / "motion.nc")
        try:
            read_data(READERS[kind].read, vars(entry), str(source), data)
        except ContactIdError as error:
            texts = (
                text.replace(str(source), str(paths[0])) for text in (error.problem, error.remedy)
            )
            raise ContactIdError(*texts) from None
        assumed = kind == "contactnets" and not (source / EXPERIMENT).exists()
        called = f"{paths[0]} and {len(paths) - 1} more files" if paths[1:] else str(paths[0])
        about = {"assumed": int(assumed), "placed": int(kind == "iam")}
        return read_dataset(data).assign_attrs(source=called, **about)


def _source(paths: Sequence[Path], folder: Path) -> tuple[Path, str]:
    """What a reader is given, and its name; several files are put together in a folder."""
    kinds = {_kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise ContactIdError(
            f"{', '.join(map(str, paths[:3]))}: both .pt tosses and .h5 archives",
            "Predict them apart",
        )
    kind, first = kinds.pop(), paths[0]
    if len(paths) == 1 and (first.is_dir() or kind == "iam"):
        return first if kind == "iam" else _with_experiment(first), kind
    gathered = folder / "tosses"
    gathered.mkdir()
    for path in paths:
        # readers take a folder; links cost no copies
        link = gathered / path.name
        if link.exists():
            raise ContactIdError(
                f"{path}: another file of this name is given", "Rename one of them"
            )
        link.symlink_to(path.resolve())
    experiment = _with_experiment(first.absolute().parent) / EXPERIMENT
    if kind == "contactnets" and experiment.exists():
        (gathered / EXPERIMENT).parent.mkdir()
        (gathered / EXPERIMENT).symlink_to(experiment.resolve())
    return gathered, kind


def _kind_of(path: Path) -> str:
    """The reader of a file, or of the files in a folder."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    suffixes = {file.suffix.lower() for file in files if file.is_file()}
    kinds = [
        kind
        for kind, endings in (("iam", ARCHIVES), ("contactnets", TENSORS))
        if suffixes & {*endings}
    ]
    if len(kinds) == 1:
        return kinds[0]
    said = "both .pt tosses and .h5 archives" if kinds else "no .pt toss and no .h5 archive there"
    raise ContactIdError(f"{path}: {said}", "Give a folder of tosses, or files of one kind")


def _with_experiment(folder: Path) -> Path:
    """The folder above ``tosses_processed`` where that has the experiment file."""
    above = folder.absolute().parent
    return (
        above if folder.absolute().name == _PUBLISHED and (above / EXPERIMENT).exists() else folder
    )


def _only_object(source: Path, known: Collection[str]) -> str:
    """The box in the archives; of several the known one."""
    files = [source] if source.is_file() else sorted(source.rglob("*"))
    found: set[str] = set()
    for file in files:
        if file.suffix.lower() in ARCHIVES and file.is_file():
            with open_archive(file) as archive:
                for key in archive:
                    if key.startswith("Rec_") and (group := entered(archive, key)) is not None:
                        found |= bodies_with_inertia(group)
    if not found:
        raise ContactIdError(
            f"{source}: no body with an inertia in any recording",
            "Is this an I.AM. archive with Rec_ groups?",
        )
    chosen = found if len(found) == 1 else found & set(known)
    if len(chosen) != 1:
        raise ContactIdError(
            f"{source}: holds tosses of {', '.join(sorted(found))}",
            "Name one of them: --object (make: OBJECT=)",
        )
    return chosen.pop()
