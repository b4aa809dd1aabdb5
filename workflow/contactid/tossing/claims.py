"""What the tossing paper says: its statements as functions that can be false, and what its own numbers make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from contactid.output.comparison import COMPUTED, PRINT, Key, Reproduced, Tolerance, statement
from contactid.tossing.configuration import BOXES

Numbers = Iterator[tuple[Key, Reproduced]]
Printed = Mapping[Key, float]

EXAMPLE = "Box006"
SIMULATORS = ("matlab", "algoryx")
ERRORS = {"position": "position_error_{}_cm", "rotation": "rotation_error_{}_deg"}
SIZE = ("length_mm", "width_mm", "height_mm")
FROM_PRINT = "from=printed_table"
_STEP = 0.05  # of the paper's grid
_TOSSES = 50  # of each box, which Table III's deviations are of
_LARGEST = {"position": 10.5, "rotation": 16.5}  # cm and deg, rounded to what section VII calls sufficiently accurate


def differ_by_more_than_a_step(pairs: Sequence[Sequence[float]]) -> bool:
    """Whether every box's mu or e_N differs by more than a step of the grid; rows mu, e_N, other mu, other e_N."""
    apart = [max(abs(row[0] - row[2]), abs(row[1] - row[3])) for row in pairs]
    return min(apart) > _STEP * (1.0 + 1e-9)


def same_order(pairs: Sequence[Sequence[float]]) -> bool:
    """Whether the two errors of every pair are within a factor of 10^0.5 of each other."""
    return bool(np.all(np.abs(np.log10([first / second for first, second in pairs])) <= 0.5))


def significantly_smaller(rows: Sequence[Sequence[float]]) -> bool:
    """Whether the mean over boxes is smaller by more than two standard errors.

    Rows are mean, standard deviation and number of tosses of the errors, and the same of those to be smaller.
    """
    table = np.array(rows, dtype=float)
    difference = float((table[:, 0] - table[:, 3]).mean())
    error = np.sqrt((table[:, 1] ** 2 / table[:, 2] + table[:, 4] ** 2 / table[:, 5]).sum()) / len(table)
    return bool(difference > 2.0 * error)


def none_above(given: Mapping[str, Any]) -> bool:
    """Whether no box's mean error is above the largest one that section VII calls sufficiently accurate."""
    return max(given["errors"]) <= given["largest"]


def inside_the_grid(intervals: Sequence[Sequence[float]]) -> bool:
    """Whether every 95 % interval (low, high) of an optimum lies inside the grid from 0 to 1: a clear optimum."""
    return all(low > 0.0 and high < 1.0 for low, high in intervals)


def near_zero(losses: Sequence[float]) -> bool:
    """Whether a mean loss is less than a tenth of that without any impact."""
    return losses[0] < 0.1 * losses[1]


def position_changes_and_orientation_does_not(change: Mapping[str, float]) -> bool:
    """Whether friction changes the rest position by more than a tenth, and the orientation by less.

    Changes are shares of the largest dimension, and radians. The paper calls 0.5 sensitive and 3 deg insensitive.
    """
    return change["position"] > 0.1 > change["orientation"]


def pose_changes_by_friction_alone(change: Mapping[str, float]) -> bool:
    """Whether restitution changes position and orientation by less than a tenth where friction moves by more."""
    return change["by friction"] > 0.1 > max(change["position"], change["orientation"])


def threshold_in_every_box(thresholds: Sequence[float]) -> bool:
    """Whether up to some e_N, and not beyond, the rest position stays where it is for e_N = 0, in every box."""
    return all(0.0 < value < 1.0 for value in thresholds)


def is_rotation(matrix: Sequence[Sequence[float]]) -> bool:
    """Whether a matrix (3, 3) is orthogonal with determinant 1."""
    turn = np.array(matrix)
    return bool(np.allclose(turn @ turn.T, np.eye(3), atol=1e-12) and np.linalg.det(turn) > 0.0)


