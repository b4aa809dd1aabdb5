"""What statements ask of figures' data: the motions of the two-mass models, their events, and joint
velocities.

Nothing here draws: the study's checks read these, and Matplotlib takes long to import.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from contactid.arm.simulate.two_mass import COMPLIANT, IMPACT, RIGID, SEPARATION, TABLE_I

_FINE = 2e-5  # s, of figure 4's zoom
_TOUCHING = 1e-9  # m, a gap that is rounding
_CHANGE = 0.05  # s, before the impact and after it, over which joints are compared


class ShownMotions:
    """Figure 4's data, read as curves.

    ``impact`` is when model A's bodies meet, s, and ``before`` their state then, which a compliant
    contact doesn't change at once; ``end`` is the last time.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        models = {str(model): part.set_index("t_s") for model, part in table.groupby("model")}
        gap = models[COMPLIANT]["x1_m"] - models[COMPLIANT]["x0_m"]
        self.before = models[COMPLIANT][gap <= _TOUCHING].iloc[0]
        self.impact, self.end = float(str(self.before.name)), float(table["t_s"].max())
        self._after = {
            model: part[~part.index.duplicated(keep="last")] for model, part in models.items()
        }

    def at(self, model: str, signal: str, times: np.ndarray) -> np.ndarray:
        """(n,) ``x1``, ``x2`` (m), ``v1`` or ``v2`` (m/s) at (n,) times, s; at an event after it.

        A model of another name than A, B and C hits nothing: from the impact on its masses keep
        their velocities.
        """
        column = f"{signal}_m_s" if signal[0] == "v" else f"{signal}_m"
        if model in self._after:
            curve = self._after[model][column]
            return np.interp(times, curve.index, curve)
        speed = self.before[f"v{signal[1]}_m_s"] if signal[0] == "x" else 0.0
        return np.asarray(self.before[column] + speed * (times - self.impact))

    def after(self, begin: float, end: float) -> np.ndarray:
        """(n,) times ``begin`` to ``end`` s after the impact, between steps, as model B jumps at
        the impact itself.
        """
        return self.impact + np.arange(begin + 0.5 * _FINE, end, _FINE)

    def departure(self, model: str, begin: float) -> tuple[np.ndarray, np.ndarray]:
        """Times (n,) from ``begin`` s after the impact on, and v2 less the rigid robot's there as a
        share of it.
        """
        times = np.arange(self.impact + begin, self.end, 1e-4)
        return times, self.at(model, "v2", times) / self.at(RIGID, "v2", times) - 1.0


def separations(events: pd.DataFrame, model: str, setting: str = TABLE_I) -> pd.DataFrame:
    """Separations of a motion of ``ext_events``, with their time and speed, and whether the bodies
    meet again.

    ``after`` the impact, s; ``speed`` over the impact's; ``closes``.
    """
    rows = events[(events["model"] == model) & (events["setting"] == setting)]
    hit = rows[rows["event"] == IMPACT].iloc[0]
    after, speed = rows["t_s"] - hit["t_s"], (rows["gap_rate_m_s"] / hit["gap_rate_m_s"]).abs()
    found = rows.assign(after=after, speed=speed, closes=rows["t_s"].shift(-1).notna())
    return found[found["event"] == SEPARATION]


def velocity_changes(shown: pd.DataFrame) -> np.ndarray:
    """(joints,) rms change of figure 2's joint velocities within 50 ms, from their mean before the
    impact, rad/s.
    """
    since = shown["time_s"] - shown["impact_time_s"]
    before = shown[since.between(-_CHANGE, 0.0)].groupby("joint")["velocity_rad_s"].mean()
    after = shown[since.between(0.0, _CHANGE)]
    squared = (after["velocity_rad_s"] - after["joint"].map(before)) ** 2
    return np.sqrt(squared.groupby(after["joint"]).mean().to_numpy())
