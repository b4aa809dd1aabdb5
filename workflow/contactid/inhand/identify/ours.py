"""Our estimate of a study's recording: averaged, and by likelihood
(:mod:`contactid.inhand.identify.likelihood`).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.inhand.identify.averaging import FEWEST, STEP, averaged_stretches
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.likelihood import ALL, TENSOR, RecordingFit, Uses, fit_recording
from contactid.inhand.identify.methods import (
    CONSTRAINED,
    DATA,
    LIKELIHOOD,
    PRIOR,
    Estimate,
    failed_estimate,
)
from contactid.inhand.readers.recordings import recorded_signals


def our_fit(recording: xr.Dataset, uses: Uses = ALL) -> RecordingFit:
    """What was found in a canonical recording.

    Raises
    ------
    ContactIdError
        Where it is too short.
    """
    stretches, _ = averaged_stretches(recorded_signals(recording))
    if not stretches:
        raise ContactIdError(
            "a recording is too short", f"Give {FEWEST * STEP:.2g} s without a gap, or more"
        )
    return fit_recording(stretches, uses=uses)


def our_estimate(recording: xr.Dataset, uses: Uses = ALL) -> Estimate:
    """The same as a row of the study; without an answer, and a message, where the forces tell
    nothing at all.

    The objective is half the squared residuals by the stated noise. What the recording can't tell
    is the uniform body's, and the message says what that is.
    """
    begin = time.process_time()
    lost = unidentifiable(recording)
    message = "not identifiable: " + "; ".join(lost) if lost else ""
    # what is partly lost is the prior's, and said
    if any("none of the ten" in statement for statement in lost):
        return failed_estimate(CONSTRAINED, LIKELIHOOD, message, time.process_time() - begin)
    found = estimate_of(our_fit(recording, uses))
    return replace(found, seconds=time.process_time() - begin, message=message)


def estimate_of(fit: RecordingFit) -> Estimate:
    """A fit as a row of the study.

    It is decided by the prior where the data move no entry of the tensor about the centre of mass
    by a standard error.
    """
    return Estimate(
        method=CONSTRAINED,
        solver=LIKELIHOOD,
        converged=fit.converged,
        parameters=fit.body,
        iterations=fit.iterations,
        # the caller sets it
        seconds=float("nan"),
        objective=0.5 * fit.misfit * fit.degrees,
        standard_errors=fit.vector_errors,
        decided_by=DATA if np.any(fit.by_data[TENSOR]) else PRIOR,
    )
