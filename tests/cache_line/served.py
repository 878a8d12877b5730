"""A backend that tells which entry served a call."""

from collections.abc import Callable
from typing import Any

from torch._guards import CompileContext


class Witness:
    """Backend ``eager`` that notes the compile id of each graph as it runs."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.made: list[str] = []

    def __call__(self, graph: Any, _inputs: Any) -> Callable[..., Any]:
        name = str(CompileContext.current_compile_id())
        self.made.append(name)

        def run(*args: Any) -> Any:
            self.ran.append(name)
            return graph.forward(*args)

        return run

    def of_call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[str, str]:
        """What a real call did: ``compile``, ``reuse`` or ``eager``; and the entry that ran."""
        made, ran = len(self.made), len(self.ran)
        try:
            function(*args, **kwargs)
        except ValueError:
            return "raised", ""
        served = self.ran[ran] if len(self.ran) > ran else ""
        if len(self.made) > made:
            return "compile", served
        return ("reuse", served) if served else ("eager", "")