#: Of every statement by its row's quantity: the function, and what it must refuse.
STATEMENTS: dict[str, tuple[Callable[[Any], bool], Any]] = {
    "parameters_differ_by_criterion": (  # in one box alone; the other's e_N is the grid point beside it
        differ_by_more_than_a_step, [(0.60, 0.40, 0.45, 0.05), (0.45, 0.35, 0.45, 0.30)],
    ),
    "same_order_for_both_criteria": (same_order, [(9.9, 10.1), (33.8, 6.7)]),  # Box006's errors
    "moving_over_still_position_error": (same_order, [(20.0, 5.0)]),
    "trajectory_parameters_better": (significantly_smaller, [(9.9, 3.9, 50, 10.1, 3.7, 50)]),  # Box005's errors
    "trajectory_parameters_better_on_twins": (significantly_smaller, [(9.9, 3.9, 50, 10.1, 3.7, 50)]),
    "velocity_parameters_poor": (significantly_smaller, [(9.9, 3.9, 50, 10.1, 3.7, 50)]),
    "accurate_without_restitution": (none_above, {"errors": (4.3, 33.8), "largest": 10.5}),  # of a wrong friction
    "cost_shows_an_optimum": (inside_the_grid, [(0.25, 0.35), (0.0, 1.0)]),  # any e_N is as good
    "cost_near_zero_at_optimum": (near_zero, (0.2, 1.4)),  # of tosses of another cube
    "rest_position_sensitive_to_friction_and_orientation_not": (
        position_changes_and_orientation_does_not, {"position": 0.5, "orientation": 0.5},
    ),
    "rest_pose_insensitive_to_restitution": (
        pose_changes_by_friction_alone, {"by friction": 0.5, "position": 0.5, "orientation": 0.05},
    ),
    "rest_pose_insensitive_below_a_threshold": (threshold_in_every_box, (0.6, 0.0)),
    "relative_rest_orientation_is_a_rotation": (is_rotation, np.diag([1.0, -1.0, 1.0]).tolist()),
}  # fmt: skip


def stated(
    quantity: str, given: Any, data: str = "", *, basis: str = COMPUTED, no_impact: Any = None, note: str = ""
) -> Reproduced:
    """A statement of :data:`STATEMENTS` on what is given; ``no_impact`` is what would be given without any impact."""
    holds, counterexample = STATEMENTS[quantity]
    ours = statement(holds, given, counterexample, basis, data, note)
    if no_impact is None:
        return ours
    return replace(ours, naive={**ours.naive, "no impact": float(holds(no_impact))})


def from_print(printed: Printed) -> dict[Key, Reproduced]:
    """What printed numbers alone give; ``printed`` are the published values by artefact, quantity and condition."""
    found: dict[Key, Reproduced] = {}
    for part in (_bodies, _parameters, _ranges, _criteria, _restitution_to_zero, _sensitivity):
        found.update(part(printed))
    turn = np.cos(0.3), np.sin(0.3)
    matrix = [[turn[0], turn[1], 0.0], [turn[1], turn[0], 0.0], [0.0, 0.0, 1.0]]
    found["text", "relative_rest_orientation_is_a_rotation", "section=V;equation=20"] = stated(
        "relative_rest_orientation_is_a_rotation", matrix, basis=PRINT, note="as printed, with e_rot = 0.3 rad"
    )
    return found


def _bodies(printed: Printed) -> Numbers:
    """Table I: the inertias and densities that printed size and mass give, and section VII's largest dimension.

    Size is printed to 1 mm and mass to 1 g, so an inertia is known to the sum of their effects.
    """
    for box in BOXES:
        size = _size(printed, box)
        mass = printed["tab01", "mass_kg", f"object={box}"]
        for axis, k in enumerate("xyz"):
            others = np.delete(size, axis)
            rounding = mass / 6.0 * 0.5 * float(others.sum()) + 0.0005 * float((others**2).sum()) / 12.0 + 0.5
            yield (
                ("tab01", f"inertia_{k}{k}_kg_mm2", f"object={box}"),
                Reproduced(
                    mass * float((others**2).sum()) / 12.0,
                    PRINT,
                    tolerance=Tolerance(rounding, "rounding of the printed size, mass and inertia"),
                    note="inertia of a homogeneous box of the printed size and mass",
                ),
            )
        note = "printed mass over printed size; the carton counts as filling"
        yield ("tab01", "density_kg_m3", f"object={box};{FROM_PRINT}"), _print(1e9 * mass / float(size.prod()), note)
    largest = 0.1 * np.mean([_size(printed, box).max() for box in BOXES])
    yield ("text", "largest_dimension_cm", f"section=VII;{FROM_PRINT}"), _print(largest, "mean of Table I")


def _parameters(printed: Printed) -> Numbers:
    """Table II against section IV's text and the abstract."""
    for simulator in SIMULATORS:
        for kind, section in (("velocity", "IV-A"), ("trajectory", "IV-B")):
            condition = f"section={section};object={EXAMPLE};simulator={simulator};{FROM_PRINT}"
            for name in ("friction_mu", "restitution_e_n"):
                value = printed["tab02", name, _of(EXAMPLE, kind, simulator)]
                yield ("text", f"{kind}_{name}_in_text", condition), _print(value, "Table II")
        pairs = [
            [
                printed["tab02", name, _of(box, kind, simulator)]
                for kind in ("velocity", "trajectory")
                for name in ("friction_mu", "restitution_e_n")
            ]
            for box in BOXES
        ]
        what = "text", "parameters_differ_by_criterion", f"section=abstract;simulator={simulator};{FROM_PRINT}"
        yield what, stated(what[1], pairs, basis=PRINT, note="Table II: by more than a step of the grid in every box")


