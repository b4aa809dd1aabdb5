"""The study's settings: what no twin, search or estimate can work with is refused where it is
written.
"""

from pathlib import Path

import pytest
import yaml

from contactid.core.configuration import check_configuration
from contactid.core.errors import ContactIdError

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
HAND = "twin.sources.in_hand_vision"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("twin.samples", 2),
        ("twin.time_step", 0.0),
        ("twin.force_levels", [0.0, 0.1, 0.2, 0.3, -0.4]),
        (f"{HAND}.motion.frequencies", []),
        (f"{HAND}.motion.frequencies", [0.0]),
        (f"{HAND}.motion.displacement", -0.1),
        (f"{HAND}.motion.ramp", 0.0),
        (f"{HAND}.grip.safety", 0.5),
        (f"{HAND}.pose.white", [-1.0, 0.0]),
        (f"{HAND}.pose.drift_time", 0.0),
        (f"{HAND}.force.floor", -1.0),
        (f"{HAND}.residual.transient_time", 0.0),
        ("twin.breaks.length", 0.0),
        ("twin.least.force", 0.0),
        ("grasp_figures.contact_finger", "little"),
        ("identifiability.seed", -1),
        ("strength.motions", ["wild"]),
        ("estimates.seeds", []),
        ("estimates.seeds", [-1]),
        ("estimates.methods.factor_graph", ["baseline"]),
        ("estimates.methods.likelihood", ["baseline"]),
        ("graph.scheme", "forward"),
        ("strength.sources", ["simulation"]),
        ("speed.source", "elsewhere"),
        ("speed.object", "noise_level_7"),
        ("differences.object", "box_9"),
        ("force_sensing.models", ["lienar"]),
        ("friction.normal_rate", 0.0),
    ],
)
def test_impossible_settings_are_refused_by_name(key, value):
    configuration = yaml.safe_load((ROOT / "config/default.yaml").read_text(encoding="utf-8"))
    block = configuration["inhand"]
    *outer, last = key.split(".")
    for name in outer:
        block[name] = dict(block[name])
        block = block[name]
    block[last] = value
    with pytest.raises(ContactIdError, match=f"inhand.{key}"):
        check_configuration(configuration, SCHEMA)
