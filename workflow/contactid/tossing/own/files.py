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
        return read_dataset(data).assign_attrs(
            source=_called(paths), assumed=int(assumed), placed=int(kind == "iam")
        )


def _called(paths: Sequence[str | Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more files"


def _source(paths: Sequence[Path], folder: Path) -> tuple[Path, str]:
    """What a reader is given, and its name; several files are put together in a folder."""
    for path in paths:
        if not path.exists():
            raise ContactIdError(
                f"{path}: no such file or folder", "Give a folder of .pt tosses, or a .h5 archive"
            )
    if len(paths) == 1 and paths[0].is_dir():
        return _source_folder(paths[0])
    kinds = {_kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise ContactIdError(
            f"{paths[0]}: not of one kind with the others",
            "Predict .pt tosses and .h5 archives apart",
        )
    kind = kinds.pop()
    if kind == "iam" and len(paths) == 1:
        return paths[0], kind
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
    experiment = _with_experiment(paths[0].absolute().parent) / EXPERIMENT
    if kind == "contactnets" and experiment.exists():
        (gathered / EXPERIMENT).parent.mkdir()
        (gathered / EXPERIMENT).symlink_to(experiment.resolve())
    return gathered, kind


def _kind_of(path: Path) -> str:
    if path.is_file() and path.suffix.lower() in ARCHIVES:
        return "iam"
    if path.is_file() and path.suffix.lower() in TENSORS:
        return "contactnets"
    raise ContactIdError(
        f"{path}: neither a .pt toss nor a .h5 archive", "Give one folder, or files of one kind"
    )


def _source_folder(folder: Path) -> tuple[Path, str]:
    tensors = any(folder.glob("*.pt")) or any((folder / _PUBLISHED).glob("*.pt"))
    archives = any(file.suffix.lower() in ARCHIVES for file in folder.rglob("*"))
    if tensors and archives:
        raise ContactIdError(
            f"{folder}: holds both .pt tosses and .h5 archives", "Predict them apart"
        )
    if archives:
        return folder, "iam"
    if not tensors:
        raise ContactIdError(
            f"{folder}: no tosses there (looked for *.pt, {_PUBLISHED}/*.pt, *.h5 and *.hdf5)",
            "Name another folder",
        )
    return _with_experiment(folder), "contactnets"


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
