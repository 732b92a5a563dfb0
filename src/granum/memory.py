"""Memory: how much this process can still get, and whether what is asked for can fit."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from pathlib import Path

from .checks import InputError

GRAIN = 380  # bytes of a grain of a run before it touches another
IN_BED = 1040  # with its part of the contacts: 1.8 of 570 bytes
UNLIMITED = 2**60  # a limit from here on is none


def available() -> float:
    """[bytes] that this process can still get: of the machine, its own limit and its control group; infinite where nobody says."""
    return max(0.0, min(_limits(), default=math.inf))


def check_grains(count: float, each: int = GRAIN) -> None:
    """Refuse more grains than there is memory for; ``each`` [bytes] is the least that one needs."""
    free = available()
    if not count * each <= free:
        raise InputError(
            f"{count:g} grains need at least {in_words(count * each)} of memory, and {in_words(free)} are available. Take fewer grains."
        )


def tell_of_bed(count: int) -> None:
    """Warn of grains that fit while they fall, and not when they lie on each other."""
    free = available()
    if count * (IN_BED - GRAIN) > free:
        warnings.warn(
            f"{count:g} grains in a dense bed need about {in_words(count * IN_BED)} of memory, and {in_words(free)} are left: "
            "the run may stop for want of it.",
            stacklevel=3,
        )


def in_words(size: float) -> str:
    """Bytes with the unit that suits."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.4g} TB"


def want(error: MemoryError) -> str:
    """What a want of memory is told as."""
    asked = f": {error}" if str(error) else ""
    return f"there is not enough memory{asked}; {in_words(available())} are available. Take fewer grains, or a machine with more memory."


def _limits() -> Iterator[float]:
    with contextlib.suppress(OSError, ValueError, KeyError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        yield 1024.0 * sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    with contextlib.suppress(OSError, ValueError):
        yield from _of_groups()


def _of_groups() -> Iterator[float]:
    """Of the control groups that this process is in, version 2 and 1, from the innermost out."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, kinds, place = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        root = Path("/sys/fs/cgroup") / kinds
        most, used = ("memory.max", "memory.current") if not kinds else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        inner = root / place.lstrip("/")
        for group in (inner, *inner.parents):
            with contextlib.suppress(OSError, ValueError):  # "max", or a group that is not shown here
                limit = int((group / most).read_text())
                if limit < UNLIMITED:
                    yield limit - int((group / used).read_text()) + _reclaimable(group)
            if group == root:
                break


def _reclaimable(group: Path) -> int:
    """[bytes] of files that the group holds in memory and the system gives away when they are needed."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return int(dict(line.split() for line in (group / "memory.stat").read_text().splitlines())["inactive_file"])
    return 0
