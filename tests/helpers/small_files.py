"""Small good files of every kind that the readers know, made here: tests spoil them."""

from __future__ import annotations

import csv
import pickle
import struct

import h5py
import numpy as np
import scipy.io

from contactid.arm.readers.impacts import SAMPLE_INTERVAL
from contactid.core import rotations
from contactid.planar.readers.impacts import SEMI_AXES
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from throws_for_tests import RATE, RATIO

# the cube's tosses


def _name(module, name):
    return f"c{module}\n{name}\n".encode()


def legacy_file(table):
    """Bytes of a legacy torch file with a (1, T, columns) double tensor, written by hand."""
    frames, columns = table.shape
    storage = b"(" + b"X\x07\x00\x00\x00storage" + _name("torch", "DoubleStorage")
    storage += (
        b"X\x01\x00\x00\x000"
        + b"X\x03\x00\x00\x00cpu"
        + b"J"
        + struct.pack("<i", table.size)
        + b"NtQ"
    )

    def integer(value):
        return b"J" + struct.pack("<i", value)

    shape = b"(" + integer(1) + integer(frames) + integer(columns) + b"t"
    strides = b"(" + integer(table.size) + integer(columns) + integer(1) + b"t"
    tensor = b"\x80\x02" + _name("torch._utils", "_rebuild_tensor_v2")
    tensor += (
        b"("
        + storage
        + integer(0)
        + shape
        + strides
        + b"\x89"
        + _name("collections", "OrderedDict")
        + b")Rt"
    )
    parts = [
        pickle.dumps(0x1950A86A20F9469CFC6C, 2),
        pickle.dumps(1001, 2),
        pickle.dumps({"little_endian": True}, 2),
    ]
    parts += [
        tensor + b"R.",
        pickle.dumps(["0"], 2),
        struct.pack("<q", table.size),
        table.astype("<f8").tobytes(),
    ]
    return b"".join(parts)


def toss(frames=30):
    table = np.zeros((frames, 19))
    table[:, 0] = np.linspace(0, 3, frames)
    table[:, 2] = 1.0
    table[:, 3:7] = rotations.exp(np.outer(np.linspace(0, 1, frames), [0, 0, 1.0]))
    return table


def folder_of(tmp_path, tables):
    (tmp_path / "tosses_processed").mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        (tmp_path / "tosses_processed" / f"{name}.pt").write_bytes(legacy_file(table))
    return tmp_path


# planar throws and impacts


def square_file(path, position, rate=RATE, header="x,z,th,vx,vz,vth"):
    velocity = np.vstack([np.zeros(3), np.diff(position, axis=0) * rate])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(np.column_stack([position, velocity]).tolist())


def own_file(path, time, position, header="t,x,y,theta"):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(np.column_stack([time, position]).tolist())


def turning(n=30):
    time = np.arange(n) / RATE
    return time, np.column_stack([0.1 * time, 0.2 - time, 20.0 * time])


def impact_files(folder, n=40, seed=5):
    """Frictional impacts of an ellipse with J/m = RATIO, written as the public files are: x
    reversed, y doubled.
    """
    random = np.random.default_rng(seed)
    q = np.column_stack([random.uniform(0, 1, n), np.zeros(n), random.uniform(-3, 3, n)])
    at = contacts(Ellipse(*SEMI_AXES), Ground(), q)
    q[:, 1] = -at.gap[:, 0]
    before = random.uniform([-1, -3, -9], [1, -2, 9], (n, 3))
    impulse_n = random.uniform(2, 4, (n, 1))
    impulse_t = impulse_n * random.uniform(-0.3, 0.3, (n, 1))
    normal, tangent = at.normal[:, 0], at.tangent[:, 0]
    after = before + (impulse_n * normal + impulse_t * tangent) / [1.0, 1.0, RATIO]
    place, flip = np.array([-1.0, 2.0, 1.0]), np.array([-1.0, 1.0, 1.0])
    turned = q * place + [0, 0, 2 * np.pi]
    data = {
        "states_i": np.hstack([q * place, before * flip]),
        "states_f": np.hstack([turned, after * flip]),
        "n": normal,
        "d": tangent,
    }
    scipy.io.savemat(folder / "data_ellipse.mat", {"data": data})
    scipy.io.savemat(
        folder / "v_models.mat",
        {"v_models": np.tile(after * flip, 6) + np.repeat(np.arange(6.0), 3)},
    )
    return q, before, after, data


# recorded impacts of an arm

N = 120
TIME = SAMPLE_INTERVAL * np.arange(N)
POSITION = np.deg2rad([0.0, -86.0, 0.0, 70.0, 0.0, -23.0, 0.0]) + 0.2 * TIME[:, None]
NAME = "set1_v010_a30.mat"


def save(folder, name=NAME, **variables):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    scipy.io.savemat(path, variables or {"q": POSITION, "time": TIME}, oned_as="column")
    return path


def save_v73(path, **variables):
    """As MATLAB 7.3 writes numbers: HDF5 behind 512 bytes, arrays transposed, structures as groups."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file.create_dataset(name, data=np.asarray(value).T)
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(512))
