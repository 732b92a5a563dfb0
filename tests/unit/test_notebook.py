"""What a notebook shows: one line for everything, small pictures, bars, and figures in axes of one's own."""

from __future__ import annotations

import base64
import inspect
import io
import re
import sys
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest

from granum import (
    Body,
    Checkpointer,
    Grains,
    HertzContact,
    InputError,
    Material,
    Nonsmooth,
    Pool,
    Recorder,
    Recording,
    Scene,
    Simulation,
    Snapshot,
    jam,
    jam_many,
    load_scene,
    make_scene,
    measure,
    minimise,
    moduli,
    pack,
    random_packing,
    read_packing,
    relax_run,
    restart,
    run,
    run_jam,
    run_minimise,
    run_shear,
    shear,
    simulate,
)
from granum.plot import thumbnail
from granum.progress import Bar

LONGEST = 260  # characters of a line


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A short run of 27 grains with its recording."""
    path = tmp_path_factory.mktemp("notebook") / "box.h5"
    return run(make_scene("box", count=27), duration=0.03, output=path, picture=False, progress=False)


@pytest.fixture(scope="module")
def relaxed():
    return minimise(random_packing(40, 0.88))


def picture_in(page):
    """(rows, columns, 4) of the image in a page."""
    found = re.search(r'<img src="data:image/png;base64,([^"]+)"', page)
    assert found, page[:200]
    return plt.imread(io.BytesIO(base64.b64decode(found.group(1))))


def test_everything_is_told_in_one_line(done, relaxed):
    sim, frame = done.found, done.recording.frame(-1)
    strained = next(shear(relaxed.packing, 1e-3, 1e-3))
    things = [done, sim, sim.scene, sim.contacts, sim.body_contacts, sim.ledger, done.recording, done.recording.body("box"), frame]
    things += [frame.contacts, frame.walls, Snapshot.of(sim), relaxed, relaxed.packing, relaxed.report, measure(relaxed.packing)]
    things += [strained, moduli(relaxed.packing), jam(20), pack(0.01, 0.3, count=20), relax_run(sim)]
    for thing in things:
        text = repr(thing)
        assert text.startswith(type(thing).__name__ + "(")
        assert len(text) <= LONGEST
        assert "\n" not in text
    assert repr(frame) == f"Frame(t = {frame.time:.6g} s, step {frame.step}, 27 grains, {len(frame.contacts)} contacts)"
    assert "27 grains, 1 wall" in repr(sim.scene)
    assert f"{len(done.recording)} frames, t = 0 to" in repr(done.recording)
    assert repr(relaxed.packing) == "Packing(40 grains, phi = 0.88, cell of 1 x 1 m, alpha = 2)"


def test_arrays_of_records_are_told_by_their_shape():
    text = repr(Grains(material="m", position=np.zeros((300, 3)) + np.arange(300)[:, None], diameter=0.5))
    assert "position=array of 300 x 3" in text
    assert "diameter=array(0.5)" in text


def test_pictures_of_runs(done):
    frame = done.recording.frame(-1)
    with Recording(done.path) as closed:
        pass
    for shown in (done, done.found.scene, done.recording, closed, frame, Snapshot.of(done.found)):
        image = picture_in(shown._repr_html_())
        assert 250 < image.shape[1] < 500
        assert image[..., :3].std() > 0.05  # something is drawn
    assert "<table>" in done._repr_html_()
    start = picture_in(done.recording.frame(0)._repr_html_())
    assert start.shape != picture_in(frame._repr_html_()).shape or not np.array_equal(start, picture_in(frame._repr_html_()))


@pytest.mark.parametrize("dim", [2, 3])
def test_pictures_of_packings(dim):
    packing = random_packing(30, 0.5, dim=dim)
    assert picture_in(packing._repr_html_())[..., :3].std() > 0.05


def test_what_cannot_be_drawn_is_told_in_words(done, monkeypatch):
    """Nothing to draw, a file that is gone, or a drawing that fails: the object is there all the same."""
    emitting = make_scene("pile")
    assert emitting._repr_html_() == "<div><code>Scene(&#x27;pile&#x27;, 1 emitter, 1 wall)</code></div>"
    monkeypatch.setattr(thumbnail, "scene_picture", lambda *_, **__: 1 / 0)
    assert done.found.scene._repr_html_() == f"<div><code>{repr(done.found.scene).replace(chr(39), '&#x27;')}</code></div>"
    assert "<img" not in done._repr_html_()
    assert "grains" in done._repr_html_()


def test_figures_go_into_given_axes(done):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    try:
        drawn = done.plot("energy", ax=left)
        assert drawn in figure.subfigs
        assert left not in figure.axes  # its place is taken
        assert right in figure.axes
        assert drawn.bbox.x1 <= right.get_window_extent().x0 + 1e-6
        assert [axes.get_xlabel() for axes in drawn.axes] == ["", "time [s]"]
        assert all(0 <= axes.get_position().x0 < axes.get_position().x1 <= 1 for axes in drawn.axes)
        field = done.recording.plot("velocity", ax=right)
        section = field.axes[0]
        box, (wide, tall) = section.get_window_extent(), (np.diff(section.get_xlim())[0], np.diff(section.get_ylim())[0])
        np.testing.assert_allclose(box.width / wide, box.height / tall, rtol=1e-6)  # to scale
    finally:
        plt.close(figure)
    alone = done.plot("energy")  # the next one is a figure of its own again
    assert alone is not drawn
    assert alone.get_size_inches()[0] == 7.2


def test_axes_that_do_not_suit_are_refused(done, tmp_path):
    figure = plt.figure()
    try:
        with pytest.raises(InputError, match="axes that are in no grid"):
            done.plot("energy", ax=figure.add_axes((0, 0, 1, 1)))
        with pytest.raises(InputError, match="ax must be a"):
            done.plot("energy", ax=3)
        with pytest.raises(InputError, match="path or ax, not both"):
            done.plot("energy", tmp_path / "a.png", ax=figure)
    finally:
        plt.close(figure)


def test_spellings_of_the_command_line(tmp_path):
    """Texts and lists say what records say: the same packing, to the bit."""
    named = run_jam(count=20, law="hertz", sizes="1,1.4", output=tmp_path / "a.h5", picture=False, progress=False).found
    for found in (jam(20, law="hertz", sizes="1,1.4"), jam(particles=20, law="hertz", sizes=[1, 1.4])):
        assert found.packing.law.alpha == 2.5
        assert np.array_equal(found.packing.position, named.packing.position)
        assert found.phi_cr == named.phi_cr
    spread = random_packing(100, 0.5, sizes="lognormal:0.2").radius
    assert len(np.unique(spread)) == 100
    assert np.ptp(pack("uniform:0.008,0.012", 0.3, count=20, law="hertz").packing.radius) < 0.002
    assert Nonsmooth(solver="direct").solver.name == "direct"
    assert make_scene("column").changed(law="hertz").law == HertzContact()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Material(name="x", youngs_module=3), "youngs_module: is not a known key (got 3). Did you mean 'youngs_modulus'?"),
        (lambda: Scene(materials=[{"name": "a", "densty": 3}]), "materials.0.densty: is not a known key (got 3). Did you mean 'density'?"),
        (lambda: Scene(materials=[{"name": "a"}], grains=[{"count": 3, "materal": "a"}]), "grains.0.materal: is not a known key"),
        (lambda: Material(name="x", colour=3), "; choose one of: 'name', 'density',"),
        (lambda: Material(), "name: is missing"),
        (lambda: Material("x"), "Material takes its fields by their names, such as name="),
        (lambda: setattr(Material(name="x"), "density", 3), "density of this Material cannot be changed"),
        (lambda: Nonsmooth(solver="pgss"), "Did you mean 'pgs'?"),
        (lambda: make_scene("column").changed(law="herz"), "Did you mean 'hertz'?"),
        (lambda: jam(20, law="herz"), "Did you mean 'hertz'?"),
        (lambda: jam(20, sizes="wide"), "'wide' cannot be read"),
        (lambda: jam(20, sizes=[1, -1]), "diameters.1: must be greater than 0 (got -1)"),
        (lambda: jam(20, particles=30), "give count or particles, not both"),
        (lambda: jam(20.5), "count must be a whole number of grains (got 20.5)"),
        (lambda: run_jam(20), "settings must be a JamSettings (got 20)"),
        (lambda: minimise(3), "packing must be a Packing (got 3)"),
        (lambda: measure(None), "packing must be a Packing (got None)"),
        (lambda: Simulation("box"), "scene must be a Scene (got 'box')"),
        (lambda: run(3), "scene must be a Scene or str or Path (got 3)"),
        (lambda: Recording(3), "recording must be a str or PathLike (got 3)"),
        (lambda: Recording(""), "recording must be the name of a file (got '')"),
        (lambda: Recorder("x.vtkhdf", 0.1), "every must be a trigger, such as seconds(0.1) or steps(10) (got 0.1)"),
        (lambda: Checkpointer(None), "checkpoint must be a str or PathLike (got None)"),
        (lambda: Pool(most="two"), "most must be a whole number of processes (got 'two')"),
        (lambda: load_scene(3), "scene must be a str or PathLike (got 3)"),
        (lambda: read_packing(None), "recording must be a str or PathLike (got None)"),
        (lambda: restart(3), "file must be a str or PathLike (got 3)"),
        (lambda: run_shear(3), "source must be a str or PathLike (got 3)"),
        (lambda: run_minimise(3), "source must be a str or PathLike (got 3)"),
        (lambda: moduli(None), "packing must be a Packing (got None)"),
        (lambda: jam(20, seed=-1), "seed must be a whole number, 0 or more (got -1)"),
        (lambda: jam(20, dim=[]), "dim must be 2 or 3 (got [])"),
        (lambda: jam(20, accuracy="fine"), "accuracy must be a finite number above 0 (got 'fine')"),
        (lambda: jam_many(None), "--seeds must be whole numbers, 0 or more, such as 0:5 or 1,2,7 (got None)"),
    ],
)
def test_constructors_refuse_in_words(call, words):
    with pytest.raises(InputError) as refusal:
        call()
    assert words in str(refusal.value)
    assert "pydantic" not in str(refusal.value)


def test_help_on_a_record_can_be_read():
    assert str(inspect.signature(Material)).startswith("(*, name: str, density: float = 2500.0, youngs_modulus: float = ")
    assert "position: tuple[float, float, float] = (0.0, 0.0, 0.0)" in str(inspect.signature(Body))
    assert "  mass: float | None = None\n      [kg] of a dynamic body." in inspect.getdoc(Body)
    assert "Fields:" not in Body.model_json_schema()["description"]  # a schema has them one by one


class Shown:
    """Stands for what ``IPython.display.display`` gives."""

    def __init__(self):
        self.pages = []

    def update(self, page):
        self.pages.append(page)


def test_a_bar_in_a_notebook_is_one_place_that_changes(monkeypatch):
    clock, shown = iter([0.0, 2.0, 4.0]), Shown()
    monkeypatch.setattr("granum.progress.monotonic", lambda: next(clock))

    def display(page, display_id):
        shown.update(page)
        return shown

    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace())
    with Bar("box", console=types.SimpleNamespace(is_jupyter=True)) as bar:
        for part in (0.0, 0.25, 0.5):
            bar.show(part, ["<b>"])
    assert [repr(page) for page in shown.pages] == ["box 25%  <b>  ETA 0:06 (0:02 gone)", "box 50%  <b>  ETA 0:04 (0:04 gone)", ""]
    assert 'value="0.2500"' in shown.pages[0]._repr_html_()
    assert "&lt;b&gt;" in shown.pages[0]._repr_html_()


def test_simulate_tells_its_progress():
    sim = simulate("column", duration=0.01, progress=True)
    assert [type(observer).__name__ for observer in sim.observers] == ["Progress"]
    assert simulate("column", duration=0.01).observers == []


CELLS = (
    "import granum\nscene = granum.make_scene('box', count=27)\nscene",
    "bar = granum.progress.Bar('work')\nbar.show(0.0)\nimport time; time.sleep(1.1)\nbar.show(0.5, ['half'])",
    "bar.stop()",
    "granum.Material(name='x', youngs_module=3)",
)


def test_a_real_kernel(tmp_path):
    """Pictures, bars and errors as Jupyter gets them."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, allow_errors=True, resources=resources).execute()
    scene, work, _, wrong = (cell.outputs for cell in notebook.cells)
    assert scene[-1].data["text/plain"] == "Scene('box', 27 grains, 1 wall)"
    picture_in(scene[-1].data["text/html"])
    assert [output.output_type for output in work] == ["display_data"]
    assert work[0].data["text/html"] == ""  # updated by the next cell: the bar is taken away
    assert (wrong[-1].ename, "Did you mean 'youngs_modulus'?" in wrong[-1].evalue) == ("InputError", True)
