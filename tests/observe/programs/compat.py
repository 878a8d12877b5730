"""Many small programs, each printing what the user of it sees: ``compat.py [NAME...]``.

Every program runs after a reset. What is printed may not depend on whether a recorder is on.
"""

import asyncio
import contextlib
import copy
import functools
import inspect
import io
import pickle
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

X = torch.arange(4.0)
EAGER = functools.partial(torch.compile, backend="eager")
PROGRAMS: list[Callable[[], Any]] = []


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    PROGRAMS.append(function)
    return function


def double(x: Any) -> Any:
    """A docstring."""
    return x * 2


def breaking(x: Any) -> Any:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.linear(x).relu()


def shown(value: Any) -> Any:
    return value.tolist() if isinstance(value, torch.Tensor) else value


def failing(action: Callable[[], Any]) -> str:
    """The exception's type, message and traceback's lines of this file."""
    try:
        action()
    except Exception as error:  # noqa: BLE001
        own = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__
        ]
        return f"{type(error).__qualname__} {str(error).splitlines()[:1]} {own}"
    return "nothing raised"


@program
def pickle_compiled_module() -> Any:
    return failing(lambda: pickle.dumps(EAGER(Net())))


@program
def pickle_module_compile() -> Any:
    net = Net()
    net.compile(backend="eager")
    net(X)
    return shown(pickle.loads(pickle.dumps(net))(X))  # noqa: S301


@program
def deepcopy_compiled() -> Any:
    net = EAGER(Net())
    net(X)
    other = copy.deepcopy(net)
    return type(other).__name__, shown(other(X)), isinstance(other, nn.Module)


@program
def torch_save() -> Any:
    net, stream = EAGER(Net()), io.BytesIO()
    net(X)
    torch.save(net.state_dict(), stream)
    stream.seek(0)
    return sorted(torch.load(stream))


@program
def torch_save_whole() -> Any:
    return failing(lambda: torch.save(EAGER(Net()), io.BytesIO()))


@program
def identity_and_signature() -> Any:
    made = EAGER(double)
    return made.__name__, made.__doc__, str(inspect.signature(made)), sorted(vars(made))[:3]


@program
def isinstance_and_attributes() -> Any:
    net = EAGER(Net())
    return isinstance(net, nn.Module), net.linear.in_features, list(net.state_dict())


@program
def export_strict() -> Any:
    return str(torch.export.export(Net(), (X,), strict=True).graph).count("call_function")


@program
def export_default() -> Any:
    return str(torch.export.export(Net(), (X,)).graph).count("call_function")


@program
def explain() -> Any:
    found = torch._dynamo.explain(breaking)(X)
    return found.graph_count, found.graph_break_count


@program
def disable() -> Any:
    @torch.compiler.disable
    def inner(x: Any) -> Any:
        return x + 1

    return shown(EAGER(lambda x: inner(x * 2) * 3)(X))


@program
def fullgraph_fails() -> Any:
    return failing(lambda: EAGER(breaking, fullgraph=True)(X))


@program
def custom_backend() -> Any:
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append((len(graph.graph.nodes), len(inputs)))
        return graph.forward

    made = torch.compile(breaking, backend=backend)
    return shown(made(X)), graphs


@program
def compile_in_compile() -> Any:
    return shown(EAGER(lambda x: EAGER(double)(x) + 1)(X))


@program
def functional_transforms() -> Any:
    grad = torch.func.grad(lambda x: (x * x).sum())
    return shown(EAGER(grad)(X)), shown(EAGER(torch.func.vmap(double))(X))


@program
def generators() -> Any:
    def numbers(x: Any) -> Any:
        yield x + 1
        yield x + 2

    return [shown(y) for y in EAGER(lambda x: list(numbers(x)))(X)]


@program
def async_functions() -> Any:
    made = EAGER(double)

    async def serve() -> Any:
        await asyncio.sleep(0)
        return made(X)

    async def both() -> Any:
        return await asyncio.gather(serve(), serve())

    return [shown(y) for y in asyncio.run(both())]


