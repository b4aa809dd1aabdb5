"""Ten coordinates of the inertial parameters for a solver that adds steps: a point, its increment, its slope.

The ``vector`` chart adds to the ten parameters as they are. The ``principal`` chart (eqs. 26 to 34, in-hand paper)
adds to mass (kg), centre of mass (m) and the second moments (kg m2) about the principal axes, and turns the axes by
``R exp(d)``, so that a rotation stays one. Neither keeps a body physical: masses and second moments may turn negative.
"""

from __future__ import annotations

import numpy as np

from contactid.core.inertia import InertialParameters, PrincipalForm, tensor_entries
from contactid.inhand.kinematics import rotation_exp, skew

MASS, CENTER, MOMENTS, AXES = 0, slice(1, 4), slice(4, 7), slice(7, 10)  # of an increment in the principal chart


class VectorChart:
    """The ten parameters themselves."""

    def __init__(self, vector: np.ndarray) -> None:
        self.vector = np.asarray(vector, dtype=float)

    @classmethod
    def at(cls, parameters: InertialParameters) -> VectorChart:
        """The point of given parameters."""
        return cls(parameters.vector)

    @property
    def slope(self) -> np.ndarray:
        """(10, 10): derivative of the vector by an increment."""
        return np.eye(10)

    def plus(self, increment: np.ndarray) -> VectorChart:
        """The point an increment (10,) away."""
        return VectorChart(self.vector + increment)


class PrincipalChart:
    """The principal-axes form; an increment is mass, centre of mass, second moments, rotation vector."""

    def __init__(self, form: PrincipalForm) -> None:
        self.form = form

    @classmethod
    def at(cls, parameters: InertialParameters) -> PrincipalChart:
        """The point of given parameters."""
        return cls(parameters.principal_form)

    @property
    def vector(self) -> np.ndarray:
        """(10,) parameters about B's origin."""
        return self.form.parameters().vector

    @property
    def slope(self) -> np.ndarray:
        """(10, 10): derivative of the vector by an increment."""
        mass, center = self.form.mass, self.form.center_of_mass
        axes, moments = self.form.rotation, self.form.second_moments
        principal = np.diag(moments.sum() - moments)
        slope = np.zeros((10, 10))
        slope[0, MASS], slope[1:4, MASS] = 1.0, center
        slope[4:, MASS] = tensor_entries(center @ center * np.eye(3) - np.outer(center, center))
        slope[1:4, CENTER] = mass * np.eye(3)
        for i, unit in enumerate(np.eye(3)):
            moved = 2.0 * center[i] * np.eye(3) - np.outer(unit, center) - np.outer(center, unit)
            slope[4:, 1 + i] = mass * tensor_entries(moved)
            slope[4:, 4 + i] = tensor_entries(axes @ (np.eye(3) - np.outer(unit, unit)) @ axes.T)
            turned = skew(unit) @ principal - principal @ skew(unit)
            slope[4:, 7 + i] = tensor_entries(axes @ turned @ axes.T)
        return slope

    def plus(self, increment: np.ndarray) -> PrincipalChart:
        """The point an increment (10,) away."""
        form = self.form
        return PrincipalChart(
            PrincipalForm(
                form.mass + float(increment[MASS]),
                form.center_of_mass + increment[CENTER],
                form.second_moments + increment[MOMENTS],
                form.rotation @ rotation_exp(increment[AXES]),
            )
        )


Chart = VectorChart | PrincipalChart
