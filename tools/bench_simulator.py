"""Speed and memory of the box simulator against MuJoCo, in one run on one core: ``make
bench-simulator``.

Both simulate the same tosses with as many steps; times are those of the compiled loops, and only
their ratios are meant to be compared across machines.
"""

from __future__ import annotations

import argparse
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench_reading import peak_bytes
from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset, write_motion
from contactid.tossing.identify.trajectories import Grid, grid_values
from contactid.tossing.peers.exchange import Answer, Request
from contactid.tossing.peers.exchange import Problem as PeerProblem
from contactid.tossing.peers.sessions import PeerSession, peer_problem
from contactid.tossing.prepare.preprocess import IDENTIFICATION, preprocess
from contactid.tossing.prepare.tosses import Problem, Variant, set_up
from contactid.tossing.readers.contactnets import stream_contactnets
from contactid.tossing.simulate.sweep import sweep

_GRID = Grid(grid_values(0.0, 1.0, 0.05), grid_values(0.0, 1.0, 0.05))
_SAMPLED_TOSSES = 100
# friction and restitution of the cube, about
_IDENTIFIED = (0.2, 0.1)
# the fastest counts: other processes can only slow one down
_REPEATS = 3
_MUJOCO_PARAMETERS = np.array(["friction", "timeconst", "dampratio"])


def ask_mujoco(
    python: str, problem: PeerProblem, substeps: int, triples: list[tuple[float, float, float]]
) -> Answer:
    """MuJoCo's answer for triples of friction, time constant (s) and damping ratio."""
    with PeerSession("mujoco", problem, python) as session:
        return session.ask(Request(_MUJOCO_PARAMETERS, np.array(triples), substeps))


def damping_ratio(restitution: float) -> float:
    """The damping ratio of a linear oscillator whose rebound has this restitution."""
    if restitution <= 0.0:
        return 1.0
    # MuJoCo takes no oscillator without damping
    decay = -np.log(min(restitution, 0.999)) / np.pi
    return float(decay / np.sqrt(1.0 + decay**2))


def _fastest(function: Callable[[], Any], repeats: int = _REPEATS) -> float:
    return min(timeit.repeat(function, number=1, repeat=repeats))


def speed_rows(problem: Problem, everything: Problem, mujoco_python: str) -> list[dict[str, Any]]:
    """Speed on the grid and at the identified point, ours and MuJoCo's, and the whole grid on all
    tosses.
    """
    sample = problem.measured[:_SAMPLED_TOSSES]
    mu, e_n = _GRID.pairs()
    one = (np.array([_IDENTIFIED[0]]), np.array([_IDENTIFIED[1]]))
    body, options = problem.body, problem.options
    # compile
    sweep(body, sample[:1], *one, options)
    steps, all_steps = (
        sum(len(toss.position) - 1 for toss in tosses) for tosses in (sample, everything.measured)
    )
    ours_grid = _fastest(lambda: sweep(body, sample, mu, e_n, options))
    ours_executed = _fastest(lambda: sweep(body, sample, mu, e_n, options, share=False))
    ours_point = _fastest(lambda: sweep(body, sample, *one, options, share=False), 20)
    peer = peer_problem(problem, _SAMPLED_TOSSES)
    # MuJoCo asks for two steps at the least
    time_constant = 3.0 * options.time_step
    grid_pairs = []
    for friction, restitution in zip(mu.tolist(), e_n.tolist(), strict=True):
        grid_pairs.append((friction, time_constant, damping_ratio(restitution)))
    grid_answer = ask_mujoco(mujoco_python, peer, 1, grid_pairs)
    point_pair = (_IDENTIFIED[0], time_constant, damping_ratio(_IDENTIFIED[1]))
    point_answer = ask_mujoco(mujoco_python, peer, 1, [point_pair] * 20)
    assert grid_answer.steps == steps, "both must execute as many steps"
    theirs_grid = float(grid_answer.seconds.sum())
    whole = _fastest(
        lambda: sweep(everything.body, everything.measured, mu, e_n, everything.options), 2
    )

    def row(quantity: str, ours: float, theirs: float, n_steps: int) -> dict[str, Any]:
        return {
            "quantity": quantity,
            "contactid_s": ours,
            "mujoco_s": theirs,
            "ratio": theirs / ours,
            "contactid_us_per_step": 1e6 * ours / n_steps,
            "mujoco_us_per_step": 1e6 * theirs / n_steps,
        }

    executed = steps * mu.size
    return [
        row(
            f"grid {mu.size} x {len(sample)} tosses, shared steps", ours_grid, theirs_grid, executed
        ),
        row(
            f"grid {mu.size} x {len(sample)}, every step executed",
            ours_executed,
            theirs_grid,
            executed,
        ),
        row(
            f"at mu, e_N = {_IDENTIFIED}, {len(sample)} tosses",
            ours_point,
            float(point_answer.seconds.min()),
            steps,
        ),
        row(
            f"grid {mu.size} x {len(everything.measured)} tosses, shared steps",
            whole,
            np.nan,
            mu.size * all_steps,
        ),
    ]


def memory_row(problem: Problem) -> dict[str, Any]:
    """Growth of the peak memory from a grid of 21 points to one of 4,410, beyond the result array
    itself.
    """
    sample = problem.measured[:20]
    small, large = np.linspace(0.0, 1.0, 21), np.linspace(0.0, 1.0, 4410)
    sweep(problem.body, sample, small, np.zeros(21), problem.options)
    before = peak_bytes()
    sweep(problem.body, sample, large, np.zeros(4410), problem.options)
    result = 3 * 8 * len(sample) * (large.size - small.size) / 1024.0**2
    return {
        "quantity": f"peak memory growth, grid 21 to 4410 points (MB; result {result:.1f} MB)",
        "contactid_s": (peak_bytes() - before) / 1024.0**2,
    }


def tosses_there(mirror: str) -> bool:
    """Whether a folder holds the ContactNets tosses."""
    return bool(mirror) and (Path(mirror) / "contactnets").is_dir()


def problems(mirror: str) -> tuple[Problem, Problem]:
    """The ContactNets tosses to identify on, and all of them."""
    with tempfile.TemporaryDirectory() as folder:
        write_motion(
            stream_contactnets(Path(mirror) / "contactnets", licence="BSD-3-Clause"),
            f"{folder}/motion.nc",
        )
        motion = read_dataset(f"{folder}/motion.nc")
    events = {"rule": "data_driven", "rest_speed": 0.02, "fall_tolerance": 2.0}
    prepared = preprocess(
        motion, share=0.7, seed=20230206, exclude_tumbling=False, require_usable=True, events=events
    )
    variant = Variant("bench", "central_difference", 1, "newton", "newton", False, False)
    return set_up(prepared, variant, IDENTIFICATION), set_up(prepared, variant, None)


@told_plainly()
def main(mirror: str, mujoco_python: str, output: str) -> None:
    """Measure everything and write one table."""
    if not tosses_there(mirror):
        raise ContactIdError(
            "make bench-simulator needs the ContactNets tosses",
            "Set DATA_MIRROR to a folder with contactnets/",
        )
    train, everything = problems(mirror)
    rows = [memory_row(train), *speed_rows(train, everything, mujoco_python)]
    table = pd.DataFrame(rows).rename(columns={"contactid_s": "contactid", "mujoco_s": "mujoco"})
    write_csv(table, output)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.4g}"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", default="", help="folder that holds contactnets/")
    parser.add_argument(
        "--mujoco-python", required=True, help="Python of the environment that MuJoCo is in"
    )
    parser.add_argument("--output", default="results/bench/simulator.csv")
    main(**vars(parser.parse_args()))
