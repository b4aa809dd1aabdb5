"""What each of the paper's methods estimates, and which factors its graph has (section IV-B, in-hand paper)."""

from __future__ import annotations

from dataclasses import dataclass

from contactid.core.errors import ContactIdError
from contactid.inhand.names import METHODS

VECTOR, PRINCIPAL = "vector", "principal"


@dataclass(frozen=True)
class GraphMethod:
    """One variant of the factor graph.

    Attributes
    ----------
    name : as in the paper's tables
    chart : ``vector``, the ten parameters as they are, or ``principal``, the principal-axes form of eqs. 26 to 30
    consistency : whether violations of eqs. 35 to 37 cost something
    geodesic : whether the distance to a prior (eq. 20) costs something
    """

    name: str
    chart: str
    consistency: bool
    geodesic: bool


_GRAPHS = (
    GraphMethod("baseline_fg", VECTOR, consistency=False, geodesic=False),
    GraphMethod("no_constraint_no_geodesic", PRINCIPAL, consistency=False, geodesic=False),
    GraphMethod("constraint_no_geodesic", PRINCIPAL, consistency=True, geodesic=False),
    GraphMethod("constraint_geodesic", PRINCIPAL, consistency=True, geodesic=True),
)
BASELINE = "baseline"
GRAPH_METHODS = tuple(graph.name for graph in _GRAPHS)


def graph_method(name: str) -> GraphMethod:
    """The variant of a name.

    Raises
    ------
    ContactIdError
        For a name that no factor graph has.
    """
    for graph in _GRAPHS:
        if graph.name == name:
            return graph
    remedy = "It has no graph" if name in METHODS else f"Choose one of {', '.join(GRAPH_METHODS)}"
    raise ContactIdError(f"no factor graph is called {name!r}", remedy)
