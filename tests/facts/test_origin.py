"""Whose code a file holds, and which line of a stack is the user's."""

from __future__ import annotations

import pytest

from compile_ledger.facts.place import Lines, Place, lines_of, origin

VENV = "/home/me/venv/lib/python3.11"
SITE = f"{VENV}/site-packages"


@pytest.mark.parametrize(
    "file",
    [
        "/home/me/train.py",
        "/srv/tmp/case.py",
        "C:\\Users\\me\\train.py",
        "train.py",
        "/srv/tmp/ipykernel_4711/2153021.py",
        "<ipython-input-3-0123abcd>",
        "<python-input-7>",
        "<stdin>",
        "<doctest guide[0]>",
        "/home/me/src/transformers/models/bert.py",  # an editable install
        "/home/me/ca/cart.py",
    ],
)
def test_the_users_own_code(file: str) -> None:
    assert origin(file) == "program"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (f"{SITE}/transformers/trainer.py", "package"),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", "package"),
        ("C:\\venv\\Lib\\site-packages\\accelerate\\accelerator.py", "package"),
        ("/home/me/.pex/wheels/0f/timm-1.0-py3-none-any.whl/timm/layers.py", "package"),
        ("/home/me/.cache/huggingface/modules/transformers_modules/a/b/modeling.py", "package"),
        ("/home/me/.cache/torch/hub/some_repo_main/hubconf.py", "package"),
        (f"{SITE}/torch/nn/modules/module.py", "runtime"),
        (f"{VENV}/threading.py", "runtime"),
        ("<eval_with_key>.12", "generated"),
        ("<string>", "generated"),
        ("<frozen runpy>", "generated"),
        (f"/srv/tmp/torchinductor_me/f2/cf2{'a' * 49}.py", "generated"),
    ],
)
def test_code_that_is_not_the_users(file: str, expected: str) -> None:
    assert origin(file) == expected


def _stack(*files: str) -> list[Place]:
    return [Place(file, number, "f") for number, file in enumerate(files, start=1)]


def test_the_users_line_is_the_innermost_one_outside_packages() -> None:
    found = lines_of(
        _stack("/app/main.py", "/app/train.py", f"{SITE}/transformers/trainer.py", "<string>")
    )
    assert found == Lines(
        Place("/app/train.py", 2, "f"), Place(f"{SITE}/transformers/trainer.py", 3, "f")
    )


def test_a_callback_that_a_library_calls_is_the_users_line_with_no_library_beside_it() -> None:
    found = lines_of(_stack("/app/main.py", f"{SITE}/lightning/loop.py", "/app/model.py"))
    assert found == Lines(Place("/app/model.py", 3, "f"), None)


def test_of_a_program_that_is_installed_the_outermost_package_is_the_users() -> None:
    launcher = Place("/home/me/venv/bin/mytool", 8, "<module>")
    inner = _stack(f"{SITE}/mytool/cli.py", f"{SITE}/mytool/run.py", f"{SITE}/timm/layers.py")
    expected = Lines(inner[1], inner[2])
    assert lines_of([launcher, *inner]) == expected
    assert lines_of([Place("<frozen runpy>", 88, "_run_code"), *inner]) == expected


def test_a_script_without_a_suffix_in_a_bin_folder_is_the_users() -> None:
    script = Place("/home/me/bin/train", 40, "<module>")
    library = Place(f"{SITE}/transformers/trainer.py", 9, "train")
    assert lines_of([script, library]) == Lines(script, library)
    assert lines_of([Place("/home/me/bin/tiny", 3, "<module>")]).user is not None


def test_generated_code_alone_has_no_line() -> None:
    assert lines_of(_stack("<eval_with_key>.1", f"{SITE}/torch/fx/graph_module.py")) == Lines()


def test_a_program_given_on_the_command_line_is_the_users() -> None:
    main, inner = Place("<string>", 9, "<module>"), Place("<string>", 3, "f")
    assert lines_of([main, inner]).user == inner
    assert lines_of([Place("/app/main.py", 1, "<module>"), inner]).user != inner
