"""What a 4TU server answers, in both versions' manners and others: understood, or refused in one
plain line.
"""

from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.fourtu_client import FourTuClient
from contactid.sources.registry import parse_doi
from datasets_for_tests import reply
from fault_server import IMPATIENT, Content, answer, page, serving, status

FILE = {"id": None, "uuid": "f-1", "name": "a b&ü.h5", "size": 5, "is_link_only": False, "is_incomplete": None,
        "download_url": "https://data.4tu.nl/file/c-1/f-1", "supplied_md5": None, "computed_md5": None}  # fmt: skip
DETAILS = {"uuid": "c-1", "title": "T", "version": 2, "doi": "10.4121/77.v2", "files": [FILE], "is_embargoed": False,
           "license": {"name": "CC0", "url": "https://example.org"}}  # fmt: skip
KEYS = st.sampled_from(sorted(DETAILS | FILE | {"embargo_date": 0, "name": 0}))
VERSION_2 = "/v2/articles/77/versions/2"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**12) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(DETAILS | FILE)), inner, max_size=4)
    ),
    max_leaves=8,
)


class ByPath:
    """Answers chosen by the path that is asked for, not by turn; in place of a server's list of
    faults.
    """

    def __init__(self, content, answers):
        self.content, self.answers = content, answers

    def __bool__(self):
        return True

    def popleft(self):
        found = self.answers.get(self.content.requests[-1][0], status(404))
        return found if callable(found) else reply(found)


@contextmanager
def server_with(answers):
    """A server with these answers by path, and the requests it has been asked."""
    with serving(Content(dict.fromkeys(answers, b""))) as content:
        content.faults = ByPath(content, answers)
        yield FourTuClient(content.url, IMPATIENT), content.requests


def asked(answers, question):
    """What ``question(client)`` finds there."""
    with server_with(answers) as (client, requests):
        return question(client), requests


def article(details, doi="10.4121/77.v2"):
    return asked({VERSION_2: details}, lambda client: client.article(parse_doi(doi)))[0]


def test_a_versioned_doi_takes_one_request():
    found, requests = asked(
        {VERSION_2: DETAILS}, lambda client: client.article(parse_doi("10.4121/77.v2"))
    )
    assert (found.source, found.container, found.title, found.licence) == (
        "10.4121/77.v2",
        "c-1",
        "T",
        "CC0",
    )
    (file,) = found.files
    assert (file.name, file.uuid, file.size, file.md5, file.link_only) == (
        "a b&ü.h5",
        "f-1",
        5,
        "",
        False,
    )
    assert [path for path, _ in requests] == [VERSION_2]
    assert requests[0][1]["Accept"] == "application/json"


def test_a_bare_doi_means_the_largest_version():
    answers = {"/v2/articles/77/versions": [{"version": 1}, {"version": 10, "url": "x"}, {"version": 2}],
               "/v2/articles/77/versions/10": DETAILS | {"version": 10}}  # fmt: skip
    found, _ = asked(answers, lambda client: client.article(parse_doi("10.4121/77")))
    assert found.source == "10.4121/77.v10"


def test_checksums_are_taken_from_where_there_is_one():
    for given_, expected in (
        ({"computed_md5": "AB", "supplied_md5": "cd"}, "ab"),
        ({"supplied_md5": "CD"}, "cd"),
        ({}, ""),
    ):
        assert article(DETAILS | {"files": [FILE | given_]}).files[0].md5 == expected


def test_missing_fields_are_made_do_without():
    record = {"name": "a.h5", "download_url": "http://x/file/c-9/f-9"}
    found = article({"files": [record]})
    assert (found.container, found.licence) == ("77", "none stated")
    assert (found.files[0].uuid, found.files[0].size) == ("f-9", 0)
    assert (
        article(DETAILS | {"license": {"url": "https://example.org"}}).licence
        == "https://example.org"
    )


def test_an_old_doi_is_looked_up():
    uuid = "1f8f4c1e-0000-4f5a-9d0c-0123456789ab"
    doi = "10.4121/uuid:2a"
    answers = {"/v2/articles/search": [{"doi": "10.4121/other"}, {"doi": doi.upper(), "uuid": uuid}],
               f"/v2/articles/{uuid}/versions": [{"version": 1}],
               f"/v2/articles/{uuid}/versions/1": DETAILS | {"version": 1}}  # fmt: skip
    found, _ = asked(answers, lambda client: client.article(parse_doi(doi)))
    assert found.source == f"{doi}.v1"
    assert asked(answers, lambda client: client.resolve(parse_doi(doi)))[0].identifier == uuid
    with pytest.raises(ContactIdError, match=r"the server knows no such DOI"):
        asked({"/v2/articles/search": []}, lambda client: client.article(parse_doi(doi)))


