"""Every rule's script: call the function that the rule names, with the files and settings that it
asks for.
"""

import sys
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).parent)
)  # the package lies beside this file, whichever environment this is

from contactid.run.job import job, leave

smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
with job(smk.rule, smk.wildcards, smk.log[0]) as terminal:
    from contactid.run.call import call_rule
    from contactid.run.story import tell_begin, tell_end

    tell_begin(smk.input, smk.params)
    call_rule(
        smk.wildcards,
        smk.input,
        smk.output,
        smk.params,
        {"config": smk.config, "terminal": terminal},
    )
    tell_end(smk.output)
leave()
