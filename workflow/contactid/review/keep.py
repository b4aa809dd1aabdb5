"""Recompute by the arithmetic that a run had: which variables have this machine's libraries choose
as they chose then.

``provenance.json`` says what the libraries chose
(:func:`contactid.review.arithmetic.describe_arithmetic`). A variable that asks for kernels which
this processor hasn't is either ignored or ends the process, depending on the library. So each is
tried in a process of its own, and kept where that process lives and says that it chose as recorded.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llvmlite import binding

from contactid.review.arithmetic import OF_VECTORS

#: Kernels of OpenBLAS, of old and of new processors; each is tried where the run's own can't be
#: kept.
KERNELS = ("Nehalem", "Haswell", "SkylakeX", "ARMV8", "NEOVERSEN1")
_LIBRARIES = ("blas", "numpy", "numba")
# the kernels run, since a processor that lacks their instructions shows it only then
_TRIAL = """
import json
import numba
import numpy as np
from scipy.linalg import lu_factor
from contactid.review.arithmetic import describe_arithmetic
matrix = np.eye(64) + 1e-3 * np.arange(4096.0).reshape(64, 64)
lu_factor(matrix @ matrix)
numba.jit(lambda values: (values * values + 1.0).sum())(matrix)
print(json.dumps(describe_arithmetic()))
"""
# s for one trial, which takes two: a process that an instruction leads astray may never end
_SECONDS = 120.0
# characters of a variable's value that a line shows: numba's features are some hundred words
_SHORT = 40
# what a record may put into the environment of a process
_WORDS = re.compile(r"[\w .+-]{0,500}")


@dataclass(frozen=True)
class Arithmetic:
    """How a recomputation rounds.

    Attributes
    ----------
    variables : environment variables, of which the jobs need these
    chosen : by them, what each library chooses here
    other : by library, what the run's chose and what is chosen here, where that isn't the same
    """

    variables: Mapping[str, str]
    chosen: Mapping[str, Any]
    other: Mapping[str, tuple[Any, Any]]

    def __str__(self) -> str:
        if not self.other:
            variables = self.variables.items()
            shown = ", ".join(f"{name}={text}" for name, text in variables if len(text) < _SHORT)
            kept = f", kept by {shown}" if shown else ""
            return f"Arithmetic: the run's{kept}."
        choices = []
        for name, (was, now) in self.other.items():
            choices.append(f"{name} was {was or 'not recorded'}, is {now}")
        problem = "NOT the run's, and it can't be kept here, so last digits differ"
        return f"Arithmetic: {problem}: {'; '.join(choices)}"


def keep(recorded: Any, environment: Mapping[str, str]) -> Arithmetic:
    """The run's arithmetic, as far as this machine has it.

    Parameters
    ----------
    recorded : ``arithmetic`` of a bundle's ``provenance.json``, whatever that is
    environment : of the processes that recompute
    """
    was: dict[str, str] = {}
    if _is_whole(recorded):
        was = {name: str(text) for name, text in recorded.items() if text is not None}
    variables: dict[str, str] = {}
    chosen = _choices(environment) or {}
    own = dict(chosen)
    for library in _LIBRARIES:
        # nothing to ask for: what isn't recorded can't be kept, and what is the same needn't be
        if library not in was or was[library] == chosen.get(library):
            continue
        tried = {**variables, **_variables_of(library, was[library], own)}
        choices = _choices({**environment, **tried})
        # ignored, or the process ended: then the library chooses as it does here
        if choices and choices[library] == was[library]:
            variables, chosen = tried, choices
    other = {}
    for library, choice in chosen.items():
        if was.get(library) != choice:
            other[library] = (was.get(library), choice)
    return Arithmetic(variables, chosen, other)


def other_kernels(
    arithmetic: Arithmetic, environment: Mapping[str, str], number: int
) -> list[dict[str, str]]:
    """Variables of so many kernels that this processor has beside those of the arithmetic."""
    kernels: list[dict[str, str]] = []
    for kernel in KERNELS:
        tried = {**arithmetic.variables, "OPENBLAS_CORETYPE": kernel}
        if len(kernels) < number and kernel != arithmetic.chosen.get("blas"):
            choices = _choices({**environment, **tried})
            if choices and choices["blas"] == kernel:
                kernels.append(tried)
    return kernels


def _is_whole(recorded: Any) -> bool:
    """Whether a record has names and plain short words, as :func:`describe_arithmetic` writes them."""
    if not isinstance(recorded, Mapping):
        return False
    for text in recorded.values():
        is_word = isinstance(text, str) and _WORDS.fullmatch(text)
        if text is not None and not is_word:
            return False
    return True


def _variables_of(library: str, was: str, own: Mapping[str, Any]) -> dict[str, str]:
    """Variables that ask a library for a recorded choice, given what it chooses on its own."""
    if library == "blas":
        return {"OPENBLAS_CORETYPE": was}
    if library == "numpy":
        surplus = [name for name in str(own.get("numpy", "")).split() if name not in was.split()]
        return {"NPY_DISABLE_CPU_FEATURES": " ".join(surplus)}
    processor, *vectors = was.split() or [""]
    return {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": _features(vectors)}


def _features(vectors: list[str]) -> str:
    """This processor's features for LLVM, without families of vector instructions but these."""
    absent = [name for name in OF_VECTORS if name not in vectors]
    features = binding.get_host_cpu_features()
    for name in features:
        # the rest of that family builds on its first
        if name in absent or ("avx512f" in absent and name.startswith("avx512")):
            features[name] = False
    return str(features.flatten())


def _choices(environment: Mapping[str, str]) -> dict[str, Any] | None:
    """What the libraries of a process choose; None where it ends."""
    command = [sys.executable, "-c", _TRIAL]
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, text=True, timeout=_SECONDS
        )
        return dict(json.loads(done.stdout)) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
