"""In place of workflow/call.py in a copy of the repository: calls the same, and records what that executes and opens.

``recorded/<rule>...json`` has the job's fingerprint, the place of every function of the package that ran
(but those of an import) and every file of the repository that was read. Compiled functions are known by their
dispatchers, HDF5 files by h5py, since neither asks Python.
"""

import json
import os
import sys
from pathlib import Path

ROOT = f"{Path.cwd()}{os.sep}"
PACKAGE = f"{ROOT}workflow{os.sep}contactid{os.sep}"
executed, opened = set(), set()
seen = {}  # code objects by their number, since their hash is slow


def read(path):
    if isinstance(path, str) and not path.startswith(("/proc", "/sys")):
        opened.add(str(Path(path).absolute()))


def at_open(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and "r" in arguments[1] and "+" not in arguments[1]:
        read(arguments[0])


def at_call(frame, event, argument):
    """Once for every frame; it asks for no further events of it."""
    code = frame.f_code
    if id(code) in seen:
        return
    if code.co_filename.startswith(PACKAGE):
        above = frame
        while above is not None:
            if above.f_code.co_name == "<module>" and above.f_code.co_filename.startswith(PACKAGE):
                return  # while a module is imported; what it makes has a name of its own
            above = above.f_back
        executed.add((code.co_filename, code.co_firstlineno))
    seen[id(code)] = code


def dispatchers():
    """Compiled functions that were needed, by the places of their sources."""
    for name, module in list(sys.modules.items()):
        if name.startswith("contactid."):
            for found in vars(module).values():
                if getattr(found, "py_func", None) is not None and found.signatures:
                    yield found.py_func.__code__.co_filename, found.py_func.__code__.co_firstlineno


def watch_hdf5():
    import h5py

    begin = h5py.File.__init__

    def watched(self, name, mode="r", *arguments, **options):
        if mode == "r" and isinstance(name, str | bytes | Path):
            read(os.fsdecode(name))
        begin(self, name, mode, *arguments, **options)

    h5py.File.__init__ = watched


smk = snakemake  # noqa: F821 - Snakemake puts it there
watch_hdf5()
sys.addaudithook(at_open)
sys.settrace(at_call)
try:
    exec(compile(Path("workflow/called.py").read_text(), "workflow/called.py", "exec"))
finally:
    sys.settrace(None)
    executed.update(dispatchers())
    name = "_".join([smk.rule, *map(str, smk.wildcards)])
    Path("recorded").mkdir(exist_ok=True)
    Path(f"recorded/{name}.json").write_text(
        json.dumps(
            {
                "rule": smk.rule,
                "code": smk.params["code"],
                "executed": sorted((os.path.relpath(file, ROOT), line) for file, line in executed),
                "opened": sorted(os.path.relpath(path, ROOT) for path in opened if path.startswith(ROOT)),
                "files": sorted({*map(str, smk.input), *map(str, smk.output), *map(str, smk.log)}),
            }
        )
    )
