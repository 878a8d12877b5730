"""The cause of a recompile: all in which its call differs from the entry nearest to it."""

from __future__ import annotations

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.guard import Refusal
from compile_ledger.facts.what_if import EntryAnswer
from compile_ledger.judge.stable.causes import causes, failures_of, leading
from compile_ledger.judge.stable.level import judge_stable

from . import make

SIZE = Refusal("L['idx']", "TENSOR_MATCH", "size[1]", "4", "6", "check_tensor(L['idx'], ...)")
STRIDE = Refusal("L['idx']", "TENSOR_MATCH", "stride[0]", "4", "6", "check_tensor(L['idx'], ...)")
DTYPE = Refusal(
    "L['idx']", "TENSOR_MATCH", "dtype", "torch.int64", "torch.int32", "check_tensor(...)"
)
SCALE = Refusal("L['self'].scale", "EQUALS_MATCH", "value", "2", "3", "L['self'].scale == 2")
FLAG = Refusal("L['flag']", "EQUALS_MATCH", "value", "'a'", "'b'", "L['flag'] == 'a'")
TRAIN = Refusal(
    "L['self'].training", "EQUALS_MATCH", "value", "True", "False", "L['self'].training == True"
)


def entry(name: str, *refusals: Refusal) -> EntryAnswer:
    return EntryAnswer(name, accepts=not refusals, refusals=refusals)


def missed(call: int, *answers: EntryAnswer, told: str = "", **fields: object) -> Compile:
    texts = [told] if told else [f"{answers[0].compile_id}: flag == 'z'"]
    return make.compile_at(
        call, "recompiled", *texts, answers=answers, compile_id=f"0/{call}", **fields
    )


def test_the_nearest_entry_decides_and_not_what_most_entries_name() -> None:
    event = missed(3, entry("0/2", FLAG, DTYPE), entry("0/1", FLAG, SIZE), entry("0/0", SCALE))
    (found,) = failures_of(event)
    assert (found.kind, found.subject, found.expected, found.actual, found.entry) == (
        "constant-int",
        "self.scale",
        "2",
        "3",
        "0/0",
    )


def test_a_stride_that_follows_from_a_size_is_no_second_cause() -> None:
    (found,) = failures_of(missed(1, entry("0/0", SIZE, STRIDE)))
    assert (found.kind, found.subject, found.axis) == ("size", "idx", 1)
    assert (found.expected, found.actual) == ("4", "6")


def test_several_causes_of_one_stream_have_their_own_counts_and_values() -> None:
    arm = make.healthy(
        calls=make.calls("crrrr......."),
        compiles=(
            make.compile_at(0),
            missed(1, entry("0/0", SIZE, STRIDE)),
            missed(2, entry("0/1", DTYPE, SIZE), entry("0/0", DTYPE)),
            missed(3, entry("0/2", DTYPE, FLAG), entry("0/0", FLAG)),
            missed(4, entry("0/3", FLAG, SCALE), entry("0/0", SCALE)),
        ),
    )
    found = judge_stable(make.arms(arm), make.EAGER_BACKEND)
    note = next(one for one in found.findings if one.slug == "settled")
    assert (
        "1 on a tensor size (idx, axis 1: 4, 6), 1 on a dtype (idx: int64, int32), "
        "1 on a string (flag: 'a', 'b'), 1 on a Python int (self.scale: 2, 3)"
    ) in note.sentence
    assert [(one.slug, one.subject, one.count, one.values) for one in note.causes] == [
        ("recompile-shape", "idx", 1, ("4", "6")),
        ("recompile-dtype", "idx", 1, ("int64", "int32")),
        ("recompile-constant-str", "flag", 1, ("'a'", "'b'")),
        ("recompile-constant-int", "self.scale", 1, ("2", "3")),
    ]
    rows = [one.text for one in note.evidence if one.instrument.startswith("guards asked")]
    assert rows[3] == ("call 4 against 0/0, the nearest entry: self.scale (a Python int): 2 -> 3")


def test_calls_of_two_kinds_are_split_once_and_judged_within_each_kind() -> None:
    events = [
        make.compile_at(0),
        missed(1, entry("0/0", SIZE, TRAIN)),
        missed(2, entry("0/1", SIZE, TRAIN), entry("0/0", SIZE)),
        missed(3, entry("0/2", SIZE, TRAIN), entry("0/1", SIZE), entry("0/0", SIZE, TRAIN)),
    ]
    said = [(one.key.kind, one.compiles) for one in causes(events)]
    assert said == [("constant-bool", 1), ("size", 2)]


def test_what_the_runtime_names_first_is_the_cause_of_several_sizes() -> None:
    other = Refusal("L['m']", "TENSOR_MATCH", "size[0]", "1", "2", "check_tensor(L['m'], ...)")
    told = "0/0: tensor 'm' size mismatch at index 0. expected 1, actual 2"
    found = leading([missed(1, entry("0/0", SIZE, other), told=told)])
    assert found is not None
    assert found.key.subject == "m"


def test_values_are_counted_on_each_code_object_by_itself() -> None:
    events = [missed(1, entry("0/0", SIZE)), missed(2, entry("1/0", SIZE), code_object=1)]
    assert [one.compiles for one in causes(events)] == [1, 1]


def test_an_entry_that_takes_the_call_when_asked_again_leaves_it_to_the_text() -> None:
    (found,) = failures_of(missed(1, entry("0/0"), told="0/0: flag == 'a'"))
    assert (found.kind, found.actual) == ("constant-str", "")


def test_without_answers_the_texts_are_judged() -> None:
    event = make.compile_at(1, "recompiled", "0/0: flag == 'a'")
    assert [one.subject for one in failures_of(event)] == ["flag"]


def test_too_late_to_tell_names_the_guard_and_the_rule() -> None:
    arm = make.healthy(
        calls=make.calls("c...r."), compiles=(make.compile_at(0), missed(4, entry("0/0", SCALE)))
    )
    found = judge_stable(make.arms(arm), make.EAGER_BACKEND)
    assert found.level.status == "not_measured"
    assert found.level.why == (
        "recompiled at call 4 of 6 on a Python int (self.scale: 2, 3), for the first time and "
        "among the last 3 calls: too late to tell whether it goes on"
    )
    assert [one.slug for one in found.findings] == ["recompiled"]


def test_a_guard_with_few_values_may_be_the_last_call_of_a_settled_stream() -> None:
    arm = make.healthy(
        calls=make.calls("c....r"), compiles=(make.compile_at(0), missed(5, entry("0/0", TRAIN)))
    )
    found = judge_stable(make.arms(arm), make.EAGER_BACKEND)
    assert found.level.status == "holds"
    assert "the last at call 5 of 6, on a guard with few possible values" in found.level.why