@program
def class_decorator() -> Any:
    @EAGER
    class Small(nn.Module):
        def forward(self, x: Any) -> Any:
            return x - 1

    return shown(Small()(X)), Small.__name__


@program
def builtins_and_methods() -> Any:
    net = Net()
    return shown(EAGER(torch.sin)(X)), shown(EAGER(net.forward)(X)), shown(EAGER(nn.ReLU())(X))


@program
def aot_compile() -> Any:
    made = torch.compile(double, fullgraph=True, backend="eager").aot_compile(((X,), {}))
    with tempfile.TemporaryDirectory() as folder:
        made.save_compiled_function(f"{folder}/kept")
        with Path(folder, "kept").open("rb") as stream:
            again = torch.compiler.load_compiled_function(stream)
    return shown(made(X)), shown(again(X))


@program
def caching_precompile() -> Any:
    with torch._dynamo.config.patch(caching_precompile=True), tempfile.TemporaryDirectory():
        return shown(EAGER(double)(X))


@program
def guard_collectives() -> Any:
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{folder}/x", rank=0, world_size=1)
        try:
            switch = torch.compiler.set_enable_guard_collectives
            made = EAGER(double, dynamic=False)
            before = [switch(enabled=True)]
            made(X)
            made(torch.ones(5))
            before += [switch(enabled=False), switch(enabled=False)]
            return before, shown(made(X))
        finally:
            dist.destroy_process_group()


@program
def autocast() -> Any:
    net = EAGER(Net())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return str(net(X).dtype)


@program
def inference_mode() -> Any:
    made = EAGER(double)
    with torch.inference_mode():
        first = made(X).is_inference()
    return first, made(X).is_inference()


@program
def compiled_autograd() -> Any:
    net = Net()

    def train() -> Any:
        net(X).sum().backward()
        return net.linear.bias.grad

    with torch._dynamo.compiled_autograd._enable(EAGER):
        return shown(EAGER(train)())


@program
def stances() -> Any:
    made, seen = EAGER(double), []
    made(X)
    for stance in ("force_eager", "eager_on_recompile", "fail_on_recompile", "default"):
        with torch.compiler.set_stance(stance):
            seen += [failing(lambda: made(X)), failing(lambda: made(torch.ones(2, 2)))]
    return seen


@program
def reset_in_between() -> Any:
    made, seen = EAGER(double, dynamic=False), []
    for size in (2, 3, 2):
        seen.append(shown(made(torch.ones(size))))
        torch.compiler.reset()
    return seen


@program
def exceptions_of_the_program() -> Any:
    def bad(x: Any) -> Any:
        y = x * 2
        raise ValueError(tuple(y.shape))

    return failing(lambda: EAGER(bad)(X)), failing(lambda: EAGER(lambda x: x @ x[:2])(X))


@program
def limits() -> Any:
    made = EAGER(double, dynamic=False)
    return [shown(made(torch.ones(size)).sum()) for size in range(2, 14)]


@program
def training_steps() -> Any:
    net = EAGER(Net())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(X).sum().backward()
        optimizer.step()
    return shown(net.linear.bias)


@program
def meta_and_source() -> Any:
    made = EAGER(double)
    return inspect.unwrap(made) is double, inspect.getsource(double).splitlines()[0]


def main() -> None:
    import torch._dynamo

    wanted = sys.argv[1:]
    for function in PROGRAMS:
        if wanted and function.__name__ not in wanted:
            continue
        torch._dynamo.reset()
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                result = function()
            except Exception as error:  # noqa: BLE001
                result = f"{type(error).__qualname__}: {error}".splitlines()[0]
        print(function.__name__, result, sep=": ")
    print(Path(sys.argv[0]).name, __name__, len(PROGRAMS))


if __name__ == "__main__":
    main()
