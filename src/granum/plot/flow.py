"""Profiles: the flow of a drum across its surface, and the pressure on the walls of a silo."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.drum import flow_profile
from ..analysis.silo import janssen_fit, wall_pressure
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look, about

DRUM_FRAMES, SILO_FRAMES = 20, 5  # averaged over, up to the chosen one


def draw_profile(recording: Recording, look: Look) -> Any:
    """Velocity along the surface over the depth (SN Fig. 9), beside that of a rigid rotation."""
    seen = look.snapshots(recording, DRUM_FRAMES)
    found = flow_profile(seen)
    if not found.speed > 0:
        raise InputError(f"the drum of {recording.path} stands still at t = {seen[-1].time:g} s: there is no flow to show.")
    figure, (axes,) = style.chart(
        "Flow profile of the drum", f"{about(recording, seen)}; surface at {found.angle:.1f}°, {found.speed:.3g} rad/s", height=4.6
    )
    z, v = found.scaled_z, found.scaled_velocity
    axes.plot(z, z, color=style.GREY, lw=1.0, ls="--", label="rigid rotation")
    axes.axvspan(-1.0, -1.0 + found.plug_thickness, color=style.SKY, alpha=0.18, lw=0, label="plug zone")
    axes.plot(v * 0 + z, v, "o-", color=style.BLUE, ms=4, lw=1.4, label="grains")
    axes.axhline(0.0, color="0.7", lw=0.8)
    axes.set(xlabel=r"height across the surface $z' / R$", ylabel=r"velocity down the surface $v_{x'} / R \Omega$")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return figure


def draw_janssen(recording: Recording, look: Look) -> Any:
    """Pressure on the side walls over the height, with Janssen's law."""
    seen = look.snapshots(recording, SILO_FRAMES)
    found = wall_pressure(seen)
    if not found.pressure.max() > 0:
        raise InputError(f"no grain presses on the side walls at t = {seen[-1].time:g} s in {recording.path}. Choose a later frame.")
    fit = janssen_fit(found.z, found.pressure, found.height, found.strip)
    figure, (axes,) = style.chart("Pressure on the side walls", about(recording, seen), width=5.6, height=5.2)
    factor, length = style.length_unit(found.height)
    pressure, unit = style.scaled(found.pressure, "Pa")
    scale = float(pressure.max() / found.pressure.max())
    axes.errorbar(
        pressure, factor * found.z, yerr=factor * found.strip / 2, fmt="o", color=style.BLUE, ms=5, elinewidth=1.0, label="strips of wall"
    )
    if np.isfinite(fit.length):
        z = np.linspace(0, found.height, 200)
        saturation, at = style.scaled(np.array([fit.saturation]), "Pa")
        text = f"Janssen's law, $R^2$ = {fit.r_squared:.3f}\n" + rf"$p_\infty$ = {saturation[0]:.3g} {at}" + "\n"
        text += rf"$\lambda$ = {factor * fit.length:.3g} {length}"
        axes.plot(scale * fit.pressure(z), factor * z, color=style.ORANGE, lw=1.8, label=text)
    axes.set(xlabel=f"pressure [{unit}]", ylabel=f"height above the floor [{length}]", xlim=(0, None), ylim=(0, factor * found.height))
    axes.legend(frameon=False, fontsize=9, loc="lower left", labelspacing=0.8)
    return figure
