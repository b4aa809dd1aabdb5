"""One run at a time in a results folder, none on changed results or replaced by less; jobs end with it; full disks are told.

A host that uses this as a module keeps its own ways: its run isn't locked, stopped or formatted from here.
"""

import atexit

from snakemake.logging import logger

from contactid.run.failures import (
    exit_without_packages,
    failures,
    require_scheduler,
    tell_of_full_disks,
)
from contactid.run.job import OWNER
from contactid.run.kept import studies_of, tell_kept
from contactid.run.progress import show
from contactid.run.run_lock import hold
from contactid.run.story import forced, refuse_changed, refuse_damaged

os.environ[OWNER] = str(os.getpid())
RESULTS = Path(placed("<results>"))
# studies that the run has and this configuration lacks: they stay, and nothing that is made of all of them is replaced
CHOSEN = list(config["studies"])
KEPT = [name for name in studies_of(RESULTS, WORKFLOW / "rules") if name not in CHOSEN]
config["studies"] = [*CHOSEN, *KEPT]
for study in KEPT:
    config[study] = restore_numbers(config[study])
if workflow.is_main_process and workflow.check_envvars:
    tell_kept(RESULTS, CHOSEN, KEPT)
# jobs and dry runs read this file too; linting doesn't ask for the environment's variables
if (
    IS_MAIN
    and workflow.is_main_process
    and workflow.check_envvars
    and not workflow.output_settings.dryrun
):
    if not workflow.deployment_settings.deployment_method:
        exit_without_packages()
    with told_plainly():
        RUN_LOCK = hold(
            RESULTS,
            unlock=workflow.resource_settings.nodes is None or "--unlock" in sys.argv,
        )
        refuse_damaged(packaged("workflow/resources/embedded"))
        if not {"-F", "--forceall"} & set(sys.argv):
            refuse_changed(RESULTS, forced(sys.argv))
    if not workflow.output_settings.verbose:
        show(
            logger,
            lambda rule: workflow.get_rule(rule).docstring or rule,
            config["studies"],
            WORKFLOW / "resources/measured_jobs.csv",
        )
    # Snakemake ends with a traceback and without a word of ours where it can't write its own records
    atexit.register(tell_of_full_disks, RESULTS, ".snakemake")
