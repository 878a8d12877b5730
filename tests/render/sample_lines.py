"""Cache lines as a recording keeps them: folded, one of each state."""

from __future__ import annotations

from compile_ledger.facts.cache_line import Budget, CodeLine, Count, Entry, LineReading
from compile_ledger.facts.guard import Guard, TensorAssumption
from compile_ledger.facts.place import Place

HERE = Place("/srv/app/model.py", 31, "forward")


def size(length: int) -> Guard:
    """The guard on a request of this length."""
    assumed = TensorAssumption(
        type="Tensor",
        dispatch_keys=("CPU",),
        dtype="torch.int64",
        device_index=None,
        requires_grad=False,
        size=(1, length),
        stride=(length, 1),
    )
    text = f"check_tensor(L['idx'], Tensor, size=[1, {length}])"
    return Guard("L['idx']", "TENSOR_MATCH", "tensor", "", text, place=HERE, tensor=assumed)


def served(lengths: tuple[int, ...]) -> LineReading:
    """A line at its limit: one entry for each length, the newest first."""
    entries = tuple(
        Entry(
            f"0/{number}",
            Count(61),
            Count(1 + (number == 4)),
            Count(8 - number),
            guards=(size(length),),
        )
        for number, length in reversed(list(enumerate(lengths)))
    )
    line = CodeLine(
        "forward",
        HERE.file,
        HERE.line,
        entries=entries,
        state="run-only",
        since="0/8",
        state_why="Dynamo recompile limit exceeded",
        budget=Budget(0, "recompile_limit", 8),
        folded=33,
    )
    return LineReading(0, line, "Transformer.forward", (0,), "2.13.0")


def odd() -> LineReading:
    """A line of an inner frame: an entry whose object is gone, one that only has counts."""
    gone = Entry("3/0", Count(why="the record is gone"), Count(2), Count(why="the entry is gone"),
                 valid=False, invalid_why="L['k'] got deallocated")  # fmt: skip
    line = CodeLine("helper", HERE.file, 90, "called", (gone, Entry("3/1", folded=40)), "on",
                    budget=Budget(None, why="this torch has neither limit"), more=7)  # fmt: skip
    return LineReading(1, line, "Transformer.forward", (0,), "2.13.0")
