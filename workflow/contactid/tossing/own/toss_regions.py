"""Where tosses come to rest: faces, and regions of 50, 80 and 90 %, of each by the others alone and
of further ones by all.

The regions of :mod:`contactid.tossing.predict.rest_pose_regions` need tosses that nothing was
fitted on. Few tosses can't spare any, so they take turns (cross-conformal prediction, Vovk 2015):
what is fitted is fitted without a block of neighbours, and the others' scores say how far the
block's regions reach. All scores together say it of further tosses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.core.errors import ContactIdError
from contactid.tossing.artefacts.rest_poses import draw_regions
from contactid.tossing.predict.rest_pose_cloud import Cloud, simulate_clouds
from contactid.tossing.predict.rest_pose_distribution import Scores, draw_poses, fit_kernel, score
from contactid.tossing.predict.rest_pose_regions import (
    DRAWN,
    RestPrediction,
    coverage,
    median_areas,
    predict_rest,
    region_row,
    region_table,
    shown_tosses,
)
from contactid.tossing.prepare.tosses import Problem
from contactid.tossing.simulate.box import ContactParameters

_SHOWN = 6  # tosses in the figure


@dataclass(frozen=True)
class TossRegions:
    """Regions of all tosses.

    Attributes
    ----------
    predictions : one per toss; none where there are no regions
    vertices : (v, 3) m, of the box
    scores : the model's error, for further tosses
    missing : why there are no regions
    """

    predictions: list[RestPrediction]
    vertices: np.ndarray
    scores: Scores | None = None
    missing: str = ""

    @classmethod
    def by_others(
        cls, blocks: Sequence[Sequence[Cloud]], problem: Problem, seed: int
    ) -> TossRegions:
        """Of blocks of tosses, simulated by what the other blocks say; the box is the problem's."""
        vertices = np.asarray(problem.body.vertices)
        try:
            predictions, scores = regions_by_others(blocks, problem.length, seed)
        except ContactIdError as error:  # friction and restitution stand all the same
            return cls([], vertices, missing=str(error).splitlines()[0])
        return cls(predictions, vertices, scores)

    def record(self, draws: np.ndarray, seed: int) -> dict[str, Any]:
        """What further tosses' regions are made from, as a run keeps it; ``draws`` (n, 2) are of
        uncertain friction and restitution.
        """
        if self.scores is None:
            return {}
        return {"rest_poses": {**self.scores.record(), "draws": draws.tolist(), "seed": seed}}

    def beside(self, predictions: pd.DataFrame, **scheme: str) -> pd.DataFrame:
        """A table of predictions with :func:`region_row`'s columns, in the rows of a ``scheme``
        where the table has several. A toss without a prediction gets a row.
        """
        if not self.predictions:
            return predictions
        rows = pd.DataFrame(map(region_row, self.predictions)).assign(**scheme)
        return predictions.merge(rows, how="outer", on=["toss", *scheme])

    def tables(self) -> dict[str, pd.DataFrame]:
        """``regions``: a row per level, ``level``, ``n_tosses``, ``covered``, ``naive_covered`` (by
        uncertain parameters and release alone), ``median_area_m2``; ``outlines``:
        :func:`region_table` of all tosses.
        """
        if not self.predictions:
            return {}
        held = coverage(self.predictions).assign(median_area_m2=median_areas(self.predictions))
        return {"regions": held, "outlines": region_table(self.predictions, self.vertices)}

    def figures(self, name: str = "box") -> dict[str, Callable[[], Figure]]:
        """Regions of a few tosses from above; ``name`` is the object's."""
        if not self.predictions:
            return {}
        chosen = shown_tosses([one.faces for one in self.predictions], _SHOWN)
        shown = region_table([self.predictions[k] for k in chosen], self.vertices)
        return {"Where they come to rest": partial(draw_regions, shown.assign(object=name))}

    def notes(self) -> list[str]:
        """How often regions hold."""
        if not self.predictions:
            return []
        rows: Any = coverage(self.predictions).itertuples(index=False)
        held = [f"{row.covered} of {row.n_tosses} at {100 * row.level:.0f} %" for row in rows]
        return [f"Regions of the pose at rest hold {', '.join(held)}."]

    def warnings(self) -> list[str]:
        """Why there are no regions."""
        return [f"No regions of rest poses: {self.missing.rstrip('.')}."] if self.missing else []


def predicted_rests(
    record: Mapping[str, Any], problem: Problem, parameters: ContactParameters
) -> tuple[Scores, list[RestPrediction]]:
    """Regions of a problem's tosses by a record of scores, as a run or :func:`contactid.toss` keeps
    it, and these scores.
    """
    scores, seed = Scores.of_record(record), int(record["seed"])
    draws, covariances = np.array(record["draws"]), problem.start_covariances()
    clouds = simulate_clouds(problem, parameters, draws, covariances, seed)
    random = np.random.default_rng(seed)
    # a run's own test tosses say as much of further ones as those that were held out of its fits
    tested = np.asarray(scores.table.get("position", []), dtype=float)
    held_out = np.concatenate([scores.held_out_positions, tested])
    further = replace(scores, held_out_positions=held_out)
    return scores, [predict_rest(cloud, further, random) for cloud in clouds]


def regions_by_others(
    blocks: Sequence[Sequence[Cloud]], length: float, seed: int
) -> tuple[list[RestPrediction], Scores]:
    """Regions of every toss by the other blocks' tosses, in order, and scores by all of them.

    Parameters
    ----------
    blocks : clouds of each block's tosses, simulated by what the other blocks say
    length : of the box, m

    Raises
    ------
    ContactIdError
        For fewer than five tosses outside a block, or where the model's error can't be estimated.
    """
    random = np.random.default_rng(seed)
    kernels, scores = [], []
    for number, block in enumerate(blocks):
        kernel = fit_kernel(_without(blocks, number), length)
        kernels.append(kernel)
        drawn = [draw_poses(cloud, kernel, DRAWN, random) for cloud in block]
        pairs = zip(block, drawn, strict=True)
        # regions are of face and place, whatever the yaw
        scores.append([score(cloud, kernel, poses, yaw=False) for cloud, poses in pairs])
    predictions = []
    for number, block in enumerate(blocks):
        held_out = np.array(_without(scores, number))
        # the block's own scores don't say how far its regions reach
        known = Scores(pd.DataFrame(), kernels[number], np.zeros(0), held_out)
        predictions += [predict_rest(cloud, known, random) for cloud in block]
    everything = fit_kernel(_without(blocks, -1), length)
    by_all = np.array(_without(scores, -1))
    return predictions, Scores(pd.DataFrame(), everything, np.zeros(0), by_all)


def _without(blocks: Sequence[Sequence[Any]], number: int) -> list[Any]:
    """The items of all blocks but one; of all where it is -1."""
    return [item for place, block in enumerate(blocks) if place != number for item in block]
