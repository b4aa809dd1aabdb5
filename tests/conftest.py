"""Property tests draw the same examples in every run; `pytest --hypothesis-profile=search` draws
new ones.
"""

import os
import sys

import pytest
from hypothesis import settings

# before anything loads NumPy: with two threads of linear algebra in each of two workers, threads wait
# for each other. Jobs of a run have one, too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "repeatable", derandomize=True, deadline=None
)  # a busy machine fails no law
settings.register_profile("search", derandomize=False)
settings.load_profile("repeatable")

# whole runs, begun first, the longest before the others: else one process would end with them while
# the other has nothing left to do
LONG = ("test_run.py", "test_recipes.py", "test_own_boxes.py", "test_elsewhere.py")


def pytest_collection_modifyitems(items):
    turn = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: turn.get(item.path.name, len(LONG)))


@pytest.fixture(autouse=True)
def figures_closed():
    """Pyplot keeps each figure that it opened and warns at the twentieth, in whichever test that
    then is.
    """
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
