"""What a run found, in a page of plain text for the terminal and the results folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.escape import markdown
from contactid.output.summary import text_table
from contactid.output.tables import read_csv
from contactid.tossing.configuration import SIMULATOR

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
        *_body(calibration),
    ]
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


def _body(calibration: pd.DataFrame) -> list[str]:
    """For every calibrated object, whether it is the body it is taken for."""
    return [
        "\n".join(_calibrated(str(rows["object"].iloc[0]), rows.set_index("quantity")))
        for _, rows in calibration.groupby("dataset", sort=False)
    ]


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
