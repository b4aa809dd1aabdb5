"""Data of figure 5: forces of a test session against predictions, and the calibration of the stated uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.inhand.force_calibration import calibration_curve
from contactid.inhand.readers.electrode_twins import TactileSessions

SOURCE = "synthetic data: simulated sensor with 19 electrodes; contactid inhand"
AXES = ("x", "y", "z")

# a model's name, its mean and standard deviation (n, 3) on all test samples, and its scale from the validation sessions
Curve = tuple[str, np.ndarray, np.ndarray, float]


def force_figure(sessions: TactileSessions, curves: Sequence[Curve], shown: int, levels: np.ndarray) -> pd.DataFrame:
    """Rows of figure 5.

    Panel ``stretch``: axis, t_s, truth_n, mean_n, sd_n of the first model on test session ``shown`` (counted from 0),
    its standard deviation scaled on the validation sessions. Panel ``calibration``: model, scaled, level, share.

    Raises
    ------
    ContactIdError
        Where there is no such session.
    """
    count, samples = sessions.force.shape[:2]
    if not 0 <= shown < count:
        raise ContactIdError(f"figure 5 can't show test session {shown} of {count}", "Choose another shown_session")
    name, mean, sd, scale = curves[0]
    rows = slice(shown * samples, (shown + 1) * samples)
    stretches = [
        pd.DataFrame(
            {
                "panel": "stretch", "model": name, "axis": axis, "t_s": sessions.time,
                "truth_n": sessions.force[shown, :, k], "mean_n": mean[rows, k], "sd_n": scale * sd[rows, k],
            }
        )
        for k, axis in enumerate(AXES)
    ]  # fmt: skip
    truth = sessions.force.reshape(-1, 3)
    calibrations = [
        pd.DataFrame(
            {
                "panel": "calibration", "model": model, "scaled": factor != 1.0, "level": levels,
                "share": calibration_curve(truth, mean, factor * sd, levels),
            }
        )
        for model, mean, sd, scale in curves
        for factor in (1.0, scale)
    ]  # fmt: skip
    columns = [
        "panel", "model", "scaled", "axis", "t_s", "truth_n", "mean_n", "sd_n", "level", "share", "source",
    ]  # fmt: skip
    return pd.concat([*stretches, *calibrations], ignore_index=True).assign(source=SOURCE).reindex(columns=columns)
