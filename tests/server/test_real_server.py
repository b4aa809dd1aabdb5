"""Every case of a 4TU server that a client meets, against the real one."""

import hashlib
import json
from dataclasses import replace

import pytest
import requests

from contactid.core.errors import ContactIdError
from contactid.sources.download import download
from contactid.sources.fourtu_client import FourTuClient
from contactid.sources.lockfile import LockedFile
from contactid.sources.places import Patience
from contactid.sources.registry import FourTuDoi, parse_doi

PATIENCE = Patience(attempts=4, first_wait=0.05, longest_wait=2)


@pytest.fixture
def client(server):
    return FourTuClient(server.url, PATIENCE)


def found(client, doi):
    return client.article(parse_doi(doi))


@pytest.mark.parametrize("doi", ["10.4121/21024007.v1", "https://doi.org/10.4121/21024007.v2"])
def test_a_version_is_what_is_asked_for(client, doi):
    article = found(client, doi)
    assert article.source == doi.removeprefix("https://doi.org/")
    assert (article.licence, article.title) == (
        "CC BY 4.0",
        "Box006 parameter identification (synthetic)",
    )
    assert "Archive_005_ParamID_Box006.h5" in [file.name for file in article.files]


def test_a_bare_doi_means_the_newest_version(client):
    article = found(client, "10.4121/21024007")
    assert article.source == "10.4121/21024007.v2"
    assert client.versions(parse_doi("10.4121/21024007")) == [1, 2]
    link = next(file for file in article.files if file.link_only)
    assert (link.name, link.url, link.size, link.md5) == (
        "external-data",
        "https://example.org/external-data",
        None,
        "",
    )


def test_the_container_s_uuid_is_as_good_as_the_number(client):
    container = found(client, "10.4121/21387510").container
    by_uuid = client.article(FourTuDoi(container, container, 1))
    assert by_uuid.files == found(client, "10.4121/21387510.v1").files


def test_the_search_finds_a_version_but_no_bare_doi(client):
    looked_up = client.resolve(
        FourTuDoi("21024007", "", 1)
    )  # as an old DOI, which doesn't say its id
    assert looked_up.identifier == found(client, "10.4121/21024007").container
    with pytest.raises(ContactIdError, match=r"10.4121/21024007: the server knows no such DOI"):
        client.resolve(FourTuDoi("21024007", ""))


def test_the_collection_s_newest_members(client):
    collection = parse_doi("10.4121/c.6278310")
    members = dict(client.members(collection))
    numbers = {int(doi.identifier) for doi in members}
    assert numbers == {
        17122553, 21024007, 21387483, 21387495, 21387510, 21399657, 21814998, 21815511, 21815874, 21815913, 21815994,
        21816021, 21816099, 21816183,
    }  # fmt: skip
    assert client.versions(collection) == [1, 2]


@pytest.mark.parametrize(
    ("doi", "message"),
    [
        ("10.4121/99999999", r"no such dataset or version .*status 404.*withdrawn"),
        ("10.4121/21024007.v9", "no such dataset or version"),
        ("10.4121/90000001", r"the files are under embargo until 2099-01-01 \(paper in review\)"),
        ("10.4121/90000002", "access to the files is restricted. Ask its authors"),
        ("10.4121/90000003", "the dataset is under embargo until 2099-01-01"),
        ("10.4121/90000004", "has no files"),
        ("10.4121/90000005", "withdrawn"),
    ],
)
def test_what_cannot_be_had_is_said(client, doi, message):
    with pytest.raises(ContactIdError, match=message) as error:
        found(client, doi)
    assert str(error.value).startswith(doi) and "\n" not in str(error.value)


def bring(client, file, folder, **changes):
    download(
        replace(file, **changes),
        folder / file.name,
        partial=folder / "part" / file.name,
        patience=PATIENCE,
    )
    return (folder / file.name).read_bytes()


@pytest.mark.parametrize(
    "doi", ["10.4121/21024007.v1", "10.4121/17122553", "10.4121/14192429", "10.4121/21387510"]
)
def test_files_come_as_published(client, tmp_path, doi):
    file = found(client, doi).files[0]
    content = bring(client, file, tmp_path)
    assert len(content) == file.size
    assert file.md5 in ("", hashlib.md5(content).hexdigest())
    assert bool(file.md5) == (doi != "10.4121/17122553")  # the one without a published checksum
    assert ("ü" in file.name) == (doi == "10.4121/14192429")


