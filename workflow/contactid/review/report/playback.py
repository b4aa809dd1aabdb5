"""The report's players: a measured toss of a box against the predicted one, a planar throw against the identified one.

Nothing is computed here: rules ``tossing_playback`` and ``planar_playback`` made the data, the page's script draws it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from contactid.output.compact_json import compact_json
from contactid.output.fits import read_json

RESOURCES = Path(__file__).resolve().parents[3] / "resources/report/playback"
# the order in which one needs the other
SCRIPTS = ("player.js", "box.js", "planar.js", "start.js")
_FILES = {"box": "tossing/playback.json", "planar": "planar/playback.json"}


def playback_section(results: Path) -> str | None:
    """An HTML fragment with its own data, script and style; None where the run has no toss to play.

    Parameters
    ----------
    results
        The run's folder.
    """
    tosses = {kind: _tosses(results / file) for kind, file in _FILES.items()}
    named = {
        "box": [_named_toss(toss) for toss in tosses["box"]],
        "planar": [_named_throw(throw) for throw in tosses["planar"]],
    }
    if not any(named.values()):
        return None
    # the median tells most of a prediction, the best sampled throw most of an identification
    first = {
        "box": next((k for k, toss in enumerate(tosses["box"]) if toss["rank"] == "median"), 0),
        "planar": max(range(len(tosses["planar"])), key=lambda k: len(tosses["planar"][k]["frame_ms"]), default=0),
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(RESOURCES), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    # a "<" inside a script could end it
    data = {kind: compact_json({"tosses": found}).replace("<", "\\u003c") for kind, found in named.items()}
    script = "\n".join((RESOURCES / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return environment.get_template("playback.html.j2").render(
        tosses=named,
        first=first,
        toss_data={kind: Markup(text) for kind, text in data.items()},
        css=Markup((RESOURCES / "playback.css").read_text(encoding="utf-8")),
        script=Markup(script),
    )


def _tosses(path: Path) -> list[dict[str, Any]]:
    return read_json(path)["tosses"] if path.is_file() else []


def _named_toss(toss: dict[str, Any]) -> dict[str, Any]:
    name = f"{toss['object']}: {toss['rank']} of {toss['of']}, loss {toss['loss']:.3g}"
    about = (
        f"{_origin(toss)} Toss {toss['toss']} of {toss['dataset']}, predicted with friction {toss['friction_mu']:g} "
        f"and restitution {toss['restitution_e_n']:g}, identified on {toss['identified_on']}. It has the "
        f"{_LOSSES[toss['rank']]} loss of {toss['of']} test tosses: {toss['loss']:.3g}. Mean errors: "
        f"{toss['mean_position_error_mm']:.1f} mm and {toss['mean_angle_error_deg']:.1f}°."
    )
    return {**toss, "name": name, "about": about}


_LOSSES = {"best": "least", "median": "median", "worst": "largest"}


def _named_throw(throw: dict[str, Any]) -> dict[str, Any]:
    body = "Ellipse" if "semi_axes" in throw else "Polygon"
    friction = f"{throw['friction_mu']:g}" + (" or more, since nothing slides" if throw["friction_is_bound"] else "")
    about = (
        f"{_origin(throw)} Throw: {throw['label']}. Identified: J/m {throw['inertia_ratio_mm2']:g} mm², "
        f"friction {friction}."
    )
    return {**throw, "name": f"{body}, {throw['label']}", "about": about}


def _origin(toss: dict[str, Any]) -> str:
    return "SYNTHETIC data." if toss["synthetic"] else "Measured data."
