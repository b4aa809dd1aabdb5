"""A result in a caller's own session: its figures are shown where the caller's are."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
import xarray as xr

from contactid.output.result import Result, parameter_table


@pytest.fixture
def of_the_caller():
    before = mpl.get_backend()
    mpl.use("svg")
    yield "svg"
    plt.close("all")
    mpl.use(before)


def drawn():
    figure, axes = plt.subplots()
    axes.plot([0.0, 1.0])
    return figure


def test_a_figure_leaves_the_callers_backend_and_no_open_figure(of_the_caller, tmp_path):
    answer = Result(
        "one line", parameter_table([]), pd.DataFrame(), xr.Dataset(), (), (), (), {},
        figures={"Line": drawn},
    )  # fmt: skip
    figure = answer.plot()
    answer.save(tmp_path)
    assert figure.axes and "Line" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert mpl.get_backend() == of_the_caller and plt.get_fignums() == []
