"""From a rule to the function that it names: files, wildcards and settings are handed over by their names.

A rule's ``params`` have ``call``, the function as ``"contactid.module:function"``, and ``code``, the fingerprint of
what it reaches. Every other name of its inputs, outputs and params is an argument of the function, and occurs once
among them; wildcards are there for functions that ask for them, and so are ``config``, the run's configuration, where a
change of it must not ask for another job, and ``terminal``, a file descriptor. A rule with ``declared`` makes artefacts
(:mod:`contactid.output.computing`): the functions of that list share the other arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from contactid.core.references import arguments, resolve

DECLARED = "declared"


def call_rule(
    wildcards: Mapping[str, Any],
    files_in: Mapping[str, Any],
    files_out: Mapping[str, Any],
    params: Mapping[str, Any],
    around: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Call the function that ``params["call"]`` names; Snakemake's own objects will do. ``around`` is the job's."""
    parts = (around, wildcards, files_in, files_out, params)
    named = {key: _plain(value) for part in parts for key, value in part.items()}
    function = resolve(params["call"])
    if DECLARED in named:
        function(named.pop(DECLARED), named)
    else:
        function(**arguments(function, named))


def _plain(value: Any) -> Any:
    """Snakemake's texts and lists of files as plain ones."""
    if isinstance(value, str):
        return str(value)
    return [str(item) for item in value] if type(value).__name__ == "Namedlist" else value
