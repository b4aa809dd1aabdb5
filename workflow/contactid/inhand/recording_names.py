"""Names of the in-hand study's recordings; nothing heavy is imported, since rules need them."""

from __future__ import annotations

from collections.abc import Iterable

from contactid.inhand.names import OBJECTS, SOURCES


def recording_name(source: str, object_name: str, seed: int) -> str:
    """For example ``in_hand_vision_box_4_1``."""
    return f"{source}_{object_name}_{seed}"


def recordings(seeds: Iterable[int]) -> list[tuple[str, str, int]]:
    """Source, object and seed of every recording of the twins."""
    numbers = list(seeds)
    return [(source, name, seed) for source in SOURCES for name in OBJECTS[source] for seed in numbers]


def shard_recordings(source: str, seed: int) -> list[str]:
    """Names of the recordings that one job estimates: a source's, of one seed."""
    return [recording_name(source, name, seed) for name in OBJECTS[source]]


def recording_names(seeds: Iterable[int]) -> list[str]:
    """Names of every recording of the twins."""
    return [recording_name(*recording) for recording in recordings(seeds)]
