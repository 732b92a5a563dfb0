"""The first run on a machine compiles on two cores: what a step does after the search for contacts is compiled by a process beside it.

That process is a copy of the run before its first step. It goes through a step of its own and ends; what it has compiled is on disk when
the run comes to it, or the run waits for it (``turns.py``). Nothing of it reaches the run. Systems without fork, and programs that have
threads, compile as they go.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings

import numpy as np

from .._jit import is_kept
from ..nonsmooth.solvers.sweeping import sweep_until
from ..nonsmooth.stepper import NonsmoothStepper
from ..parallel.barrier import cores
from ..state.stages import run_stages

SWITCH = "GRANUM_COMPILE_AHEAD"  # in the environment; 0: each process compiles what it needs itself


def compile_ahead(stepper: NonsmoothStepper, h: float) -> None:
    """Have the kernels of a step compiled by another process, if nobody has done it before."""
    alone = threading.active_count() == 1 and multiprocessing.parent_process() is None
    if os.environ.get(SWITCH) == "0" or sys.platform != "linux" or not alone or cores() < 2 or is_kept(sweep_until):
        return
    multiprocessing.get_context("fork").Process(target=_rehearse, args=(stepper, h), name="granum-compiler", daemon=True).start()


def _rehearse(stepper: NonsmoothStepper, h: float) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run ends this process when it ends itself
    with open(os.devnull, "w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # what it does not come to is compiled by the run
            rehearse(stepper, h)


def rehearse(stepper: NonsmoothStepper, h: float) -> None:
    """Go through a step without contacts, and again as if something collided, so that what it runs is compiled. The state is lost."""
    stages = [stage for stage in stepper.stages if stage.name != "detection"]
    now = stepper.context(0, 0.0, h, np.zeros(3))
    run_stages(stages, now)
    now.impacts = 1
    run_stages(stages[1:], now)
