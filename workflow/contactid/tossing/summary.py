"""What a run found, in a page of plain text for the terminal and the results folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.escape import markdown
from contactid.output.summary import text_table
from contactid.output.tables import read_csv
from contactid.tossing.configuration import NO_RESTITUTION, SIMULATOR, TRAJECTORY

_SURE = 5.0  # standard errors


def summarise(tables: Sequence[str], names: Sequence[str], summary: str) -> None:
    """Write the section of the summary from files of tables and their names."""
    write_text(summary, section(dict(zip(names, map(read_csv, tables), strict=True))))


def section(more: Mapping[str, pd.DataFrame]) -> str:
    """Markdown: tosses used, parameters and test errors per scheme, what the calibration says; from
    tables by name.
    """
    identification = more["ext_identification"]
    calibration = more["ext_calibration"]
    tosses = more["tosses"]
    identification = identification[identification["simulator"] == SIMULATOR]
    parts = [
        "## tossing",
        _used(tosses),
        _errors(identification),
        *_body(identification, calibration),
    ]
    if "ext_velocity_identification" in more:
        parts.append(
            _impacts(more["ext_velocity_identification"], more["ext_velocity_against_trajectory"])
        )
    if "ext_rest_pose_coverage" in more:
        parts.append(_coverage(more["ext_rest_pose_coverage"]))
    if "ext_benchmark" in more:
        parts.append(_benchmark(more["ext_benchmark"]))
    return "\n\n".join(parts) + "\n"


def _used(tosses: pd.DataFrame) -> str:
    lines = []
    for dataset, part in tosses.groupby("dataset", sort=False):
        left = part.loc[~part["used"].astype(bool), "reason"].value_counts()
        why = (
            "; ".join(f"{count} {markdown(reason)}" for reason, count in left.items())
            or "none left out"
        )
        lines.append(f"* {dataset}: {int(part['used'].sum())} of {len(part)} tosses used ({why})")
    return "\n".join(lines)


def _errors(identification: pd.DataFrame) -> str:
    titles = {
        "dataset": "dataset", "scheme": "scheme", "subset": "subset", "n_tosses": "n",
        "friction_mu": "mu", "restitution_e_n": "e_N", "mean_loss": "loss", "sem_loss": "+-",
        "position_error_pct": "pos %", "rotation_error_deg": "rot deg",
        "rest_position_error_cm": "rest cm", "rest_rotation_error_deg": "rest deg",
    }  # fmt: skip
    digits = {"friction_mu": 3, "restitution_e_n": 2, "mean_loss": 3, "sem_loss": 3}
    rows = [
        [
            f"{row[name]:.{digits.get(name, 1)}f}"
            if isinstance(row[name], float)
            else str(row[name])
            for name in titles
        ]
        # a subset that is all tosses anyway has no row of its own
        for row in identification.drop_duplicates(
            ["dataset", "identified_on", "scheme", "n_tosses"]
        ).to_dict("records")
    ]
    return "Errors on the test tosses:\n\n" + text_table([*titles.values()], rows)


def _body(identification: pd.DataFrame, calibration: pd.DataFrame) -> list[str]:
    """For every calibrated object, whether it is the body it is taken for."""
    paragraphs = []
    for dataset, rows in calibration.groupby("dataset", sort=False):
        lines = _calibrated(str(rows["object"].iloc[0]), rows.set_index("quantity"))
        paragraphs.append("\n".join([*lines, *_gain(identification, str(dataset))]))
    return paragraphs


def _calibrated(name: str, rows: pd.DataFrame) -> list[str]:
    """What one object's calibration says, by its rows of ``ext_calibration``."""
    offsets = [f"center_of_mass_{axis}" for axis in "xyz"]
    moments = [f"inertia_{axis}" for axis in ("xx", "yy", "zz")]
    differences = rows["difference_in_standard_errors"].abs()

    def values(quantities: Sequence[str], digits: int) -> str:
        both = rows.loc[[*quantities], ["calibrated", "standard_error"]]
        return ", ".join(
            f"{value:.{digits}f} +- {error:.{digits}f}" for _, value, error in both.itertuples()
        )

    verdict = f"{name} is the body it is taken for, within {_SURE:g} standard errors:"
    if (differences[[*moments, *offsets]] > _SURE).any():
        verdict = f"{name} is not the homogeneous body it is taken for:"
    nominal = ", ".join(f"{moment:.0f}" for moment in rows.loc[moments, "nominal"])
    gravity = abs(rows["calibrated"]["gravity_z"])
    in_flight, at_rest = (values([f"scale_from_{of}"], 4) for of in ("free_flight", "rest_height"))
    gap = differences["scale_by_flight_less_rest"]
    return [
        verdict,
        f"* centre of mass off the geometric centre by {values(offsets, 2)} mm (x, y, z)",
        f"* moments of inertia {values(moments, 0)} kg mm2 instead of {nominal}",
        f"* it falls with {gravity:.3f} m/s2 in the data's lengths; true ones are these times "
        f"{in_flight} (the height at rest says {at_rest}, {gap:.1f} joint errors apart)",
    ]


