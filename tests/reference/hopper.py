"""A small hopper for the tests: grains rain into a box, leave it through a slit in its floor and end in a sink below."""

from __future__ import annotations

from granum.contact import Material
from granum.scene import Box, BoxRegion, BoxSource, Emitter, Scene, Sink, Uniform
from granum.simulation import Simulation, make_settings

RUNS = {"nonsmooth": {"time_step": 0.001}, "smooth": {"stepper": {"name": "smooth"}}}


def scene(count=80, rate=1000.0, depth=0.1, top=-0.04, slit=0.016, **changes):
    """A box 40 x 30 mm with a slit along y; the sink begins at ``top`` [m] and is ``depth`` [m] deep."""
    stone = Material(name="stone", density=2500, youngs_modulus=5e5, restitution=0.3, friction=0.4, rolling_friction=0.05)
    ledges = [
        Box(material="stone", lower=(min(x, side * slit / 2), -0.02, -0.01), upper=(max(x, side * slit / 2), 0.02, 0.0), side="outside")
        for side, x in ((-1, -0.03), (1, 0.03))
    ]
    box = Box(material="stone", lower=(-0.02, -0.015, -1), upper=(0.02, 0.015, 1), open=("+z", "-z"))
    rain = Emitter(
        material="stone",
        sizes=Uniform(lower=0.004, upper=0.006),
        rate=rate,
        count=count,
        velocity=(0, 0, -0.3),
        seed=7,
        source=BoxSource(lower=(-0.015, -0.01, 0.04), upper=(0.015, 0.01, 0.06)),
    )
    sink = Sink(name="bin", region=BoxRegion(lower=(-1, -1, top - depth), upper=(1, 1, top)))
    return Scene(**{"materials": [stone], "walls": [box, *ledges], "emitters": [rain], "sinks": [sink], **changes})


def hopper(stepper="nonsmooth", threads=1, **changes):
    """A simulation of it."""
    return Simulation(scene(**changes), make_settings(RUNS[stepper], {"threads": threads}))
