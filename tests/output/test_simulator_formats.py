"""Bodies written as MJCF and URDF are the same bodies when MuJoCo and Pinocchio read them."""

import json
import subprocess
import xml.etree.ElementTree as ET
from io import StringIO

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.core.rotations import matrices
from contactid.output.simulator_formats import IdentifiedBody, damping_ratio, mjcf, urdf, wavefront
from contactid.tossing.peers.sessions import peer_python

TURN = matrices(np.array([0.8, 0.1, -0.5, 0.3]) / np.linalg.norm([0.8, 0.1, -0.5, 0.3]))
CENTER = np.array([0.03, -0.02, 0.011])
CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.06, 0.06) for z in (-0.04, 0.05)])


def body(**changes):
    inertia = TURN @ np.diag([2e-3, 3e-3, 4e-3]) @ TURN.T
    return IdentifiedBody(
        "thing", 0.731, CENTER, inertia, **({"friction": 0.31, "restitution": 0.4} | changes)
    )


@pytest.mark.parametrize("shape", [{}, {"box": np.array([0.2, 0.1, 0.05])}])
def test_pinocchio_reads_the_urdf_as_the_same_body(shape):
    pinocchio = pytest.importorskip("pinocchio")
    model = pinocchio.buildModelFromXML(urdf(body(**shape)), pinocchio.JointModelFreeFlyer())
    read = model.inertias[1]
    assert read.mass == pytest.approx(0.731, rel=1e-11)
    assert read.lever == pytest.approx(CENTER, rel=1e-11)
    assert read.inertia == pytest.approx(body().inertia, rel=1e-9, abs=1e-15)


READ = """
import json, sys
import mujoco, numpy as np
text, dropped = json.load(sys.stdin)
model = mujoco.MjModel.from_xml_string(text)
turn = np.empty(9)
mujoco.mju_quat2Mat(turn, model.body_iquat[1])
turn = turn.reshape(3, 3)
told = {"mass": model.body_mass[1], "center": model.body_ipos[1].tolist(),
        "inertia": (turn @ np.diag(model.body_inertia[1]) @ turn.T).tolist(), "geoms": int(model.ngeom)}
if model.ngeom:
    told["friction"] = model.geom_friction[0, 0]
    floor = '<geom type="plane" size="5 5 .1" friction="0.9 0 0" condim="3"/>'
    world = text.replace("<worldbody>", '<option timestep="0.0001" gravity="0 0 0"/><worldbody>' + floor)
    model = mujoco.MjModel.from_xml_string(world)
    data = mujoco.MjData(model)
    data.qpos[:3] = [0.0, 0.0, dropped]
    data.qvel[:3] = [0.0, 0.0, -1.0]
    for _ in range(2000):
        mujoco.mj_step(model, data)
    told["speed"] = data.qvel[2]
print(json.dumps(told))
"""


def read_by_mujoco(text, height=0.03):
    return asked_of_mujoco(READ, text, height)


def asked_of_mujoco(code, *given):
    try:
        python = peer_python("mujoco")
    except ContactIdError:
        pytest.skip("mujoco has no environment here")
    asked = subprocess.run(
        [python, "-c", code], input=json.dumps(given), capture_output=True, text=True
    )
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


@pytest.mark.parametrize(("shape", "geoms"), [({}, 0), ({"hull": CORNERS}, 1)])
def test_mujoco_reads_the_mjcf_as_the_same_body(shape, geoms):
    told = read_by_mujoco(mjcf(body(**shape)), 0.2)
    assert told["geoms"] == geoms
    assert told["mass"] == pytest.approx(0.731, rel=1e-11)
    assert told["center"] == pytest.approx(CENTER, rel=1e-9)
    assert np.array(told["inertia"]) == pytest.approx(body().inertia, rel=1e-9, abs=1e-13)
    assert not geoms or told["friction"] == pytest.approx(0.31)


PLANAR = """
import json, sys
import mujoco, numpy as np
text, ground, start = json.load(sys.stdin)
floor = f'<geom type="plane" size="5 5 .1" zaxis="0 1 0" pos="0 {ground} 0" friction="0.9 0 0" condim="3"/>'
model = mujoco.MjModel.from_xml_string(text.replace("<worldbody>", '<option timestep="0.0005"/><worldbody>' + floor))
data = mujoco.MjData(model)
told = {"joints": int(model.nv), "mass": model.body_mass[1], "friction": model.geom_friction[1, 0], "path": []}
data.qpos[1], data.qfrc_applied[2] = 1.0, 6e-5
mujoco.mj_forward(model, data)
told["accelerations"] = data.qacc.tolist()
data.qpos[:], data.qvel[:] = start
data.qfrc_applied[2] = 0.0
for _ in range(2000):
    mujoco.mj_step(model, data)
    told["path"].append(data.qpos.tolist())
print(json.dumps(told))
"""


