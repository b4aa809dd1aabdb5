"""The tables in README.md and docs/*.md that are made from committed files, by the name of their
marker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.claims import NO_RESULT, WEAKEST_FIRST, judged_claims, read_claims
from contactid.output.comparison import SCALES, STATEMENT, comparable, counted
from contactid.output.grids import plain
from contactid.output.stored import RECORD, TABLE
from contactid.output.verdicts import (
    BASES,
    BETTER,
    DIFFERS,
    FITTED,
    INPUT,
    MEANINGS,
    NEEDS_ARCHIVE,
    NEVER_PUBLISHED,
    NOT_DONE,
    ORIGINS,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNDEFINED,
    UNINFORMATIVE,
    VERDICTS,
)
from contactid.tossing.artefacts.stored import benchmark_table, learning_figure

ACCEPTED = "workflow/resources/verdicts/default.csv"
STORED = "workflow/resources/stored"
MISSING = "workflow/resources/missing.csv"
OWN_THROWS = "workflow/resources/own_throws.csv"
# standard deviations within which half of all normal departures lie
_HALF_WITHIN = 0.674
OWN_IMPACTS = "workflow/resources/own_impacts.csv"
OWN_ARMS = "workflow/resources/own_arms.csv"
OWN_REAL_THROWS = "workflow/resources/own_real_throws.csv"
OWN_CONVENTIONS = "workflow/resources/own_conventions.csv"
OWN_BOXES = "workflow/resources/own_boxes.csv"
OWN_REGIONS = "workflow/resources/own_regions.csv"
DIFFERENCES = "workflow/resources/published/differences.yaml"
BENCHMARK = {
    "Drake_published": "Drake (Acosta et al.)",
    "Bullet_published": "Bullet (Acosta et al.)",
    "MuJoCo_published": "MuJoCo (Acosta et al.)",
    "nominal": "ours, mu and e as measured",
    "contactid": "ours, Newton's law",
    "contactid_incremental": "ours, incremental law",
    "mujoco": "MuJoCo",
    "drake": "Drake",
    "pybullet": "PyBullet",
    "mujoco_sysid": "MuJoCo by mujoco.sysid",
    "stays": "stays",
}
KEY = ["study", "artefact", "quantity", "condition"]
# pairs of printed and reproduced numbers that an entry lists
_MOST = 2


def all_tables(root: Path) -> dict[str, str]:
    """Every table, by the name of its marker."""
    return {
        "table_of_verdicts": _explained("verdict | when", MEANINGS),
        "table_of_bases": _explained("basis | what ours rests on", BASES),
        "table_of_origins": _explained("origin | where the data come from", ORIGINS),
        "table_of_scales": _table(
            "unit | tried in place of 0",
            [[unit, f"+- {size:g}"] for unit, size in SCALES.items()],
        ),
        "table_of_counts": counts(_read(root / ACCEPTED)),
        "table_of_sentences": sentences(root),
        "table_of_papers": papers(root),
        "table_of_differences": differences(entries(root), differing(root)),
        "table_of_missing": _table(
            "study | artefact | verdict | numbers | what is missing",
            _read(root / MISSING).values.tolist(),
        ),
        "table_of_own_throws": own_throws(pd.read_csv(root / OWN_THROWS)),
        "table_of_own_impacts": own_impacts(pd.read_csv(root / OWN_IMPACTS)),
        "table_of_own_arms": own_impacts(pd.read_csv(root / OWN_ARMS)),
        "table_of_own_real_throws": own_real_throws(pd.read_csv(root / OWN_REAL_THROWS)),
        "table_of_own_conventions": own_conventions(pd.read_csv(root / OWN_CONVENTIONS)),
        "table_of_benchmark": benchmark(benchmark_table(stored(root, "tossing_benchmark"))),
        "table_of_few_tosses": few_tosses(learning_figure(stored(root, "tossing_splits")).table),
        "table_of_own_boxes": own_boxes(pd.read_csv(root / OWN_BOXES)),
        "table_of_own_regions": own_regions(pd.read_csv(root / OWN_REGIONS)),
    }


def own_regions(counted: pd.DataFrame) -> str:
    """How many unseen poses at rest the regions of ``contactid predict`` hold, beside a naive
    answer's.
    """
    rows = []
    for (tosses, scheme), of in counted.groupby(["tosses", "scheme"], sort=False):
        one, widest = of.iloc[0], of.iloc[-1]
        levels: Any = of.itertuples()
        held = [_share(row.covered, row.n_tosses) for row in levels]
        naive = _share(widest["naive_covered"], widest["n_tosses"])
        area = f"{1e4 * widest['median_area_m2']:.3g} cm2"
        right = f"{one['face_right']} ({one['face_expected']:.1f})"
        elsewhere = f"{widest['other_face_covered']} of {one['n_tosses'] - one['face_right']}"
        kind = f"{'real' if tosses == 'public' else f'twins, {tosses}'} ({one['n_tosses']})"
        rows.append([kind, f"{scheme} ({one['law']})", *held, naive, area, right, elsewhere])
    headings = (
        "tosses | scheme (law) | 50 % hold | 80 % | 90 % | 90 % without model error | "
        "median area of 90 % | on the most probable face (expected) | of the others 90 % hold"
    )
    return _table(headings, rows)


def _share(count: int, n: int) -> str:
    """A percentage with its binomial standard error."""
    share = count / n
    return f"{100 * share:.0f} +- {100 * (share * (1 - share) / n) ** 0.5:.0f} %"


def own_throws(scored: pd.DataFrame) -> str:
    """How far off ``contactid identify`` is on throws with a known truth, beside what its errors let
    expect and two naive answers (medians, %).
    """
    rows = []
    for kind, throws in scored.groupby("kind", sort=False):
        answered = throws[throws["answered"].astype(bool)]
        ours, *naive = (
            answered[f"{name}departure_pct"].median() for name in ("", "uniform_", "impact_")
        )
        stated = 100.0 * (answered["error_mm2"] / answered["truth_mm2"]).median()
        off = [_percent(value) for value in (ours, _HALF_WITHIN * stated, *naive)]
        held = [_held(answered[name]) for name in ("held", "mu_held", "radius_held")]
        rows.append([str(kind), f"{len(answered)} of {len(throws)}", *off[:2], *held, *off[2:]])
    headings = (
        "throws | answered | J/m is off by | its errors let expect | its interval holds | "
        "that of mu | that of the radius | a uniform body is off by | one impact (eq. 31) by"
    )
    return _table(headings, rows)


def _percent(value: float) -> str:
    # about two digits of it
    return f"{value:.0f} %" if value >= 10.0 else f"{value:.1f} %"


def own_real_throws(scored: pd.DataFrame) -> str:
    """How far ``contactid identify``'s answers to single real throws are from eq. 31 on all throws,
    by what the description states.
    """
    rows = []
    for stated, of in scored.groupby("stated", sort=False):
        answered = of[of["answered"].astype(bool)]
        off = answered["off_pct"].abs()
        expected = 100.0 * _HALF_WITHIN * (answered["error_mm2"] / answered["ratio_mm2"]).median()
        rows.append(
            [
                str(stated),
                f"{len(answered)} of {len(of)}",
                f"{off.median():.1f} %",
                f"{expected:.1f} %",
                f"{int((off < 5.0).sum())} of {len(of)}",
                _held(answered["held"]),
            ]
        )
    headings = "stated | answered | J/m is off by | its errors let expect | within 5 %"
    return _table(f"{headings} | its interval holds", rows)


def own_boxes(scored: pd.DataFrame) -> str:
    """How far off ``contactid toss`` is on boxes of another simulator, and how often its intervals
    hold, beside the same search with the box as stated.
    """
    rows = []
    for kind, of in scored.groupby("kind", sort=False):
        found = of[of["answered"].astype(bool)]
        mu, e_n = found["friction_mu_true"], found["restitution_e_n_true"]
        off = [
            f"{100.0 * (found['friction_mu'] / mu - 1.0).abs().median():.0f} %",
            f"{100.0 * (found['naive_mu'] / mu - 1.0).abs().median():.0f} %",
            f"{(found['restitution_e_n'] - e_n).abs().median():.2f}",
        ]
        several = ("center_x", "center_y", "center_z"), ("inertia_xx", "inertia_yy", "inertia_zz")
        body = [_held(pd.concat([found[f"{name}_held"] for name in names])) for names in several]
        # few tosses have none
        within = found.dropna(subset="held_50")
        regions = [f"{within[f'held_{level}'].sum():.0f}" for level in (50, 80, 90)]
        rows.append(
            [
                str(kind),
                f"{len(found)} of {len(of)}",
                *off[:2],
                _held(found["friction_mu_held"]),
                off[2],
                _held(found["restitution_e_n_held"]),
                *body,
                f"{', '.join(regions)} of {within['n_used'].sum():.0f}" if len(within) else "",
            ]
        )
    headings = (
        "tosses | answered | mu is off by | without calibration by | its interval holds | "
        "e_N is off by | its interval holds | those of the centre | of the moments | "
        "regions of 50, 80, 90 % hold"
    )
    return _table(headings, rows)


def own_conventions(scored: pd.DataFrame) -> str:
    """What comes of recordings in wrong conventions, and how many right ones are refused, by
    command.
    """
    rows = []
    for command, of in scored.groupby("command", sort=False):
        as_asked = of["convention"] == "as asked for"
        count, right = of[~as_asked]["outcome"].value_counts(), of[as_asked]["outcome"]
        counts = [str(count.get(outcome, 0)) for outcome in ("named", "right", "refused", "wrong")]
        rows.append(
            [
                str(command),
                *counts,
                f"{int(right.isin(['refused', 'named']).sum())} of {len(right)}",
            ]
        )
    headings = (
        "command | refused by name | answered within two errors | refused without its name | "
        "answered wrongly | right recordings refused"
    )
    return _table(headings, rows)


def own_impacts(scored: pd.DataFrame) -> str:
    """How far off ``contactid impact`` is on another simulator's arms, beside the paper's method and
    the naive answer, v_x- and 0 (mm/s).
    """
    rows = []
    for kind, of_kind in scored.groupby("kind", sort=False):
        answered = of_kind[of_kind["answered"].astype(bool)]
        errors = []
        for method in ("found", "paper", "naive"):
            error_x = (answered[f"{method}_x_mm_s"] - answered["truth_x_mm_s"]).abs()
            error_z = (answered[f"{method}_z_mm_s"] - answered["truth_z_mm_s"]).abs()
            errors += [f"{error_x.mean():.1f}, {error_x.max():.1f}", f"{error_z.mean():.1f}"]
        held = [_held(answered[f"held_{component}"]) for component in "xz"]
        rows.append([str(kind), f"{len(answered)} of {len(of_kind)}", *errors, *held])
    headings = (
        "arms | answered | v_x+ is off by: mean, worst | v_z+ by | the paper's one mode: v_x+ | "
        "v_z+ | as if nothing happened: v_x+ | v_z+ | intervals hold v_x+ | v_z+"
    )
    return _table(headings, rows)


def stored(root: Path, name: str) -> list[str]:
    """Table and provenance of a stored result."""
    folder = root / STORED / name
    return [str(folder / file) for file in (TABLE, RECORD)]


def benchmark(rows: pd.DataFrame) -> str:
    """Simulators on whole files of the cube's tosses: those from the first row, then those with a
    fitted start.
    """
    lines = []
    for row in rows.sort_values("start", kind="stable").to_dict("records"):
        errors = []
        for name, unit in (("position", "pct"), ("rotation", "deg")):
            errors.append(f"{row[f'{name}_{unit}']:.1f} +- {row[f'{name}_sd']:.1f}")
        loss = "" if pd.isna(row["loss"]) else f"{row['loss']:.3f}"
        time = "" if pd.isna(row["us_per_step"]) else f"{row['us_per_step']:.2g}"
        name = BENCHMARK[row["row"]] + (", start fitted" if row["start"] != "file" else "")
        lines.append([name, str(row["body"]), *errors, loss, time])
    headings = "simulator | body | position, % | rotation, degrees | test loss | us a step"
    return _table(headings, lines)


def few_tosses(curve: pd.DataFrame) -> str:
    """Test losses against the number of tosses, by both laws."""
    rows = []
    for law, part in curve.groupby("law", sort=False):
        losses = []
        for row in part.to_dict("records"):
            loss = f"{row['test_loss']:.2f}"
            if row["draws"] > 1:
                loss += f" ({row['test_loss_least']:.2f} to {row['test_loss_most']:.2f})"
            losses.append(loss)
        rows.append([str(law), *losses])
    numbers = [f"{number} tosses" for number in dict.fromkeys(curve["n_tosses"])]
    return _table(" | ".join(["law", *numbers]), rows)


def _held(is_held: pd.Series) -> str:
    """Of how many intervals that there are how many hold."""
    intervals = is_held.dropna().astype(bool)
    return f"{intervals.sum()} of {len(intervals)}" if len(intervals) else ""


def counts(accepted: pd.DataFrame) -> str:
    """How many numbers of each study have which verdict, those that could have failed first."""
    verdicts = counted(accepted).groupby("study", sort=False)["verdict"]
    rows = [[str(study), *(str((of == name).sum()) for name in VERDICTS)] for study, of in verdicts]
    return _table(" | ".join(["study", *map(plain, VERDICTS)]), rows)


def judged_sentences(root: Path) -> dict[str, pd.DataFrame]:
    """What comes of each paper's sentences by the accepted verdicts, by study."""
    accepted = _read(root / ACCEPTED)
    judged = {}
    for study, checks in accepted.groupby("study", sort=False):
        ledger = root / f"workflow/resources/published/{study}_claims.yaml"
        if ledger.is_file():
            judged[str(study)] = judged_claims(str(study), read_claims(ledger), checks)
    return judged


