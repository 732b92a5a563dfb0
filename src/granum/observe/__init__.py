"""Observers look at a run, triggers decide when: ``start(sim)``, ``observe(sim)`` after a step, ``finish(sim)``.

An observer never changes the state. The order matters: a recorder stands before a checkpointer, so that a checkpoint finds every
frame up to its time on disk, and an interrupt comes last.
"""

from .checkpointer import Checkpointer
from .compiling import Compiling
from .energy import Energy
from .interrupt import Interrupt, Interrupted
from .problem_dump import ProblemDump
from .progress import Progress
from .protocol import Observer
from .recorder import Recorder
from .stop import StopWhen
from .trigger import Trigger, seconds, steps

__all__ = [
    "Checkpointer",
    "Compiling",
    "Energy",
    "Interrupt",
    "Interrupted",
    "Observer",
    "ProblemDump",
    "Progress",
    "Recorder",
    "StopWhen",
    "Trigger",
    "seconds",
    "steps",
]
