"""Figures that share a process: one that fails costs none of the others, and is named."""

import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.output import artefacts, drawing
from contactid.output.computing import compute
from contactid.output.tables import write_csv

CALLS = []


def line(data, width=1.0):
    """A figure of one line."""
    import matplotlib.pyplot as plt

    CALLS.append(len(data))
    figure, axes = plt.subplots(figsize=(2.0, 1.0))
    axes.plot(data["x"], data["y"], lw=width)
    return figure


def broken(data):
    """No figure."""
    raise ZeroDivisionError("no figure")


def declared(second="test_drawing:line"):
    return [
        artefacts.figure(
            "fig01_a",
            "r",
            "m:f",
            "test_drawing:line",
            data="synthetic numbers",
            settings={"width": 2.0},
        ),
        artefacts.figure("fig02_b", "r", "m:f", second),
    ]


def job(folder, rows, code="1"):
    """Draw as a rule would; Snakemake removes what a failed job wrote."""
    data = artefacts.computed(rows, str(folder))
    for number, file in enumerate(data, 1):
        write_csv(
            pd.DataFrame({"x": range(number + 1), "y": range(number + 1), "source": "made up"}),
            file,
        )
    files = artefacts.drawn(rows, str(folder))
    named = {
        "data": data,
        "drawn": files,
        "kept": str(folder / "kept"),
        "sources": [],
        "code": code,
    }
    try:
        drawing.draw(artefacts.drawings(rows), named)
    except ContactIdError:
        for file in folder.glob("figures/*.p*"):
            file.unlink()
        raise
    return files


def test_the_others_are_kept_for_the_next_try_and_the_failure_is_named(tmp_path, capsys):
    CALLS.clear()
    with pytest.raises(ContactIdError, match=r"figures/fig02_b: can't be drawn"):
        job(tmp_path, declared("test_drawing:broken"))
    assert "ZeroDivisionError: no figure" in capsys.readouterr().err
    assert CALLS == [2] and not list(tmp_path.glob("figures/*.png"))
    files = job(tmp_path, declared())
    assert CALLS == [2, 3], "the first one was kept"
    for file in files:
        text = (tmp_path / file).read_bytes()
        assert len(text) > 500
    assert "synthetic numbers" in (tmp_path / "figures/fig01_a.svg").read_text()
    assert "made up" in (tmp_path / "figures/fig02_b.svg").read_text()
    assert not list((tmp_path / "kept").glob("*")), "nothing is left behind"


def test_what_was_kept_is_drawn_again_where_the_code_has_changed(tmp_path):
    CALLS.clear()
    with pytest.raises(ContactIdError):
        job(tmp_path, declared("test_drawing:broken"))
    job(tmp_path, declared(), code="2")
    assert CALLS == [2, 2, 3]


# tables


def two_tables(scale):
    """Two tables of one function."""
    table = pd.DataFrame({"name": ["a_b"], "value": [scale / 3.0]})
    return {"tables/tab01_a": table, "tables/ext_b": table}


def test_tables_are_computed_once(tmp_path):
    rows = [
        artefacts.table("tab01_a", "r", "test_drawing:two_tables", "A & b."),
        artefacts.table("ext_b", "r", "test_drawing:two_tables", "B."),
    ]
    named = {"artefacts": artefacts.computed(rows, str(tmp_path)), "scale": 1.0, "unused": 2.0}
    compute(artefacts.computations(rows), named)
    for name in ("tab01_a", "ext_b"):
        assert (tmp_path / f"tables/{name}.csv").read_text() == "name,value\na_b,0.333333\n"
    with pytest.raises(ValueError, match="are declared for it"):
        compute(
            artefacts.computations(rows[:1]),
            {**named, "artefacts": artefacts.computed(rows[:1], str(tmp_path))},
        )