def sentences(root: Path) -> str:
    """How many sentences of each paper have which verdict."""
    order = [*reversed(WEAKEST_FIRST), INPUT, NO_RESULT]
    rows = []
    for study, claims in judged_sentences(root).items():
        counts = [str((claims["verdict"] == verdict).sum()) for verdict in order]
        rows.append([study, str(len(claims)), *counts])
    return _table(" | ".join(["study", "sentences", *map(plain, order)]), rows)


#: What a reader of one line wants of a sentence, by the verdicts that mean it.
_PLAINLY = {
    "shown": (REPRODUCED, BETTER),
    "contradicted": (DIFFERS, PRINT_INCONSISTENT),
    "need recordings": (NEEDS_ARCHIVE,),
    "never published": (NEVER_PUBLISHED,),
    "open": (NOT_DONE, UNDEFINED, UNINFORMATIVE, PRINT_CONSISTENT, FITTED, INPUT),
    "no result": (NO_RESULT,),
}


def papers(root: Path) -> str:
    """What comes of each paper's sentences, in a line."""
    rows = []
    for study, claims in judged_sentences(root).items():
        counts = [str(claims["verdict"].isin(verdicts).sum()) for verdicts in _PLAINLY.values()]
        rows.append([study, str(len(claims)), *counts])
    return _table(" | ".join(["study", "sentences", *_PLAINLY]), rows)


