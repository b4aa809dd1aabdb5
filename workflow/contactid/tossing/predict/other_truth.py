"""Is the difference between the two ways of table II one of the law? Identify tosses and drops of
another truth.

The paper finds other friction and restitution from single impacts (eq. 17) than from whole
trajectories (eq. 18). Here both are made by *one* truth with *one* pair of parameters, and
identified both ways by both laws of impacts. What differs then is what a wrong law makes of the
same body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import xarray as xr

from contactid.output.tables import read_csv, write_csv
from contactid.sources.motion import body_of, read_dataset
from contactid.tossing.identify.trajectories import Grid, identify, sweep_grid
from contactid.tossing.identify.velocities import identify_velocities, sweep_velocities
from contactid.tossing.impacts.impact import read_impacts
from contactid.tossing.impacts.selection import SelectionOptions, find_impacts
from contactid.tossing.predict.prediction import predict
from contactid.tossing.predict.printed import printed_parameters
from contactid.tossing.predict.retoss import Truth, drops_anew, tosses_anew
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST, preprocess
from contactid.tossing.prepare.tosses import Variant, set_up, usable_tosses
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions

LAWS = ("newton", "incremental")
_PARAMETERS = ("friction_mu", "restitution_e_n")


def identify_other_truth(
    trajectories: str,
    validation: str,
    impacts: str,
    published: str,
    truth: str,
    seed: int | str,
    settings: dict[str, Any],
    scored: str,
) -> None:
    """Make a box's tosses, test tosses and drops anew by a truth, identify both ways by both laws,
    and predict.

    Parameters
    ----------
    trajectories, validation : prepared datasets of one box, whose releases are kept
    impacts : file of the box's drops, as :func:`contactid.tossing.impacts.impact.write_impacts`
        wrote it
    published : printed values; without ``parameters`` a truth has table II's from trajectories, for
        tosses and drops
    truth, seed : which of ``settings["truths"]``, and the seed of the noise
    settings : ``truths`` by name, ``parameters``, ``variant`` and ``velocity`` (blocks of the
        configuration), ``grid``, ``bootstrap``, ``window``, ``slowest`` and ``events``
    scored : a row per way and law: the parameters with intervals, the truth's, whether the
        intervals hold it, and the mean errors at rest (eqs. 20, 21) of the test tosses predicted
        with them
    """
    made = Truth(**settings["truths"][truth])
    prepared, tested = read_dataset(trajectories), read_dataset(validation)
    nominal, frequency = body_of(prepared), float(prepared.attrs["sample_frequency"])
    parameters = _parameters(settings["parameters"], published, str(prepared.attrs["object"]))
    number = int(seed)

    def anew(recorded: xr.Dataset, part: str, offset: int) -> xr.Dataset:
        tosses = usable_tosses(recorded, start="flight_fit", split=part)
        share = 1.0 if part == IDENTIFICATION else 0.0
        # tosses are made anew on a surface at rest
        still = [item for item in tosses if not item.toss.surface_velocity.any()]
        motion = tosses_anew(still, nominal, made, parameters, frequency, number + offset)
        return preprocess(motion, share=share, **_preparation(settings))

    _, windows, _ = read_impacts(impacts)
    # other seeds than those of the tosses, so that no noise is shared
    drops = drops_anew(windows, nominal, made, parameters, frequency, number + 2000)
    dropped = preprocess(drops, share=1.0, **_preparation(settings))
    test = anew(tested, TEST, 1000)
    train = anew(prepared, IDENTIFICATION, 0)
    rows = []
    for law in LAWS:
        variant = replace(Variant.from_config(settings["variant"]), law=law)
        fits = {
            "trajectory": _from_trajectories(train, variant, settings),
            "velocity": _from_impacts(dropped, law, settings),
        }
        for way, fit in fits.items():
            rows.append(
                {
                    "object": prepared.attrs["object"],
                    "truth": truth,
                    "seed": number,
                    "parameters": way,
                    "law": law,
                    **_against(fit, parameters),
                    **_at_rest(test, variant, fit),
                }
            )
    write_csv(pd.DataFrame(rows), scored)


def _parameters(given: Mapping[str, float], published: str, name: str) -> ContactParameters:
    """The truth's friction and restitution: as given, or those that are printed of the object."""
    if given:
        return ContactParameters(**given)
    return printed_parameters(read_csv(published), name)["trajectory"]


def _preparation(settings: Mapping[str, Any]) -> dict[str, Any]:
    # a truth may make boxes tumble, which is a finding, so tumbling tosses stay
    return {
        "seed": 0,
        "exclude_tumbling": False,
        "require_usable": False,
        "events": {**settings["events"], "rule": "data_driven"},
    }


def _from_trajectories(
    prepared: xr.Dataset, variant: Variant, settings: Mapping[str, Any]
) -> dict[str, Any]:
    problem = set_up(prepared, variant, IDENTIFICATION)
    swept = sweep_grid(problem, Grid.of(settings["grid"]))
    fit, _ = identify(problem, swept, variant, dataset="", **settings["bootstrap"])
    # the number of experiments behind the fit
    return fit | {"n": len(problem.tosses)}


def _from_impacts(prepared: xr.Dataset, law: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    velocity = settings["velocity"]
    selection = SelectionOptions(
        settings["window"],
        settings["slowest"],
        velocity["largest_misfit"],
        velocity["largest_imbalance"],
    )
    kept = [one.impact for one in find_impacts(prepared, selection) if one.impact is not None]
    frequency = float(prepared.attrs["sample_frequency"])
    options = SteppingOptions(1.0 / frequency, velocity["substeps"], law)
    body = body_of(prepared)
    swept = sweep_velocities(body, kept, Grid.of(settings["grid"]), options)
    fit = identify_velocities(
        body, kept, swept, options, velocity, dataset="", **settings["bootstrap"]
    )
    return fit | {"n": len(kept)}


def _against(fit: Mapping[str, Any], truth: ContactParameters) -> dict[str, Any]:
    """Parameters with intervals beside the truth's."""
    row: dict[str, Any] = {"n": fit["n"], "loss": fit["objective"]}
    for name in _PARAMETERS:
        low, high = fit["intervals"][name]
        true = float(getattr(truth, name))
        row |= {
            name: fit["parameters"][name],
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_true": true,
            f"{name}_holds": low <= true <= high,
        }
    return row


def _at_rest(prepared: xr.Dataset, variant: Variant, fit: Mapping[str, Any]) -> dict[str, float]:
    predicted = predict(set_up(prepared, variant, TEST), ContactParameters(**fit["parameters"]))
    return {
        "n_test": len(predicted),
        "tumbled": int(predicted["tumbled"].sum()),
        "same_face": int(predicted["same_face"].sum()),
        "rest_position_error_cm": float(predicted["rest_position_error_cm"].mean()),
        "rest_rotation_error_deg": float(predicted["rest_rotation_error_deg"].mean()),
    }
