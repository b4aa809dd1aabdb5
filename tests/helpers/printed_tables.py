"""Tables of a run of the tossing study whose numbers are the printed ones, and the verdicts on such
tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from contactid.output.tables import read_csv, write_csv
from contactid.sources.lockfile import LockedArchive
from contactid.sources.origin import Origin, origin
from contactid.sources.registry import Dataset, load_registry
from contactid.tossing.checks import check
from contactid.tossing.configuration import BOXES

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "workflow/resources/published/tossing.csv"
LEDGER = ROOT / "workflow/resources/published/tossing_claims.yaml"
REGISTRY = load_registry(ROOT / "config/datasets.tsv", {})
ARCHIVES = {
    name: entry.source
    for name, entry in REGISTRY.items()
    if (entry.study, entry.kind) == ("tossing", "4tu")
}
SCHEMES = {"trajectory": "paper", "velocity": "velocity", "no_restitution": "no_restitution"}
LOCAL = "http://127.0.0.1:18080"
KEY = ["artefact", "quantity", "condition"]
PRINTED = read_csv(PUBLISHED).set_index(KEY)["value"]

Names = Callable[[str, str], str]


def paper_s(box: str, role: str) -> str:
    """As config/4tu.yaml: the impacts of Box007 are those of its trajectories."""
    name = f"iam_{box.lower()}_{role}"
    return name if name in ARCHIVES else name.replace("drops", "trajectories")


def twin_s(box: str, role: str) -> str:
    return f"{box.lower()}_{role}"


def tables(named: Names, boxes: tuple[str, ...] = BOXES) -> dict[str, pd.DataFrame]:
    """What a run would find whose numbers are the printed ones, but for Box005's friction from
    trajectories.
    """
    kinds = {"trajectory": ("paper", "trajectories"), "velocity": ("velocity", "drops")}
    bodies, identified, rest, landed, losses, changes, costs = [], [], [], [], [], [], []
    for box in boxes:
        sizes = {
            name: PRINTED["tab01", name, f"object={box}"]
            for name in ("length_mm", "width_mm", "height_mm")
        }
        mass = PRINTED["tab01", "mass_kg", f"object={box}"]
        bodies.append(
            {"object": box, **sizes, "mass_kg": mass, "dataset": named(box, "validation")}
        )
        for kind, (scheme, role) in kinds.items():
            of = f"object={box};parameters={kind};simulator=matlab"
            about = {"object": box, "parameters": kind, "simulator": "contactid", "scheme": scheme}
            row = {**about, "identified_on": named(box, role), "restitution_flat_to": 0.6}
            for name in ("friction_mu", "restitution_e_n"):
                value = PRINTED["tab02", name, of] + 0.1 * (
                    name == "friction_mu" and (box, kind) == ("Box005", "trajectory")
                )
                row |= {name: value, f"{name}_low": value - 0.025, f"{name}_high": value + 0.025}
            identified.append(row)
            errors = {name: PRINTED["tab03", name, of] for name in ERRORS}
            about |= {
                "identified_on": named(box, role),
                "dataset": named(box, "validation"),
                "subset": "all",
            }
            rest.append({**about, **errors, "n_tosses": 50, "n_same_face": 50})
        landed.append(
            {"object": box, "dataset": named(box, "validation"), **dict.fromkeys(ERRORS, 40.0)}
        )
        mu, e_n = (
            PRINTED["tab02", name, f"object={box};parameters=velocity;simulator=matlab"]
            for name in PARAMETERS
        )
        of_drops = {
            "dataset": named(box, "drops"),
            "object": box,
            "friction_mu": mu,
            "restitution_e_n": e_n,
        }
        for scheme in ("velocity", "velocity_refined"):
            losses.append(
                {**of_drops, "scheme": scheme, "friction_mu_low": 0.2, "friction_mu_high": 0.3, "n_impacts": 150,
                 "restitution_e_n_low": 0.4, "restitution_e_n_high": 0.5, "identification_loss": 0.05,
                 "loss_without_contact": 1.4, "friction_flat_from": 0.6}
            )  # fmt: skip
        for parameter, values in (
            ("friction_mu", (100.0, 50.0, 3.0)),
            ("restitution_e_n", (4.0, 2.0, 3.0)),
        ):
            for quantity, value in zip(
                ("position_mm", "position_pct", "rotation_deg"), values, strict=True
            ):
                changes.append(
                    {"parameter": parameter, "quantity": quantity, "mean": value, "n_tosses": 50,
                     "dataset": named(box, "validation"), "value": 0.25, "restitution_insensitive_below": 0.5}
                )  # fmt: skip
        for mu, e_n in np.ndindex(5, 5):
            cost = {
                "friction_mu": 0.25 * mu,
                "restitution_e_n": 0.25 * e_n,
                "mean_loss": (mu - 2.0) ** 2 + 0.1 * e_n,
            }
            costs.append({"dataset": named(box, "trajectories"), **cost})
    errors = pd.DataFrame(rest)
    none = errors[errors["scheme"] == "paper"].assign(scheme="no_restitution")
    of_paper = [f"object={box};parameters=trajectory;simulator=matlab" for box in boxes]
    none = none.assign(**{name: [PRINTED["tab04", name, of] for of in of_paper] for name in ERRORS})
    drops = [{"dataset": named(box, "drops"), "object": box} for box in boxes]
    tossed = [{"dataset": named(box, "trajectories"), "object": box} for box in boxes]
    mpec = {"form": "disk, e_T free", "restitution_e_t": 0.02, "restitution_e_t_high": 0.03}
    impact = {
        "kept": True,
        "sample": 275,
        "first_post": 1,
        "last_pre": -1,
        "toss": "a",
        "normal_speed": 1.0,
        "bend": 0.01,
    }
    return {
        "tab01_object_properties": pd.DataFrame(bodies),
        "tab02_identified_parameters": pd.DataFrame(identified),
        "tab03_rest_pose_errors": errors,
        "tab04_rest_pose_errors_without_restitution": none,
        "ext_no_impact": pd.DataFrame(landed),
        "ext_velocity_identification": pd.DataFrame(losses),
        "ext_velocity_choices": _each(drops, "scheme", VELOCITY_CHOICES),
        "ext_example_impacts": _each(drops, "kind", EXAMPLE_IMPACTS),
        "ext_tumbling_costs": _each(tossed, "thrown", TUMBLING_COSTS),
        "ext_impact_mpec": pd.DataFrame([{**of, **mpec} for of in drops]),
        "ext_sensitivity": pd.DataFrame(changes),
        "ext_recorded_motion": pd.concat(
            [_motion(named(box, role)) for box in boxes for role in ROLES]
        ),
        "fig12_trajectory_costs": pd.DataFrame(costs),
        "impacts": pd.DataFrame([{**of, **impact} for of in drops for _ in range(2)]),
    }


PARAMETERS, ROLES = ("friction_mu", "restitution_e_n"), ("trajectories", "validation")
OPTIMUM = {"friction_mu": 0.4, "restitution_e_n": 0.4, "mean_loss": 0.03, "sticking_pct": 100.0}
VELOCITY_CHOICES = {
    "paper": OPTIMUM,
    "finer_grid": OPTIMUM | {"restitution_e_n": 0.41},
    "from_450_mm_s": OPTIMUM | {"mean_loss": 0.06},
    "from_600_mm_s": OPTIMUM | {"mean_loss": 0.06},
    "neighbours_kept": OPTIMUM | {"restitution_e_n": 0.3},
}
EXAMPLE_IMPACTS = {
    "measured": {"distance": 0.0, "largest_step": 0.5},
    "simulated": {"distance": 0.03, "largest_step": 1.0},
    "no_impact": {"distance": 1.0, "largest_step": 0.0},
}
TUMBLING_COSTS = {"recorded": {"restitution_pct": 8.0}, "spinning": {"restitution_pct": 30.0}}


def _each(
    of: list[dict[str, object]], column: str, values: dict[str, dict[str, float]]
) -> pd.DataFrame:
    """A row for each of the datasets and each of the column's values."""
    return pd.DataFrame(
        [{**one, column: value, **more} for one in of for value, more in values.items()]
    )