def _gain(identification: pd.DataFrame, dataset: str) -> list[str]:
    """What the calibration changes in the test loss, against the last scheme without it."""
    rows = identification[
        (identification["identified_on"] == dataset) & (identification["subset"] == "all")
    ]
    rows = rows[(rows["parameters"] == TRAJECTORY) & (rows["scheme"] != NO_RESTITUTION)]
    plain = rows[~rows["calibrated"].astype(bool)]
    calibrated = rows[rows["calibrated"].astype(bool)]
    if plain.empty or calibrated.empty:
        return []
    before, after = float(plain["mean_loss"].iloc[-1]), float(calibrated["mean_loss"].iloc[-1])
    return [
        f"* calibrating it changes the mean test loss from {before:.3f} to {after:.3f} ({after / before - 1:+.0%})"
    ]


def _impacts(velocity: pd.DataFrame, against: pd.DataFrame) -> str:
    """What single impacts say, and whether trajectories say the same."""
    lines = ["Impacts of single corners:"]
    for row in velocity.to_dict("records"):
        held_out = (
            f", {row['test_loss']:.3f} on {row['n_test_impacts']} test impacts"
            if row["n_test_impacts"]
            else ""
        )
        lines.append(
            f"* {row['dataset']}, {row['scheme']}: {row['n_impacts']} impacts ({row['impacts_per_toss']:.2f} per toss),"
            f" mu = {row['friction_mu']:.3f}, e_N = {row['restitution_e_n']:.3f}, loss "
            f"{row['identification_loss']:.3f} m/s{held_out} (without contact {row['loss_without_contact']:.2f})"
        )
    for row in against[against["restitution_e_n_differs"].astype(bool)].to_dict("records"):
        lines.append(
            f"* {markdown(row['object'])}: e_N of {row['scheme']} is above that of {row['against']} by "
            f"{row['restitution_e_n_difference']:.3f} "
            f"({row['restitution_e_n_difference_low']:.3f} to {row['restitution_e_n_difference_high']:.3f})"
        )
    return "\n".join(lines)


def _coverage(coverage: pd.DataFrame) -> str:
    """How often the 90 % regions hold the measured rest pose."""
    ninety = coverage[coverage["nominal_pct"] == 90]
    lines = ["90 % regions of the rest pose hold, of the test tosses:"]
    for (scheme, name), part in ninety.groupby(["scheme", "object"], sort=False):
        shares = ", ".join(
            f"{row['covered_pct']:.0f} % ({row['level']})" for row in part.to_dict("records")
        )
        lines.append(f"* {markdown(name)}, {scheme}, {part['n_tosses'].iloc[0]} tosses: {shares}")
    return "\n".join(lines)


def _benchmark(benchmark: pd.DataFrame) -> str:
    """Whole files, same tosses, same budget; from the first row, as others do."""
    rows = [
        [
            row["row"],
            f"{row['position_pct']:.1f} +- {row['position_sd']:.1f}",
            f"{row['rotation_deg']:.1f} +- {row['rotation_sd']:.1f}",
            "" if pd.isna(row["loss"]) else f"{row['loss']:.3f}",
        ]
        for row in benchmark[benchmark["start"] == "file"].to_dict("records")
    ]
    titles = ["simulator", "position (% of width)", "rotation (degrees)", "test loss"]
    return "Simulators on whole files of the cube's test tosses (stored):\n\n" + text_table(
        titles, rows
    )
