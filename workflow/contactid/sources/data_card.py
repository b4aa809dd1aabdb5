"""A dataset's card: what it is, how much, how noisy, from where, under which licence, and what was left out of it.

The card is a JSON file; :mod:`contactid.sources.draw_card` draws the signals in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.card_signals import SIGNALS
from contactid.sources.left_out import left_out_of
from contactid.sources.motion import opened_dataset
from contactid.sources.registry import Dataset


def make_card(dataset: Dataset, data: str | Path, raw: str | Path) -> dict[str, Any]:
    """The card of a dataset.

    Parameters
    ----------
    dataset
        The registry's entry.
    data
        The canonical file.
    raw
        The file or folder that it was read from.

    Returns
    -------
    dict
        ``name``, ``study``, ``what``, ``object``, ``synthetic``; ``recordings``, ``samples``, ``duration_s``,
        ``shortest_s``, ``longest_s`` (None without time), ``sample_frequency_hz``, ``gaps``, ``left_out`` (recording:
        reason), ``noise`` (quantity: standard deviation); ``licence``, ``citation``, ``source``, ``version``,
        ``files``, ``bytes``, ``sha256``; ``panels``, what :mod:`contactid.sources.draw_card` draws.

    Raises
    ------
    ContactIdError
        For a reader without a card, and where a file can't be read.
    """
    if dataset.reader not in SIGNALS:
        raise ContactIdError(
            f"configuration: {dataset.name} has the reader {dataset.reader}, of whose data there is no card",
            f"Known are {', '.join(SIGNALS)}",
        )
    with opened_dataset(data) as canonical:
        signals = SIGNALS[dataset.reader](canonical)
        attributes = dict(canonical.attrs)
    interval = attributes.get("sample_interval")
    frequency = 1.0 / float(interval) if interval else float(attributes["sample_frequency"])
    durations = np.array(signals.durations)
    return {
        "name": dataset.name,
        "study": dataset.study,
        "what": signals.what,
        "object": str(attributes.get("object", "")),
        "synthetic": bool(attributes["synthetic"]),
        "recordings": signals.recordings,
        "samples": signals.samples,
        "duration_s": _digits(durations.sum()) if len(durations) else None,
        "shortest_s": _digits(durations.min()) if len(durations) else None,
        "longest_s": _digits(durations.max()) if len(durations) else None,
        "sample_frequency_hz": _digits(frequency),
        "gaps": signals.gaps,
        "left_out": left_out_of(attributes),
        "noise": signals.noise,
        "licence": str(attributes["licence"]),
        "citation": dataset.citation,
        "source": dataset.source,
        "version": dataset.version,
        **_files(Path(raw)),
        "panels": [asdict(panel) for panel in signals.panels],
    }


def headline(card: dict[str, Any]) -> str:
    """How much there is, in one line."""
    duration = "" if card["duration_s"] is None else f", {card['duration_s']:.4g} s"
    left_out = f", {len(card['left_out'])} left out" if card["left_out"] else ""
    return (
        f"{card['recordings']} recordings, {card['samples']} samples{duration} at {card['sample_frequency_hz']:.4g} Hz"
        f"{left_out}"
    )


def _files(raw: Path) -> dict[str, Any]:
    """Number, size and checksum of the files; a folder's checksum is that of the list ``checksum  name``, sorted."""
    try:
        files = [raw] if raw.is_file() else sorted(file for file in raw.rglob("*") if file.is_file())
        lines = []
        for file in files:
            with file.open("rb") as stream:
                lines.append((hashlib.file_digest(stream, "sha256").hexdigest(), file))
        size = sum(file.stat().st_size for file in files)
    except OSError as error:
        raise ContactIdError(f"{raw}: cannot be read ({error.strerror})", "Check the path") from None
    if raw.is_file():
        checksum = lines[0][0]
    else:
        listed = "".join(f"{digest}  {file.relative_to(raw).as_posix()}\n" for digest, file in lines)
        checksum = hashlib.sha256(listed.encode()).hexdigest()
    return {"files": len(files), "bytes": size, "sha256": checksum}


def _digits(value: float) -> float:
    return float(f"{value:.6g}")
