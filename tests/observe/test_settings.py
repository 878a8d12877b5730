"""Settings of torch that experiments change: by name, by an older name, and put back."""

import subprocess
import sys
import warnings

import pytest
from torch._dynamo import config

from compile_ledger.observe.capabilities import MissingError
from compile_ledger.observe.settings import _resolved, change_setting, changed_settings


def test_functions_are_named_and_added_to_what_is_set() -> None:
    with config.patch(reorderable_logging_functions={len}):
        with changed_settings({"reorderable_logging_functions": ["builtins.print"]}):
            assert config.reorderable_logging_functions == {len, print}
        assert config.reorderable_logging_functions == {len}


def _raises(setting: str, *, value: bool) -> None:
    with changed_settings({setting: value}):
        assert getattr(config, setting) is value
        raise ZeroDivisionError


def test_settings_are_put_back_when_the_program_raises() -> None:
    before = config.capture_scalar_outputs
    with pytest.raises(ZeroDivisionError):
        _raises("capture_scalar_outputs", value=not before)
    assert config.capture_scalar_outputs is before


def test_a_setting_that_this_torch_lacks_is_named() -> None:
    with pytest.raises(MissingError, match="no_such_thing"):
        change_setting("no_such_thing", value=True)


def test_an_older_setting_for_loggers_takes_no_other_function() -> None:
    ignored = _resolved("ignore_logger_methods", set(), ["logging.Logger.info"])
    assert [function.__name__ for function in ignored] == ["info"]
    with pytest.raises(MissingError, match="cannot ignore"):
        _resolved("ignore_logger_methods", {warnings.warn}, ["warnings.warn"])


def test_a_held_setting_is_not_changed_by_the_program() -> None:
    script = (
        "import torch._dynamo\n"
        "from compile_ledger.observe.settings import change_setting, hold_setting\n"
        "change_setting('recompile_limit', 64); hold_setting('recompile_limit')\n"
        "config = torch._dynamo.config\n"
        "config.recompile_limit = 2; config.cache_size_limit = 3; config.verbose = True\n"
        "with config.patch(recompile_limit=4): assert config.recompile_limit == 64\n"
        "assert (config.recompile_limit, config.cache_size_limit) == (64, 64)\n"
        "assert config.verbose is True\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
