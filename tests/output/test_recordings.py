"""Which recordings a run had: nothing simulated is called a recording, and no recording is left
out.
"""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from contactid.output import recordings as module
from contactid.output.recordings import OTHERS, PAPERS, TWINS, kind_of, made_from, run_had

CARDS = st.lists(
    st.builds(
        lambda of_the_paper, synthetic: {
            "of_the_paper": of_the_paper,
            "synthetic": synthetic and not of_the_paper,
        },
        st.booleans(),
        st.booleans(),
    ),
    max_size=5,
)


def test_the_example_of_the_docstring():
    assert doctest.testmod(module).failed == 0


@given(CARDS)
def test_a_run_names_what_it_had_and_nothing_else(cards):
    kinds = {kind_of(card) for card in cards}
    for sentence in (run_had("This run", cards), made_from(cards)):
        assert {kind for kind in (PAPERS, OTHERS, TWINS) if kind in sentence} == kinds
        assert bool(sentence) == bool(cards)
    assert ("no recordings" in run_had("This run", cards)) == (kinds == {TWINS})
