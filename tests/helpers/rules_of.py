"""The rules of a configuration as JSON: ``python rules_of.py [config/public.yaml ...] [--config
key=value ...]``.
"""

import json
import sys
from pathlib import Path

from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings


def rules_of(files, config):
    """Name, function, wildcards, and names of inputs, outputs and params of every rule that calls a
    function.
    """
    settings = ConfigSettings(config=config, configfiles=[Path(file) for file in files])
    with SnakemakeApi(OutputSettings(dryrun=True, quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            ResourceSettings(cores=1), config_settings=settings, snakefile=Path("Snakefile")
        )._workflow
        for rule in workflow.rules:
            params = dict(rule.params.items())
            yield {
                "name": rule.name,
                "script": str(rule.script or ""),
                "wildcards": sorted(rule.wildcard_names),
                "input": [name for name, _ in rule.input.items()],
                "output": [name for name, _ in rule.output.items()],
                "params": list(params),
                "unnamed": len(rule.input) > sum(1 for _ in rule.input.items())
                and not list(rule.input.items()),
                "calls": params["call"].split(", ") if isinstance(params.get("call"), str) else [],
                "functions": [
                    row.get("compute") or row["draw"] for row in params.get("declared", [])
                ],
            }


if __name__ == "__main__":
    chosen = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    found = list(rules_of([word for word in sys.argv[1:] if "=" not in word], chosen))
    print(json.dumps(found))
