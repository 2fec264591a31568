"""The order of the road is the order of the imports, and the house rules hold in every module."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import openbiolink

PACKAGE = Path(openbiolink.__file__).parent
ROOT = PACKAGE.parent.parent
STAGES = ["sources", "graph", "split", "evaluation", "report"]
CORE = {"schema", "errors", "progress", "files", "tables", "croissant", "engines", "places", "index"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
NAMES = [path.relative_to(PACKAGE).as_posix() for path in MODULES]
HEAVY = {"torch", "pandas", "pyarrow", "pyspark", "pykeen", "pybel", "matplotlib"}
every_module = pytest.mark.parametrize("path", MODULES, ids=NAMES)


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def stage_of(path):
    """The first part of the module's name inside the package."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports_of(tree):
    """Every module that a syntax tree imports, anywhere in it, by full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "openbiolink")


def own_imports(path):
    names = {name.split(".")[1] for name in imports_of(parse(path)) if name.startswith("openbiolink.")}
    return {name for name in names if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()}


ALLOWED = {
    **dict.fromkeys(CORE, CORE),
    "sources": CORE,
    "graph": CORE | {"sources"},
    "audit": CORE | {"dataset"},
    "split": CORE | {"audit", "dataset", "graph", "sources"},
    "metrics": {"errors", "files", "progress"},
    "huggingface": {"errors", "files", "metrics"},
    "dataset": CORE,
    "evaluation": CORE | {"audit", "dataset", "metrics", "split", "graph", "sources"},
    "report": CORE | {"audit", "dataset", "metrics", "evaluation", "split", "graph", "sources"},
    "demo": CORE | {"audit", "dataset", "metrics", *STAGES},
    "cli": CORE | {"audit", "dataset", "metrics", "demo", *STAGES},
    "__main__": {"cli"},
    "__init__": CORE | {"audit", "dataset", "metrics", "demo", *STAGES},
}


@every_module
def test_a_stage_imports_only_the_core_and_earlier_stages(path):
    stage = stage_of(path)
    assert stage in ALLOWED, f"{stage} has no place on the road"
    assert own_imports(path) - {stage} <= ALLOWED[stage]


def test_every_stage_is_there_in_order():
    assert all((PACKAGE / stage / "__init__.py").is_file() for stage in (*STAGES, "metrics"))
    for place, stage in enumerate(STAGES):
        assert not {*STAGES[place + 1 :]} & ALLOWED[stage]
    modules = {stage_of(path) for path in MODULES}
    assert modules == set(ALLOWED)


@every_module
def test_only_the_command_line_prints_and_exits(path):
    if stage_of(path) == "cli":
        return
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"print", "exit", "quit", "input", "sys.exit", "os._exit", "breakpoint"}, node.lineno
        assert not (isinstance(node, ast.Name) and node.id == "SystemExit"), node.lineno


def top_level(tree):
    """The statements that run at import: those of the module and of its classes, not of functions or type checking."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


@every_module
def test_nothing_heavy_or_optional_is_imported_at_module_level(path):
    found = {name.split(".")[0] for node in top_level(parse(path)) for name in imports_of(ast.Module([node], []))}
    assert not found & HEAVY


@every_module
def test_no_work_is_put_off(path):
    text = path.read_text(encoding="utf-8")
    for mark in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"):
        assert mark not in text


def functions_of(tree, prefix=""):
    """(name, node, whether public) of every function and method, also those inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
            yield from functions_of(node, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from functions_of(node, f"{prefix}{node.name}.")
        else:
            yield from functions_of(node, prefix)


def is_public(name):
    return not any(part.startswith("_") or part == "<locals>" for part in name.split("."))


@every_module
def test_every_function_is_fully_annotated(path):
    for name, node in functions_of(parse(path)):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        arguments += [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
        bare = [one.arg for one in arguments if one.annotation is None and one.arg not in {"self", "cls"}]
        assert not bare, f"{name}, line {node.lineno}: {bare}"
        assert node.returns is not None, f"{name}, line {node.lineno}"


@every_module
def test_every_public_name_has_a_docstring(path):
    tree = parse(path)
    if tree.body:
        assert ast.get_docstring(tree), "the module has none"
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    for node in classes:
        assert ast.get_docstring(node), f"{node.name}, line {node.lineno}"
    for name, node in functions_of(tree):
        assert not is_public(name) or ast.get_docstring(node), f"{name}, line {node.lineno}"


def code_lines(node, text):
    """The lines of a function that hold code: no docstring, comments or blank lines."""
    first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
    lines = text.splitlines()[first.lineno - 1 : node.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


@every_module
def test_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    long = {name: code_lines(node, text) for name, node in functions_of(parse(path)) if code_lines(node, text) > 50}
    assert not long


@every_module
def test_module_names_are_short_lower_case_nouns(path):
    banned = {"utils", "util", "helper", "helpers", "manager", "handler", "processor", "info", "misc", "common"}
    assert path.stem not in banned
    documented = {"dataLoader"}  # a door of the published documentation
    assert path.stem == path.stem.lower() or path.stem in documented


@every_module
def test_no_global_changes(path):
    tree = parse(path)
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Global), node.lineno
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for name in [name for target in targets for name in ast.unparse(target).strip("()").split(", ")]:
            constant = name.lstrip("_")[:1].isupper() or name.startswith("__")
            assert constant or isinstance(node.value, ast.Call), f"{name} looks like a variable"


@every_module
def test_randomness_is_an_argument(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert not called.startswith(("random.", "np.random.seed", "numpy.random.seed")), node.lineno
            if called.endswith("default_rng"):
                assert node.args or node.keywords, f"line {node.lineno}: a generator without a seed"
            assert called not in {"time.time", "datetime.now", "datetime.utcnow", "date.today"}, node.lineno


def test_importing_the_package_does_nothing_heavy(tmp_path):
    code = "import sys, openbiolink, openbiolink.cli; print(*sorted(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in ended.stdout.split()}
    assert not loaded & HEAVY
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", openbiolink.__all__)
def test_what_is_exported_is_there_and_documented(name):
    exported = getattr(openbiolink, name)
    assert inspect.getdoc(exported)
    assert name in dir(openbiolink)


def test_exports_are_sorted_and_complete():
    assert list(openbiolink.__all__) == sorted(openbiolink.__all__)
    for name in ("load_catalogue", "generate_graph", "GraphOptions", "load_dataset", "evaluate"):
        assert name in openbiolink.__all__
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = openbiolink.no_such_name


@every_module
def test_every_module_can_be_imported_alone(path):
    name = ".".join(("openbiolink", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    assert importlib.import_module(name).__name__ == name


def test_oracles_import_nothing_of_the_package():
    oracles = sorted((ROOT / "tests" / "oracles").glob("*.py"))
    assert oracles
    for path in oracles:
        assert not [name for name in imports_of(parse(path)) if name.split(".")[0] == "openbiolink"], path.name


def test_tests_assert_something():
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        for name, node in functions_of(parse(path)):
            if not name.startswith("test_") or "." in name:
                continue
            checks = [one for one in ast.walk(node) if isinstance(one, ast.Assert)]
            calls = [ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)]
            checked = any(part in call for call in calls for part in ("raises", "assert", "check", "warns", "fail"))
            assert checks or checked, f"{path.name}: {name} asserts nothing"
