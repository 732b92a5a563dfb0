"""The scene: all that is fixed before a run starts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field, ValidationInfo, field_serializer, field_validator, model_validator

from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..contact import HertzContact, Law, Material, MaterialPair, PairTable
from ..notebook import counted, with_picture
from ..records import Finite, NonNegative, Record, Vector
from .bodies import Body
from .cell import Cell
from .counter import Counter
from .emitter import Emitter
from .extent import inner_radius
from .grains import GrainBlock, Grains
from .joints import Joint, Motor
from .parameters import AnyParameters
from .regulators import Regulator, check_regulator, check_turns
from .results import Discharge, Result
from .run_settings import RunSettings, SceneRun
from .sensor import Sensor
from .shapes import Shape
from .sink import Sink


class Gravity(Record):
    """Gravity, grown linearly from ``initial`` during the first ``ramp`` seconds."""

    acceleration: Vector = (0.0, 0.0, -9.81)
    """[m/s^2]"""
    initial: Vector = (0.0, 0.0, 0.0)
    """[m/s^2] at the start of the ramp."""
    ramp: NonNegative = 0.0
    """[s]; 0: no ramp."""

    def at(self, time: float) -> FloatArray:
        """(3,) [m/s^2] at ``time`` [s]."""
        return self._mixed(time / self.ramp) if time < self.ramp else self._grown.copy()

    @cached_property
    def _grown(self) -> FloatArray:
        """After the ramp; steps ask for it several times."""
        return self._mixed(1.0)

    def _mixed(self, part: float) -> FloatArray:
        return (1 - part) * np.asarray(self.initial) + part * np.asarray(self.acceleration)


class Scene(Record):
    """Materials, grains, walls, emitters, sinks and gravity, with the run settings that suit them.

    >>> scene = Scene(
    ...     materials=[Material(name="glass", density=2500)],
    ...     grains=[Grains(material="glass", position=[[0, 0, 0.01]], diameter=0.01)],
    ...     walls=[Plane(material="glass")],
    ... )
    """

    name: str = "scene"
    """Of the scene; its recording is called after it."""
    materials: tuple[Material, ...] = Field(min_length=1)
    pairs: tuple[MaterialPair, ...] = ()
    law: Law = HertzContact()
    """How a contact pushes: the name of a law, or a table with its name and its own keys."""
    gravity: Gravity = Gravity()
    grains: tuple[GrainBlock, ...] = ()
    walls: tuple[Shape, ...] = ()
    """Walls that stand still; moving ones belong to ``bodies``."""
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    """That link bodies to machines."""
    regulators: tuple[Regulator, ...] = ()
    """That set motors of joints before every step."""
    emitters: tuple[Emitter, ...] = ()
    cell: Cell | None = None
    """Space repeats: grains meet across the faces of the cell, which spans from 0 to its lengths. A run in time needs an upright one.
    Walls are not repeated: grains meet them where they stand in the cell. A plane must not lean along an axis that repeats; other walls
    that go on across a face should stick out of the cell by a grain's radius."""
    sensors: tuple[Sensor, ...] = ()
    """Where grains are resolved one by one, if a run merges them and splits by ``sensor``."""
    sinks: tuple[Sink, ...] = ()
    """Where grains leave a run in time."""
    counters: tuple[Counter, ...] = ()
    """Where grains that pass are counted."""
    world: tuple[Vector, Vector] | None = None
    """Lower and upper corner [m] of the space that no grain may leave; none: a hundred times the scene's own box. Axes along which
    a cell repeats have no end."""
    run: SceneRun = RunSettings()
    """Run settings that suit this scene; the caller and the command line override them, and what it does not set is the default."""
    results: tuple[Result, ...] = ()
    """What a run is judged by besides the height of the topmost grain: names such as ``pile`` or ``drum``, or tables such as
    ``{ measure = "bed", area = 0.04 }``; none: the flow of a drum, if one turns at the end."""
    view: tuple[Finite, Finite] | None = None
    """Azimuth and elevation [degrees] from which pictures look at the scene; none: a little from above."""
    parameters: AnyParameters | None = None
    """What a scene of the library was made with."""

    def __repr__(self) -> str:
        counts = {
            "grain": sum(len(block.position) if isinstance(block, Grains) else block.count for block in self.grains),
            "emitter": len(self.emitters),
            "wall": len(self.all_walls),
            "moving body": sum(body.kind != "static" for body in self.bodies),
            "joint": len(self.joints),
            "sink": len(self.sinks),
        }
        return f"Scene({', '.join([repr(self.name), *(counted(n, name) for name, n in counts.items() if n)])})"

    def _repr_html_(self) -> str:
        return with_picture(self)

    @field_serializer("run")
    def _only_what_was_set(self, run: RunSettings) -> dict[str, Any]:
        return run.given()

    @field_validator("sinks", "counters")
    @classmethod
    def _named(cls, given: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        """Those without a name are called by their place."""
        kind = str(info.field_name).removesuffix("s")
        return tuple(one if one.name else one.model_copy(update={"name": f"{kind}-{k}"}) for k, one in enumerate(given, start=1))

    @model_validator(mode="after")
    def _names_known(self) -> Scene:
        names = [m.name for m in self.materials]
        if len(set(names)) < len(names):
            raise ValueError(f"material names must differ, has {names}")
        for wall in self.all_walls:
            known_name("material", wall.material, names)
        for block in (*self.grains, *self.emitters):
            known_name("material", block.material, names)
        for pair in self.pairs:
            for name in pair.materials:
                known_name("material", name, names)
        owners = [body.name for body in self.all_bodies]
        if len(set(owners)) < len(owners):
            raise ValueError(f"body names must differ (the first, of the static walls, is 'ground'), has {owners}")
        self._check_joints()
        for block in self.grains:
            if block.body is not None:
                self.body_number(block.body, "body of grains")
        if self.world is not None and not all(lo < hi for lo, hi in zip(*self.world, strict=True)):
            raise ValueError(f"world: lower must be below upper in every direction, has {self.world}")
        if len(set(self.counted)) < len(self.counted):
            raise ValueError(f"names of sinks and counters must differ, has {list(self.counted)}")
        for result in self.results:
            if isinstance(result, Discharge):
                known_name("counter of the result 'discharge'", result.counter, self.counted)
        regions = [(f"sensor {k}", sensor) for k, sensor in enumerate(self.sensors)]
        for name, region in [*regions, *((f"sink {sink.name!r}", sink.region) for sink in self.sinks)]:
            low, high = region.bounds
            if self.world is not None and any(b <= lo or a >= hi for a, b, lo, hi in zip(low, high, *self.world, strict=True)):
                raise ValueError(f"{name} ({region.shape}, {low} to {high} m) is outside the world, {self.world}: no grain gets there")
        return self

    def _check_joints(self) -> None:
        names = [joint.name for joint in self.joints]
        if len(set(names)) < len(names):
            raise ValueError(f"joint names must differ, has {names}")
        kinds = {body.name: body.kind for body in self.all_bodies}
        for joint in self.joints:
            for name in joint.bodies:
                self.body_number(name, f"body of joint {joint.name!r}")
            if all(kinds[name] != "dynamic" for name in joint.bodies):
                raise ValueError(
                    f"joint {joint.name!r}: neither {joint.bodies[0]!r} nor {joint.bodies[1]!r} is dynamic, so that nothing can move in it"
                )
        self._check_regulators({joint.name: getattr(joint, "motor", None) for joint in self.joints if joint.has_coordinate})

    def _check_regulators(self, motors: dict[str, Motor | None]) -> None:
        names = [regulator.name for regulator in self.regulators]
        if len(set(names)) < len(names):
            raise ValueError(f"regulator names must differ, has {names}")
        for regulator in self.regulators:
            for name in (regulator.joint, *(name for span in regulator.spans for name in span.joints)):
                known_name(f"joint of regulator {regulator.name!r}", name, motors)
            check_regulator(regulator, motors[regulator.joint])
        check_turns(self.regulators)

    @property
    def counted(self) -> tuple[str, ...]:
        """Names of the sinks, then of the counters: what a run keeps counts of."""
        return (*(sink.name for sink in self.sinks), *(counter.name for counter in self.counters))

    @cached_property
    def all_bodies(self) -> tuple[Body, ...]:
        """The wall bodies in the order of their numbers; the first is the ground, which owns the static walls."""
        return (Body(name="ground", walls=self.walls), *self.bodies)

    def body_number(self, name: str, what: str = "body") -> int:
        """The place of a body in ``all_bodies``; a refusal that shows the right names, if there is none."""
        names = [body.name for body in self.all_bodies]
        for body in self.all_bodies:
            if name not in names and any(frame.name == name for frame in body.frames):
                raise InputError(f"{what} {name!r} is a frame of body {body.name!r}: name that one.")
        return names.index(known_name(what, name, names))

    @cached_property
    def all_walls(self) -> tuple[Shape, ...]:
        """All walls in the order of their numbers."""
        return tuple(wall for body in self.all_bodies for wall in body.walls)

    @cached_property
    def material_index(self) -> dict[str, int]:
        return {m.name: i for i, m in enumerate(self.materials)}

    @cached_property
    def size_range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m] that can occur; (inf, 0) without grains."""
        ranges = [g.size_range for g in self.grains] + [e.sizes.range for e in self.emitters]
        return min((r[0] for r in ranges), default=np.inf), max((r[1] for r in ranges), default=0.0)

    @cached_property
    def heaviest(self) -> float:
        """[kg] of the heaviest grain that can occur; 0 without grains."""
        density = {m.name: m.density for m in self.materials}
        largest = [(g.material, g.size_range[1]) for g in self.grains] + [(e.material, e.sizes.range[1]) for e in self.emitters]
        return max((density[material] * np.pi / 6 * d * d * d for material, d in largest), default=0.0)

    @cached_property
    def finest(self) -> float:
        """[m] what steps and accuracies go by: the smallest diameter that can occur; without grains, that of the smallest dynamic body."""
        if self.grains or self.emitters:
            return self.size_range[0]
        sizes = [2 * inner_radius(wall) for body in self.bodies if body.kind == "dynamic" for wall in body.walls]
        return min(sizes, default=np.inf)

    def changed(self, **fields: Any) -> Scene:
        """The scene with other values of these fields, checked anew; nothing that was derived from the old ones is kept."""
        return Scene(**{name: getattr(self, name) for name in Scene.model_fields} | fields)

    def pair_table(self) -> PairTable:
        """What every two materials do to each other."""
        return PairTable.build(self.materials, self.pairs, self.law)
