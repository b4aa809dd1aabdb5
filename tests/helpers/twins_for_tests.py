"""The study's own settings, objects and twins, in sizes that a test asks for."""

from pathlib import Path

import yaml

from contactid.inhand.readers.objects import load_objects
from contactid.inhand.readers.twins import twin_options

ROOT = Path(__file__).parents[2]
STUDY = yaml.safe_load((ROOT / "config/default.yaml").read_text(encoding="utf-8"))["inhand"]
OBJECTS_FILE = str(ROOT / "workflow/resources/inhand/objects.yaml")
SURFACES_FILE = str(ROOT / "workflow/resources/inhand/friction_objects.csv")
PUBLISHED_FILE = str(ROOT / "workflow/resources/published/inhand.csv")
OBJECTS = load_objects(OBJECTS_FILE)


def twins(**changes):
    """Options of the default configuration's twins with some changes."""
    return twin_options(STUDY["twin"] | changes, OBJECTS_FILE)
