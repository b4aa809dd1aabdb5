"""Which parameters predict which tosses: every scheme of the study, from its block of the
configuration.

A scheme says where friction and restitution come from (a fit record) and how a toss is stepped with
them. Kinds:

* ``trajectory``: a variant of the trajectory-based identification; steps as it was identified;
* ``velocity``: a variant of the velocity-based identification on impacts; steps as the trajectory
  variant it names;
* ``impact_mpec``: friction and restitution of all impacts at once as a complementarity problem
  (``<velocity>_mpec``);
* ``no_restitution``: the paper's own parameters with e_N = 0 (Table IV).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contactid.core.errors import ContactIdError

TRAJECTORY = "trajectory"
VELOCITY = "velocity"
IMPACT_MPEC = "impact_mpec"
NO_RESTITUTION = "no_restitution"
BOXES = ("Box004", "Box005", "Box006", "Box007")  # of the paper's tables
SIMULATOR = "contactid"  # our own, in the columns ``simulator``


def check_tossing(tossing: Mapping[str, Any]) -> None:
    """What the schema can't say of the study's block of the configuration.

    Raises :class:`ContactIdError` for lists that don't go together, a grid that is empty, or two
    variants of one name.
    """
    identify_on, predict_on = tossing["identify_on"], tossing["predict_on"]
    if len(identify_on) != len(predict_on) and 1 not in (len(identify_on), len(predict_on)):
        raise ContactIdError(
            f"configuration: tossing.identify_on has {len(identify_on)} entries, tossing.predict_on {len(predict_on)}",
            "Give lists of one length, or one list of length 1",
        )
    for name, values in tossing["grid"].items():
        if values["stop"] < values["start"]:
            raise ContactIdError(
                f"configuration: tossing.grid.{name} stops before it starts", "Swap start and stop"
            )
    if tossing["sensitivity"]["step"] > tossing["sensitivity"]["reach"]:
        raise ContactIdError(
            "configuration: tossing.sensitivity.step is above reach", "Give a smaller step"
        )
    if tossing["benchmark"]["refined"] < tossing["benchmark"]["starts"]:
        raise ContactIdError(
            "configuration: tossing.benchmark: a search refines with fewer evaluations than it has starts",
            "Raise refined",
        )
    names = [variant["name"] for variant in tossing["variants"]]
    if len(set(names)) != len(names):
        raise ContactIdError("configuration: two tossing.variants have the same name", "Rename one")


def cases(block: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pairs (identified on, predicted on) of a study's block; a list of length 1 goes with every
    entry of the other.
    """
    identify_on, predict_on = list(block["identify_on"]), list(block["predict_on"])
    n = max(len(identify_on), len(predict_on))
    identify_on, predict_on = (
        names * n if len(names) == 1 else names for names in (identify_on, predict_on)
    )
    return list(dict.fromkeys(zip(identify_on, predict_on, strict=True)))


@dataclass(frozen=True)
class Scheme:
    """One way to predict."""

    name: str  # used in file names and in the column ``scheme``
    kind: str  # see the module's docstring
    parameters: str  # ``trajectory`` or ``velocity``, as in the paper's tables
    fit: str  # name of the fit record, ``fits/<dataset>.<fit>.json``
    # the trajectory variant (a block of the configuration) whose stepping, start and body are used
    stepping: Mapping[str, Any]
    paper: bool  # whether it is the paper's own scheme, which fills tables II to IV

    @property
    def calibrated(self) -> bool:
        """Whether the body is calibrated first."""
        return bool(self.stepping["calibrated"])


def schemes_of(block: Mapping[str, Any]) -> dict[str, Scheme]:
    """All schemes of the study's block of the configuration, by name.

    Raises :class:`ContactIdError` where two have the same name, or a velocity variant names a
    trajectory variant that isn't there or that has another body.
    """
    variants = {variant["name"]: variant for variant in block["variants"]}
    first = next(iter(variants.values()))
    found = [
        Scheme(name, TRAJECTORY, "trajectory", name, variant, variant is first)
        for name, variant in variants.items()
    ]
    found.append(Scheme(NO_RESTITUTION, NO_RESTITUTION, "trajectory", first["name"], first, True))
    for variant in block["velocity"]["variants"] if block["velocity"]["identify_on"] else []:
        name = variant["name"]
        stepping = _named(variants, variant["predict_with"], "tossing.velocity.variants")
        if stepping["calibrated"] != variant["calibrated"]:
            raise ContactIdError(
                f"configuration: tossing.velocity.variants: {name} and {stepping['name']} differ in calibrated",
                "Let predict_with name a variant with the same body",
            )
        found.append(
            Scheme(
                name,
                VELOCITY,
                "velocity",
                name,
                stepping,
                variant is block["velocity"]["variants"][0],
            )
        )
        if variant["mpec"]:
            found.append(
                Scheme(f"{name}_mpec", IMPACT_MPEC, "velocity", f"{name}_mpec", stepping, False)
            )
    names = [scheme.name for scheme in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise ContactIdError(
            f"configuration: tossing: two schemes are called {twice}", "Give them different names"
        )
    return {scheme.name: scheme for scheme in found}


def _named(variants: Mapping[str, Mapping[str, Any]], name: str, where: str) -> Mapping[str, Any]:
    if name not in variants:
        raise ContactIdError(
            f"configuration: {where}: {name} is none of the variants to choose from",
            f"Use one of {', '.join(variants)}",
        )
    return variants[name]


def velocity_cases(block: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pairs (impacts identified on, predicted on); none where the configuration names no dataset of
    impacts.
    """
    identify_on, predict_on = block["velocity"]["identify_on"], block["predict_on"]
    if not identify_on:
        return []
    if len(identify_on) not in (1, len(cases(block))):
        raise ContactIdError(
            f"configuration: tossing.velocity.identify_on has {len(identify_on)} datasets for {len(cases(block))} "
            "predicted ones",
            "Give one for each, or [] to leave the velocity-based part out",
        )
    return cases({"identify_on": identify_on, "predict_on": predict_on})


def predictions_of(block: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Every prediction of a run: (identified on, predicted on, scheme)."""
    return [
        (identified_on, dataset, scheme.name)
        for scheme in schemes_of(block).values()
        for identified_on, dataset in (
            velocity_cases(block) if scheme.parameters == "velocity" else cases(block)
        )
    ]
