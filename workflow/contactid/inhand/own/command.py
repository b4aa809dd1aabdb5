"""Estimate mass, centre of mass and inertia of an object that is held at contacts and moved.

A recording is a csv: time; object_position_x, _y, _z (m) and object_orientation_w, _x, _y, _z of
the body frame in a world with z upwards; for every contact, by whatever name,
contact_force_<name>_x, _y, _z (N, on the object) and contact_position_<name>_x, _y, _z (m), both in
the body frame; optionally contact_force_sd_<name>_x and so on (N), and contact_torque_<name>_x (N
m) of a force-torque sensor. The hull is a csv of x,y,z (m, body frame) or a mesh.

The noise is a YAML file of standard deviations: position_sd (m), orientation_sd (rad),
contact_position_sd (m), and where it differs from the default force_sd (0.03 N) and
force_relative_sd (0.03) where the csv has no contact_force_sd, force_gain_sd (0.05, of the force
sensors' calibration), contact_torque_sd (0.001 N m), gravity (9.81 m/s2).

The report is a folder with report.html, parameters.json, tables, and the body as body.xml (MJCF)
and body.urdf.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contactid.sources.conventions import AXES, FORCE, MIRROR, QUATERNION, UP, options, stated_by

if TYPE_CHECKING:
    from contactid.output.result import Result


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser, QUATERNION, UP, MIRROR, FORCE, AXES)
    parser.add_argument(
        "recording",
        metavar="x.csv",
        nargs="+",
        help="a recording, or several of one object; its columns are named above",
    )
    parser.add_argument(
        "--hull",
        required=True,
        metavar="hull.csv",
        help="x,y,z per row in m, or a mesh (.stl, .obj, .ply, .off, .glb)",
    )
    parser.add_argument(
        "--noise",
        required=True,
        metavar="noise.yaml",
        help="standard deviations of what was measured",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, estimate, write the report, print its results, and return what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where the answer is refuted; nothing is written
        then.
    """
    from contactid.output.own_report import refuse_missing, reported, say

    refuse_missing(*given.recording, given.hull, given.noise)
    stated = stated_by(given)

    def make() -> Result:
        from contactid.inhand.own.result import estimate

        return estimate(
            given.recording,
            given.hull,
            given.noise,
            columns=stated.columns,
            units=stated.units,
            frame=stated.frame,
            progress=say,
        )

    return reported(given.report, ", ".join(given.recording), make)