def entries(root: Path) -> list[dict[str, str]]:
    """Why numbers differ, written by hand: study, artefact, quantity and condition (patterns),
    printed, why.
    """
    listed = yaml.safe_load((root / DIFFERENCES).read_text(encoding="utf-8"))
    return [{"artefact": "*", "quantity": "*", "condition": "*", **entry} for entry in listed]


def differing(root: Path) -> pd.DataFrame:
    """The accepted rows that differ from print, or in which print contradicts itself, with the
    printed value.
    """
    accepted = _read(root / ACCEPTED)
    rows = accepted[accepted["verdict"].isin((DIFFERS, PRINT_INCONSISTENT))]
    published = [
        _read(root / f"workflow/resources/published/{study}.csv").assign(study=study)
        for study in set(rows["study"])
    ]
    if not published:
        return rows
    # statements have no printed value: they stand in the ledgers of claims
    return rows.merge(pd.concat(published), on=KEY, how="left").fillna(
        {"value": "1", "unit": STATEMENT}
    )


def matched(entry: dict[str, str], rows: pd.DataFrame) -> pd.Series:
    """Which rows an entry is about."""
    return rows.apply(
        lambda row: all(fnmatchcase(row[name], str(entry[name])) for name in KEY), axis=1
    )


def differences(reasons: list[dict[str, str]], rows: pd.DataFrame) -> str:
    """The table of what differs and why.

    Raises
    ------
    ContactIdError : where an entry has no row, or a row not exactly one entry; names them all
    """
    matches = [matched(entry, rows) for entry in reasons]
    wrong, lines = [], []
    for entry, is_about in zip(reasons, matches, strict=True):
        if not is_about.any():
            wrong.append(f"no number differs for '{entry['printed']}'")
        title = f"{entry['study']}, {entry['printed']}"
        lines.append([title, _found(rows[is_about]), entry["why"]])
    for place, (_, row) in enumerate(rows.iterrows()):
        count = sum(bool(is_about.iloc[place]) for is_about in matches)
        if count != 1:
            wrong.append(f"{count} entries are about {', '.join(row[name] for name in KEY)}")
    if wrong:
        raise ContactIdError(
            f"{DIFFERENCES}: {'; '.join(wrong)}",
            "each row that differs needs one entry, each entry a row",
        )
    return _table("printed | found | why", lines)


