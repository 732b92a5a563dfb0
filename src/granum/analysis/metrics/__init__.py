"""What can be measured of a recording, by name: ``granum analyse`` and :func:`measure_recording` look here.

To add a metric: in the module of its theme a function of the snapshots that gives a :class:`MetricResult`, and an entry in ``METRICS``.
Those of extensions stand in their own modules.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...checks import InputError, known_name
from ...extensions import modules
from ...io import Recording
from ..metric import Metric, MetricResult, Shots
from . import bulk, circuits, contacts, drums_and_belts, flows, laboratory, machines, packings, silos

__all__ = ["METRICS", "Metric", "MetricResult", "frames_of", "measure_recording"]

METRICS: dict[str, Metric] = {
    **contacts.METRICS,
    **bulk.METRICS,
    **drums_and_belts.METRICS,
    **circuits.METRICS,
    **silos.METRICS,
    **flows.METRICS,
    **machines.METRICS,
    **laboratory.METRICS,
    **packings.METRICS,
    **{name: metric for module in modules("analysis") for name, metric in module.METRICS.items()},
}


def measure_recording(
    recording: Recording,
    name: str,
    frames: Sequence[int] | None = None,
    of: Sequence[str] | None = None,
    window: float | None = None,
) -> MetricResult:
    """The metric ``name`` of an open recording, of the frames with these numbers; ``of`` names the bodies, joints or counters it is to look
    at, ``window`` [s] is the length of windows, if it has any."""
    metric = METRICS[known_name("metric", name, METRICS)]
    shots = Shots(recording, frames_of(recording, name, frames))
    if of and not metric.of:
        raise InputError(f"metric {name!r} is not of one body, joint or counter: it takes no names.")
    if window is not None and not metric.windows:
        raise InputError(f"metric {name!r} has no windows: it takes no window.")
    if metric.windows:
        return metric.measure(shots, of, window)
    return metric.measure(shots, of) if metric.of else metric.measure(shots)


def frames_of(recording: Recording, name: str, frames: Sequence[int] | None = None) -> Sequence[int]:
    """The frames a metric looks at; InputError if there are none."""
    if not len(recording):
        raise InputError(f"recording {recording.path} holds no frames: nothing can be measured. Let the run go on, or run it again.")
    if frames is not None:
        return frames
    return range(len(recording)) if METRICS[name].all_frames else (len(recording) - 1,)
