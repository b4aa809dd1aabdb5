"""Where a user's own tosses will come to rest, by the scheme of the run that predicted its own best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from contactid.output.fits import compact_json
from contactid.tossing.configuration import Scheme
from contactid.tossing.own.finished_run import FinishedRun, IdentifiedBody
from contactid.tossing.own.predict import Problems
from contactid.tossing.own.tosses import OwnTosses
from contactid.tossing.predict.rest_pose_cloud import UNKNOWN
from contactid.tossing.predict.rest_pose_regions import RestPoseModel, RestPrediction, coverage, predict_rest
from contactid.tossing.prepare.preprocess import RELEASED
from contactid.tossing.simulate.box import ContactParameters

NO_REGIONS = "The run keeps no regions of rest poses (tossing.rest_poses.variants), so none are predicted"
_ABOUT = {
    "frame": "C: z = 0 is the surface, z up, x and y as in the data; positions are of the origin of B",
    "units": "lengths m (true ones where calibrated), areas m2",
    "faces": "the body axis that looks up at rest, with its sign, and its probability",
    "yaw_rad": "about z, of the body axis after that one: y after x, z after y, x after z",
    "regions": "probability (level) that the body rests on this face with its origin inside, whatever its yaw",
    "area_m2": "over all faces; null: the run had too few tosses for this level, everything is inside",
    "outlines": "closed; anticlockwise, clockwise around holes",
    "covers": "whether the measured rest pose is inside; null where it is unknown",
}
_SURELY_OFF = 0.01  # chance of such a count, or a rarer one, of right regions, below which it is a warning


@dataclass(frozen=True)
class OwnRegions:
    """Predicted rest poses of all tosses by one scheme.

    Attributes
    ----------
    scheme, identified_on : whose parameters, and the dataset they come from
    calibrated : whether lengths are in true metres
    predictions : one per toss
    coverage : of the tosses that the run didn't identify on (of all where it did on all)
    seen : names of those it did identify on
    """

    scheme: str
    identified_on: str
    calibrated: bool
    predictions: tuple[RestPrediction, ...]
    coverage: pd.DataFrame
    seen: frozenset[str]

    def columns(self) -> pd.DataFrame:
        """Columns beside those of the predictions: a row per toss, indexed by its name.

        ``simulated_face_probability``: of the face that the identified parameters lead to.
        ``region_<level in %>_m2``: area, infinite where everything is inside.
        """
        rows = {}
        for one in self.predictions:
            areas = {f"region_{100 * region.level:.0f}_m2": region.area for region in one.regions}
            simulated = int(one.cloud.central.face[0])
            rows[one.cloud.toss] = {"simulated_face_probability": one.faces[simulated], **areas}
        return pd.DataFrame.from_dict(rows, orient="index")

    def beside(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """:meth:`columns` in the rows of this scheme, and rows of tosses that no scheme has a loss for."""
        columns = self.columns()
        scheme = {"scheme": self.scheme, "identified_on": self.identified_on}
        if predictions.empty:
            released, table = columns, predictions
        else:
            own = (predictions[list(scheme)] == pd.Series(scheme)).all(axis=1)
            table = predictions.join(columns.reindex(predictions["toss"].where(own)).set_index(predictions.index))
            released = columns[~columns.index.isin(predictions["toss"])]
        rows = released.rename_axis("toss").reset_index().assign(**scheme, seen=False)
        return pd.concat([table, rows], ignore_index=True) if len(rows) else table

    def lines(self) -> list[str]:
        """A line of text per level."""
        return [
            f"{100 * row.level:.0f} % regions by {self.scheme} hold {row.covered} of {row.n_tosses} poses at rest "
            f"(the run's own test tosses: {row.run_covered} of {row.run_n_tosses})"
            for row in self.coverage.itertuples(index=False)
        ]

    def document(self, run: str) -> str:
        """All of it as JSON, a toss a line."""
        about = {
            "about": _ABOUT,
            "run": run,
            "scheme": self.scheme,
            "identified_on": self.identified_on,
            "calibrated": self.calibrated,
            "coverage": self.coverage.replace(np.inf, None).to_dict("records"),
        }
        tosses = [{**_of_toss(one), "seen": one.cloud.toss in self.seen} for one in self.predictions]
        head = ",\n".join(f'"{key}":{compact_json(value)}' for key, value in about.items())
        body = ",\n".join(compact_json(toss) for toss in tosses)
        return f'{{{head},\n"tosses":[\n{body}\n]}}\n'

    def warnings(self) -> list[str]:
        """Levels that hold surely more or less than they should."""
        sentences = []
        for level, covered, n in self.coverage[["level", "covered", "n_tosses"]].itertuples(index=False):
            if n and binomtest(covered, n, level).pvalue < _SURELY_OFF:
                sentences.append(
                    f"Regions of {100 * level:.0f} % hold {covered} of {n} rest poses: they are off for these tosses"
                )
        return sentences


def predict_regions(run: FinishedRun, tosses: OwnTosses) -> OwnRegions | None:
    """Regions by the scheme of least loss on the run's own test tosses, of those that have regions.

    These tosses don't choose it. None where the run keeps no regions.
    """
    known = []
    for one in tosses.identified:
        for scheme in one.schemes.values():
            model = run.rest_pose_model(one, scheme.name)
            if model is not None:
                losses = run.own_losses(one, scheme.name)
                known.append((losses.mean() if len(losses) else np.inf, one, scheme, model))
    if not known:
        return None
    _, one, scheme, model = min(known, key=lambda choice: choice[0])
    return regions_by(run, tosses, one, scheme, model)


def regions_by(
    run: FinishedRun, tosses: OwnTosses, one: IdentifiedBody, scheme: Scheme, model: RestPoseModel
) -> OwnRegions:
    """Regions by a scheme that was identified on a dataset of the run."""
    parameters = ContactParameters(**run.fit(one, scheme)["parameters"])
    problem = Problems(run, tosses, RELEASED).of(one, scheme)
    predictions = predict_rest(problem, parameters, model)
    unseen = [prediction for prediction in predictions if prediction.cloud.toss not in tosses.seen]
    counts = coverage(unseen or predictions, model)
    return OwnRegions(scheme.name, one.dataset, scheme.calibrated, tuple(predictions), counts, tosses.seen)


def face_name(face: int) -> str:
    """``+x`` for 1, ``-z`` for -3."""
    return f"{'+' if face > 0 else '-'}{'xyz'[abs(face) - 1]}"


def _of_toss(one: RestPrediction) -> dict[str, Any]:
    (face,), ((x, y, yaw),) = one.cloud.measured.face.tolist(), one.cloud.measured.pose.tolist()
    measured = None if face == UNKNOWN else {"face": face_name(face), "x": x, "y": y, "yaw_rad": yaw}
    return {
        "toss": one.cloud.toss,
        "faces": {face_name(face): probability for face, probability in one.faces.items()},
        "most_probable_face": face_name(one.likely_face),
        "measured": measured,
        "regions": [
            {
                "level": region.level,
                "area_m2": region.area if np.isfinite(region.area) else None,
                "covers": region.covers,
                "outlines": [
                    {"face": face_name(face), "corners": corners.round(4).tolist()} for face, corners in region.outlines
                ],
            }
            for region in one.regions
        ],
    }