def _found(rows: pd.DataFrame) -> str:
    """The first pairs of printed and reproduced numbers, and how many more there are."""
    if (rows["unit"] == STATEMENT).all():
        return "doesn't hold" if len(rows) == 1 else f"doesn't hold in {len(rows)} cases"
    parts = []
    for row in rows.head(_MOST).to_dict("records"):
        unit = "" if row["unit"] == "1" else row["unit"]
        parts.append(f"{row['value']} -> {float(row['reproduced']):.4g} {unit}".strip())
    if len(rows) > _MOST:
        parts.append(f"and {len(rows) - _MOST} more")
    return "; ".join(parts)


def take_missing(root: Path) -> None:
    """Write what the default run lacks, if it is there with all studies: by artefact, how many
    numbers, and which datasets or what.
    """
    checks = root / "results/default/checks.csv"
    table = _read(checks) if checks.is_file() else pd.DataFrame({"study": []})
    if set(_read(root / ACCEPTED)["study"]) <= set(table["study"]):
        key = ["study", "artefact", "verdict"]
        rows = []
        for values, lacking in table[~comparable(table)].groupby(key, sort=False):
            # a dictionary without values: a set that keeps its order
            names: dict[str, None] = {}
            for note in lacking["note"]:
                names |= dict.fromkeys(_lacked(note))
            rows.append((*values, len(lacking), "; ".join(names)))
        missing = pd.DataFrame(rows, columns=[*key, "numbers", "missing"])
        missing.to_csv(root / MISSING, index=False, lineterminator="\n")


def _lacked(note: str) -> list[str]:
    """The datasets that the first part of a note names with their DOI, or else that part, from
    whose software on.
    """
    missing = note.split(";")[0]
    software = re.sub(
        r"^.* by (?=Algoryx)|^.* from (?=figure|the )| \((sec|Table) [^)]*\)", "", missing
    )
    return re.findall(r"\w+,? 10\.\d+/[\w.]+\w", missing) or [software]


def _read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def _explained(headings: str, meanings: Mapping[str, str]) -> str:
    """A table of names, as code, and what each means."""
    return _table(headings, [[f"`{name}`", meaning] for name, meaning in meanings.items()])


def _table(headings: str, rows: list[list[str]]) -> str:
    """A table of these cells; its headings are one line of Markdown."""
    rule = "---|" * (headings.count("|") + 1)
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in rows]
    return "\n\n" + "\n".join([f"| {headings} |", f"|{rule}", *lines]) + "\n\n"
