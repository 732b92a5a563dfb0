"""``granum export --paraview``: a Python state that ParaView opens, with spheres of the right size and a colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..checks import InputError
from ..io import Recording
from ..io.whole import replace_file

MANY = 20000  # grains: from here on spheres have fewer sides

STATE = '''"""A recording of granum in ParaView: File > Load State, or `paraview --state={name}`. Written by granum; it may be edited."""

from paraview.simple import *

RECORDING = {recording!r}
COLLECTIONS = {collections!r}

view = GetActiveViewOrCreate("RenderView")

# Grains: a sphere of diameter 1, scaled by the diameter of each.
grains = VTKHDFReader(registrationName="recording", FileName=[RECORDING])
GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
spheres = Glyph(registrationName="grains", Input=grains, GlyphType="Sphere")
spheres.OrientationArray = ["POINTS", "No orientation array"]
spheres.ScaleArray = ["POINTS", "diameter"]
spheres.ScaleFactor = 1.0
spheres.GlyphMode = "All Points"
spheres.GlyphType.Radius = 0.5
spheres.GlyphType.ThetaResolution = {sides}
spheres.GlyphType.PhiResolution = {sides}
shown = Show(spheres, view)
ColorBy(shown, {colour!r})
shown.RescaleTransferFunctionToDataRange(True)
shown.SetScalarBarVisibility(view, True)
bar = GetScalarBar(GetColorTransferFunction({array!r}), view)
bar.Title, bar.ComponentTitle = {title!r}, ""

if "walls" in COLLECTIONS:
    walls = PVDReader(registrationName="walls", FileName=COLLECTIONS["walls"])
    surface = Show(walls, view)
    ColorBy(surface, None)
    surface.Opacity = 0.25

if "contacts" in COLLECTIONS:
    contacts = PVDReader(registrationName="contacts", FileName=COLLECTIONS["contacts"])
    lines = Show(contacts, view)
    ColorBy(lines, ("CELLS", "normal_force"))
    lines.LineWidth = 3.0
    Hide(contacts, view)  # inside of the grains: show it, and hide these

GetAnimationScene().GoToLast()
shown.RescaleTransferFunctionToDataRange(False)
view.ResetCamera()
Render(view)
'''


def write_state(recording: Recording | str | Path, path: str | Path, collections: Sequence[Path] = ()) -> Path:
    """Write the state; ``collections`` are the .pvd files of :func:`export_vtk`, whose walls and contacts it shows too.

    It names its files by their whole paths: ParaView does not tell a state where it lies.
    """
    if not isinstance(recording, Recording):
        with Recording(recording) as opened:
            return write_state(opened, path, collections)
    path = Path(path)
    check_state(path)
    if not len(recording):
        raise InputError(f"{recording.path} holds no frames to show. Record at least one.")
    moves = "velocity" in recording.recorded
    array = "velocity" if moves else "diameter"
    text = STATE.format(
        name=path.name,
        recording=str(recording.path.resolve()),
        collections={file.stem: str(file.resolve()) for file in collections},
        sides=8 if len(recording.frame(-1).radius) > MANY else 16,
        colour=("POINTS", "velocity", "Magnitude") if moves else ("POINTS", "diameter"),
        array=array,
        title="speed [m/s]" if moves else "diameter [m]",
    )
    replace_file(path, text.encode(), "state")
    return path


def check_state(path: Path) -> None:
    """Refuse a name of which no state can be written, and a file that is not ours."""
    if path.suffix != ".py":
        raise InputError(f"a state of ParaView must end in .py (got {path}).")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: the folder {path.parent} does not exist.")
    if path.exists() and (not path.is_file() or "Written by granum" not in path.read_text(encoding="utf-8", errors="replace")[:400]):
        raise InputError(f"{path} exists and is not a state that granum wrote. Move it away or choose another name.")