def test_members_come_page_by_page():
    def listed(numbers):
        return [{"doi": f"10.4121/{n}.v1", "title": f"t{n}"} for n in numbers]

    path = "/v2/collections/5/articles?page={}&page_size=100"
    answers = {path.format(1): listed(range(1, 101)), path.format(2): listed(range(101, 131))}
    members, _ = asked(answers, lambda client: client.members(parse_doi("10.4121/c.5")))
    assert (
        len(members) == 130 and str(members[-1][0]) == "10.4121/130.v1" and members[-1][1] == "t130"
    )
    with pytest.raises(ContactIdError, match="lists no datasets in it"):
        asked({path.format(1): []}, lambda client: client.members(parse_doi("10.4121/c.5")))


def nested(handler, content, body):
    """JSON that is nested deeper than it may be read."""
    answer(handler, 200, {"Content-Type": "application/json"}, b"[" * 10**6)


@pytest.mark.parametrize(
    ("details", "message"),
    [
        (status(404), r"no such dataset or version at http.* \(status 404\).*withdrawn"),
        (status(403), r"access is not allowed \(status 403\)"),
        (status(406), "answers with status 406"),
        (status(500), "answers with status 500"),
        (status(429, Retry_After="900"), "is busy .*asks to wait 900 s"),
        (page, "is not what a 4TU.ResearchData server says"),
        ([], "is not what a 4TU.ResearchData server says"),
        (DETAILS | {"title": "t" * 2**24}, "is not what a 4TU.ResearchData server says"),
        (nested, "is not what a 4TU.ResearchData server says"),
        ({"embargo_date": "2099-01-01", "embargo_type": "article"},
         r"the dataset is under embargo until 2099-01-01\. Wait"),
        (DETAILS | {"files": [], "is_embargoed": True, "embargo_date": "2099-01-01", "embargo_reason": "in review"},
         r"the files are under embargo until 2099-01-01 \(in review\)"),
        (DETAILS | {"files": [], "is_embargoed": True, "embargo_options": [{"id": 1000, "type": "restricted_access"}]},
         "access to the files is restricted. Ask"),
        (DETAILS | {"files": [], "is_embargoed": True}, "access to the files is withheld"),
        (DETAILS | {"files": []}, "has no files. It only describes"),
        (DETAILS | {"version": 1}, "the server answers with version 1"),
        (DETAILS | {"files": [FILE | {"is_incomplete": True}]}, "was never completely uploaded"),
        (DETAILS | {"files": [FILE | {"name": None}]}, "a file without a name"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_said(details, message):
    with pytest.raises(ContactIdError, match=message) as error:
        article(details)
    assert str(error.value).startswith("10.4121/77.v2") and "\n" not in str(error.value)


def test_a_server_that_fails_at_the_versions_is_asked_otherwise():
    embargo = {"embargo_date": "2099-01-01", "embargo_type": "article"}
    answers = {"/v2/articles/77/versions": status(500), "/v2/articles/77": embargo}
    for details, message in (
        (embargo, r"the dataset is under embargo until 2099"),
        (DETAILS, "status 500"),
    ):
        with pytest.raises(ContactIdError, match=message):
            asked(
                answers | {"/v2/articles/77": details},
                lambda client: client.article(parse_doi("10.4121/77")),
            )


def test_a_withdrawn_dataset_has_no_versions():
    with pytest.raises(
        ContactIdError, match=r"has no published version. It may have been withdrawn"
    ):
        asked(
            {"/v2/articles/77/versions": []}, lambda client: client.article(parse_doi("10.4121/77"))
        )


@pytest.fixture(scope="module")
def whatever():
    """A server that answers everything with whatever is put into the dictionary."""
    paths = [
        VERSION_2,
        "/v2/articles/78/versions",
        "/v2/collections/5/articles?page=1&page_size=100",
    ]
    answers = dict.fromkeys(paths)
    with server_with(answers) as (client, _):
        yield client, answers


@settings(max_examples=40, deadline=None)
@given(ANYTHING)
def test_no_answer_makes_it_stumble(whatever, answer):
    client, answers = whatever
    for path in answers:
        answers[path] = answer
    for question in (
        lambda: client.article(parse_doi("10.4121/77.v2")),
        lambda: client.versions(parse_doi("10.4121/78")),
        lambda: client.members(parse_doi("10.4121/c.5")),
    ):
        try:
            question()
        except ContactIdError as error:
            assert "\n" not in str(error)
