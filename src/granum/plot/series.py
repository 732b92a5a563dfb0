"""Numbers of every frame in time: energy, contacts, overlap, and the solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.contact_errors import contact_counts, overlap_ratio
from ..analysis.snapshot import snapshots
from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look

LEAST_RESIDUAL = 1e-4  # of the median: what is smaller is not shown


def draw_energy(recording: Recording, look: Look) -> Any:
    """Kinetic and elastic energy over sum(m g d) (in J without gravity), and the total with the potential [J]."""
    time, scalars = recording.times, frame_scalars(recording, "kinetic_energy", "elastic_energy", "energy")
    lift = np.array([s.gravity_strength * float((s.mass * 2 * s.radius)[~s.static].sum()) for s in snapshots(recording)])
    weightless = not (lift > 0).any()
    unit = np.where(lift > 0, lift, 1.0 if weightless else np.nan)
    figure, (upper, lower) = style.chart("Energy", about_frames(recording), panels=2)
    upper.plot(time, positive(scalars["kinetic_energy"] / unit), color=style.BLUE, lw=1.5, label="kinetic")
    upper.plot(time, positive(scalars["elastic_energy"] / unit), color=style.GREEN, lw=1.5, label="elastic")
    upper.set(yscale="log", ylabel="energy [J]" if weightless else r"energy / $\Sigma\, m g d$")
    upper.legend(frameon=False, fontsize=8.5, ncols=2, loc="best")
    values, unit_name = style.scaled(scalars["energy"], "J")
    lower.plot(time, values, color=style.ORANGE, lw=1.5)
    lower.set(xlabel="time [s]", ylabel=f"total, with potential [{unit_name}]", xlim=(time[0], time[-1]))
    return figure


def draw_contacts(recording: Recording, look: Look) -> Any:
    """Contacts by what they do, and contacts of a grain."""
    counts = [contact_counts(s) for s in snapshots(recording)]
    if not any(c.total for c in counts):
        raise InputError(f"no frame of {recording.path} has a contact: there is nothing to count. Let the run last longer.")
    time = recording.times
    figure, (upper, lower) = style.chart("Contacts", about_frames(recording), panels=2)
    kinds = {"continuous": style.BLUE, "sliding": style.ORANGE, "impacting": style.PINK}
    upper.stackplot(
        time,
        *([getattr(c, kind) for c in counts] for kind in kinds),
        labels=list(kinds),
        colors=list(kinds.values()),
        alpha=0.85,
        lw=0,
    )
    upper.set(ylabel="contacts", ylim=(0, None))
    handles, labels = upper.get_legend_handles_labels()
    upper.legend(handles[::-1], labels[::-1], frameon=False, fontsize=8.5, loc="best")
    lower.plot(time, [c.coordination for c in counts], color=style.BLUE, lw=1.5)
    lower.set(xlabel="time [s]", ylabel="contacts of a grain", ylim=(0, None), xlim=(time[0], time[-1]))
    return figure


def draw_overlap(recording: Recording, look: Look) -> Any:
    """Mean, and the largest, overlap of all contacts."""
    found = [overlap_ratio(s) for s in snapshots(recording)]
    if not any(len(part) for part in found):
        raise InputError(f"no frame of {recording.path} has a contact: there is no overlap. Let the run last longer.")
    time = recording.times
    figure, (axes,) = style.chart("Overlap", about_frames(recording))
    for of, label, colour in ((np.max, "largest", style.ORANGE), (np.mean, "mean", style.BLUE)):
        axes.plot(time, [100 * of(part) if len(part) else np.nan for part in found], color=colour, lw=1.5, label=label)
    axes.set(xlabel="time [s]", ylabel=r"overlap $\delta / d$ [%]", yscale="log", xlim=(time[0], time[-1]))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False, fontsize=9)
    return figure


def draw_solver(recording: Recording, look: Look) -> Any:
    """Residual that was left in the step of each frame, the estimated error of its velocities, and the iterations it took."""
    time, scalars = recording.times, frame_scalars(recording, "residual", "iterations")
    error = positive(recording.scalars.get("velocity_error", np.zeros(len(time))))  # files of older versions have none
    told = bool(np.isfinite(error).any())
    figure, panels = style.chart("Solver", about_frames(recording), panels=2 + told)
    upper, lower = panels[0], panels[-1]
    residual = positive(scalars["residual"])
    upper.plot(time, residual, color=style.BLUE, lw=1.3)
    upper.set(yscale="log", ylabel="residual [m/s]")
    if np.isfinite(residual).any():  # the first grains, which touch nothing, leave rounding errors
        upper.set_ylim(bottom=0.5 * max(float(np.nanmin(residual)), LEAST_RESIDUAL * float(np.nanmedian(residual))))
    if told:
        panels[1].plot(time, 100 * error, color=style.BLUE, lw=1.3)
        panels[1].set(ylabel="velocity error [%]", ylim=(0, None))
    lower.plot(time, scalars["iterations"], color=style.ORANGE, lw=1.3, drawstyle="steps-mid")
    lower.set(xlabel="time [s]", ylabel="iterations", ylim=(0, None), xlim=(time[0], time[-1]))
    return figure


def about_frames(recording: Recording) -> str:
    """Subtitle: grains, frames and times."""
    count = len(recording.frame(-1).radius)
    return f"{recording.scene.name}: {count} grains, {len(recording)} frames, t = {recording.times[0]:.4g} to {recording.times[-1]:.4g} s"


def frame_scalars(recording: Recording, *names: str) -> dict[str, FloatArray]:
    """(F,) each, of the frames of a run; NaN before the first step. InputError if there is no curve of them."""
    missing = [name for name in names if name not in recording.scalars]
    if missing:
        raise InputError(f"{recording.path} does not hold {' and '.join(missing)} of its frames: another program or version wrote it.")
    if len(recording) < 2:
        raise InputError(f"{recording.path} holds {len(recording)} frame: a curve in time needs two or more.")
    done = recording.steps > 0  # before the first step nothing was reported
    return {name: np.where(done, recording.scalars[name], np.nan) for name in names}


def positive(values: FloatArray) -> FloatArray:
    """For a logarithmic axis: NaN in place of what it cannot show."""
    return np.where(values > 0, values, np.nan)
