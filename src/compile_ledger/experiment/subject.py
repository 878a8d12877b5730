"""Loads what a target names, inside an arm's process, and runs it."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compile_ledger.facts.place import Place
from compile_ledger.observe.compiled import compiled

from .cannot_run import cannot_run
from .targets import Target
from .workload import Workload, WorkloadError, from_module

_WANTED = (
    "wanted a Workload, (fn, calls), a function without arguments that returns one, "
    "or one that calls torch.compile itself"
)


class SubjectError(Exception):
    """The target cannot be run at all: one line, with the remedy."""


class Outcome:
    """How the run of a subject ended."""

    def __init__(self) -> None:
        """Nothing has gone wrong yet."""
        self.raised: BaseException | None = None
        self.exit_code: int | None = None
        self.result: Any = None
        """What counts as output at the end: a state, or what a program's function returned."""
        self.workload: Workload | None = None
        self.compiled: Any = None
        self.plain: Any = None
        """The workload's callable without the compiler."""
        self.calls: list[Any] = []


Told = Callable[[Workload], None]
"""Hears of the workload before it runs."""


def _unheard(workload: Workload) -> None:
    del workload


def load(target: Target, told: Told = _unheard) -> Callable[[], Outcome]:
    """A function that runs the target. Raises :class:`SubjectError`."""
    if target.kind in ("script", "module"):
        _check_module(target)
        return lambda: run_program(target)
    value, module = _pickled(target) if target.kind == "pickled" else _named(target)
    if isinstance(value, Workload):
        return lambda: run_workload(value, told)
    _check_callable(value, target)
    return lambda: _run_function(value, module, target, told)


def _check_module(target: Target) -> None:
    if target.kind != "module":
        return
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = importlib.util.find_spec(target.path)
    except ImportError as error:
        msg = f"{target.text}: {error}"
        raise SubjectError(msg) from error
    if found is None:
        msg = f"{target.text}: there is no module {target.path} here"
        raise SubjectError(msg)


def _pickled(target: Target) -> tuple[Any, Any]:
    """A workload that our own parent process wrote for us."""
    import cloudpickle

    with Path(target.path).open("rb") as stream:
        return cloudpickle.load(stream), None


def site_of(target: Target) -> Place | None:
    """Where the user defines a named workload: the site of the regions that we make for it."""
    if target.kind != "name":
        return None
    head = target.name.partition(".")[0]
    return Place(target.path, _line_of(Path(target.path), head), target.name)


def _line_of(file: Path, name: str) -> int:
    """The line that binds ``name`` at the top of ``file``; 0 when none does."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return 0
    found = (node.lineno for node in tree.body if name in _bound_by(node))
    return next(found, 0)


def _bound_by(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _named(target: Target) -> tuple[Any, Any]:
    sys.argv = [target.path]
    sys.path.insert(0, str(Path(target.path).parent))
    module = _import(target)
    value = module
    for part in target.name.split("."):
        if not hasattr(value, part):
            msg = f"{target.text}: {Path(target.path).name} has no {target.name}{_instead(module)}"
            raise SubjectError(msg)
        value = getattr(value, part)
    return value, module


def _instead(module: Any) -> str:
    mine = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    return f"; it has {', '.join(mine[:8])}" if mine else ""


def _import(target: Target) -> Any:
    name = Path(target.path).stem
    name = name if name not in sys.modules else f"compile_ledger_target_{name}"
    spec = importlib.util.spec_from_file_location(name, target.path)
    if spec is None or spec.loader is None:
        msg = f"{target.path} is not a Python file"
        raise SubjectError(msg)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        raise SubjectError(cannot_run(target, error)) from error
    return module


def _check_callable(value: Any, target: Target) -> None:
    if not callable(value) or isinstance(value, type):
        msg = f"{target.text} is {_with_article(type(value).__name__)}: {_WANTED}"
        raise SubjectError(msg)
    with contextlib.suppress(ValueError):
        for parameter in inspect.signature(value).parameters.values():
            plain = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            if plain and parameter.default is parameter.empty:
                msg = f"{target.text} needs the argument {parameter.name}: {_WANTED}"
                raise SubjectError(msg)


def _with_article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


def _run_function(function: Callable[[], Any], module: Any, target: Target, told: Told) -> Outcome:
    """Call the named function; run the workload that it returns, if it returns one."""
    outcome = Outcome()
    try:
        value = function()
    except WorkloadError as error:
        msg = f"{target.text}: {error}"
        raise SubjectError(msg) from error
    except Exception as error:  # noqa: BLE001  the user's program raised: a fact
        traceback.print_exc()
        outcome.raised = error
        return outcome
    workload = from_module(value, module)
    if workload is not None:
        return run_workload(workload, told)
    outcome.result = value
    return outcome


def run_workload(workload: Workload, told: Told) -> Outcome:
    """Compile the workload's callable and make its calls. Exceptions in calls are kept.

    A callable that is compiled already is called as it is, unless the workload says how
    to compile it: then, as ``torch.compile`` itself does, what it was made from is compiled.
    """
    import torch

    outcome = Outcome()
    outcome.workload = workload
    told(workload)
    try:
        if workload.setup is not None:
            workload.setup()
        found = compiled(workload.fn)
        outcome.plain = workload.fn if found is None else found.fn
        outcome.compiled = workload.fn
        if found is None or workload.compile:
            outcome.compiled = torch.compile(outcome.plain, **workload.compile)
        _make_calls(workload, outcome)
    except WorkloadError as error:
        raise SubjectError(str(error)) from error
    except Exception as error:  # noqa: BLE001  the user's code raised: a fact
        traceback.print_exc()
        outcome.raised = outcome.raised or error
    if workload.state is not None:
        outcome.result = workload.state()
    return outcome


def check_was_program(target: Target, outcome: Outcome) -> None:
    """A named function that compiled nothing must have returned a workload.

    Raises :class:`SubjectError`.
    """
    if target.kind == "name" and outcome.workload is None and outcome.raised is None:
        returned = type(outcome.result).__name__
        msg = f"{target.text} returned {returned} and compiled nothing: {_WANTED}"
        raise SubjectError(msg)


def _make_calls(workload: Workload, outcome: Outcome) -> None:
    for index, (args, kwargs) in enumerate(workload.each_call()):
        outcome.calls.append((index, args, kwargs))
        del outcome.calls[:-8]
        with workload.around(index, workload.fn):
            try:
                outcome.compiled(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  a later call may still run
                traceback.print_exc()
                outcome.raised = outcome.raised or error


def run_program(target: Target) -> Outcome:
    """Run an unmodified script or module as ``__main__``."""
    outcome = Outcome()
    try:
        _as_main(target)
    except SystemExit as stop:
        outcome.exit_code = _exit_code(stop.code)
    except ModuleNotFoundError as error:
        outcome.raised = error
        traceback.print_exc()
    except BaseException as error:  # noqa: BLE001  whatever leaves the program is a fact
        outcome.raised = error
        traceback.print_exc()
    return outcome


def _as_main(target: Target) -> None:
    if target.kind == "script":
        sys.argv = [target.path, *target.argv]
        sys.path.insert(0, str(Path(target.path).parent))
        runpy.run_path(target.path, run_name="__main__")
    else:
        sys.argv = [target.path, *target.argv]
        runpy.run_module(target.path, run_name="__main__", alter_sys=True)


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    return code if isinstance(code, int) else 1
