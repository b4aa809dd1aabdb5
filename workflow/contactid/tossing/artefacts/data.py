"""Which tosses a table or figure shows, and what it says of where they come from.

Functions that compute artefacts are given by name what they ask for:

* ``prepared``, ``datasets``: files of prepared tosses, and the datasets' names;
* ``cases``, ``impact_cases``: (identified on, predicted on) of parameters from trajectories and
  from impacts;
* ``figures``: ``object`` of the example, ``tosses`` drawn per object, and the ``seed`` that draws
  them;
* ``block``: the study's block of the configuration;
* other lists of files are in the order of the cases, or of the datasets that these are identified
  on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.computing import Shown
from contactid.sources.motion import iterate_recordings, read_dataset
from contactid.tossing.prepare.poses import top_outline

Case = tuple[str, str]  # identified on, predicted on


@cache
def _read(file: str) -> xr.Dataset:
    return read_dataset(file)


def by_name(files: Sequence[str], names: Sequence[str]) -> dict[str, xr.Dataset]:
    """Datasets from files, by their names; each file is read once in a job."""
    return {name: _read(file) for name, file in zip(names, files, strict=True)}


def data_label(dataset: xr.Dataset) -> str:
    """``synthetic twin`` or the source's name."""
    return "synthetic twin" if dataset.attrs["synthetic"] else str(dataset.attrs["source"])


def object_of(dataset: xr.Dataset) -> str:
    """The name of what was tossed."""
    return str(dataset.attrs["object"])


def shown(table: pd.DataFrame, prepared: Mapping[str, xr.Dataset], names: Iterable[str]) -> Shown:
    """A figure's table, with the datasets behind it, by name of the prepared ones, and the line
    that says so in it.
    """
    behind = {name: prepared[name] for name in names}
    return Shown(table, data=_describe(behind.values()), datasets=[*behind])


def _describe(datasets: Collection[xr.Dataset]) -> str:
    objects = ", ".join(dict.fromkeys(map(object_of, datasets)))
    kinds = {bool(dataset.attrs["synthetic"]) for dataset in datasets}
    sources = ", ".join(dict.fromkeys(str(dataset.attrs["source"]) for dataset in datasets))
    if kinds == {True}:
        return f"synthetic data: twins of {objects}"
    return f"{'recorded' if kinds == {False} else 'recorded and synthetic'} data: {sources}"


def outline_from_above(
    pose: np.ndarray, vertices: np.ndarray, origin: np.ndarray, **about: Any
) -> pd.DataFrame:
    """A row per corner of a body at a pose (7,): ``corner``, ``x_m``, ``y_m`` from an origin (2,)
    in C, and more.
    """
    outline = pd.DataFrame(top_outline(pose, vertices) - origin, columns=["x_m", "y_m"])
    return outline.rename_axis("corner").reset_index().assign(**about)


def identified(cases: Sequence[Case]) -> list[str]:
    """The datasets that parameters are identified on."""
    return list(dict.fromkeys(on for on, _ in cases))


def of_cases(cases: Iterable[Case]) -> list[str]:
    """The datasets of cases: those that are identified on, and those that are predicted."""
    return list(dict.fromkeys(name for case in cases for name in case))


def example(prepared: Mapping[str, xr.Dataset], cases: Sequence[Case], wanted: str) -> str:
    """The identification dataset that shows the object ``wanted``; the first one where none does."""
    names = identified(cases)
    return next((name for name in names if object_of(prepared[name]) == wanted), names[0])


def two_cases(
    prepared: Mapping[str, xr.Dataset], cases: Sequence[Case], wanted: str
) -> Sequence[Case]:
    """The example's case and the one before it (the paper shows Box005 and Box006), or all there
    are.
    """
    place = identified(cases).index(example(prepared, cases, wanted))
    first = max(min(place - 1, len(cases) - 2), 0)
    return cases[first : first + 2]


def example_toss(prepared: xr.Dataset) -> xr.Dataset:
    """The usable toss with the median horizontal travel from release to rest: neither the best nor
    the worst.

    Tumbling tosses and moving surfaces are left out; where there are no others, it is the first
    usable toss.
    """
    usable = [
        samples for _, samples in iterate_recordings(prepared) if not str(samples["reason"].values)
    ]
    still = [
        toss for toss in usable if not int(toss["tumbled"]) and not np.any(toss["surface_velocity"])
    ]

    def travel(toss: xr.Dataset) -> float:
        path = toss["position"].values
        return float(np.linalg.norm(path[int(toss["rest"]), :2] - path[int(toss["release"]), :2]))

    return sorted(still, key=travel)[len(still) // 2] if still else usable[0]
