"""Profiles: the flow of a drum across its surface, and the pressure on the walls of a silo."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.drum import flow_profile
from ..analysis.silo import Container, JanssenFit, janssen_fit, vertical_pressure, wall_pressure
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look, about

DRUM_FRAMES, SILO_FRAMES = 20, 5  # averaged over, up to the chosen one
LONGEST = 10.0  # [height]: with a longer Janssen length pressure does not saturate in this filling


def draw_profile(recording: Recording, look: Look) -> Any:
    """Velocity along the surface over the depth (SN Fig. 9), beside that of a rigid rotation."""
    seen = look.snapshots(recording, DRUM_FRAMES)
    found = flow_profile(seen)
    if not found.speed > 0:
        raise InputError(f"the drum of {recording.path} stands still at t = {seen[-1].time:g} s: there is no flow to show.")
    seen = [s for s in seen if s.time in found.time]
    figure, (axes,) = style.chart(
        "Flow profile of the drum", f"{about(recording, seen)}; surface at {found.angle:.1f}°, {found.speed:.3g} rad/s", height=4.6
    )
    z, v = found.scaled_z, found.scaled_velocity
    axes.plot(z, z, color=style.GREY, lw=1.0, ls="--", label="rigid rotation")
    axes.axvspan(-1.0, -1.0 + found.plug_thickness, color=style.SKY, alpha=0.18, lw=0, label="plug zone")
    axes.plot(z, v, "o-", color=style.BLUE, ms=4, lw=1.4, label="grains")
    axes.axhline(0.0, color="0.7", lw=0.8)
    axes.set(xlabel=r"height across the surface $z' / R$", ylabel=r"velocity down the surface $v_{x'} / R \Omega$")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return figure


def draw_janssen(recording: Recording, look: Look) -> Any:
    """Pressure on the side walls and on level planes over the height, with Janssen's law of both, and the weight without walls."""
    seen = look.snapshots(recording, SILO_FRAMES)
    wall, inside = wall_pressure(seen), vertical_pressure(seen)
    if not wall.pressure.max() > 0:
        raise InputError(f"no grain presses on the side walls at t = {seen[-1].time:g} s in {recording.path}. Choose a later frame.")
    figure, (axes,) = style.chart("Pressure in the silo", about(recording, seen), width=6.2, height=5.2)
    factor, length = style.length_unit(wall.height)
    largest, unit = style.scaled(np.array([max(inside.pressure.max(), wall.pressure.max())]), "Pa")
    scale = float(largest[0]) / max(inside.pressure.max(), wall.pressure.max())
    axes.errorbar(
        scale * wall.pressure,
        factor * wall.z,
        yerr=factor * wall.strip / 2,
        fmt="o",
        color=style.BLUE,
        ms=5,
        elinewidth=1.0,
        label="on the walls, in strips",
    )
    axes.plot(scale * inside.pressure, factor * inside.z, "s", color=style.ORANGE, ms=3.5, label="on level planes")
    height = np.linspace(0, wall.height, 200)
    fits = (
        (janssen_fit(wall.z, wall.pressure, wall.height, wall.strip), style.BLUE),
        (janssen_fit(inside.z, inside.pressure, inside.height), style.ORANGE),
    )
    for fit, colour in fits:
        if fit.length < LONGEST * wall.height:
            axes.plot(scale * fit.pressure(height), factor * height, color=colour, lw=1.6, label=_law(fit, factor, length))
    s = seen[-1]
    weight = s.gravity_strength * float(s.mass[~s.static].sum()) / Container.of(s).area
    axes.plot(scale * weight * (1 - height / wall.height), factor * height, color=style.GREY, lw=1.0, ls="--", label="weight above")
    axes.set(
        xlabel=f"pressure [{unit}]",
        ylabel=f"height above the floor [{length}]",
        xlim=(0, 1.6 * largest[0]),
        ylim=(0, factor * wall.height),
    )
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        [handles[-1], *handles[:-1]],
        [labels[-1], *labels[:-1]],
        facecolor="white",
        edgecolor="none",
        framealpha=0.85,
        fontsize=8.5,
        loc="upper right",
        labelspacing=0.7,
    )
    return figure


def _law(fit: JanssenFit, factor: float, length: str) -> str:
    """In words, for a legend."""
    saturation, unit = style.scaled(np.array([fit.saturation]), "Pa")
    law = rf"$p_\infty$ = {saturation[0]:.3g} {unit}, $\lambda$ = {factor * fit.length:.3g} {length}"
    return f"Janssen: {law}\n$R^2$ = {fit.r_squared:.3f}"
