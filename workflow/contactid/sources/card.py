"""A dataset's card: what it is, how much, how noisy, from where, and what was left out of it.

The card is a JSON file, with a picture of a few of its signals. What it says of the signals comes
from the study whose canonical form they have (:attr:`contactid.sources.registry.Reader.signals`).

Noise is estimated as if it were white, from third differences: those of a smooth signal are small,
while those of white noise have 1 + 9 + 9 + 1 = 20 times its variance. The median absolute value
makes impacts and jumps count little. What varies slowly, like the drift of a motion capture system,
doesn't show.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.references import resolve
from contactid.output.fits import write_json
from contactid.sources.lockfile import LockedArchive, listing
from contactid.sources.motion import opened_dataset
from contactid.sources.origin import origin
from contactid.sources.registry import Dataset

FORMATS = ("png", "svg")
_HEIGHT = 2.2  # inches
_MOST_LABELS = 7
# recordings in a panel
_SHOWN = 6
# of a line: as many as a printed panel resolves
_MOST_POINTS = 400
# median absolute value of a standard normal
_SIGMA_OF_MEDIAN = 0.6745
# of third differences, whose squared coefficients 1, 9, 9 and 1 add up to 20
_WHITE_NOISE_GAIN = np.sqrt(20.0)
# sample intervals; a longer step is a gap, a shorter one jitter
_GAP = 1.5
# samples, from which on a median of differences says something of the noise
_FEWEST = 8


@dataclass(frozen=True)
class Series:
    """One line or cloud of points; ``label`` is empty where it needs none."""

    x: list[float]
    y: list[float]
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """One small plot; ``kind`` is ``line`` or ``points``."""

    title: str
    x_label: str
    y_label: str
    series: list[Series]
    kind: str = "line"


@dataclass(frozen=True)
class Signals:
    """What a card says of a dataset's signals.

    Attributes
    ----------
    what : one sentence
    recordings, samples : how many
    durations : of each recording, s; empty where there is no time
    gaps : steps of the time that are longer than 1.5 sample intervals
    noise : standard deviation by quantity, the unit in its name, of each recording; NaN where it
        can't be estimated
    panels : to look at
    """

    what: str
    recordings: int
    samples: int
    durations: list[float]
    gaps: int
    noise: dict[str, list[float]]
    panels: list[Panel]


def white_noise(values: np.ndarray) -> float:
    """Standard deviation of white noise on a smooth signal (n,) or (n, k), all components together."""
    if len(values) < _FEWEST:
        return float("nan")
    return noise_of_differences(np.diff(values, 3, axis=0))


def noise_of_differences(third: np.ndarray) -> float:
    """The same from the signal's third differences."""
    return float(np.median(np.abs(third)) / _SIGMA_OF_MEDIAN / _WHITE_NOISE_GAIN)


def spread(count: int, most: int = _SHOWN) -> list[int]:
    """Up to ``most`` numbers, evenly over the recordings."""
    return sorted({int(index) for index in np.linspace(0, count - 1, min(count, most))})


