"""Where to look: the line of torch.compile, and the line that a guard names."""

from __future__ import annotations

from compile_ledger.facts.place import Place, within_package
from compile_ledger.judge.ledger import judge_levels
from compile_ledger.judge.stable.failures import failures
from compile_ledger.judge.view import look

from . import make

OTHER = Place("serve.py", 6)
MODEL = Place("/home/me/app/model.py", 3, "forward")


def test_a_disagreement_points_at_its_regions_compile_line() -> None:
    regions = (make.region(), make.region(1, "decode", site=OTHER))
    wrong = make.agree(status="differs", region=1)
    arms = make.arms(
        make.eager(),
        make.healthy("capture", regions=regions),
        make.healthy("correct", regions=regions, agreements=(wrong,)),
    )
    (finding,) = judge_levels(arms, make.INDUCTOR)[1].findings
    assert finding.site == OTHER


def test_a_difference_of_the_whole_run_has_a_site_where_there_is_only_one() -> None:
    wrong = make.agree("state w", status="differs", region=None, call=None)
    one = make.healthy("correct", agreements=(wrong,))
    (finding,) = judge_levels(make.arms(make.eager(), one), make.INDUCTOR)[1].findings
    assert finding.site == make.SITE
    two = make.healthy(
        "correct",
        agreements=(wrong,),
        regions=(make.region(), make.region(1, site=OTHER)),
    )
    (finding,) = judge_levels(make.arms(make.eager(), two), make.INDUCTOR)[1].findings
    assert finding.site is None


def test_what_is_not_worth_it_points_at_the_busiest_region() -> None:
    regions = (make.region(site=OTHER), make.region(1, "decode"))
    arms = make.arms(
        make.eager(),
        make.healthy("cold", regions=regions, calls=make.calls("c") + make.calls("c...", region=1)),
        make.arm("steady", steady=(make.steady(1000, 5000),)),
    )
    (finding,) = judge_levels(arms, make.INDUCTOR)[4].findings
    assert (finding.slug, finding.site) == ("not-worth-it", make.SITE)


def _guarded(line: str) -> Place | None:
    limited = make.length_compiles(range(2, 13))
    told = tuple(
        make.compile_at(
            c.call or 0,
            c.outcome,
            *(f"{reason}  # if x.shape[0] > 3:  # {line}" for reason in c.reasons),
            limit=c.limit,
            limit_value=c.limit_value,
        )
        for c in limited
    )
    arm = make.chapter(compiles=told, regions=(make.region(target_place=MODEL),))
    found = failures(look(arm))[0]
    assert found.site == make.SITE
    return found.guarded


def test_the_users_line_that_a_guard_names_is_shown_by_its_whole_name() -> None:
    assert _guarded("app/model.py:5 in forward") == Place(MODEL.file, 5, "forward")


def test_a_file_whose_name_the_runtime_cut_within_a_folder_is_found() -> None:
    assert _guarded("pp/model.py:5 in forward") == Place(MODEL.file, 5, "forward")


def test_a_line_of_a_library_is_not_shown_as_the_users() -> None:
    assert _guarded("nn/modules/dropout.py:73 in forward") is None


def test_a_librarys_file_is_named_without_its_folder() -> None:
    installed = Place("/usr/lib/python3/dist-packages/torch/x.py", 9)
    assert within_package(installed) == "torch/x.py:9"
