"""The two commands that take tosses to AGX Dynamics and back; this package's own simulator stands in for it."""

import numpy as np
import pandas as pd
import pytest

from agx_results import read_states, run_of, write_results
from contactid.sources.motion import write_dataset
from contactid.tossing.peers.agx import main
from contactid.tossing.predict.prediction import predict
from contactid.tossing.prepare.tosses import Problem, usable_tosses
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate
from tosses_for_tests import RATE, TRUTH, box, motion, prepare_tosses, recordings


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    body = box()
    dataset = prepare_tosses(motion(recordings(body, 3, seed=8), body))
    path = tmp_path_factory.mktemp("agx") / "tosses.nc"
    write_dataset(dataset, path)
    return dataset, path


def test_the_states_are_the_tosses_own_starts(prepared, tmp_path):
    dataset, path = prepared
    assert main(["states", str(path), str(tmp_path / "states.csv")]) == 0
    starts = [item.toss.start for item in usable_tosses(dataset, start="central_difference")]
    states = read_states(tmp_path / "states.csv")
    assert np.allclose(states[:, :3], [start.position for start in starts], atol=1e-9)
    assert np.allclose(states[:, 7:10], [start.linear_velocity for start in starts], atol=1e-9)


def test_the_losses_are_those_of_a_prediction(prepared, tmp_path, capsys):
    dataset, path = prepared
    body, options = box(), SteppingOptions(1 / RATE)
    tosses = usable_tosses(dataset, start="central_difference")
    sets = [TRUTH, ContactParameters(0.9, 0.0)]
    runs = [
        [run_of(values, simulate(body, t.toss.start, values, options, len(t.toss.position) + 5)) for values in sets]
        for t in tosses
    ]
    write_results(tmp_path / "results.h5", runs)
    assert main(["losses", str(path), str(tmp_path / "results.h5"), str(tmp_path / "losses.csv")]) == 0
    table = pd.read_csv(tmp_path / "losses.csv")
    assert len(table) == 2 * len(tosses)
    ours = predict(Problem(body, body.length, tosses, options), TRUTH)
    theirs = table[table["friction_mu"] == TRUTH.friction_mu]
    assert np.allclose(theirs["loss"], ours["loss"], atol=1e-5)
    assert np.allclose(theirs["rest_position_error_cm"], ours["rest_position_error_cm"], atol=1e-3)
    assert str(TRUTH.friction_mu) in capsys.readouterr().out


def test_results_of_other_tosses_are_one_plain_line(prepared, tmp_path, capsys):
    dataset, path = prepared
    toss = usable_tosses(dataset, start="central_difference")[0].toss
    run = run_of(TRUTH, simulate(box(), toss.start, TRUTH, SteppingOptions(1 / RATE), len(toss.position)))
    write_results(tmp_path / "one.h5", [[run]])
    assert main(["losses", str(path), str(tmp_path / "one.h5"), str(tmp_path / "losses.csv")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ERROR the results hold 1 states") and error.count("\n") == 1
    assert not (tmp_path / "losses.csv").exists()
