"""DOIs of 4TU.ResearchData: what is said comes back, what isn't one is refused."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.registry import FourTuDoi, parse_doi

IDENTIFIERS = st.one_of(st.integers(min_value=1, max_value=10**9).map(str), st.uuids().map(str))


@given(IDENTIFIERS, st.none() | st.integers(min_value=1, max_value=99), st.booleans())
def test_every_doi_comes_back_as_it_was(identifier, version, collection):
    suffix = f"c.{identifier}" if collection else identifier
    doi = FourTuDoi(suffix, identifier, version, collection)
    assert parse_doi(str(doi)) == doi
    assert parse_doi(f"https://doi.org/{doi}") == parse_doi(f" DOI: {str(doi).upper()} ") == doi


@given(st.text(max_size=40))
def test_anything_is_a_doi_or_a_plain_error(text):
    for tried in (text, "10.4121/" + text):
        try:
            assert str(parse_doi(tried)).startswith("10.4121/")
        except ContactIdError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "identifier", "version", "collection"),
    [
        ("10.4121/21024007.v2", "21024007", 2, False),
        ("10.4121/21024007", "21024007", None, False),
        ("10.4121/c.6278310", "6278310", None, True),
        ("http://dx.doi.org/10.4121/c.6278310.v1", "6278310", 1, True),
        (
            "10.4121/uuid:1f8f4c1e-0000-4f5a-9d0c-0123456789ab",
            "",
            None,
            False,
        ),  # says nothing: it has to be looked up
        ("10.4121/21024007.v0", "", None, False),
    ],
)
def test_the_forms_there_are(text, identifier, version, collection):
    doi = parse_doi(text)
    assert (doi.identifier, doi.version, doi.is_collection) == (identifier, version, collection)


@pytest.mark.parametrize(
    "text", ["", "21024007", "10.5281/zenodo.1", "10.4121/", "10.4121", "10.4121/a b"]
)
def test_others_are_refused(text):
    with pytest.raises(
        ContactIdError, match=r"is no DOI of 4TU\.ResearchData. Those begin with 10\.4121/"
    ):
        parse_doi(text)


def test_a_version_is_set():
    doi = parse_doi(f"10.4121/{uuid.UUID(int=5)}")
    assert str(doi.at(3)) == f"{doi}.v3" and doi.version is None
