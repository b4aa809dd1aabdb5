"""Sizes of screens, CSS pixels, and what can be seen on them."""

WIDE, NARROW = (1280, 900), (360, 740)
#: Addresses of views of every kind, within the page.
VIEWS = (
    "#overview",
    "#differences",
    "#words",
    "#tossing",
    "#tossing-tab03",
    "#planar-fig12",
    "#playback",
    "#data",
    "#provenance",
    "#find/friction",
)
