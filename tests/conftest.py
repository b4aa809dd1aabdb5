"""Property tests draw the same examples in every run; `pytest --hypothesis-profile=search` draws new ones."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)  # a busy machine fails no law
settings.register_profile("search", derandomize=False)
settings.load_profile("repeatable")
