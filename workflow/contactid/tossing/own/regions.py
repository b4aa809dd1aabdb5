"""Where a user's own tosses will come to rest, by the scheme of the run that predicted its own
best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from contactid.output.fits import compact_json
from contactid.tossing.configuration import Scheme
from contactid.tossing.own.finished_run import FinishedRun, IdentifiedBody
from contactid.tossing.own.predict import problem_by
from contactid.tossing.own.toss_regions import TossRegions, predicted_rests
from contactid.tossing.own.tosses import OwnTosses
from contactid.tossing.predict.rest_pose_cloud import UNKNOWN, face_name
from contactid.tossing.predict.rest_pose_regions import (
    LEVELS,
    RestPrediction,
    coverage,
    limits,
    median_areas,
)
from contactid.tossing.prepare.preprocess import RELEASED
from contactid.tossing.simulate.box import ContactParameters

NO_REGIONS = (
    "The run keeps no regions of rest poses (tossing.rest_poses.variants), so none are predicted"
)
_ABOUT = {
    "frame": "C: z = 0 is the surface, z up, x and y as in the data; positions are of the origin of B",
    "units": "lengths m (true ones where calibrated), areas m2",
    "faces": "the body axis that looks up at rest, with its sign, and its probability",
    "regions": "probability (level) that the body rests on this face with its origin inside, whatever its yaw",
    "area_m2": "over all faces; null: the run had too few tosses for this level, everything is inside",
    "outlines": "closed; anticlockwise, clockwise around holes",
    "covers": "whether the measured rest pose is inside; null where it is unknown",
}
# chance that right regions hold so few or many tosses, below which it is a warning
_SURELY_OFF = 0.01


@dataclass(frozen=True)
class OwnRegions:
    """Predicted rest poses of all tosses by one scheme."""

    # scheme, identified_on: whose parameters, and the dataset they come from
    scheme: Scheme
    identified_on: str
    regions: TossRegions
    # a row per level: ``level``, ``n_tosses`` (whose rest pose is known, and which the run didn't
    # identify on), ``covered``, ``naive_covered`` (by uncertain parameters and release alone),
    # ``median_area_m2``, ``run_covered`` and ``run_n_tosses`` of the run's own test tosses
    coverage: pd.DataFrame

    def lines(self) -> list[str]:
        """A line of text per level."""
        rows: Any = self.coverage.itertuples(index=False)
        return [
            f"{100 * row.level:.0f} % regions by {self.scheme.name} hold {row.covered} of {row.n_tosses} poses at rest "
            f"(the run's own test tosses: {row.run_covered} of {row.run_n_tosses})"
            for row in rows
        ]

    def warnings(self) -> list[str]:
        """Levels that hold surely more or less than they should."""
        rows: Any = self.coverage.itertuples(index=False)
        return [
            f"Regions of {100 * row.level:.0f} % hold {row.covered} of {row.n_tosses} poses at rest: they are off here"
            for row in rows
            if row.n_tosses and binomtest(row.covered, row.n_tosses, row.level).pvalue < _SURELY_OFF
        ]

    def document(self, run: str) -> str:
        """All of it as JSON, a toss a line."""
        about: dict[str, Any] = {
            "about": _ABOUT,
            "run": run,
            "scheme": self.scheme.name,
            "identified_on": self.identified_on,
        }
        about |= {"calibrated": self.scheme.calibrated}
        about |= {"coverage": self.coverage.replace(np.inf, None).to_dict("records")}
        head = ",\n".join(f'"{key}":{compact_json(value)}' for key, value in about.items())
        tosses = ",\n".join(compact_json(_of_toss(one)) for one in self.regions.predictions)
        return f'{{{head},\n"tosses":[\n{tosses}\n]}}\n'


def predict_regions(run: FinishedRun, tosses: OwnTosses) -> OwnRegions | None:
    """Regions by the scheme of least loss on the run's own test tosses, of those that have regions.

    These tosses don't choose it. None where the run keeps no regions.
    """
    known = []
    for one in tosses.identified:
        for scheme in one.schemes.values():
            model, losses = run.rest_pose_model(one, scheme.name), run.own_losses(one, scheme.name)
            if model is not None:
                known.append((losses.mean() if len(losses) else np.inf, one, scheme, model))
    # losses on the run's own test tosses choose, not these tosses
    return regions_by(run, tosses, *min(known, key=lambda choice: choice[0])[1:]) if known else None


def regions_by(
    run: FinishedRun,
    tosses: OwnTosses,
    one: IdentifiedBody,
    scheme: Scheme,
    model: Mapping[str, Any],
) -> OwnRegions:
    """Regions by a scheme that was identified on a dataset of the run; ``model`` is its record of
    scores there.
    """
    parameters = ContactParameters(**run.fit(one, scheme)["parameters"])
    # tosses that end in motion have regions, too
    problem = problem_by(run, tosses, one, scheme, RELEASED)
    scores, predictions = predicted_rests(model, problem, parameters)
    of_run = scores.table["position"]
    known = [each for each in predictions if each.covers[0] is not None]
    # where the run has seen all of them, they count all the same
    counted = [each for each in known if each.cloud.toss not in tosses.seen] or known
    held = coverage(counted).assign(
        median_area_m2=median_areas(predictions),
        run_covered=[int((of_run <= limit).sum()) for limit in limits(scores)],
        run_n_tosses=len(of_run),
    )
    regions = TossRegions(predictions, np.asarray(problem.body.vertices), scores)
    return OwnRegions(scheme, one.dataset, regions, held)


def _of_toss(one: RestPrediction) -> dict[str, Any]:
    face, (x, y, _) = int(one.cloud.measured.face[0]), one.cloud.measured.pose[0].tolist()
    regions = [
        {
            "level": level,
            "area_m2": area if np.isfinite(area) else None,
            "covers": covers,
            "outlines": [
                {"face": face_name(on), "corners": corners.round(4).tolist()}
                for on, corners in outlines
            ],
        }
        for level, area, covers, outlines in zip(
            LEVELS, one.areas, one.covers, one.outlines, strict=True
        )
    ]
    return {
        "toss": one.cloud.toss,
        "faces": {face_name(face): probability for face, probability in one.faces.items()},
        "most_probable_face": face_name(one.likely_face),
        "measured": None if face == UNKNOWN else {"face": face_name(face), "x": x, "y": y},
        "regions": regions,
    }
