"""What is true of a twin, from its file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.tossing.readers.iam_fields import open_archive, text_of
from contactid.tossing.simulate.box import ContactParameters, State
from iam_twins import MocapNoise, RecordingTruth, TwinTruth


def read_truth(path: str | Path) -> TwinTruth:
    """What :func:`write_twin` put into a file."""
    with open_archive(Path(path)) as archive:
        if "TRUTH" not in archive:
            raise ContactIdError(f"{path}: holds no truth", "Only synthetic twins have one")
        group = archive["TRUTH"]
        attributes = dict(group.attrs)
        columns = {name: group[name][()] for name in group}
    recordings = {
        name.decode(): RecordingTruth(
            release_sample=int(columns["release_sample"][index]),
            impact_sample=int(columns["impact_sample"][index]),
            rest_sample=None
            if columns["rest_sample"][index] < 0
            else int(columns["rest_sample"][index]),
            release=State(
                **{field.name: columns[f"release_{field.name}"][index] for field in fields(State)}
            ),
            surface_position=columns["surface_position"][index],
            surface_orientation=columns["surface_orientation"][index],
            surface_velocity=columns["surface_velocity"][index],
            **{key: columns[key][index].decode() for key in ("plane", "damage") if key in columns},
        )
        for index, name in enumerate(columns["recording"])
    }
    return TwinTruth(
        object_name=text_of(attributes["object"]),
        role=text_of(attributes["role"]),
        parameters=ContactParameters(
            **{f.name: float(attributes[f.name]) for f in fields(ContactParameters)}
        ),
        noise=MocapNoise(
            **{f.name: float(attributes[f"noise_{f.name}"]) for f in fields(MocapNoise)}
        ),
        seed=int(attributes["seed"]),
        recordings=recordings,
    )
