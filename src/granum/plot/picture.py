"""The picture of a state: grains as shaded spheres, machines as surfaces, walls as lines, a colour bar and a scale bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..array_types import FloatArray
from ..checks import InputError
from ..io.not_recorded import NotRecorded
from ..scene.scene import Scene
from .outline import Frames, ground_plane, wall_frames, wall_lines
from .parts import Parts, machine_parts, painted
from .render import Camera, Window, render
from .style import inches, new_figure

DPI = 130
FINER = 2  # pixels of the image for one of the picture, each way
BOX = (7.6, 5.2)  # [inch] the image fits into this
LIGHT = (-0.5, 0.55, 1.0)  # right, towards the viewer, up
VIEW = (-62.0, 20.0)  # azimuth and elevation [degrees]
COLOURS = {"height": "viridis", "speed": "inferno"}


def scene_picture(
    scene: Scene,
    position: FloatArray,
    radius: FloatArray,
    velocity: FloatArray,
    *,
    time: float = 0.0,
    bodies: Frames | None = None,
    colour: Literal["auto", "height", "speed"] = "auto",
    view: tuple[float, float] | None = None,
    finer: float = FINER,
    path: str | Path | None = None,
) -> Any:
    """Draw grains (N, 3) [m] at ``time`` [s] and return the figure; with ``path`` it is written as PNG.

    Colours show the height [m], or the speed [m/s] while grains or walls move (``auto``); ``bodies`` are the frames of moving walls.
    ``view``, azimuth and elevation [degrees], none: as the scene has it, or a little from above. ``finer`` is how many pixels of the image
    there are for one of the picture, each way: fewer are drawn sooner.
    """
    if not len(position):
        raise InputError("there are no grains to draw.")
    shown = _what_to_show(scene, radius, velocity) if colour == "auto" else colour
    frames = bodies if bodies is not None else wall_frames(scene)
    camera = picture_camera(scene, view)
    reach = radius[:, None]
    low, high = (position - reach).min(axis=0), (position + reach).max(axis=0)
    painting = painted(scene, low, high)
    parts = machine_parts(scene, frames, painting)
    lines = [camera.project(line) for line in wall_lines(scene, frames, low, high, without=painting.keys())]
    ground = ground_plane(scene, frames, low, high)
    seen = [*lines, camera.project(parts.corner.reshape(-1, 3))]
    window = _window(camera.project(position), radius, seen, ground is not None, DPI * finer)

    wide, tall = window.columns / finer / DPI, window.rows / finer / DPI
    width, height = wide + 1.75, tall + 1.05
    figure = new_figure(width, height, DPI)
    axes = figure.add_axes((0.3 / width, 0.45 / height, wide / width, tall / height))
    axes.set_axis_off()
    unit, values = _values(shown, position, velocity)
    image, mapped = _image(position, radius, values, COLOURS[shown], camera, window, ground, parts)
    axes.imshow(image, extent=window.extent, origin="lower", interpolation="antialiased", zorder=2)
    _draw_lines(axes, lines, camera.project(position), camera)
    axes.set_xlim(window.extent[:2])
    axes.set_ylim(window.extent[2:])
    axes.set_aspect("equal")
    _scale_bar(axes, window, float(getattr(scene.parameters, "diameter", 2 * np.median(radius))))
    bar = figure.add_axes(((0.3 + wide + 0.2) / width, (0.45 + 0.12 * tall) / height, 0.14 / width, 0.76 * tall / height))
    figure.colorbar(mapped, cax=bar, label=f"{shown} [{unit}]")
    bar.tick_params(labelsize=8)
    inch = 1 / inches(figure)[1]
    figure.text(0.3 / width, 1 - 0.2 * inch, scene.name, fontsize=12, fontweight="bold", va="top")
    figure.text(0.3 / width, 1 - 0.43 * inch, f"{len(position)} grains, t = {time:.3g} s", fontsize=9, color="0.35", va="top")
    if path is not None:
        figure.savefig(path, dpi=DPI, metadata={"Software": f"granum {__version__}", "Title": scene.name})
    return figure


def picture_camera(scene: Scene, view: tuple[float, float] | None = None) -> Camera:
    """From where a scene is seen; ``view``, azimuth and elevation [degrees], none: as the scene has it, or a little from above."""
    return Camera.at(*(view or scene.view or VIEW))


def _what_to_show(scene: Scene, radius: FloatArray, velocity: FloatArray) -> Literal["height", "speed"]:
    """The speed if walls turn, and while a tenth of the grains move by more than a fifth of their size in the time they need to fall it.

    Of a recording without velocities the height, always.
    """
    if isinstance(velocity, NotRecorded):
        return "height"
    if any(body.is_driven and body.fastest[1].any() for body in scene.bodies):
        return "speed"
    gravity = float(np.linalg.norm(scene.gravity.acceleration)) or 9.81
    speed = np.sqrt((velocity**2).sum(axis=1))
    return "speed" if np.quantile(speed, 0.9) > 0.2 * np.sqrt(gravity * 2 * np.median(radius)) else "height"


def _values(shown: str, position: FloatArray, velocity: FloatArray) -> tuple[str, FloatArray]:
    """The unit, and the values in it."""
    values = position[:, 2] if shown == "height" else np.sqrt((velocity**2).sum(axis=1))
    unit = "m" if shown == "height" else "m/s"
    largest = float(np.abs(values).max())
    scale, prefix = next(((f, p) for limit, f, p in ((1e-3, 1e6, "µ"), (1.0, 1e3, "m")) if largest < limit), (1.0, ""))
    return prefix + unit, values * scale


def _window(view: FloatArray, radius: FloatArray, lines: list[FloatArray], ground: bool, dpi: float) -> Window:
    """Around all grains and walls, with room for the ground in front and for the scale bar below; ``dpi`` [1/inch] of the image."""
    points = np.concatenate([view[:, :2] - radius[:, None], view[:, :2] + radius[:, None], *(line[:, :2] for line in lines)])
    low, high = points.min(axis=0), points.max(axis=0)
    d = 2 * float(np.median(radius))
    size = np.maximum(high - low, 2 * d)
    around = np.maximum(0.06 * size.max(), 0.7 * d) * np.array([1.5 if ground else 1.0, 1.0])
    low, high = low - around, high + around * np.array([1.0, 0.6])
    wide, tall = high - low
    pixel = max(wide / (BOX[0] * dpi), tall / (BOX[1] * dpi))
    least = 2.2 * dpi * pixel  # narrower than this the text has no room
    if wide < least:
        low[0] -= (least - wide) / 2
        wide = least
    return Window(low[0], low[1], pixel, int(np.ceil(tall / pixel)), int(np.ceil(wide / pixel)))


def _image(
    position: FloatArray,
    radius: FloatArray,
    values: FloatArray,
    colours: str,
    camera: Camera,
    window: Window,
    ground: tuple[FloatArray, FloatArray] | None,
    parts: Parts,
) -> tuple[NDArray[np.float32], Any]:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    # The darkest end hides the shading.
    trimmed = LinearSegmentedColormap.from_list("trimmed", colormaps[colours](np.linspace(0.25, 0.97, 256)))
    low, high = float(values.min()), float(values.max())
    norm = Normalize(low, high if high > low else low + 1)
    light = LIGHT[0] * camera.right + LIGHT[1] * camera.towards + LIGHT[2] * np.array([0.0, 0.0, 1.0])
    centre = position - np.median(position, axis=0)
    reach = 1.35 * float(np.quantile(np.linalg.norm(centre[:, :2], axis=1), 0.98)) + 5 * float(np.median(radius))
    reach = max(reach, 0.5 * (window.extent[1] - window.extent[0]))
    colour = trimmed(norm(values))[:, :3]
    image = render(position, radius, colour, camera, window, light=light, ground=ground, ground_reach=reach, parts=parts)
    return image, ScalarMappable(norm, trimmed)


def _draw_lines(axes: Any, lines: list[FloatArray], view: FloatArray, camera: Camera) -> None:
    """Edges behind the middle of the grains first, those before it thin and on top; what lies lower is not further away for that."""
    level = np.array([0.0, -camera.towards[2], camera.up[2]])  # level distance towards the viewer from a projected place
    middle = float(np.median(view @ level))
    for line in lines:
        front = (line @ level).mean() > middle
        axes.plot(line[:, 0], line[:, 1], color="0.25", lw=0.8 if front else 0.7, alpha=0.45 if front else 0.8, zorder=3 if front else 1)


def _scale_bar(axes: Any, window: Window, d: float) -> None:
    """A bar of 1, 2, 5, 10, ... diameters, about a sixth of the picture."""
    left, right, bottom, top = window.extent
    wanted = (right - left) / 6 / d
    count = max((n * 10**k for k in range(7) for n in (1, 2, 5) if n * 10**k <= max(wanted, 1)), default=1)
    x, y = left + 0.02 * (right - left), bottom - 0.012 * (top - bottom)
    axes.plot([x, x + count * d], [y, y], color="0.15", lw=2.2, solid_capstyle="butt", clip_on=False, zorder=4)
    axes.text(x + count * d / 2, y - 0.012 * (top - bottom), f"{count} d = {_length(count * d)}", ha="center", va="top", fontsize=8)


def _length(x: float) -> str:
    for limit, factor, unit in ((1e-3, 1e6, "µm"), (1.0, 1e3, "mm")):
        if x < limit:
            return f"{x * factor:.3g} {unit}"
    return f"{x:.3g} m"
