"""Laboratory tests: curves of a triaxial test over its strain, and the flow of plane shear."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from ..analysis.shear_cell import Mean, shear_flow, velocity_profile
from ..analysis.snapshot import snapshots
from ..analysis.triaxial import CRITICAL, triaxial_curve
from ..io import Recording
from ..scene.library.shear_cell import ShearCellParameters
from ..scene.parameters import parameters_of
from . import style
from .look import Look
from .series import about_frames


def draw_triaxial(recording: Recording, look: Look) -> Any:
    """Deviator and mobilised friction, and volume, over the axial strain."""
    curve = triaxial_curve(snapshots(recording))
    figure, (upper, middle, lower) = style.chart("Triaxial test", about_frames(recording), panels=3, height=3.4)
    strain, critical = 100 * curve.axial_strain, curve.critical
    stresses, unit = style.scaled(np.array([curve.deviator, curve.lateral_stress]), "Pa")
    upper.plot(strain, stresses[0], color=style.BLUE, lw=1.5, label="deviator")
    upper.plot(strain, stresses[1], color=style.GREY, lw=1.2, label="stress on the sides")
    if curve.lack is not None:
        style.note(middle, fill(curve.lack, 70), low=True)
    else:
        factor = stresses[0].max() / curve.deviator.max()
        upper.plot(100 * np.array(CRITICAL), 2 * [factor * critical["deviator"]], color=style.ORANGE, lw=2, label="critical, 10 to 25 %")
    upper.set(ylabel=f"stress [{unit}]", ylim=(0, None))
    upper.legend(frameon=False, fontsize=8.5, ncols=3, loc="best")
    middle.plot(strain, curve.friction_angle, color=style.GREEN, lw=1.5)
    middle.set(ylabel="mobilised angle [degrees]", ylim=(0, None))
    lower.axhline(0.0, color="0.7", lw=0.8)
    lower.plot(strain, 100 * curve.volumetric_strain, color=style.ORANGE, lw=1.5)
    lower.set(xlabel="axial strain [%]", ylabel="volume change [%]", xlim=(0, max(float(strain[-1]), 1e-3)))
    return figure


def draw_shear_cell(recording: Recording, look: Look) -> Any:
    """Velocity over the height between the plates, and mu of both plates in time."""
    states, means = shear_flow(snapshots(recording))
    speed = parameters_of(recording.scene, ShearCellParameters).speed
    figure = style.new_figure(9.2, 4.4)
    left, right = figure.subplots(1, 2, gridspec_kw={"left": 0.08, "right": 0.97, "bottom": 0.14, "top": 0.81, "wspace": 0.28})
    for axes in (left, right):
        style.tidy(axes)
    style.head(figure, "Plane shear", f"{about_frames(recording)}; {means.frames} after the transient")
    height, velocity = velocity_profile(states)
    left.plot([1, 0], [0, 1], color=style.GREY, lw=1.0, ls="--", label="linear")
    left.plot(velocity / speed, height, "o-", color=style.BLUE, ms=4, lw=1.4, label="grains")
    left.set(xlabel="velocity / speed of the lower plate", ylabel="height / gap", ylim=(0, 1), xlim=(0, 1))
    left.legend(frameon=False, fontsize=8.5, loc="lower left")
    time = [s.time for s in states]
    for k, (label, colour) in enumerate((("lower plate", style.SKY), ("upper plate", style.ORANGE))):
        right.plot(time, [s.shear_stress[k] / means.pressure.value for s in states], color=colour, lw=0.9, label=label)
    right.axhline(means.friction.value, color=style.DARK, lw=1.4)
    right.set(xlabel="time [s]", ylabel="shear stress / mean pressure", xlim=(time[0], time[-1]))
    right.legend(frameon=False, fontsize=8.5, loc="lower left", ncols=2)
    rows = (("$\\mu$", means.friction), ("$\\phi$", means.packing_fraction), ("$I$", means.inertial_number))
    style.note(right, "\n".join(f"{name} = {_with_error(m)}" for name, m in rows))
    return figure


def _with_error(mean: Mean) -> str:
    return f"{mean.value:.3g} ± {mean.error:.1g}"
