"""Where files are, from the folder that Snakemake was started in: this repository may be elsewhere, or somebody's module."""

import os
import sys

from snakemake.common.configfile import load_configfile
from snakemake.utils import update_config

# False where another workflow, the host, uses this one as a module
IS_MAIN = workflow.modifier.is_main_snakefile()
# a host's own target stays what `snakemake` makes where nothing is named
NO_TARGET_YET = workflow.default_target is None
CHECKOUT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]
if not CHECKOUT.is_dir():
    sys.exit(
        f"ERROR {CHECKOUT} isn't a folder here. Name workflow/Snakefile of github(...), or clone contactid and name its file."
    )


def packaged(path):
    """A file of this repository: relative, so that a checkout can be moved, and without a module's prefix."""
    return local(os.path.relpath(CHECKOUT / path))


def placed(path):
    """A file of the run: below a module's prefix."""
    return workflow.modifier.modify_path(workflow.pathvars.apply(path))
