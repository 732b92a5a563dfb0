"""Flow in a turning drum: a state prepared once, run on with some method and number of sweeps, and measured over a while."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.contact_errors import contact_counts, overlap_ratio
from ..analysis.drum import Drum, drum_angles, flow_profile, plug_fraction, relative_speed
from ..analysis.snapshot import Snapshot
from ..scene.library import make_scene
from ..scene.library.drum import DrumParameters
from ..scene.parameters import parameters_of
from ..scene.scene import Scene
from ..simulation import Simulation
from .methods import run_on, settings_for, start

PREPARED_WITH = "momentum + history"
SHOWN = 4000  # grains of a cross-section that is kept for a figure
FRAMES = 40  # instants that a measurement is taken over
TRACKED = 6  # grains whose way is kept


def prepare(parameters: dict[str, Any], iterations: int, duration: float) -> dict[str, Any]:
    """A checkpoint of a drum that has turned for ``duration`` [s], at ``iterations`` with momentum and history."""
    scene = make_scene("drum", parameters)
    return start(scene, PREPARED_WITH, iterations).run(parameters_of(scene, DrumParameters).starts + duration).checkpoint()


def flow(
    parameters: dict[str, Any], prepared: dict[str, Any], method: str, iterations: int, settle: float, window: float
) -> dict[str, Any]:
    """What the flow is like over ``window`` [s], ``settle`` [s] after the method took over.

    Angles [degrees] of surface and centre of mass, plug fraction, mean overlap [d], parts of contacts that impact and slide, height of the
    centre of mass above the drum's lowest point [m], flow profile, and of the last instant a cross-section.
    """
    scene = make_scene("drum", parameters)
    sim = continue_with(scene, prepared, method, iterations, settle)
    steps = max(FRAMES, round(window / sim.time_step))
    seen, ways = [], []
    for step in range(1, steps + 1):
        sim.step()
        if step % (steps // FRAMES) == 0:
            seen.append(Snapshot.of(sim))
        if step % max(1, steps // 200) == 0:
            ways.append(sim.position[_tracked(sim)].copy())
    drum = Drum.of(seen[-1])
    angles, counts = [drum_angles(one, drum) for one in seen], [contact_counts(one) for one in seen]
    overlaps = np.concatenate([overlap_ratio(one) for one in seen])
    lowest = drum.radius + np.array([drum.project(one.position - drum.centre)[2] @ one.mass / one.mass.sum() for one in seen])
    profile = flow_profile(seen)
    across, _, up = drum.project(seen[-1].position - drum.centre)
    way_across, _, way_up = drum.project((np.array(ways) - drum.centre).reshape(-1, 3))
    some = slice(None, None, max(1, len(across) // SHOWN))
    return {
        "surface_angle": np.array([a.surface for a in angles]),
        "angle": np.array([a.centre_of_mass for a in angles]),
        "plug": np.array([plug_fraction(one, drum) for one in seen]),
        "overlap": float(overlaps.mean()) if len(overlaps) else 0.0,
        "height": lowest,
        "contacts": np.array([c.total for c in counts]),
        "impacting": np.array([c.impacting / max(1, c.total) for c in counts]),
        "sliding": np.array([c.sliding / max(1, c.total) for c in counts]),
        "profile": {"z": profile.scaled_z, "velocity": profile.scaled_velocity, "plug_thickness": profile.plug_thickness},
        "section": {
            "across": across[some] / drum.radius,
            "up": up[some] / drum.radius,
            "radius": seen[-1].radius[some] / drum.radius,
            "speed": relative_speed(seen[-1], drum)[some],
            "ways": np.stack([way_across, way_up], axis=1).reshape(len(ways), -1, 2) / drum.radius,
        },
    }


def continue_with(scene: Scene, prepared: dict[str, Any], method: str, iterations: int, duration: float) -> Simulation:
    """A prepared state, run on for ``duration`` [s] with another method."""
    return run_on(Simulation.restore(scene, settings_for(scene, method, iterations), prepared), method, iterations, duration)


def _tracked(sim: Simulation) -> np.ndarray:
    """Some grains, the same at every time."""
    return np.linspace(0, sim.grain_count - 1, TRACKED).astype(int)


def drum_cost(count: int, seconds: float, time_step: float, iterations: int) -> float:
    """Steps times sweeps times grains; the rest of a step costs about as much as 20 sweeps."""
    return seconds / time_step * (20 + iterations) * count
