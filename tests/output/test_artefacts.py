"""Declarations of tables and figures: each once, with its caption, and functions that are there."""

import importlib
import re
from pathlib import Path

import pytest
import yaml

from contactid.output import artefacts as declared
from contactid.run.fingerprint import Fingerprints

ROOT = Path(__file__).parents[2]
STUDIES = ("tossing", "planar", "arm", "inhand")
CODE = Fingerprints()


def rows(study):
    """The study's artefacts in the default configuration."""
    block = yaml.safe_load((ROOT / "config/default.yaml").read_text())[study]
    return importlib.import_module(f"contactid.{study}.artefacts").declare(block)


@pytest.mark.parametrize("study", STUDIES)
def test_every_artefact_is_declared_once_with_all_that_follows_from_it(study):
    found = rows(study)
    places = [row.place for row in found]
    assert len(set(places)) == len(places)
    for row in found:
        assert re.fullmatch(r"((tab|fig)(A?)\d+|ext)_[a-z0-9_]+", row.name), row.name
        assert row.caption.strip() or row.kind == "animation", f"{row.place} has no caption"
        assert bool(row.draw) == (row.kind != "table"), row.place
        for reference in filter(None, (row.compute, row.draw)):
            assert reference.startswith(f"contactid.{study}."), reference
            assert CODE.reached(reference), reference
    files = declared.artefact_files(found, "here")
    assert len(set(files)) == len(files)
    for row in found:
        printed = row.kind == "table" and not row.name.startswith("ext_")
        assert "tex" in row.files or not printed, f"{row.name} is printed and isn't typeset"
        assert printed or row.spread is None, row.name


def test_rows_name_the_functions_of_their_folders_files():
    rows = declared.Rows("contactid.arm.artefacts", "arm_tables", "drawing", ("mine",))
    figure = rows.figure(
        "fig01_c", "headline:headline", "draw_headline", "C.", settings={"wide": True}
    )
    assert figure == declared.figure(
        "fig01_c",
        "arm_tables",
        "contactid.arm.artefacts.headline:headline",
        "contactid.arm.artefacts.headline:draw_headline",
        "C.",
        data="drawing",
        datasets=("mine",),
        settings={"wide": True},
    )
    other = rows.figure("fig01_c", "robots:robots", "two_mass:draw_motions", "C.", data="made up")
    assert other.draw == "contactid.arm.artefacts.two_mass:draw_motions"
    assert other.data == "made up"
    assert rows.table("ext_a", "robots:robots", "A.", datasets=["b", "b"]).datasets == ("b",)


def test_files_are_handed_out_one_artefact_after_the_other():
    some = [
        declared.table("tab01_a", "r", "m:f", "A."),
        declared.table("ext_b", "r", "m:g", "B."),
        declared.figure("fig01_c", "r", "m:h", "m:d", "C.", data="made up"),
    ]
    files = declared.computed(some, "x")
    assert files == ["x/tables/tab01_a.csv", "x/tables/ext_b.csv", "x/figures/fig01_c.csv"]
    by_place = declared.files_by_place(declared.computations(some), files)
    assert by_place["tables/ext_b"] == ["x/tables/ext_b.csv"]
    assert declared.typeset(some, "x") == ["x/tables/tab01_a.tex"]
    assert declared.drawn(some, "x") == [
        f"x/figures/fig01_c.{end}" for end in ("pdf", "png", "svg")
    ]
    with pytest.raises(ValueError, match="files for the artefacts"):
        declared.files_by_place(declared.computations(some), files[:-1])


def test_what_computes_is_told_nothing_of_captions_and_spreads():
    spread = declared.Spread({}, "x", ("x_se",), "standard error")
    plain = declared.table("tab01_a", "r", "m:f", "A.")
    other = declared.table("tab01_a", "r", "m:f", "B.", files=("csv",), spread=spread)
    assert declared.computations([plain]) == declared.computations([other])
