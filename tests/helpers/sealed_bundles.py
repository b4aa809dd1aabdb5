"""Bundles whose manifest and descriptions agree with what is in them, whatever that is: what a forger would make."""

import hashlib
import json

from contactid.review.bundle import write_zip
from contactid.review.contents import NAME, write_manifest
from contactid.review.crate import FILE_NAME


def sealed(path, files, more=None):
    """An archive of files (name: bytes); those in ``more`` come in after the manifest was written, None takes away."""
    files = {name: content for name, content in files.items() if name != NAME}
    for name in sorted((name for name in files if name.endswith(FILE_NAME)), key=len, reverse=True):
        files[name] = described(files, name)
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
