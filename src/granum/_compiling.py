"""How kernels are compiled sooner: steps of Numba that nobody needs here are left out. What is compiled stays the same.

Numba makes machine code of every function. Those that are always inlined need none of their own: kernels take their optimised
intermediate code (``InlinedCompiler``). And Python looks for garbage again and again while a compiler makes objects by the million, nearly
all of which are in use (``KernelCompiler``).
"""

from __future__ import annotations

import gc
from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.typed_passes import NativeLowering


class _CodeToInline(JITCodeLibrary):
    """The code of one function, optimised and ready to be linked into others, never run by itself."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringToInline(NativeLowering):
    """Numba's own, without what makes the function ready to be run."""

    _name = "granum_lowering_to_inline"

    def run_pass(self, state: Any) -> bool:
        state.library = _CodeToInline(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        made = state["cr"]
        name = made.fndesc.qualname.split(".")[-1]
        known_as = _dynfunc.make_function(made.fndesc.lookup_module(), name, "inlined", 0, made.env, (state.library,))
        state.targetctx.insert_user_function(known_as, made.fndesc, [state.library])
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))  # Numba 0.61 has none
        state["cr"] = made._replace(cfunc=known_as)
        return True


class InlinedCompiler(CompilerBase):
    """Compiles functions that are always inlined."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state, "granum_inlined")
        passes.passes = [(_LoweringToInline, words) if kind is NativeLowering else (kind, words) for kind, words in passes.passes]
        passes.finalize()
        return [passes]


class KernelCompiler(_FunctionCompiler):
    """Compiles a function that is called from Python, and looks for no garbage meanwhile."""

    def compile(self, args: Any, return_type: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile(args, return_type)
        finally:
            if collects:
                gc.enable()
