"""The coefficient of friction from one force at the edge of the friction cone (eqs. 1 to 5 of the in-hand paper).

A force f that presses on a surface with unit normal n (into the object) has the normal part f_n = f . n and the
tangential part f_t = |f - f_n n|. Coulomb's law holds the contact while f_t <= mu f_n (eq. 1), so at the instant before
slip f_t = mu f_n (eq. 2), and with phi the angle between f and n (eq. 3)

    cos phi = (f / |f|) . n                                          (eq. 4)
    mu = tan phi = sqrt(1 - cos^2 phi) / cos phi                     (eq. 5)

The printed equations lost their symbols; these follow from the text around them. Eq. 5 is computed as
``|f x n| / (f . n)``, the same number without the loss of digits near phi = 0.
"""

from __future__ import annotations

import numpy as np

from contactid.core.errors import ContactIdError


def unit_normal(normal: np.ndarray) -> np.ndarray:
    """Normals (..., 3) scaled to length 1.

    Raises
    ------
    ContactIdError
        Where a normal is zero or not finite.
    """
    normal = np.asarray(normal, dtype=float)
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 0.0).all()):
        raise ContactIdError("a surface normal is zero or not finite", "Give a direction into the object")
    return normal / length


def friction_coefficient(force: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Eq. 5: tan of the angle between forces and surface normals.

    Parameters
    ----------
    force : (..., 3), N, of the finger on the object
    normal : (..., 3), of the surface, into the object; any length

    Returns
    -------
    numpy.ndarray
        Coefficients (...), dimensionless; nan where a force does not press on the surface (f . n <= 0).
    """
    force, normal = np.asarray(force, dtype=float), unit_normal(normal)
    pressing = np.sum(force * normal, axis=-1)
    tangential = np.linalg.norm(np.cross(force, normal), axis=-1)
    positive = pressing > 0.0
    return np.where(positive, tangential / np.where(positive, pressing, 1.0), np.nan)


def friction_standard_error(force: np.ndarray, normal: np.ndarray, force_sd: float) -> np.ndarray:
    """First-order standard error of eq. 5 for white noise of ``force_sd`` (N) on every component of a force (..., 3).

    With d mu / d f_t = 1 / f_n and d mu / d f_n = -mu / f_n: sd sqrt(1 + mu^2) / f_n.
    """
    mu = friction_coefficient(force, normal)
    pressing = np.sum(np.asarray(force, dtype=float) * unit_normal(normal), axis=-1)
    return force_sd * np.sqrt(1.0 + mu**2) / np.where(np.isnan(mu), 1.0, pressing)


def slope_friction(angle: np.ndarray) -> np.ndarray:
    """Slope method: eq. 5 with gravity's direction as the force, at the platform's angle (rad) of first slip."""
    return np.tan(angle)


def apparent_friction(mu: np.ndarray, warp: np.ndarray) -> np.ndarray:
    """What eq. 5 gives with the undeformed surface's normal where the surface has turned by ``warp`` (rad).

    The surface yields under the finger and turns towards the tangential force, so the force at slip is at phi + warp
    from the undeformed normal: tan(phi + warp) = (mu + tan warp) / (1 - mu tan warp).
    """
    return np.tan(np.arctan(mu) + np.asarray(warp, dtype=float))
