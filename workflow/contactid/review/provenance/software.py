"""Which software a run was made with: packages, other environments, solver, linear algebra."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError
from contactid.core.solve import SolverOptions, solve


def packages(path: str | Path | None = None) -> dict[str, str]:
    """Versions of all packages that can be imported, by name; of those in a folder where one is given."""
    found = metadata.distributions(path=[str(path)]) if path is not None else metadata.distributions()
    versions: dict[str, str] = {}
    for distribution in found:
        name = distribution.metadata["Name"]
        if name:  # the first on the path is the one that is imported
            versions.setdefault(name.lower().replace("_", "-"), distribution.version)
    return dict(sorted(versions.items()))


def other_environments(root: str | Path) -> dict[str, dict[str, str]]:
    """Packages of the environments beside the main one (``.venv-<name>``), which simulators and PyTorch live in."""
    found = {}
    for folder in sorted(Path(root).glob(".venv-*")):
        sites = sorted(folder.glob("lib/python*/site-packages"))
        if sites:
            found[folder.name.removeprefix(".venv-")] = packages(sites[0])
    return found


def describe_solver() -> dict[str, Any] | None:
    """Route, name with version and default options of the solver, as a solve of one variable tells them."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.0)
    model.objective = pyo.Objective(expr=model.x**2)
    options = SolverOptions()
    try:
        solution = solve(model, options)
    except ContactIdError:
        return None
    return {"name": solution.solver, "route": solution.route, "default_options": options.for_ipopt()}


def linear_algebra() -> dict[str, Any]:
    """The BLAS and LAPACK that numpy was built with."""
    built: Any = np.show_config(mode="dicts") or {}
    found = built.get("Build Dependencies", {})
    keys = ("name", "version", "openblas configuration")
    return {part: {key: found.get(part, {}).get(key) for key in keys} for part in ("blas", "lapack")}
