"""Write the two-mass models' tables and figure data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contactid.arm.simulate.two_mass import simulate
from contactid.arm.two_mass_figure_data import decomposition_table, model_sketch, motion_table, sweep_figure
from contactid.arm.two_mass_settings import settings_of, sweep_settings, table_i_settings
from contactid.arm.two_mass_tables import (
    CAPTIONS,
    events_table,
    parameters_table,
    printed_parameters,
    run_settings,
    sweep_table,
)
from contactid.output.tables import read_csv, write_csv, write_tex

_PRINTED_COLUMNS = (
    "model", "d_rob", "d_env", "early_separations", "separations", "late_lift_off_ms", "settling_ms",
    "departure_100ms_pct", "v_plus_rigid_m_s", "v_plus_fit_m_s", "fit_error_pct", "status",
)  # fmt: skip


def write_models(folder: str | Path, *, block: Mapping[str, Any], published: str | Path) -> None:
    """Write Table I and the data of figures 3 to 5.

    Parameters
    ----------
    folder
        The study's results.
    block
        ``arm.models`` of the configuration.
    published
        Csv of the paper's printed values.
    """
    folder, settings = Path(folder), settings_of(block)
    table = parameters_table(settings.system, printed_parameters(read_csv(published)))
    write_csv(table, folder / "tables/tab01_parameters.csv")
    write_tex(table, folder / "tables/tab01_parameters.tex", caption=CAPTIONS["tab01_parameters"])
    runs = run_settings(table_i_settings(settings), settings.duration)
    fitted = simulate(settings.system, settings.fit.model, settings.sweep_duration)
    write_csv(model_sketch(), folder / "figures/fig03_models.csv")
    write_csv(motion_table(runs, settings.zoom), folder / "figures/fig04_two_mass.csv")
    write_csv(decomposition_table(fitted, settings), folder / "figures/fig05_decomposition.csv")


def write_sweep(folder: str | Path, *, block: Mapping[str, Any]) -> None:
    """Write the events of all motions, the table of the damping sweep, and its figure's data.

    Parameters
    ----------
    folder
        The study's results.
    block
        ``arm.models`` of the configuration.
    """
    folder, settings = Path(folder), settings_of(block)
    table_i = run_settings(table_i_settings(settings), settings.sweep_duration)
    runs = run_settings(sweep_settings(settings), settings.sweep_duration)
    events, sweep = events_table([*table_i, *runs]), sweep_table(runs, settings)
    write_csv(events, folder / "tables/ext_events.csv")
    write_csv(sweep, folder / "tables/ext_damping_sweep.csv")
    write_csv(sweep_figure(sweep, runs), folder / "figures/ext_damping_sweep.csv")
    write_tex(events_table(table_i), folder / "tables/ext_events.tex", caption=CAPTIONS["ext_events"])
    main = sweep.loc[sweep["window_s"] == settings.fit.windows[0], list(_PRINTED_COLUMNS)]
    write_tex(main, folder / "tables/ext_damping_sweep.tex", caption=CAPTIONS["ext_damping_sweep"])
