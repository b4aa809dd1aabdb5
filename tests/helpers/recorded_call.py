"""In place of workflow/call.py in a copy of the repository: calls the same, and records what that
executes and opens.

``recorded/<rule>...json`` has the job's fingerprint, the place of every function of the package
that ran (but those of an import) and every file of the repository that was read; the pickle beside
it has what the job's call was given. Each function of the package says so itself, by a line that is
put in front when its module is imported; to trace all calls takes as long again as the job.
Compiled functions are known by their dispatchers, HDF5 files by h5py, since neither asks Python.
"""

import ast
import builtins
import importlib.machinery
import json
import os
import pickle
import re
import sys
from pathlib import Path

ROOT = f"{Path.cwd()}{os.sep}"
PACKAGE = f"{ROOT}workflow{os.sep}contactid{os.sep}"
executed, opened = set(), set()


def read(path):
    if isinstance(path, str) and not path.startswith(("/proc", "/sys")):
        opened.add(str(Path(path).absolute()))


def at_open(event, arguments):
    if (
        event == "open"
        and isinstance(arguments[1], str)
        and "r" in arguments[1]
        and "+" not in arguments[1]
    ):
        read(arguments[0])


def at_call(file, line):
    if (file, line) not in executed:
        above = sys._getframe(1)
        while above is not None:
            if above.f_code.co_name == "<module>" and above.f_code.co_filename.startswith(PACKAGE):
                return  # while a module is imported; what it makes has a name of its own
            above = above.f_back
        executed.add((file, line))


def compiled_elsewhere():
    """Names of the functions that are plain Python where they stand and compiled in another module."""
    texts = (file.read_text() for file in Path(PACKAGE).rglob("*.py"))
    return {name for text in texts for name in re.findall(r"numba\.njit\((\w+)", text)}


class Telling(ast.NodeTransformer):
    """Each function and lambda calls ``at_call`` first, but those that numba compiles."""

    compiled = compiled_elsewhere()

    def __init__(self, file):
        self.file = file

    def telling(self, line):
        return ast.parse(f"__at_call__({self.file!r}, {line})", mode="eval").body

    def visit_FunctionDef(self, node):
        if node.name in self.compiled or any(
            "numba" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            return node
        self.generic_visit(node)
        line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        node.body.insert(int(ast.get_docstring(node) is not None), ast.Expr(self.telling(line)))
        return node

    def visit_Lambda(self, node):
        self.generic_visit(node)
        both = ast.Tuple([self.telling(node.lineno), node.body], ast.Load())
        node.body = ast.Subscript(both, ast.Constant(1), ast.Load())
        return node


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        sys.pycache_prefix = f"{ROOT}recorded_code"  # a cache of their own
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix = None

    def source_to_code(self, data, path, *, _optimization=-1):
        tree = ast.fix_missing_locations(Telling(path).visit(ast.parse(data, path)))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimization)


class Finder(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        spec = super().find_spec(fullname, path, target)
        if spec is None or not (spec.origin or "").startswith(PACKAGE):
            return None
        spec.loader = Loader(fullname, spec.origin)
        return spec


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


def given():
    """What the job's call is made of, for moved_data.py, which makes it again."""
    from contactid.run.call import _plain

    parts = {
        "wildcards": smk.wildcards,
        "files_in": smk.input,
        "files_out": smk.output,
        "params": smk.params,
    }
    named = {
        part: {name: _plain(value) for name, value in items.items()}
        for part, items in parts.items()
    }
    return {
        **named,
        "rule": smk.rule,
        "config": smk.config,
        "outputs": [str(file) for file in smk.output],
    }


smk = snakemake  # noqa: F821 - Snakemake puts it there
assert not any(name.partition(".")[0] == "contactid" for name in sys.modules)
builtins.__at_call__ = at_call
sys.meta_path.insert(0, Finder)
watch_hdf5()
sys.addaudithook(at_open)
os._exit = sys.exit  # a job leaves at once; here something is written after it
try:
    exec(compile(Path("workflow/called.py").read_text(), "workflow/called.py", "exec"))
finally:
    executed.update(dispatchers())
    name = "_".join([smk.rule, *map(str, smk.wildcards)])
    Path("recorded").mkdir(exist_ok=True)
    Path(f"recorded/{name}.pickle").write_bytes(pickle.dumps(given()))
    Path(f"recorded/{name}.json").write_text(
        json.dumps(
            {
                "rule": smk.rule,
                "code": smk.params["code"],
                "executed": sorted((os.path.relpath(file, ROOT), line) for file, line in executed),
                "opened": sorted(
                    os.path.relpath(path, ROOT) for path in opened if path.startswith(ROOT)
                ),
                "files": sorted({*map(str, smk.input), *map(str, smk.output), *map(str, smk.log)}),
            }
        )
    )
