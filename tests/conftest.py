"""Property tests draw the same examples in every run; `pytest --hypothesis-profile=search` draws new ones."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("repeatable")