def series(x: np.ndarray, y: np.ndarray, label: str = "") -> Series:
    """A line (n,) thinned out and rounded."""
    # rounded up: no line has more points
    step = -(-len(x) // _MOST_POINTS)
    return Series(rounded(x[::step]), rounded(y[::step]), label)


def rounded(values: np.ndarray) -> list[float]:
    """To the five digits that a picture shows."""
    return [float(f"{value:.5g}") for value in values]


def gaps(time: np.ndarray, interval: float) -> int:
    """How many steps of the time (n,) are longer than a sample ``interval`` (s) may be."""
    return int(np.count_nonzero(np.diff(time) > _GAP * interval))


# all in one job: Python and its imports take longer than a card
def make_cards(
    entries: Sequence[Mapping[str, Any]],
    locked: Sequence[Mapping[str, Any] | None],
    signals: Sequence[str],
    data: Sequence[str],
    raw: Sequence[str],
    cards: Sequence[str],
    figures: Sequence[str],
) -> None:
    """Write and draw the cards of datasets.

    Parameters
    ----------
    entries : the registry's
    locked : what the lock file says of each: ``name``, ``kind``, ``source``, ``base``,
        ``locked_on``; None for others
    signals : what says of each what is in it, as ``"contactid.module:function"``
    data, raw : the canonical file of each, and the file or folder that it was read from
    cards, figures : to write; of figures :data:`FORMATS` for each
    """
    pictures = figures[:: len(FORMATS)]
    for entry, archive, function, canonical, source, card, picture in zip(
        entries, locked, signals, data, raw, cards, pictures, strict=True
    ):
        content = make_card(
            Dataset(**entry),
            function,
            canonical,
            source,
            LockedArchive(**archive) if archive else None,
        )
        draw_card(content, Path(picture).with_suffix(""))
        write_json(card, content)


def make_card(
    dataset: Dataset,
    function: str,
    data: str | Path,
    raw: str | Path,
    locked: LockedArchive | None = None,
) -> dict[str, Any]:
    """The card of one dataset; see :func:`make_cards`.

    Returns
    -------
    dict
        ``name``, ``study``, ``what``, ``object``, ``synthetic``; ``of_the_paper``, ``told`` and
        ``made_from`` of
        :class:`contactid.sources.origin.Origin`; ``recordings``, ``samples``, ``duration_s``,
        ``shortest_s``, ``longest_s``, ``sample_frequency_hz`` (None without time), ``gaps``,
        ``left_out`` (recording: reason), ``surfaces`` (name: recordings), ``remarks`` (recording:
        what was done to it), ``frames`` (flaw: frames that were bridged), ``noise`` (quantity:
        standard deviation); ``licence``, ``citation``, ``source``, ``version``, ``files``,
        ``bytes``, ``sha256``; ``panels``, what :func:`draw_card` draws.

    Raises
    ------
    ContactIdError : where a file can't be read
    """
    with opened_dataset(data) as canonical:
        signals = resolve(function)(canonical)
        attributes = dict(canonical.attrs)
    synthetic = bool(attributes["synthetic"])
    interval = attributes.get("sample_interval")
    frequency = 1.0 / float(interval) if interval else attributes.get("sample_frequency")
    # what a reader says of recordings, by their names
    by_recording = {}
    for name in ("left_out", "surfaces", "remarks", "frames"):
        by_recording[name] = json.loads(attributes.get(name, "{}"))
    # seconds; empty where a study's data have no time
    durations = np.array(signals.durations)
    return {
        "name": dataset.name,
        "study": dataset.study,
        "what": signals.what,
        "object": str(attributes.get("object", "")),
        "synthetic": synthetic,
        **origin(dataset, locked, synthetic)._asdict(),
        "recordings": signals.recordings,
        "samples": signals.samples,
        "duration_s": _digits(durations.sum()) if len(durations) else None,
        "shortest_s": _digits(durations.min()) if len(durations) else None,
        "longest_s": _digits(durations.max()) if len(durations) else None,
        "sample_frequency_hz": None if frequency is None else _digits(float(frequency)),
        "gaps": signals.gaps,
        **by_recording,
        "surfaces": dict(Counter(by_recording["surfaces"].values())),
        "noise": _medians(signals.noise),
        "licence": str(attributes["licence"]),
        "citation": dataset.citation,
        "source": dataset.source,
        "version": dataset.version,
        **files_of(_listed(Path(raw)), Path(raw).is_dir()),
        "panels": [asdict(panel) for panel in signals.panels],
    }


def headline(card: Mapping[str, Any]) -> str:
    """How much there is, in one line."""
    duration, frequency = card["duration_s"], card["sample_frequency_hz"]
    n_bridged = sum(card.get("frames", {}).values())
    amounts = [f"{card['recordings']} recordings", f"{card['samples']} samples"]
    if duration is not None:
        amounts.append(f"{duration:.4g} s")
    # of the duration, or where there is none of the samples
    if frequency is not None:
        amounts[-1] += f" at {frequency:.4g} Hz"
    if card["left_out"]:
        amounts.append(f"{len(card['left_out'])} left out")
    if n_bridged:
        amounts.append(f"{n_bridged} frames bridged")
    return ", ".join(amounts)


def _medians(noise: dict[str, list[float]]) -> dict[str, float]:
    """The median over recordings, to three digits; without the quantities that no recording tells."""
    medians = {}
    for name, values in noise.items():
        estimated = np.array(values)[np.isfinite(values)]
        if len(estimated):
            medians[name] = float(f"{np.median(estimated):.3g}")
    return medians


def _listed(raw: Path) -> list[dict[str, Any]]:
    try:
        return listing(raw)
    except OSError as error:
        raise ContactIdError(
            f"{raw}: cannot be read ({error.strerror})", "Check the path"
        ) from None


def files_of(files: Sequence[Mapping[str, Any]], in_folder: bool = True) -> dict[str, Any]:
    """Number, size and checksum of listed files."""
    if in_folder:
        # a folder's checksum is that of the list ``checksum  name``, sorted
        listed = "".join(f"{file['sha256']}  {file['name']}\n" for file in files)
        checksum = hashlib.sha256(listed.encode()).hexdigest()
    else:
        checksum = files[0]["sha256"]
    return {"files": len(files), "bytes": sum(file["size"] for file in files), "sha256": checksum}


def _digits(value: float) -> float:
    return float(f"{value:.6g}")


def draw_card(card: Mapping[str, Any], stem: str | Path) -> None:
    """Write the card's panels side by side as ``stem`` with the extensions of :data:`FORMATS`."""
    # here, as the report reads cards and draws none
    import matplotlib.pyplot as plt

    from contactid.output import style
    from contactid.output.escape import mathtext

    colours = plt.get_cmap("viridis")
    with style.styled():
        figure, places = plt.subplots(
            1, len(card["panels"]), figsize=(style.DOUBLE_COLUMN, _HEIGHT), squeeze=False
        )
        for panel, axes in zip(card["panels"], places[0], strict=True):
            lines = panel["series"]
            for number, line in enumerate(lines):
                if panel["kind"] == "points":
                    axes.plot(line["x"], line["y"], ".", color=style.LINE, ms=1.5, alpha=0.4)
                else:
                    # up to 0.9: the map's end is a yellow that white paper swallows
                    colour = colours(0.9 * number / max(len(lines) - 1, 1))
                    axes.plot(line["x"], line["y"], color=colour, lw=0.7, label=line["label"])
            if 1 < len(lines) <= _MOST_LABELS and panel["title"].startswith("joints"):
                axes.legend(fontsize=5, ncols=2)
            axes.set(xlabel=panel["x_label"], ylabel=panel["y_label"])
            axes.set_title(mathtext(panel["title"]), loc="left")
        figure.suptitle(
            mathtext(f"{card['name']}: {headline(card)}"), fontsize=8, x=0.01, ha="left"
        )
        making = "synthetic data" if card["synthetic"] else "measured data"
        style.label_data(figure, f"{making}; {card['what']}; licence: {card['licence']}")
        style.save(figure, stem, FORMATS)
        plt.close(figure)
