"""Property tests draw the same examples in every run; `pytest --hypothesis-profile=search` draws
new ones.
"""

import sys

import pytest
from hypothesis import settings

settings.register_profile(
    "repeatable", derandomize=True, deadline=None
)  # a busy machine fails no law
settings.register_profile("search", derandomize=False)
settings.load_profile("repeatable")

# whole runs, begun first, so that the other processes do the rest meanwhile
LONG = ("test_run.py", "test_recipes.py")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(autouse=True)
def figures_closed():
    """Pyplot keeps each figure that it opened and warns at the twentieth, in whichever test that
    then is.
    """
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
