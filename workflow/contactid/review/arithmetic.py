"""What decides how numbers are rounded: the code that libraries choose for a processor.

Compiled libraries bring several versions of their functions and take the fastest that the processor
has. They add in another order, or round once where others round twice, so the last digits of a
result depend on the processor. A name of a processor says little of that, least of all in a virtual
machine; what was chosen says it.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import platform
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  # loads SciPy's BLAS, which is another one than NumPy's

from contactid.core.errors import ContactIdError

#: Families of vector instructions, as LLVM names them.
OF_VECTORS = ("avx", "avx2", "avx512f", "fma", "neon", "sve")
_CORE_NAMES = tuple(
    f"{prefix}openblas_get_corename{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")
)


def describe_arithmetic() -> dict[str, Any]:
    """The choices of this process.

    Returns
    -------
    dict
        ``numba``: the processor that it compiles for, with the vector instructions that it may use.
        ``blas``: the kernels of NumPy's and SciPy's OpenBLAS; null where that can't be found out.
        ``numpy``: the instructions beyond its least that its loops use. ``libm``: a checksum of
        values of sin, cos, tan, atan and exp.
    """
    # here: a third of a second that only this needs
    from numba.core.registry import cpu_target

    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    # LLVM's list has a plus before what it may use, a minus before what it mustn't
    used = features.split(",")
    vectors = [name for name in OF_VECTORS if f"+{name}" in used]
    return {
        "numba": " ".join([processor, *vectors]),
        "blas": _blas_kernels(),
        "numpy": _dispatched_by_numpy(),
        "libm": _values_of_libm(),
    }


def _dispatched_by_numpy() -> str:
    return " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))


def _blas_kernels() -> str | None:
    try:
        loaded = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    kernels = set()
    # both wheels bring an OpenBLAS of their own
    for path in set(re.findall(r"/\S*/(?:numpy|scipy)\.libs/\S*openblas\S*", loaded)):
        library = ctypes.CDLL(path)
        names = [name for name in _CORE_NAMES if hasattr(library, name)]
        if names:
            core_name = getattr(library, names[0])
            core_name.restype = ctypes.c_char_p
            kernels.add(core_name().decode())
    return " ".join(sorted(kernels)) or None


def _values_of_libm() -> str:
    # so many that two versions of a function, which differ in rare last digits, differ at some
    angles = [0.1 * number for number in range(1, 2000)]
    values: list[float] = []
    for function in (math.sin, math.cos, math.tan, math.atan):
        values += map(function, angles)
    # of a tenth, as it grows fast
    values += [math.exp(0.1 * angle) for angle in angles]
    return hashlib.sha256(struct.pack(f"{len(values)}d", *values)).hexdigest()[:12]


def of_an_older_processor() -> dict[str, str]:
    """Environment variables by which a process chooses as on an x86-64 without AVX and FMA.

    Each library is told by its own variable, by names of its own version: a name that it doesn't
    know it ignores.

    Raises :class:`ContactIdError` on another kind of processor.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        raise ContactIdError(
            f"an older processor can't be emulated on {platform.machine()}",
            "Use an x86-64 processor with Linux",
        )
    return {
        "NUMBA_CPU_NAME": "x86-64",
        # without it numba adds this processor's own
        "NUMBA_CPU_FEATURES": "",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": _dispatched_by_numpy(),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F",
    }
