"""The silo and the drum: their geometry against closed forms, what carries the weight, and that nothing gets out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from granum.checks import InputError
from granum.detection.detector import Detector
from granum.detection.walls import WallTable
from granum.plot import scene_picture
from granum.plot.outline import wall_frames, wall_lines
from granum.scene import Grains, Gravity, Mesh, Scene
from granum.scene.library import make_scene
from granum.scene.library.materials import BEAD
from granum.scene.library.sawtooth import extrude, sawtooth_profile
from granum.scene.library.sites import speed_of_fall
from granum.simulation import Simulation, make_settings
from granum.simulation.making import make_bodies
from granum.state.rotation import matrix

D = 0.01
RADIUS, TEETH, HEIGHT, ATTACK = 0.4, 64, 0.012, 50.0


def run(name, values, **settings):
    scene = make_scene(name, values)
    sim = Simulation(scene, make_settings(scene.run, settings))
    sim.run(scene.run.duration)
    return sim


def overlaps_at_start(scene):
    """Largest overlap of two grains [m]; negative: the smallest gap."""
    x, d, *_ = scene.grains[0].place()
    first, second = np.triu_indices(len(x), 1)
    return float(((d[first] + d[second]) / 2 - pdist(x)).max())


def upward_force(sim, walls):
    """Force [N] of some walls on the grains; contact impulses act on the wall."""
    c = sim.contacts
    ours = np.isin(-1 - c.b, walls)
    impulse = c.impulse[ours, 0] * c.normal[ours, 2] + c.impulse[ours, 3]
    return float(-impulse.sum() / c.time_step)


@pytest.mark.parametrize(("width", "count"), [(1.0, 20), (1.2, 20), (3.0, 60), (6.0, 200), (9.0, 300), (15.0, 400)])
def test_silo_starts_without_overlap_inside_its_faces(width, count):
    scene = make_scene("silo", {"width": width, "count": count})
    x = scene.grains[0].position
    assert len(x) == count
    assert overlaps_at_start(scene) <= 1e-12 * D
    for wall in scene.all_walls:
        assert ((x - wall.point) @ wall.normal).min() >= D / 2 * (1 - 1e-12)
    sides = [scene.all_walls[k] for k in scene.parameters.side_walls]
    assert len(sides) == scene.parameters.faces == (0 if width == 1 else 20)
    # Twenty different faces, each touching the circle of the given width.
    assert_allclose([np.dot(w.point, w.normal) for w in sides], -width * D / 2)
    assert len({tuple(np.round(w.normal, 9)) for w in sides}) == len(sides)


def test_silo_of_width_one_is_a_straight_column():
    x = make_scene("silo", {"width": 1, "count": 5}).grains[0].position
    assert_allclose(x, np.outer(np.arange(5) + 0.5, (0, 0, D)), atol=1e-15)


def test_silo_gravity_ramp():
    """0.01 to 9.82 m/s^2; the ramp and step of SN where they are asked for, else so that grains land with 0.3 diameters per step."""
    scene = make_scene("silo", {"ramp": 60, "settle": 5})
    assert scene.run.given() == {"time_step": 0.01, "duration": 65}
    assert_allclose([scene.gravity.at(t)[2] for t in (0, 60, 65)], [-0.01, -9.82, -9.82])
    assert make_scene("silo", {"count": 20}).run.given() == {"time_step": 0.01, "duration": 6}
    for values in ({"count": 2000}, {"count": 600, "time_step": 0.01}):
        scene = make_scene("silo", values)
        h, ramp = scene.run.time_step, scene.gravity.ramp
        assert (h < 0.01 and ramp == 5) if "time_step" not in values else (h == 0.01 and 5 < ramp < 60)
        # A grain that falls freely in the growing gravity by what the grid loses: the way is g t^3 / 6 T.
        packed = values["count"] * np.pi / 6 * D**3 / 0.58 / (np.pi / 4 * (6 * D) ** 2)
        fall = scene.grains[0].position[:, 2].max() - packed
        time = (6 * fall * ramp / 9.82) ** (1 / 3)
        assert 9.82 * time**2 / (2 * ramp) * h == pytest.approx(0.3 * D)


def test_speed_of_fall():
    """Against the fall itself, in many small steps: within the ramp, behind its end, and without one."""
    step = 1e-5
    for ramp in (3.0, 0.2, 0.0):
        speed = way = time = 0.0
        while way < 0.3:
            speed += 9.82 * min(1.0, time / ramp if ramp else 1.0) * step
            way += speed * step
            time += step
        assert speed_of_fall(9.82, 0.3, ramp) == pytest.approx(speed, rel=1e-3)


def test_silo_walls_carry_the_weight():
    """Newton: floor and sides together hold the grains at rest; with friction the sides take a part, without they take none."""
    for friction in (0.7, 0.0):
        values = {"count": 150, "width": 5, "wall_friction": friction}
        sim = run("silo", values, stepper={"solver": {"iterations": 150}})
        weight = 9.82 / sim.bodies.inverse_mass[sim.bodies.grains]
        p = sim.scene.parameters
        # What is missing accelerates the grains: their momentum changes by it in a step.
        before = sim.velocity[:, 2].copy()
        sim.step()
        floor, sides = upward_force(sim, p.floor_walls), upward_force(sim, p.side_walls)
        pull = float((weight / 9.82 * (sim.velocity[:, 2] - before)).sum()) / sim.time_step
        assert floor + sides - weight.sum() == pytest.approx(pull, abs=1e-9 * weight.sum())
        assert abs(pull) < 1e-3 * weight.sum()
        if friction:
            assert 0.1 < sides / weight.sum() < 0.9
        else:
            assert abs(sides) < 1e-12 * weight.sum()
        assert (np.hypot(*sim.position[:, :2].T) < 2.5 * D / np.cos(np.pi / 20)).all()


def test_silo_opens_after_settling_and_flows_slower_with_friction():
    """Nothing leaves before the lid goes; then fewer grains leave the rougher silo in the same time.

    For 0.3 s only: a layer of equal grains that stands around the wall does not come down, whatever the friction. Of two fillings
    together 1.4 times as many leave the smoother one, with a scatter of 0.08.
    """
    left = []
    for friction in (0.05, 0.7):
        left.append(0)
        for seed in range(2):
            filling = {"count": 400, "width": 8, "outlet": 5, "friction": friction, "ramp": 0.5, "settle": 0.3, "seed": seed}
            scene = make_scene("silo", filling)
            sim = Simulation(scene, make_settings(scene.run))
            sim.run(0.8)
            assert sim.position[:, 2].min() > 0.3 * D
            sim.run(0.3)
            left[-1] += int((sim.position[:, 2] < -D / 2).sum())
    assert left[0] > left[1] > 100


def test_sawtooth_profile():
    """64 teeth, 1.2 d high, about 4 d long; the steep face makes 50 degrees with the tangent in its valley, and leads."""
    profile = sawtooth_profile(RADIUS, TEETH, HEIGHT, ATTACK)
    valley, tip = profile[::2], profile[1::2]
    assert len(valley) == len(tip) == TEETH
    assert_allclose(np.linalg.norm(valley, axis=1), RADIUS)
    assert_allclose(np.linalg.norm(tip, axis=1), RADIUS - HEIGHT)
    assert 2 * np.pi * RADIUS / TEETH == pytest.approx(4 * D, rel=0.02)
    ahead = np.roll(valley, -1, axis=0)  # the valley in front of each tip, in the direction of rotation
    steep = tip - ahead
    tangent = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) / RADIUS
    assert_allclose(np.degrees(np.arccos(-np.sum(steep * tangent, axis=1) / np.linalg.norm(steep, axis=1))), ATTACK)
    assert (np.linalg.norm(steep, axis=1) < 0.6 * np.linalg.norm(tip - valley, axis=1)).all()
    # Its inner normal looks inwards and forwards.
    normal = np.stack([steep[:, 1], -steep[:, 0]], axis=1)
    normal *= -np.sign(np.sum(normal * ahead, axis=1, keepdims=True))
    assert (np.sum(normal * tangent, axis=1) > 0).all()


def test_sawtooth_mesh_area_volume_and_orientation():
    length = 0.08
    profile = sawtooth_profile(RADIUS, TEETH, HEIGHT, ATTACK)
    vertices, triangles = extrude(profile, length)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a) / 2  # (T, 3) along the normal
    sides = np.linalg.norm(profile - np.roll(profile, -1, axis=0), axis=1)
    assert np.linalg.norm(area, axis=1).sum() == pytest.approx(length * sides.sum(), rel=1e-12)
    # Two triangles of the centre per tooth; the mesh looks inwards, so its flux of (x, z) is negative.
    angle = np.arctan2(profile[:, 1], profile[:, 0])
    wedge = np.diff(np.unwrap(np.append(angle, angle[0])))
    volume = length * 0.5 * RADIUS * (RADIUS - HEIGHT) * np.sin(wedge).sum()
    middle = (a + b + c) / 3 * (1, 0, 1)
    assert -0.5 * np.sum(middle * area) == pytest.approx(volume, rel=1e-12)
    # Every inner edge is passed once in each direction; only the two rings at the ends are open.
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    directed = {tuple(edge) for edge in edges.tolist()}
    assert len(directed) == len(edges)
    open_edges = [edge for edge in directed if edge[::-1] not in directed]
    assert len(open_edges) == 2 * len(profile)
    assert all(vertices[i, 1] == vertices[j, 1] for i, j in open_edges)


@pytest.mark.parametrize("values", [{"count": 400}, {"kind": "sawtooth", "count": 400}, {"kind": "sawtooth", "width": 20, "length": 2.5}])
def test_drum_starts_without_overlap_inside(values):
    values = {"count": 300, **values}
    scene = make_scene("drum", values)
    p = scene.parameters
    x, d, *_ = scene.grains[0].place()
    assert len(x) == values["count"]
    assert overlaps_at_start(scene) < 0
    room = p.drum_radius - p.tooth_height - d / 2
    assert (np.hypot(x[:, 0], x[:, 2]) <= room).all()
    assert (np.abs(x[:, 1]) <= p.length / 2 - d / 2).all()
    Simulation(scene)  # the placement check finds nothing in the walls


def test_drum_is_that_of_the_papers():
    smooth, saw = make_scene("drum"), make_scene("drum", {"kind": "sawtooth"})
    assert smooth.parameters.drum_radius == pytest.approx(20 * 0.013)
    assert smooth.parameters.length == pytest.approx(7 * 0.013)
    size, number = np.unique(smooth.grains[0].diameter, return_counts=True)
    assert_allclose(size, [0.010, 0.013])
    assert number.tolist() == [2432, 2432]
    table = smooth.pair_table()
    assert table.friction[0].tolist() == [0.91, 0.0]
    assert table.rolling_friction[0].tolist() == [0.32, 0.0]
    assert saw.parameters.teeth == 64
    assert saw.pair_table().friction[0].tolist() == [0.7, 0.7]
    assert saw.bodies[0].motion.spin == (0.0, -0.63, 0.0)
    deep = make_scene("drum", {"kind": "sawtooth", "length": 30, "count": 25000})
    assert len(deep.grains[0].position) == 25000


def test_drum_turns_rigidly_and_takes_grains_along():
    """Without gravity a tooth catches a grain at rest and centrifugal force holds it in the valley: v = omega x r, spin = omega."""
    scene = make_scene("drum", {"kind": "sawtooth", "width": 20, "length": 2, "count": 1, "speed": 6, "ramp": 0})
    angle = 2 * np.pi / 16 * np.array([0.3, 3.3, 9.3])
    between = 8.6 * D * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)  # just inside the circle of the tips
    grains = Grains(material="bead", position=between, diameter=D)
    scene = scene.model_copy(update={"gravity": Gravity(acceleration=(0.0, 0.0, 0.0)), "grains": (grains,)})
    sim = Simulation(scene, make_settings(scene.run, {"time_step": 0.001}))
    sim.run(3.0)
    omega = np.array([0.0, -6.0, 0.0])
    angle = 6.0 * sim.time
    turned = matrix(sim.bodies.orientation[1])
    assert_allclose(turned @ [1.0, 0.0, 0.0], [np.cos(angle), 0.0, np.sin(angle)], atol=1e-9)
    # Velocities hold for the places at the start of a step: their direction lags by omega h / 2, and the grain rolls off that difference.
    speed = 6 * np.hypot(sim.position[:, 0], sim.position[:, 2]).max()
    lag = 6 * 0.001 / 2
    assert_allclose(sim.velocity, np.cross(omega, sim.position), atol=2 * lag * speed)
    assert_allclose(sim.spin, np.broadcast_to(omega, sim.spin.shape), atol=lag * speed / (D / 2))


@pytest.mark.parametrize("kind", ["smooth", "sawtooth"])
def test_drum_keeps_its_grains(kind):
    """Two revolutions of a small fast drum at a coarse step: nothing gets through the teeth, the cylinder or the sides."""
    values = {"kind": kind, "width": 16, "length": 3, "count": 90, "diameter": D, "speed": 6.3, "time_step": 0.005, "duration": 2.3}
    sim = run("drum", values, guards={"on_overlap": "warn"})
    x, p = sim.position, sim.scene.parameters
    assert np.hypot(x[:, 0], x[:, 2]).max() < p.drum_radius
    assert np.abs(x[:, 1]).max() < p.length / 2
    assert x[:, 0].mean() > 0  # carried up on the side that moves up


def test_front_of_a_mesh_brings_back_what_was_pushed_behind():
    """A sheet that looks up: a grain whose centre is 0.2 d below rises to the front; with two sides it is let out below."""
    sheet = {"material": "bead", "vertices": [[-1, -1, 0], [1, -1, 0], [0, 1, 0]], "triangles": [[0, 1, 2]]}
    heights = {}
    for side in ("both", "front"):
        scene = Scene(
            materials=(BEAD,),
            grains=(Grains(material="bead", position=[[0, 0, -0.2 * D]], diameter=D),),
            walls=(Mesh(**sheet, side=side),),
            gravity=Gravity(acceleration=(0, 0, 0)),
        )
        heights[side] = Simulation(scene, make_settings({"time_step": 0.001, "relax": True})).position[0, 2] / D
    assert heights["front"] == pytest.approx(0.5, abs=0.01)
    assert heights["both"] == pytest.approx(-0.5, abs=0.01)


def test_front_mesh_of_teeth_finds_the_shortest_way_out():
    """A grain whose centre is inside a tooth is pushed through its nearest face, whichever that is, and never outwards."""
    profile = sawtooth_profile(RADIUS, TEETH, HEIGHT, ATTACK)
    vertices, triangles = extrude(profile, 0.08)
    wall = Mesh(material="bead", vertices=vertices, triangles=triangles, side="front")
    for start, end in ((profile[0], profile[1]), (profile[1], profile[2])):
        foot, along = (start + end) / 2, end - start
        inwards = np.array([-along[1], along[0]]) / np.linalg.norm(along)
        assert inwards @ foot < 0
        centre = foot - 0.1 * D * inwards
        grain = Grains(material="bead", position=[[centre[0], 0, centre[1]]], diameter=D)
        scene = Scene(materials=(BEAD,), grains=(grain,), walls=(wall,))
        contacts = Detector(WallTable.build(scene.all_bodies, scene.material_index, D / 2)).detect(make_bodies(scene), 0.0)
        assert contacts.contact_count == 1
        assert contacts.overlap[0] == pytest.approx(0.6 * D)
        assert_allclose(contacts.normal[0], [-inwards[0], 0, -inwards[1]], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("silo", {"count": 0}, ["count of scene 'silo'", "1 or more", "got 0"]),
        ("silo", {"width": 0.5}, ["width of scene 'silo'", "1 or more", "0.5"]),
        ("silo", {"width": "nan"}, ["width of scene 'silo'"]),
        ("silo", {"outlet": 7}, ["outlet of scene 'silo'", "between 1 and the silo's width of 6"]),
        ("silo", {"diameter": -1}, ["diameter must be a finite number above 0 m"]),
        ("silo", {"ramp": -1}, ["ramp of scene 'silo'", "0 or more"]),
        ("drum", {"kind": "rough"}, ["unknown kind of scene 'drum' 'rough'", "'sawtooth', 'smooth'"]),
        ("drum", {"count": 1000000}, ["count of scene 'drum'", "or less", "got 1000000"]),
        ("drum", {"count": 0}, ["count of scene 'drum'", "1 or more"]),
        ("drum", {"width": 2}, ["width of scene 'drum'", "4 or more"]),
        ("drum", {"length": 0.5}, ["length of scene 'drum'", "1.1 or more"]),
        ("drum", {"speed": "inf"}, ["speed of scene 'drum'", "finite"]),
        ("drum", {"teeth": 12}, ["teeth of scene 'drum'", "kind 'sawtooth'"]),
        ("drum", {"kind": "sawtooth", "teeth": 500}, ["500 teeth", "do not fit", "fewer teeth"]),
        ("drum", {"time_step": 0}, ["time_step"]),
    ],
)
def test_bad_values_are_refused_in_words(name, values, words):
    with pytest.raises(InputError) as refusal:
        make_scene(name, values)
    for word in words:
        assert word in str(refusal.value)


def test_pictures_show_the_walls():
    """The faces of a silo and the teeth of a drum are lines around the grains, cut at their height where the walls are endless."""
    silo, drum = make_scene("silo", {"count": 60, "width": 4}), make_scene("drum", {"kind": "sawtooth", "width": 16, "count": 60})
    for scene in (silo, drum):
        x, d, v, _ = scene.grains[0].place()
        low, high = x.min(axis=0) - D / 2, x.max(axis=0) + D / 2
        lines = wall_lines(scene, wall_frames(scene), low, high)
        out = np.concatenate(lines)
        if scene is silo:
            assert len(lines) == 3 * 20
            assert_allclose(np.hypot(out[:, 0], out[:, 1]), 2 * D / np.cos(np.pi / 20))
            assert_allclose(np.unique(np.round(out[:, 2], 9)), [low[2], high[2]], atol=1e-9)
        else:
            assert np.hypot(out[:, 0], out[:, 2]).max() == pytest.approx(8 * D)
        figure = scene_picture(scene, x, d / 2, v)
        assert ("speed" in figure.axes[1].get_ylabel()) == (scene is drum)
