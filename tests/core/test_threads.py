"""One thread for linear algebra."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import contactid
from contactid.core.threads import one_blas_thread


def blas_threads() -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@one_blas_thread
def inside(fails: bool) -> set[int]:
    """What it sees."""
    if fails:
        raise ValueError("no matter")
    return blas_threads()


def test_a_call_has_one_thread_and_the_caller_its_own_again():
    with threadpool_limits(limits=2, user_api="blas"):
        assert inside(fails=False) == {1}
        with pytest.raises(ValueError, match="no matter"):
            inside(fails=True)
        assert blas_threads() == {2}
    assert inside.__name__ == "inside" and inside.__doc__ == "What it sees."


@pytest.mark.parametrize("name", ["estimate", "identify", "impact", "predict", "slip", "toss"])
def test_every_public_call_is_limited(name, monkeypatch):
    function = getattr(contactid, name)
    with threadpool_limits(limits=2, user_api="blas"):
        seen = []
        monkeypatch.setattr(
            "contactid.core.threads.threadpool_limits",
            lambda **limits: seen.append(limits) or threadpool_limits(**limits),
        )
        with pytest.raises(TypeError):
            function()
    assert seen == [{"limits": 1, "user_api": "blas"}]
