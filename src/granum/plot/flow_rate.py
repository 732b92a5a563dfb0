"""Mass flow through sinks and counters in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.flow_rate import FlowRate, expected_rate
from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look
from .series import about_frames

MOST_BARS = 60  # windows whose errors are drawn
LAW = r"Beverloo, $0.58\,\rho_b\sqrt{g}\,(D - 1.4\,d)^{2.5}$"


def draw_flow_rate(recording: Recording, look: Look) -> Any:
    """Mass that has passed each sink and counter, its rate in windows with the errors of counting, and Beverloo's law of known outlets."""
    names = [look.counter] if look.counter else list(recording.scene.counted)
    if not names:
        raise InputError(f"{recording.path} is of a scene without sinks and counters: there is no flow to draw.")
    flows = [FlowRate.of(recording, name, look.window) for name in names]
    figure, (upper, lower) = style.chart("Mass flow", about_frames(recording), panels=2)
    to_mass, unit = _scale([recording.counters[name].mass for name in names], "g")
    to_rate, rate_unit = _scale([flow.rate for flow in flows], "g/s")
    for k, flow in enumerate(flows):
        colour = style.LINES[k % len(style.LINES)]
        upper.plot(recording.times, to_mass * recording.counters[flow.name].mass, color=colour, lw=1.5, label=_total_in_words(flow))
        lower.stairs(to_rate * flow.rate, flow.time, color=colour, lw=1.3, baseline=None, label=_mean_in_words(flow, to_rate, rate_unit))
        if len(flow.rate) <= MOST_BARS:
            middle = 0.5 * (flow.time[1:] + flow.time[:-1])
            lower.errorbar(middle, to_rate * flow.rate, to_rate * flow.error, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.6)
        expected = expected_rate(recording, flow.name)
        if expected is not None and np.isfinite(expected):
            lower.axhline(to_rate * expected, color=colour, ls="--", lw=1.2, label=f"{LAW} = {to_rate * expected:.3g} {rate_unit}")
    lower.axhline(0.0, color=style.GREY, lw=0.6, zorder=1)
    upper.set(ylabel=f"mass passed [{unit}]", xlim=(recording.times[0], recording.times[-1]))
    long = float(np.diff(flows[0].time).mean())
    lower.set(xlabel="time [s]", ylabel=f"rate in {long:.3g} s [{rate_unit}]")
    for axes in (upper, lower):
        axes.legend(frameon=False, fontsize=8.5, loc="best")
    return figure


def _scale(values: list[FloatArray], unit: str) -> tuple[float, str]:
    """Factor from kg to the unit of an axis, and that unit: ``unit``, made of grams, with a prefix."""
    largest = max(float(np.abs(rows).max(initial=0.0)) for rows in values)
    shown, name = style.scaled(np.array([1e3 * largest]), unit)
    return (float(shown[0]) / largest if largest else 1e3), name


def _total_in_words(flow: FlowRate) -> str:
    return f"{flow.name}: {flow.count[-1]} grains"


def _mean_in_words(flow: FlowRate, factor: float, unit: str) -> str:
    """Without the first and the last tenth of the mass."""
    error = f" ± {flow.mean.error * factor:.3g}" if np.isfinite(flow.mean.error) else ""
    return f"{flow.name}: mean {flow.mean.value * factor:.4g}{error} {unit}"
