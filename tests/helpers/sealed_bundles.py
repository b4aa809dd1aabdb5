"""Bundles whose manifest, descriptions and logs agree with what is in them: what a forger would
make.
"""

import hashlib
import json
import re

from contactid.review.bundle import write_zip
from contactid.review.contents import NAME, write_manifest
from contactid.review.crate import FILE_NAME

_WROTE = re.compile(r"Wrote (\S+): (.*?)\d+ bytes, sha256 [0-9a-f]{64}")
_LOG = re.compile(r"(results/[^/]+)/logs/.*\.log")
_UNNAMED = re.compile(r"results/[^/]+/(logs|benchmarks)/")


def sealed(path, files, more=None, *, logs=True):
    """An archive of files (name: bytes); those in ``more`` come in after the manifest was written,
    None takes away.

    Without ``logs`` these stay as they are.
    """
    files = {name: content for name, content in files.items() if name != NAME}
    for name in sorted((name for name in files if name.endswith(FILE_NAME)), key=len, reverse=True):
        files[name] = described(files, name)
    files |= logged(files) if logs else {}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    all_files = files | {NAME: write_manifest(sums).encode()} | (more or {})
    write_zip(path, {name: content for name, content in all_files.items() if content is not None})
    return path


def described(files, name):
    """A description whose checksums are those of the files; as it is where it is none."""
    try:
        crate = json.loads(files[name])
        for entity in crate["@graph"]:
            listed = name.removesuffix(FILE_NAME) + entity["@id"]
            if listed in files and "sha256" in entity:
                entity["sha256"] = hashlib.sha256(files[listed]).hexdigest()
    except (ValueError, KeyError, TypeError, RecursionError):
        return files[name]
    return json.dumps(crate).encode()


def logged(files):
    """The logs, with the checksums of the files; the first one names whatever none has named."""
    names = sorted(name for name in files if _LOG.fullmatch(name))
    texts = {
        name: _WROTE.sub(lambda found: wrote(files, *found.groups()), files[name].decode())
        for name in names
    }
    named = {found for text in texts.values() for found, _ in _WROTE.findall(text)}
    for name in names[:1]:
        results = _LOG.fullmatch(name)[1]
        others = (
            file
            for file in sorted(files)
            if file.startswith(f"{results}/") and not _UNNAMED.match(file)
        )
        texts[name] += "".join(f"{wrote(files, file)}\n" for file in others if file not in named)
    return {name: text.encode() for name, text in texts.items()}


def wrote(files, name, content=""):
    """What a log says of a file."""
    if name not in files:
        return f"Left out {name}"
    return f"Wrote {name}: {content}{len(files[name])} bytes, sha256 {hashlib.sha256(files[name]).hexdigest()}"