def test_mujoco_slides_a_planar_body_as_its_friction_says():
    """A flat side slides on the ground: it comes to a stop after v^2 / (2 mu g)."""
    corners = np.array(
        [[x, y, z] for x in (-0.05, 0.05) for y in (-0.01, 0.01) for z in (-0.005, 0.005)]
    )
    inertia = 3e-5 * np.diag([0.5, 0.5, 1.0])
    plate = IdentifiedBody(
        "plate", 0.04, np.zeros(3), inertia, friction=0.25, hull=corners, planar=True
    )
    told = asked_of_mujoco(PLANAR, mjcf(plate), -0.01, [[0.0, 0.0, 0.0], [0.8, 0.0, 0.0]])
    assert told["joints"] == 3
    assert told["mass"] == pytest.approx(0.04)
    assert told["friction"] == pytest.approx(0.25)
    assert told["accelerations"] == pytest.approx(
        [0.0, -9.81, 2.0], abs=1e-9
    )  # a torque of 2 J, in flight
    assert told["path"][-1][0] == pytest.approx(0.8**2 / (2.0 * 0.25 * 9.81), rel=0.05)
    assert abs(told["path"][-1][2]) < 0.02


@pytest.mark.parametrize("restitution", [0.8, 0.4, 0.05])
def test_a_box_bounces_in_mujoco_as_its_restitution_says(restitution):
    """Flat, centred and without gravity, an impact is of the normal direction alone."""
    cube = IdentifiedBody(
        "cube",
        0.5,
        np.zeros(3),
        2e-4 * np.eye(3),
        restitution=restitution,
        box=np.array([0.05, 0.05, 0.05]),
    )
    assert read_by_mujoco(mjcf(cube))["speed"] == pytest.approx(restitution, abs=0.02)


@given(st.floats(1e-4, 1.0))
def test_the_spring_gives_the_restitution_back(restitution):
    """The damped spring is followed from contact to where it would pull, by the exact solution's
    own steps.
    """
    ratio = damping_ratio(restitution)
    step = 1e-3 if ratio < 5.0 else 1e-3 / ratio
    matrix = np.array([[0.0, 1.0], [-1.0, -2.0 * ratio]])
    values, vectors = np.linalg.eig(matrix.astype(complex))
    time = step * np.arange(1, 8000)
    start = np.linalg.solve(vectors, [0.0, -1.0])
    state = np.real((vectors * start) @ np.exp(np.outer(values, time)))
    push = -state[0] - 2.0 * ratio * state[1]
    ended = np.argmax(push <= 0.0)
    # overdamped springs push for ever, ever less: what they reach is the answer
    speed = state[1, ended] if push[ended] <= 0.0 else state[1].max()
    assert speed == pytest.approx(restitution, abs=3e-3)


def test_nothing_is_said_of_contact_where_nothing_is_known():
    text = mjcf(body(friction=None, restitution=None, hull=CORNERS))
    assert "friction" not in text and "solref" not in text
    assert "contact" not in urdf(body(friction=None, restitution=None))


def test_a_hull_is_closed_triangles_seen_from_outside():
    inside = np.zeros((1, 3))
    written = trimesh.load(StringIO(wavefront(np.vstack([CORNERS, inside]))), file_type="obj")
    assert written.is_watertight and len(written.vertices) == len(CORNERS)
    assert written.volume == pytest.approx(0.2 * 0.12 * 0.09)
    mesh = ET.fromstring(urdf(body(hull=CORNERS), mesh="hull.obj")).find(
        "link/collision/geometry/mesh"
    )
    assert mesh.get("filename") == "hull.obj"


def test_a_body_that_cannot_exist_is_refused():
    with pytest.raises(ContactIdError, match="principal moments"):
        IdentifiedBody("flat", 1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1]))
    with pytest.raises(ContactIdError, match="from 0 to 1"):
        damping_ratio(1.1)
