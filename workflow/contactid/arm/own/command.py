"""The velocity of an arm's tip right after an impact, from recorded joint positions, beside the
impact map's.

A recording is a .mat file (variables q (n, 7) and t), a folder of them, or a table (.csv, columns
t, q1, ..., q7; for another robot as many joints as it moves): joint positions in rad or degrees,
time in s, ms, us or ns from any origin, 1 kHz if there is none. Real clocks are resampled to even
steps. The robot is the KUKA LWR 4+ unless --robot gives a link table with the columns of the
packaged lwr4.csv. The probe's length counts from the origin of the last moving link, along its z
axis: on the LWR 4+ from link 7's, so flange, force sensor and tool add to it. Their mass doesn't
count. No recording shows a wrong length: v+ is then off by more than its interval.

The report is a folder with report.html, predictions.csv, parameters.json and tables. predictions.csv
has a row per recording (parameters.json the same, and the posture q_impact_rad):

  recording, file             its name and where it was read from
  impact_time_s, .._se        since the recording's first sample, and its standard error
  direction_deg               from x of the base, about z: the horizontal direction that is called x
                              here
  vx_minus, vz_minus, .._se   v-, m/s; x along the arm's motion, z up, normal to the table
  vx_plus                     v_x+, m/s, where the normal velocity is zero, as the map has it: a tip
                              that lifts off has got a longer blow, and this part of it is taken out
  vz_plus                     v_z+ of the arm's motion under the vibration, which links and motors
                              have in common, m/s; zero where a mechanism with friction is the answer
  vx_plus_low, .._high        95 % interval: how far models that explain the vibration differ, and
                              how hard friction may have braked the first swing; vz_plus_ likewise
  vx_plus_map, vz_plus_map    the impact map's v+ at the measured posture, m/s: rigid links without
                              motors
  sliding_ratio               r = W_xz / W_zz of the map: v_x+ = v_x- + r |v_z-|
  lateral_minus, .._plus      velocity across the plane of motion, m/s
  frequency_hz, decay_1_s     of the strongest vibration; empty where a mechanism with friction is it
  state                       lifts off (v_z+ is above its interval), slides, sticks (v_x+ is below a
                              tenth of the approach speed, by its whole interval), or undetermined
                              (it may slide or stick)
  remarks, warnings           what was done to the recording, and what not to trust

methods.csv has v+ by every method, by the map, and as if nothing happened along the table.

A recording on whose vibration models don't agree has no row: it is left out, with that reason.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contactid.sources.conventions import options, stated_by

if TYPE_CHECKING:
    from contactid.output.result import Result


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser)
    parser.add_argument(
        "recordings",
        nargs="+",
        metavar="recording",
        help=".mat files, tables (.csv, .parquet, .npz, .h5), or folders of them",
    )
    parser.add_argument(
        "--robot", default="", metavar="table.csv", help="link table (default: the KUKA LWR 4+)"
    )
    parser.add_argument(
        "--probe",
        type=float,
        default=0.10,
        metavar="m",
        help="from the last moving link's origin to the tip, flange and sensor included (default: 0.10)",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, find each impact and its velocities, write the report, print the results, and return
    what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, where no recording is usable; nothing is written then.
    """
    from contactid.output.own_report import refuse_missing, reported, say

    refuse_missing(*given.recordings, given.robot)
    stated = stated_by(given)

    def make() -> Result:
        from contactid.arm.own.impact import impact

        return impact(
            given.recordings,
            robot=given.robot,
            probe=given.probe,
            columns=stated.columns,
            units=stated.units,
            progress=say,
        )

    return reported(given.report, given.recordings[0], make)
