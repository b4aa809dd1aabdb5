"""Stand-ins of the nine archives of the tossing paper, in the layout that the authors' scripts
write and read.
"""

from __future__ import annotations

from pathlib import Path

from iam_twins import TwinTruth, write_twin

# dataset of the registry: its file's name, object, role, on a running belt
ARCHIVES = {
    "iam_box004_drops": ("003.h5", "Box004", "drops", 0),
    "iam_box005_drops": ("003.h5", "Box005", "drops", 0),
    "iam_box006_drops": ("005.h5", "Box006", "drops", 0),
    "iam_box004_trajectories": ("017.h5", "Box004", "trajectories", 0),
    "iam_box005_trajectories": ("009.h5", "Box005", "trajectories", 0),
    "iam_box006_trajectories": ("008.h5", "Box006", "trajectories", 0),
    "iam_box007_trajectories": ("019.h5", "Box007", "trajectories", 0),
    "iam_box004_validation": ("018.h5", "Box004", "validation", 2),
    "iam_box005_validation": ("011.h5", "Box005", "validation", 2),
    "iam_box006_validation": ("011.h5", "Box006", "validation", 2),
    "iam_box007_validation": ("020.h5", "Box007", "validation", 2),
}


def write_standins(
    folder: Path, n_recordings: int, damaged: int, seed: int
) -> dict[str, tuple[Path, TwinTruth]]:
    """All nine archives; by dataset of the registry the file and what is true of it."""
    made: dict[str, tuple[Path, TwinTruth]] = {}
    for name, (file, box, role, n_moving) in ARCHIVES.items():
        path = folder / file
        truth = write_twin(
            path,
            box,
            role,
            n_recordings,
            seed,
            n_moving=n_moving,
            damaged=damaged,
            append=path.exists(),
        )
        made[name] = path, truth
    return made
