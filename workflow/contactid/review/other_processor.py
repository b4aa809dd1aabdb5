"""Whether an older processor's arithmetic changes the verdicts: ``make other-processor``.

The run of ``config/test.yaml`` is made again, from the start, as the libraries would compute it on
an x86-64 processor without AVX and FMA, and is held against the accepted numbers of the run
``test``; ``moved.csv`` counts what moved. The processor is emulated: each library is told which of
its functions to take. What is compiled into a library without a choice stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.comparison import COLUMNS
from contactid.output.tables import write_csv
from contactid.review.arithmetic import of_an_older_processor
from contactid.review.check import ACCEPTED, ACCEPTED_COLUMNS, check_run, count_moves, read_verdicts

RUN, ACCEPTED_RUN = "other_processor", "test"


@told_plainly()
def main() -> None:
    """Make the run, print the comparison, and exit with 1 where a verdict got worse."""
    chosen = of_an_older_processor()
    shutil.rmtree(Path("results", RUN), ignore_errors=True)
    variables = " ".join(f"{name}={value!r}" for name, value in chosen.items())
    print(f"An emulated processor: {variables}", flush=True)
    # numba's cache isn't keyed to the emulated processor
    compiled = {"NUMBA_CACHE_DIR": str(Path(".snakemake", RUN).absolute())}
    command = [
        *(sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all"),
        *("--configfile", "config/test.yaml", "--config", f"run={RUN}", "--"),
        *(f"results/{RUN}/{name}" for name in ("checks.csv", "provenance.json")),
    ]
    if subprocess.run(command, env={**os.environ, **chosen, **compiled}).returncode:
        raise ContactIdError(
            "the run on the emulated processor failed (above)", "Does make test pass"
        )
    text, problems = check_run(RUN, "results", ACCEPTED, against=ACCEPTED_RUN)
    checks = read_verdicts(Path("results", RUN, "checks.csv"), COLUMNS, "Run it again")
    accepted = read_verdicts(
        ACCEPTED / f"{ACCEPTED_RUN}.csv", ACCEPTED_COLUMNS, "Restore it from the repository"
    )
    write_csv(pd.DataFrame([count_moves(checks, accepted)]), Path("results", RUN, "moved.csv"))
    print(
        text, "This run's processor was emulated; no other one was at hand.", sep="\n\n", flush=True
    )
    if problems:
        raise ContactIdError(
            f"run {RUN}: {problems} (listed above)", "Mend what depends on the last digits"
        )


if __name__ == "__main__":
    main()
