"""What the authors drew their figures from answers to printed numbers and statements, with both
simulators.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from contactid.output.verdicts import (
    DIFFERS,
    LACKS,
    NEEDS_ARCHIVE,
    NEVER_PUBLISHED,
    REPRODUCED,
    UNINFORMATIVE,
)
from contactid.sources import fourtu_client
from contactid.sources.lockfile import LockedArchive
from contactid.sources.origin import origin
from printed_tables import (
    ARCHIVES,
    ERRORS,
    LOCAL,
    PARAMETERS,
    PRINTED,
    REGISTRY,
    TWINS,
    judged,
    of_twins,
    paper_s,
    tables,
    twin_s,
)


def plotted(sample: int = 275) -> dict[str, pd.DataFrame]:
    """Tables of the authors' plot data whose numbers are the printed ones."""
    costs, rest = [], []
    for kind in ("velocity", "trajectory"):
        for simulator in ("matlab", "algoryx"):
            about = {"parameters": kind, "simulator": simulator, "dataset": "author_plots"}
            of = f"parameters={kind};simulator={simulator}"
            optimum = {name: PRINTED["tab02", name, f"object=Box006;{of}"] for name in PARAMETERS}
            flat = {
                "friction_flat_from": 0.6,
                "restitution_flat_to": 0.6,
                "unlike": 0.02,
                "unlike_exchanged": 0.5,
            }
            costs.append({"object": "Box006", **about, **optimum, **flat})
            for box in ("Box005", "Box006"):
                errors = {name: PRINTED["tab03", name, f"object={box};{of}"] for name in ERRORS}
                rest.append({"object": box, **about, "n_tosses": 50, **errors})
    impact = {
        "sample": sample,
        "last_pre": 4,
        "first_post": 6,
        "matlab_loss": 0.03,
        "algoryx_loss": 0.05,
    }
    return {
        "ext_plotted_costs": pd.DataFrame(costs),
        "ext_plotted_rest_poses": pd.DataFrame(rest),
        "ext_plotted_impact": pd.DataFrame(
            [{"object": "Box006", "dataset": "author_plots", **impact}]
        ),
    }


def beside_twins(folder: Path, found: dict[str, pd.DataFrame], locked: bool = True) -> pd.DataFrame:
    """The default run's verdicts with tables of the authors' plot data."""
    entry = REGISTRY["author_plots"]
    told = origin(
        entry,
        LockedArchive("author_plots", "github", entry.source) if locked else None,
        synthetic=False,
    )
    datasets = {name: REGISTRY[name] for name in TWINS}
    return judged(folder, tables(twin_s) | found, datasets, more={"author_plots": told})


def test_the_authors_plot_data_answer_for_both_simulators(tmp_path: Path) -> None:
    before, after = of_twins(tmp_path / "without"), beside_twins(tmp_path / "with", plotted())
    moved = after[after["verdict"] != before["verdict"]]
    assert set(before.loc[moved.index, "verdict"]) == {NEEDS_ARCHIVE, NEVER_PUBLISHED}
    assert (moved["data"] == "author_plots").all() and (moved["origin"] == "archive").all()
    assert moved.groupby("artefact").size().to_dict() == {
        "tab02": 8, "tab03": 34, "fig06": 1, "fig07": 1, "fig09": 1, "fig12": 2, "text": 4,
    }  # fmt: skip
    assert {*moved["verdict"]} <= {REPRODUCED, DIFFERS, UNINFORMATIVE}
    of = "object=Box006;parameters={};simulator=algoryx".format
    assert after.loc["tab02", "friction_mu", of("velocity")]["verdict"] == REPRODUCED
    assert after.loc["tab03", "position_error_mean_cm", of("trajectory")]["verdict"] == REPRODUCED
    assert (
        "github.com/MaartenJongeneel/Paper-Tossing"
        in after.loc["tab02", "friction_mu", of("velocity")]["note"]
    )
    for statement in (
        ("fig07", "matlab_outperforms_algoryx"),
        ("fig12", "costs_of_both_simulators_similar"),
    ):
        assert after.loc[(*statement, ""), "verdict"] == REPRODUCED
    # the text says 0.3, Table II and its surface 0.25
    text = "section=IV-A;object=Box006;simulator=matlab"
    assert after.loc["text", "velocity_friction_mu_in_text", text]["verdict"] == DIFFERS


def test_without_them_algoryx_s_rows_say_where_they_are(tmp_path: Path) -> None:
    rows = of_twins(tmp_path).reset_index()
    theirs = rows[
        rows["condition"].str.contains("simulator=algoryx") & (rows["verdict"] == NEVER_PUBLISHED)
    ]
    told = theirs["note"].str.contains("of which the authors' plot data tell")
    assert theirs[told].groupby("artefact").size().to_dict() == {"tab02": 4, "tab03": 16, "text": 2}
    assert (
        theirs.loc[~told, "note"].str.contains("whose models of the boxes aren't published").all()
    )


def test_what_is_not_locked_or_of_another_impact_answers_to_nothing(tmp_path: Path) -> None:
    before, after = (
        of_twins(tmp_path / "without"),
        beside_twins(tmp_path / "unlocked", plotted(), locked=False),
    )
    algoryx = after.index.get_level_values("condition").str.contains("simulator=algoryx")
    assert (after["verdict"] == before["verdict"])[algoryx].all()
    assert (
        after.loc["fig09", "friction_insensitive_above", "section=IV-A;object=Box006"]["verdict"]
        == NEEDS_ARCHIVE
    )
    other = beside_twins(tmp_path / "other", plotted(sample=276))
    for what in (
        ("fig06", "impact_duration_samples", "section=IV-A;figure=6"),
        ("fig07", "matlab_outperforms_algoryx", ""),
    ):
        assert other.loc[what, "verdict"] in LACKS


def test_what_was_computed_from_recordings_goes_before_what_the_authors_drew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    drawn = plotted()
    drawn["ext_plotted_costs"]["friction_mu"] = 0.9
    entry = REGISTRY["author_plots"]
    told = origin(entry, LockedArchive("author_plots", "github", entry.source), synthetic=False)
    archives = {name: REGISTRY[name] for name in ARCHIVES}
    checks = judged(tmp_path, tables(paper_s) | drawn, archives, more={"author_plots": told})
    row = checks.loc["tab02", "friction_mu", "object=Box006;parameters=trajectory;simulator=matlab"]
    assert (row["reproduced"], row["data"]) == (0.4, "iam_box006_trajectories")
    row = checks.loc[
        "tab02", "friction_mu", "object=Box006;parameters=trajectory;simulator=algoryx"
    ]
    assert (row["reproduced"], row["data"], row["verdict"]) == (0.9, "author_plots", DIFFERS)
