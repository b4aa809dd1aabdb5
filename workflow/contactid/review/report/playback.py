"""The report's players: a measured toss or throw against the predicted or identified one.

Nothing is computed here: rules ``tossing_playback`` and ``planar_playback`` made the data, the
page's script draws it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from contactid.output.fits import compact_json, read_json

# the order in which one needs the other
SCRIPTS = ("player.js", "box.js", "planar.js", "start.js")


def playback_section(
    data: Mapping[str, Path], environment: jinja2.Environment, texts: Mapping[str, str]
) -> str | None:
    """An HTML fragment with its own data, script and style; None where the run has no toss to play.

    Parameters
    ----------
    data : files with the tosses for the players ``box`` and ``planar``
    environment : the templates
    texts : they and their scripts and style by the files' names
    """
    boxes = read_json(data["box"])["tosses"] if "box" in data else []
    throws = read_json(data["planar"])["tosses"] if "planar" in data else []
    named = {
        "box": [_named_toss(toss) for toss in boxes],
        "planar": [_named_throw(throw) for throw in throws],
    }
    if not any(named.values()):
        return None
    # the median tells most of a prediction, the best sampled throw most of an identification
    ranks = [toss["rank"] for toss in boxes]
    n_frames = [len(throw["frame_ms"]) for throw in throws]
    first = {
        "box": ranks.index("median") if "median" in ranks else 0,
        "planar": n_frames.index(max(n_frames)) if n_frames else 0,
    }
    # a "<" inside a script could end it
    played = {
        kind: compact_json({"tosses": tosses}).replace("<", "\\u003c")
        for kind, tosses in named.items()
    }
    return environment.get_template("playback.html.j2").render(
        tosses=named,
        first=first,
        toss_data={kind: Markup(text) for kind, text in played.items()},
        css=Markup(texts["playback.css"]),
        script=Markup("\n".join(texts[name] for name in SCRIPTS)),
    )


def _named_toss(toss: dict[str, Any]) -> dict[str, Any]:
    name = f"{toss['object']}: {toss['rank']} of {toss['of']}, loss {toss['loss']:.3g}"
    about = (
        f"{_origin(toss)} Toss {toss['toss']} of {toss['dataset']}, "
        f"predicted with friction {toss['friction_mu']:g} "
        f"and restitution {toss['restitution_e_n']:g}, identified on {toss['identified_on']}. "
        f"It has the {_LOSSES[toss['rank']]} loss of {toss['of']} test tosses: {toss['loss']:.3g}. "
        f"Mean errors: {toss['mean_position_error_mm']:.1f} mm "
        f"and {toss['mean_angle_error_deg']:.1f}°."
    )
    return {**toss, "name": name, "about": about}


_LOSSES = {"best": "least", "median": "median", "worst": "largest"}


def _named_throw(throw: dict[str, Any]) -> dict[str, Any]:
    body = "Ellipse" if "semi_axes" in throw else "Polygon"
    friction = f"{throw['friction_mu']:g}"
    if throw["friction_is_bound"]:
        friction += " or more, since nothing slides"
    about = (
        f"{_origin(throw)} Throw: {throw['label']}. "
        f"Identified: J/m {throw['inertia_ratio_mm2']:g} mm², friction {friction}."
    )
    return {**throw, "name": f"{body}, {throw['label']}", "about": about}


def _origin(toss: dict[str, Any]) -> str:
    return "SYNTHETIC data." if toss["synthetic"] else "Measured data."
