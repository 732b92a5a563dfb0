"""Metrics of rotating drums and conveyor belts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from ..conveyor import conveyor_discharge, conveyor_ridge
from ..drum import drum_angles, flow_profile, plug_fraction, towers
from ..metric import Metric, MetricResult, series
from ..snapshot import Snapshot


def _drum_angle(shots: Iterable[Snapshot]) -> MetricResult:
    def look(s: Snapshot) -> dict[str, float]:
        found = drum_angles(s)
        return {"surface": found.surface, "centre_of_mass": found.centre_of_mass}

    return series(shots, look, "too few grains for a surface", spread=True)


def _plug(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, lambda s: {"fraction": plug_fraction(s)}, "the drum does not turn, or is empty", spread=True)


def _flow(shots: Iterable[Snapshot]) -> MetricResult:
    found = flow_profile(shots)
    return MetricResult(
        {
            "angle": found.angle,
            "plug_thickness": found.plug_thickness,
            "radius": found.radius,
            "speed": found.speed,
            "averaged_frames": len(found.time),
        },
        {
            "z": found.z,
            "velocity": found.velocity,
            "scaled_z": found.scaled_z,
            "scaled_velocity": found.scaled_velocity,
            "grains": found.count,
        },
        note=None if found.speed > 0 else "the drum does not turn: velocities have no scale",
    )


def _towers(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, lambda s: asdict(towers(s)), "too few grains for a surface, or the drum does not turn", spread=True)


def _ridge(shots: Iterable[Snapshot]) -> MetricResult:
    def look(s: Snapshot) -> dict[str, float]:
        found = conveyor_ridge(s)
        return {"angle": found.mean, "left": found.left, "right": found.right, "height": found.height}

    return series(shots, look, "too few grains for a ridge", spread=True)


def _discharge(shots: Iterable[Snapshot]) -> MetricResult:
    found = conveyor_discharge(shots)
    return MetricResult(
        {
            "grains": len(found.points),
            "centre_x": float(found.centre[0]),
            "centre_y": float(found.centre[1]),
            "spread_x": float(found.spread[0]),
            "spread_y": float(found.spread[1]),
        },
        {"x": found.points[:, 0], "y": found.points[:, 1]},
        note=None if len(found.points) else "nothing has fallen that far",
    )


METRICS: dict[str, Metric] = {
    "drum-angle": Metric(
        _drum_angle,
        "dynamic angle of repose: of the free surface, and of the centre of mass",
        {"time": "s", **dict.fromkeys(("surface", "centre_of_mass", "surface_std", "centre_of_mass_std"), "degrees")},
        needs="a drum",
    ),
    "plug": Metric(
        _plug,
        "part of the grains that turn with the drum: |v - Omega x r| <= 0.15 R Omega",
        {"time": "s"},
        needs="a drum that turns",
    ),
    "flow": Metric(
        _flow,
        "flow profile: velocity along the surface over the depth below the axis, also over R Omega and R; "
        "mean of the frames with the Omega of the last one",
        {"angle": "degrees", "radius": "m", "speed": "rad/s", "z": "m", "velocity": "m/s"},
        needs="a drum",
        table="profile",
    ),
    "towers": Metric(
        _towers,
        "what rises out of the flow: highest lift of the bed over R, height [d] above the surface of grains that co-rotate, "
        "their part 2 d above it, steepest piece of the surface",
        {"time": "s", "steepest": "degrees", "steepest_std": "degrees"},
        needs="a drum that turns",
    ),
    "ridge": Metric(
        _ridge,
        "angle of both flanks of the ridge on a belt, between source and discharge",
        {
            "time": "s",
            "height": "m",
            "height_std": "m",
            **dict.fromkeys(("angle", "left", "right", "angle_std", "left_std", "right_std"), "degrees"),
        },
        needs="a belt (scene conveyor)",
    ),
    "discharge": Metric(
        _discharge,
        "where grains fall through the plane 15 d below the end of a belt; frames must be 0.03 s apart or less",
        dict.fromkeys(("centre_x", "centre_y", "spread_x", "spread_y", "x", "y"), "m"),
        needs="a belt (scene conveyor)",
        table="points",
        all_frames=True,
    ),
}
