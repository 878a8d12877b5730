"""Asks inductor's own lookup whether it finds a C++ compiler."""

from __future__ import annotations

from compile_ledger.facts.arm import Toolchain


def toolchain() -> Toolchain:
    """``found``, ``missing`` with the runtime's words, or ``unknown``.

    Calls ``torch._inductor.cpp_builder.get_cpp_compiler``, which runs each candidate
    with ``--version``; nothing is compiled.
    """
    try:
        from torch._inductor import cpp_builder, exc

        cpp_builder.get_cpp_compiler()
    except ImportError as error:
        return Toolchain("unknown", f"{error}")
    except AttributeError as error:
        return Toolchain("unknown", f"this torch has no such lookup: {error}")
    except exc.InvalidCxxCompiler as error:
        return Toolchain("missing", str(error))
    except Exception as error:  # noqa: BLE001  the lookup itself failed: not known
        return Toolchain("unknown", f"{type(error).__name__}: {error}")
    return Toolchain("found")
