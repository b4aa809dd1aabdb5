"""From a rule to the function that it names: files, wildcards and settings go by their names.

A rule's ``params`` have ``call``, the function as ``"contactid.module:function"``, or several with
commas between them, called in turn, and ``code``, the fingerprint of what they reach. Every other
name of its inputs, outputs and params is an argument of a function, and occurs once among them;
wildcards are there for functions that ask for them, and so are ``config``, the run's configuration,
where a change of it must not ask for another job, and ``terminal``, a file descriptor. A rule with
``declared`` makes artefacts (:mod:`contactid.output.computing`): the functions of that list share
the other arguments.

A rule that does the same for several things calls its function once for each of them: ``each``
names the lists of which a call is given one entry, ``shares`` those of which it is given as many as
every other call. A list without entries is handed over as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from contactid.core.references import arguments, resolve

DECLARED, EACH, SHARES = "declared", "each", "shares"


def call_rule(
    wildcards: Mapping[str, Any],
    files_in: Mapping[str, Any],
    files_out: Mapping[str, Any],
    params: Mapping[str, Any],
    around: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Call what ``params["call"]`` names; Snakemake's own objects will do."""
    named: dict[str, Any] = {}
    # ``around`` are the job's own: its configuration, and the terminal's descriptor
    for part in (around, wildcards, files_in, files_out, params):
        for name, value in part.items():
            named[name] = _plain(value)
    functions = [resolve(reference) for reference in params["call"].split(", ")]
    if DECLARED in named:
        [function] = functions
        function(named.pop(DECLARED), named)
        return
    for named_of_call in _calls(named):
        for function in functions:
            function(**arguments(function, named_of_call))


def _calls(named: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What each call of a function is given."""
    each = named.pop(EACH, [])
    shares = named.pop(SHARES, [])
    n_calls = len(named[each[0]]) if each else 1
    for number in range(n_calls):
        named_of_call = dict(named)
        for name in (*each, *shares):
            items = named[name]
            size, remainder = divmod(len(items), n_calls)
            # a list that doesn't fit would hand a call the files of another one
            if remainder or (name in each and size > 1):
                raise ValueError(f"{len(items)} of {name} for {n_calls} calls")
            if size:
                share = items[number * size : (number + 1) * size]
                named_of_call[name] = share[0] if name in each else share
        yield named_of_call


def _plain(value: Any) -> Any:
    """Snakemake's texts and lists of files as plain ones."""
    # Snakemake's own texts and lists can't be written as JSON, and don't compare as plain ones do
    if isinstance(value, str):
        return str(value)
    # by its name, so that a job needn't import Snakemake
    if type(value).__name__ == "Namedlist":
        return [str(item) for item in value]
    return value