def _ranges(printed: Printed) -> Numbers:
    """Sections V and VII: the ranges of the mean errors with trajectory-based parameters, from Table III."""
    position, share, rotation = [], [], []
    for box, simulator in product(BOXES, SIMULATORS):
        of = _of(box, "trajectory", simulator)
        position.append(printed["tab03", "position_error_mean_cm", of])
        share.append(1e3 * position[-1] / _size(printed, box).max())
        rotation.append(printed["tab03", "rotation_error_mean_deg", of])
    note = "Table III, both simulators"
    for name, values in (
        ("position_error_cm", position),
        ("position_error_pct", share),
        ("rotation_error_deg", rotation),
    ):
        for which, value in (("least", min(values)), ("largest", max(values))):
            yield ("tab03", f"{which}_{name}", f"section=V;parameters=trajectory;{FROM_PRINT}"), _print(value, note)
    condition = f"section=VII;parameters=trajectory;{FROM_PRINT}"
    yield ("text", "least_rotation_error_deg", condition), _print(min(rotation), note)


def _criteria(printed: Printed) -> Numbers:
    """Section V: rest poses predicted with velocity-based against trajectory-based parameters, from Table III."""
    for simulator in SIMULATORS:
        rows = {
            (error, box): [
                number
                for kind in ("velocity", "trajectory")
                for number in (
                    *(printed["tab03", name.format(of), _of(box, kind, simulator)] for of in ("mean", "std")), _TOSSES,
                )
            ]
            for (error, name), box in product(ERRORS.items(), BOXES)
        }  # fmt: skip
        note = "Table III: the mean over boxes is smaller by more than two standard errors"
        for error in ERRORS:
            what = (
                "tab03",
                "trajectory_parameters_better",
                f"section=V;error={error};simulator={simulator};{FROM_PRINT}",
            )
            yield what, stated(what[1], [rows[error, box] for box in BOXES], basis=PRINT, note=note)
        what = "fig13", "velocity_parameters_poor", f"section=V;object={EXAMPLE};simulator={simulator};{FROM_PRINT}"
        note = "Table III: the mean position error is smaller by more than two standard errors"
        yield what, stated(what[1], [rows["position", EXAMPLE]], basis=PRINT, note=note)
        what = "tab03", "same_order_for_both_criteria", f"section=V;object=Box005;simulator={simulator};{FROM_PRINT}"
        pairs = [(rows[error, "Box005"][0], rows[error, "Box005"][3]) for error in ERRORS]
        yield what, stated(what[1], pairs, basis=PRINT, note="Table III")


def _restitution_to_zero(printed: Printed) -> Numbers:
    """Table IV over Table III, which section VI calls very similar, and what the abstract makes of it."""
    for (error, name), simulator in product(ERRORS.items(), SIMULATORS):
        of = {box: ("tab04", name.format("mean"), _of(box, "trajectory", simulator)) for box in BOXES}
        for box, key in of.items():
            condition = f"section=VI;object={box};error={error};simulator={simulator};{FROM_PRINT}"
            ratio = printed[key] / printed["tab03", key[1], key[2]]
            yield ("tab04", "error_without_over_with_restitution", condition), _print(ratio, "Table IV over Table III")
        condition = f"section=abstract;error={error};simulator={simulator};{FROM_PRINT}"
        given = {"errors": [printed[key] for key in of.values()], "largest": _LARGEST[error]}
        note = f"Table IV: no box's mean error is above section VII's largest, {_LARGEST[error] - 0.5:g}"
        what = "text", "accurate_without_restitution", condition
        yield what, stated(what[1], given, basis=PRINT, note=note)


def _sensitivity(printed: Printed) -> Numbers:
    """Section VI: its millimetres as shares of Table I's boxes, its steps as shares of Table II's parameters."""
    largest = np.mean([_size(printed, box).max() for box in BOXES])
    for name in ("friction_mu", "restitution_e_n"):
        condition = f"section=VI;changed={name};by=0.05"
        change = printed["fig14", "rest_position_change_mm", condition]
        note = "the printed change over the mean largest dimension of Table I"
        yield ("fig14", "rest_position_change_pct", f"{condition};{FROM_PRINT}"), _print(100.0 * change / largest, note)
        values = [printed["tab02", name, _of(*of)] for of in product(BOXES, ("trajectory",), SIMULATORS)]
        share = 100.0 * _STEP / float(np.mean(values))
        note = "of the mean of Table II's trajectory-based values"
        yield ("fig14", "relative_variation_pct", f"{condition};{FROM_PRINT}"), _print(share, note)


def _of(box: str, parameters: str, simulator: str) -> str:
    return f"object={box};parameters={parameters};simulator={simulator}"


def _size(printed: Printed, box: str) -> np.ndarray:
    return np.array([printed["tab01", name, f"object={box}"] for name in SIZE])


def _print(value: Any, note: str) -> Reproduced:
    return Reproduced(float(value), PRINT, note=note)
