"""Every rule of every shipped configuration fits the function that it calls: nothing missing,
nothing left over.
"""

import inspect
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from contactid.core.references import resolve
from whole_run import ROOT, start

CONFIGURATIONS = [
    (), ("config/test.yaml",), ("config/public.yaml",), ("config/4tu.yaml",), ("config/full.yaml",),
    ("config/author_plots.yaml",), ("config/public.yaml", "config/benchmark.yaml"),
]  # fmt: skip
# what the makers of artefacts are told themselves
AROUND = {"config", "terminal"}  # of every job
TOLD = {
    "contactid.output.computing:compute": {"declared", "artefacts", "sources"},
    "contactid.output.drawing:draw": {"declared", "data", "drawn", "kept", "sources"},
}


@cache
def rules(files):
    """The rules of a configuration that run something."""
    command = [sys.executable, ROOT / "tests/helpers/rules_of.py", *files]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return [rule for rule in json.loads(ended.stdout.splitlines()[-1]) if rule["script"]]


@pytest.mark.parametrize(
    "files",
    CONFIGURATIONS,
    ids=lambda files: "+".join(Path(file).stem for file in files) or "default",
)
def test_rules_fit_their_functions(files):
    for rule in rules(files):
        assert rule["script"] == "../call.py" and not rule["unnamed"], rule["name"]
        names = [*rule["wildcards"], *rule["input"], *rule["output"], *rule["params"]]
        assert len(set(names)) == len(names), (
            f"{rule['name']}: a name occurs twice among {sorted(names)}"
        )
        told = set().union(*(TOLD.get(call, set()) for call in rule["calls"]))
        # a drawing function is given its data and settings, not the rule's files
        named = [] if "drawn" in told else rule["functions"] or rule["calls"]
        wanted = [inspect.signature(resolve(text)).parameters.values() for text in named]
        asked = {item.name for items in wanted for item in items}
        needed = {item.name for items in wanted for item in items if item.default is item.empty}
        own = set(rule["params"]) - {"call", "code", "each", "shares"}
        given = {*rule["input"], *rule["output"], *own} - told
        assert needed <= {*names, *AROUND}, f"{rule['name']}: lacks {needed - set(names)}"
        assert not rule["calls"] or given <= asked, f"{rule['name']}: {given - asked} is left over"


@pytest.mark.parametrize(
    "files", [(), ("config/test.yaml",), ("config/full.yaml",)], ids=["default", "test", "full"]
)
def test_what_is_submitted_together_waits_for_nothing_that_waits_for_it(files, tmp_path):
    """Snakemake refuses such groups of the cluster's profile before it submits anything, in a dry
    run, too.
    """
    options = ["--dry-run", "--executor", "local", "--forceall", "--directory", tmp_path]
    configured = ["--configfile", *files] if files else []
    ended = start(ROOT, "--workflow-profile", ROOT / "profiles/slurm", *options, *configured)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Group job run_report" in ended.stdout + ended.stderr
