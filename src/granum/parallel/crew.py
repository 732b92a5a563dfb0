"""What a kernel of a team is told about the threads that compute it."""

from __future__ import annotations

from typing import NamedTuple

from ..array_types import LongArray
from ..kernel_groups import group


@group
class Crew(NamedTuple):
    """One thread among those that compute a kernel together."""

    thread: int  # its number
    threads: int
    barrier: LongArray  # where all of them meet
