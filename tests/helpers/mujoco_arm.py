"""Impacts of an arm with elastic joints in MuJoCo: ``python mujoco_arm.py FOLDER`` in MuJoCo's own
environment.

A truth of another make than :mod:`contactid.arm.readers.twins`: fixed steps, a table that gives
way, a controller that tracks by feedback, and, where a case asks for it, dry friction in the
joints, a controller that switches late, or a base on springs. Gravity is left out, as if the arm
balanced it exactly. ``FOLDER/case.json`` describes the arm and what it does (see
``own_impacts.py``); ``FOLDER/motion.json`` is written.

A joint is two hinges on one axis: the motor (its inertia is an armature) and behind it the spring
that the link hangs on. So the kinetic energy is that of the reduced elastic-joint model.
"""

import json
import sys
from pathlib import Path

import mujoco
import numpy as np

STEP = 5e-5  # s
SAMPLE = 1e-3  # s
TIP_RADIUS = 1e-3  # m, of the sphere that hits the table
# s, within which dry friction holds a joint: MuJoCo's own 20 ms make it viscous for joints as slow as
# these
HOLDING = 1e-3
# Feedback of the motors before the impact, as a frequency (rad/s): stiff enough to hold a
# trajectory of constant velocity against friction, far below the rate of the steps.
FEEDBACK = 200.0


def arm_xml(case):
    """The arm and the table as MJCF."""
    lines = []
    for number, joint in enumerate(case["joints"]):
        axis = " ".join(map(str, joint["axis"]))
        place = " ".join(map(str, joint["position"]))
        turn = " ".join(map(str, joint["quaternion"]))
        centre = " ".join(map(str, joint["centre"]))
        inertia = " ".join(map(str, joint["inertia"]))
        lines += [
            f'<body name="motor{number}" pos="{place}" quat="{turn}">',
            '<inertial pos="0 0 0" mass="1e-6" diaginertia="1e-9 1e-9 1e-9"/>',
            f'<joint name="motor{number}" axis="{axis}" armature="{joint["motor_inertia"]}"'
            f' frictionloss="{joint["friction"]}" damping="{joint["viscous_friction"]}"'
            f' solreffriction="{HOLDING} 1"/>',
            f'<body name="link{number}">',
            f'<inertial pos="{centre}" mass="{joint["mass"]}" fullinertia="{inertia}"/>',
            f'<joint name="spring{number}" axis="{axis}" stiffness="{joint["stiffness"]}"'
            f' damping="{joint["damping"]}"/>',
        ]
    base = case["base"]  # shakes in x and z, and turns about y
    springs = [
        f'<joint type="{kind}" axis="{axis}" stiffness="{base["stiffness"][name]}" damping="{base["damping"][name]}"/>'
        for name, kind, axis in (
            ("x", "slide", "1 0 0"),
            ("z", "slide", "0 0 1"),
            ("pitch", "hinge", "0 1 0"),
        )
        if base
    ]
    if base:
        inertia = " ".join([str(base["inertia"])] * 3)
        stand = f'<inertial pos="0 0 0" mass="{base["mass"]}" diaginertia="{inertia}"/>'
        lines = [f"<body>{stand}", *springs, *lines]
    tip = " ".join(map(str, case["tip"]))
    lines.append(f'<site name="tip" pos="{tip}"/>')
    lines.append(f'<geom type="sphere" pos="{tip}" size="{TIP_RADIUS}" mass="0" condim="1"/>')
    lines += ["</body>"] * (2 * len(case["joints"]) + bool(base))
    table = case["table_height"] - TIP_RADIUS
    contact = f'solref="{case["contact_time"]} 1" solimp="0.99 0.999 1e-5"'
    return f"""<mujoco>
<compiler angle="radian"/>
<option timestep="{STEP}" gravity="0 0 0" integrator="implicitfast" tolerance="1e-12"/>
<default><geom {contact}/></default>
<worldbody>
<geom type="plane" size="2 2 0.1" pos="0 0 {table}" condim="1"/>
{"".join(lines)}
</worldbody>
</mujoco>"""


class Impact:
    """One run: motors follow their reference until the tip has touched, then they press with a
    constant force.
    """

    def __init__(self, case):
        self.case = case
        self.model = mujoco.MjModel.from_xml_string(arm_xml(case))
        self.data = mujoco.MjData(self.model)
        self.motors = np.arange(self.model.nv - 2 * len(case["joints"]), self.model.nv, 2)
        self.tip = self.model.site("tip").id
        self.inertia = np.array([joint["motor_inertia"] for joint in case["joints"]])
        self.touched = None

    def run(self):
        """Motor and link positions at the samples, and what is true of the impact."""
        reference = {name: np.array(values) for name, values in self.case["reference"].items()}
        data, times = self.data, reference["time"]
        data.qpos[self.motors] = reference["theta"][0]
        data.qvel[self.motors] = reference["theta_velocity"][0]
        data.qpos[self.motors + 1] = reference["q"][0] - reference["theta"][0]
        data.qvel[self.motors + 1] = reference["q_velocity"][0] - reference["theta_velocity"][0]
        steps_per_sample = round(SAMPLE / STEP)
        motors, links, samples = [], [], []
        before = None
        for step in range(round(self.case["duration"] / STEP)):
            now = times[0] + step * STEP
            if step % steps_per_sample == 0:
                motors.append(data.qpos[self.motors].copy())
                links.append(data.qpos[self.motors] + data.qpos[self.motors + 1])
                samples.append(now)
            data.qfrc_applied[:] = 0.0
            data.qfrc_applied[self.motors] = self._torque(now, reference)
            state = data.qpos.copy(), data.qvel.copy()
            mujoco.mj_step(self.model, data)
            if self.touched is None and data.ncon:
                self.touched, before = now, state
        if before is None:
            raise SystemExit("the tip doesn't reach the table")
        positions, velocities = before
        return {
            "time": samples,
            "motors": np.array(motors).tolist(),
            "links": np.array(links).tolist(),
            "impact_time": self.touched,
            "q": (positions[self.motors] + positions[self.motors + 1]).tolist(),
            "q_velocity": (velocities[self.motors] + velocities[self.motors + 1]).tolist(),
        }

    def _torque(self, now, reference):
        """The motors' torques (n,), N m."""
        case, data, times = self.case, self.data, reference["time"]
        if self.touched is not None and now >= self.touched + case["delay"]:
            jacobian = np.zeros((3, self.model.nv))
            mujoco.mj_jacSite(self.model, data, jacobian, None, self.tip)
            return -case["pressing_force"] * jacobian[2, self.motors]

        def at(name):
            return np.array([np.interp(now, times, column) for column in reference[name].T])

        error = at("theta") - data.qpos[self.motors]
        rate_error = at("theta_velocity") - data.qvel[self.motors]
        feedback = self.inertia * (FEEDBACK**2 * error + 2.0 * FEEDBACK * rate_error)
        return at("torque") + feedback


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    motion = Impact(json.loads((folder / "case.json").read_text())).run()
    (folder / "motion.json").write_text(json.dumps(motion))