def test_the_rest_of_a_file_is_asked_for(client, tmp_path):
    file = found(client, "10.4121/21387510").files[0]
    whole = bring(client, file, tmp_path / "whole")
    half = len(whole) // 2
    with requests.get(file.url, stream=True) as answer:
        etag = answer.headers["ETag"]
    (tmp_path / "part").mkdir()
    partial = tmp_path / "part" / file.name
    partial.write_bytes(whole[:half])
    partial.with_name(f"{file.name}.json").write_text(json.dumps({"url": file.url, "etag": etag}))
    assert bring(client, file, tmp_path) == whole
    # a version that the server doesn't have: it sends the whole, which replaces what was there
    other = tmp_path / "other/part"
    other.mkdir(parents=True)
    (other / file.name).write_bytes(b"?" * half)
    (other / f"{file.name}.json").write_text(json.dumps({"url": file.url, "etag": '"gone"'}))
    assert bring(client, file, tmp_path / "other") == whole


def test_ranges_behave_as_they_are_relied_on(client):
    file = found(client, "10.4121/21387510").files[0]

    def asked(**headers):
        with requests.get(
            file.url, headers={name.replace("_", "-"): value for name, value in headers.items()}
        ) as answer:
            return answer

    plain = asked()
    size, etag, date = len(plain.content), plain.headers["ETag"], plain.headers["Last-Modified"]
    assert (
        plain.status_code,
        plain.headers["Accept-Ranges"],
        int(plain.headers["Content-Length"]),
    ) == (
        200,
        "bytes",
        size,
    )
    for validator in (etag, date):
        part = asked(Range=f"bytes={size - 10}-", If_Range=validator)
        assert (part.status_code, part.content) == (206, plain.content[-10:])
        assert part.headers["Content-Range"] == f"bytes {size - 10}-{size - 1}/{size}"
    assert asked(Range="bytes=10-", If_Range='"other"').status_code == 200
    assert asked(Range=f"bytes={size}-").status_code == 416
    assert asked(If_None_Match=etag).status_code == 304


def test_past_the_end_is_the_end(client, tmp_path):
    file = found(client, "10.4121/21387510").files[0]
    whole = bring(client, file, tmp_path / "whole")
    with requests.get(file.url, stream=True) as answer:
        origin = {"url": file.url, "etag": answer.headers["ETag"]}
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / file.name).write_bytes(whole)
    (tmp_path / "part" / f"{file.name}.json").write_text(json.dumps(origin))
    wanted = replace(file, size=None)  # so it has to ask
    download(wanted, tmp_path / file.name, partial=tmp_path / "part" / file.name, patience=PATIENCE)
    assert (tmp_path / file.name).read_bytes() == whole


def test_a_lost_and_a_denied_file(client, tmp_path):
    lost = found(client, "10.4121/90000006").files[0]
    with pytest.raises(
        ContactIdError, match=r"gone.h5: the server fails to read .*status 500.*lost the file"
    ):
        bring(client, lost, tmp_path)
    unknown = lost.url.rpartition("/")[0] + "/1f8f4c1e-0000-4f5a-9d0c-0123456789ab"
    with pytest.raises(ContactIdError, match=r"not allowed or not known there \(status 403\)"):
        bring(client, lost, tmp_path, url=unknown)
    assert not list(tmp_path.glob("*.h5"))


def test_it_is_asked_for_json(server):
    """26.4 answers 406 to a browser's question, 26.8 with JSON all the same."""
    url = f"{server.url}/v2/articles/21024007/versions/1"
    assert requests.get(url, headers={"Accept": "text/html"}).status_code in (200, 406)
    assert requests.get(url, headers={"Accept": "application/json"}).json()["version"] == 1


def test_storage_under_maintenance_is_waited_for(server, client, tmp_path, monkeypatch):
    file = found(client, "10.4121/21387510").files[0]
    server.kill()
    with monkeypatch.context() as switched:
        switched.setitem(server.environment, "STORAGE_MAINTENANCE", "1")
        server.start()
    try:
        refused = requests.get(file.url)
        if refused.status_code != 503:
            pytest.skip("this server has no maintenance of its storage")
        assert refused.headers["Retry-After"] == "1"
        waits = []
        monkeypatch.setattr("contactid.sources.web.time.sleep", waits.append)
        with pytest.raises(ContactIdError, match=r"answers with status 503. Try later"):
            bring(client, file, tmp_path)
        assert waits == [1, 1, 1]  # what it asked for, not our own back-off
        assert found(client, "10.4121/21387510").files == (file,)  # only the storage is away
        short = Patience(attempts=4, longest_wait=0.5)
        with pytest.raises(ContactIdError, match=r"is busy \(status 503\) and asks to wait 1 s"):
            download(
                LockedFile("a", url=file.url),
                tmp_path / "a",
                partial=tmp_path / "p",
                patience=short,
            )
    finally:
        server.kill()
        server.start()
    assert len(bring(client, file, tmp_path)) == file.size
