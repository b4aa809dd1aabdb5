"""Every number of the papers' tables and every claim, as collected beside the checkout, is among
the printed values.

The collection is the folder that REFERENCE names, by default ../shared/reference; the tests are
skipped without it. ``checks.csv`` has one row per printed value (test_run.py), so that it covers
the collection too.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contactid.output.tables import read_csv

ROOT = Path(__file__).parents[2]
REFERENCE = Path(os.environ.get("REFERENCE") or ROOT.parent / "shared/reference")
STUDIES = ("planar", "tossing", "arm", "inhand")
EMPTY_CELL = ("mu", 0.2, 30)  # the printed table has none there

needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="needs the collected tables: set REFERENCE"
)

# a claim, by study and the beginning of its text, and the row that holds it
CLAIMS = {
    ("planar", "true normal impulse of the horizontal ellipse"): ("peak_impulse_drop_ns", "scene=drop"),
    ("planar", "first peak normal impulse of the thrown"): ("peak_impulse_throw_ns", "scene=throw"),
    ("planar", "friction coefficient above which the sliding"): ("liftoff_friction_mu", "scene=sliding;duration_s=1"),
    ("planar", "true inertia-to-mass ratio"): ("true_inertia_ratio_mm2", "body=plywood_ellipse"),
    ("planar", "friction coefficient from which"): ("rolling_friction_mu", "section=6.1;restitution_e_n=0.2"),
    ("planar", "identified inertia-to-mass ratio"): ("inertia_ratio_mm2", "section=6.2;throw=fig22"),
    ("planar", "error of that ratio"): ("inertia_ratio_error_pct", "section=6.2;throw=fig22"),
    ("planar", "identified friction, real"): ("friction_mu", "section=6.2;throw=fig22"),
    ("planar", "mean identified ratio"): ("inertia_ratio_mean_mm2", "section=6.2;throw=all"),
    ("planar", "RMSE of the ratio"): ("inertia_ratio_rmse_pct", "section=6.2;throw=all"),
    ("planar", "mean identified friction"): ("friction_mu_mean", "section=6.2;throw=all"),
    ("tossing", "optimum velocity-based Box006 as given in the text, MATLAB mu"): (
        "velocity_friction_mu_in_text", "section=IV-A;object=Box006;simulator=matlab",
    ),
    ("tossing", "optimum velocity-based Box006 as given in the text, MATLAB e_N"): (
        "velocity_restitution_e_n_in_text", "section=IV-A;object=Box006;simulator=matlab",
    ),
    ("tossing", "optimum velocity-based Box006 as given in the text, Algoryx mu"): (
        "velocity_friction_mu_in_text", "section=IV-A;object=Box006;simulator=algoryx",
    ),
    ("tossing", "optimum velocity-based Box006 as given in the text, Algoryx e_N"): (
        "velocity_restitution_e_n_in_text", "section=IV-A;object=Box006;simulator=algoryx",
    ),
    ("tossing", "friction above which"): ("friction_insensitive_above", "section=IV-A;object=Box006"),
    ("tossing", "restitution below which"): ("restitution_insensitive_below", "section=IV-B;object=Box006"),
    ("tossing", "rest-position change for a friction"): (
        "rest_position_change_mm", "section=VI;changed=friction_mu;by=0.05",
    ),
    ("tossing", "rest-orientation change for a friction"): (
        "rest_orientation_change_deg", "section=VI;changed=friction_mu;by=0.05",
    ),
    ("tossing", "rest-position change for a restitution"): (
        "rest_position_change_mm", "section=VI;changed=restitution_e_n;by=0.05",
    ),
    ("tossing", "rest-orientation change for a restitution"): (
        "rest_orientation_change_deg", "section=VI;changed=restitution_e_n;by=0.05",
    ),
    ("arm", "mean absolute error"): ("mean_abs_error_mm_s", "experiments=18;from=printed_table"),
    ("arm", "mean relative error"): ("mean_relative_error_pct", "experiments=18;from=printed_table"),
    ("arm", "fitting window"): ("fitting_window_ms", ""),
    ("arm", "time in which the flexible"): ("convergence_to_rigid_ms", "model=B;mass=m2"),
    ("inhand", "improvement of the force model"): ("force_model_improvement", ""),
}  # fmt: skip


def printed(study):
    """Value and unit by artefact, quantity and condition."""
    table = read_csv(ROOT / f"workflow/resources/published/{study}.csv")
    keys = zip(table["artefact"], table["quantity"], table["condition"], strict=True)
    found = dict(zip(keys, zip(table["value"], table["unit"], strict=True), strict=True))
    assert len(found) == len(table), f"{study}: two rows for one number"
    return found


def cells(file, labels):
    """Every number of a collected table, with its row's labels and its column's name."""
    table = pd.read_csv(REFERENCE / file)
    for row in table.to_dict("records"):
        for column, value in row.items():
            if column not in labels and isinstance(value, float | int) and np.isfinite(value):
                yield row, column, float(value)


def unit_of(name):
    ends = {"_kg_mm2": "kg mm2", "_mm": "mm", "_cm": "cm", "_deg": "deg", "_kg": "kg", "_pct": "%"}
    return next((unit for end, unit in ends.items() if name.endswith(end)), "1")


def assert_there(rows, key, value, unit):
    assert key in rows, f"no row for {key}"
    assert rows[key][0] == pytest.approx(value, rel=1e-12, abs=0.0), key
    assert rows[key][1] == unit, key


@needs_reference
def test_planar_table():
    rows, count = printed("planar"), 0
    for row, column, value in cells("planar_table1.csv", ("mu", "fps")):
        key = ("tab01", column, f"friction_mu={row['mu']:g};fps={row['fps']:g}")
        assert_there(rows, key, value, "%")
        count += 1
    assert count == 44


@needs_reference
@pytest.mark.parametrize(("number", "count"), [(1, 28), (2, 32), (3, 64), (4, 32)])
def test_tossing_tables(number, count):
    rows, found = printed("tossing"), 0
    for row, column, value in cells(
        f"tossing_table{number}.csv", ("object", "parameters", "simulator")
    ):
        labels = [
            f"{name}={row[name]}" for name in ("object", "parameters", "simulator") if name in row
        ]
        assert_there(rows, (f"tab0{number}", column, ";".join(labels)), value, unit_of(column))
        found += 1
    assert found == count


@needs_reference
def test_arm_tables():
    rows = printed("arm")
    for row in pd.read_csv(REFERENCE / "arm_table1.csv").to_dict("records"):
        assert_there(rows, ("tab01", row["parameter"], ""), float(row["value"]), str(row["unit"]))
    labels = ("dataset", "velocity_m_s", "angle_deg")
    count = 0
    for row, column, value in cells("arm_table2.csv", labels):
        condition = ";".join(f"{name}={row[name]:g}" for name in labels)
        assert_there(rows, ("tab02", column, condition), value, "m/s")
        count += 1
    assert count == 18 * 8


@needs_reference
def test_arm_link_table():
    units = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "kg*m2") | {"mass": "kg"}
    units |= dict.fromkeys(("ox", "oy", "oz", "cx", "cy", "cz"), "m") | dict.fromkeys(
        ("ax", "ay", "az"), "1"
    )
    rows, count = printed("arm"), 0
    for row, column, value in cells("arm_lwr4_parameters.csv", ()):
        assert_there(
            rows, ("links", column, f"link={row['link']}"), value, units.get(column, "rad")
        )
        count += 1
    assert count == sum(artefact == "links" for artefact, _, _ in rows) == 229


@needs_reference
def test_inhand_tables():
    """The collection keeps the tensors as printed: times 1e-2 kg m2 in simulation, 1e-5 kg m2
    elsewhere.
    """
    artefacts = {
        "simulation": "tabA1",
        "wrist_ft": "tabA2",
        "in_hand_a": "tabA3",
        "in_hand_b": "tabA4",
    }
    rows, count = printed("inhand"), 0
    for row, column, value in cells("inhand_inertia_tables.csv", ("source", "object", "method")):
        key = (
            artefacts[row["source"]],
            column,
            f"source={row['source']};object={row['object']};method={row['method']}",
        )
        tensor = column.startswith("i_")
        scale = (1e-2 if row["source"] == "simulation" else 1e-5) if tensor else 1.0
        assert_there(
            rows, key, value * scale, "kg*m2" if tensor else "kg" if column == "mass_kg" else "m"
        )
        count += 1
    assert count == 105 * 10


@needs_reference
def test_every_claim():
    claims = pd.read_csv(REFERENCE / "claims.csv")
    assert len(claims) == len(CLAIMS) == 26
    # a claim may stand under the figure or table that it is printed with
    rows = {study: {key[1:]: row for key, row in printed(study).items()} for study in STUDIES}
    for claim in claims.to_dict("records"):
        found = [
            row
            for (study, text), row in CLAIMS.items()
            if study == claim["paper"] and claim["claim"].startswith(text)
        ]
        assert len(found) == 1, claim["claim"]
        assert_there(rows[claim["paper"]], found[0], float(claim["value"]), str(claim["unit"]))


@pytest.mark.parametrize("study", STUDIES)
def test_every_tolerance_has_an_origin_and_is_no_wider_than_the_rounding_that_it_claims(study):
    table = pd.read_csv(
        ROOT / f"workflow/resources/published/{study}.csv", dtype=str, keep_default_na=False
    )
    assert (table["tolerance_from"] != "").all()
    for row in table[table["tolerance_from"] == "rounding of the printed number"].to_dict(
        "records"
    ):
        digits = (
            len(row["value"].split(".")[1])
            if "." in row["value"] and "e" not in row["value"]
            else 0
        )
        half = 0.5 * 10.0**-digits
        if row["unit"] == "kg*m2":  # printed as multiples of 1e-2 or 1e-5 with two digits
            half = 0.5e-4 if "source=simulation" in row["condition"] else 0.5e-7
        if float(row["value"]).is_integer() or digits < 3:
            half = max(half, 0.05 if row["unit"] in ("1", "cm", "deg", "kg") and digits else half)
        # in tables three digits, of which zeros at the end aren't kept
        if row["unit"] in ("m", "m/s", "kg") and row["artefact"] != "text":
            half = 0.5e-3
        assert float(row["tolerance"]) <= half * (1 + 1e-9), row
