"""The study's recordings: sources, their objects and seeds, and where the paper prints what it
found from them.

Nothing heavy is imported, since rules need these names.
"""

from __future__ import annotations

from collections.abc import Iterable

SIMULATION, WRIST, IN_HAND_VISION, IN_HAND_KINEMATIC = (
    "simulation",
    "wrist_ft",
    "in_hand_vision",
    "in_hand_kinematic",
)
_GUESS = "a guess: unlabelled in print"
SOURCES = (SIMULATION, WRIST, IN_HAND_VISION, IN_HAND_KINEMATIC)
IN_HAND = (IN_HAND_VISION, IN_HAND_KINEMATIC)
SOURCE_LABELS = {
    SIMULATION: "simulation",
    WRIST: "wrist force-torque sensor",
    IN_HAND_VISION: f"in hand, tracked by vision ({_GUESS})",
    IN_HAND_KINEMATIC: f"in hand, tracked by relaxed rigidity ({_GUESS})",
}
NOISE_LEVELS = tuple(f"noise_level_{level}" for level in range(5))
BOXES = tuple(f"box_{number}" for number in range(5))
OBJECTS = {SIMULATION: NOISE_LEVELS, WRIST: BOXES, IN_HAND_VISION: BOXES, IN_HAND_KINEMATIC: BOXES}

# The paper's appendix, and its box plots of the inertial error. Which of two in-hand ones is
# vision's is a guess.
APPENDIX_TABLES = {
    SIMULATION: "tabA1_simulation",
    WRIST: "tabA2_wrist",
    IN_HAND_VISION: "tabA3_inhand_vision",
    IN_HAND_KINEMATIC: "tabA4_inhand_kinematic",
}
ERROR_FIGURES = {
    SIMULATION: "fig07_simulation",
    WRIST: "fig08_wrist",
    IN_HAND_VISION: "fig10_inhand_vision",
    IN_HAND_KINEMATIC: "fig11_inhand_kinematic",
}

#: Parts of an estimator, which the ablation combines.
ABLATED = ("bias", "constraint", "hull_prior", "differences", "weights")


def simulated(seeds: Iterable[int], sources: Iterable[str] = SOURCES) -> list[tuple[str, str, int]]:
    """Source, object and seed of every recording of the twins."""
    numbers = list(seeds)
    return [
        (source, name, seed) for source in sources for name in OBJECTS[source] for seed in numbers
    ]


def recording_names(seeds: Iterable[int], sources: Iterable[str] = SOURCES) -> list[str]:
    """Names of the recordings in the same order, for example ``in_hand_vision_box_4_1``."""
    return ["_".join(map(str, one)) for one in simulated(seeds, sources)]