def _motion(dataset: str) -> pd.DataFrame:
    """Ten tosses of a dataset, two of them on a moving conveyor, none of which tumbles."""
    number = np.arange(10)
    return pd.DataFrame(
        {
            "dataset": dataset, "toss": number.astype(str), "sample_frequency_hz": 360.0, "moving": number < 2,
            "tumbled": False, "samples": 250 + 10 * number, "release_speed_m_s": 2.0 + 0.1 * number,
            "travelled_m": 1.2, "flight_pct": 45.0, "sliding_pct": 40.0, "bouncing_pct": 15.0,
            "slip_kept": 0.1 * number, "tilt_deg": 0.1, "rest_position_error_cm": 10.0 - number,
        }
    )  # fmt: skip


ERRORS = (
    "position_error_mean_cm",
    "position_error_std_cm",
    "rotation_error_mean_deg",
    "rotation_error_std_deg",
)


def judged(
    folder: Path,
    found: dict[str, pd.DataFrame],
    datasets: dict[str, Dataset],
    base: str = LOCAL,
    synthetic: bool = False,
    more: Mapping[str, Origin] = MappingProxyType({}),
) -> pd.DataFrame:
    """The verdicts on tables, by files: of datasets locked at ``base``, and of ``more`` with their
    origins.
    """
    folder.mkdir(exist_ok=True)
    cards = [folder / f"{name}.json" for name in more]
    for card, (name, known) in zip(cards, more.items(), strict=True):
        card.write_text(json.dumps({"name": name, **known._asdict()}))
    for name, entry in datasets.items():
        locked = LockedArchive(
            entry.source, "4tu", f"{entry.source}.v1", base=base, locked_on="2026-01-02"
        )
        told = origin(entry, locked if entry.kind == "4tu" else None, synthetic)._asdict()
        cards.append(folder / f"{name}.json")
        cards[-1].write_text(json.dumps({"name": name, **told}))
    for name, table in found.items():
        write_csv(table, folder / f"{name}.csv")
    files = [str(folder / f"{name}.csv") for name in found]
    files_of_cards = [str(card) for card in cards]
    check(
        str(PUBLISHED),
        str(LEDGER),
        files,
        list(found),
        files_of_cards,
        ARCHIVES,
        SCHEMES,
        str(folder / "checks"),
    )
    return read_csv(folder / "checks").set_index(KEY)


def of_twins(folder: Path, found: dict[str, pd.DataFrame] | None = None) -> pd.DataFrame:
    return judged(
        folder, tables(twin_s) if found is None else found, {name: REGISTRY[name] for name in TWINS}
    )


TWINS = [twin_s(box, role) for box in BOXES for role in ("trajectories", "validation", "drops")]
