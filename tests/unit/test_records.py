"""Records can be compared, whatever they hold and have worked out."""

from __future__ import annotations

from granum import Body, Grains, Gravity, Material, Plane, PoseTable, Scene


def scene(**fields):
    """With grains, a table of poses, and what the scene works out from them."""
    body = Body(name="lift", kind="kinematic", motion=PoseTable(poses=[[0, 0, 0, 0], [1, 0, 0, fields.pop("height", 0.2)]]))
    grains = Grains(material="m", position=[[0, 0, 1], [0, 0, 2]], diameter=fields.pop("diameter", [0.1, 0.2]))
    made = Scene(materials=[Material(name="m")], walls=[Plane(material="m")], bodies=[body], grains=[grains], **fields)
    assert made.size_range[1] > 0
    assert made.gravity.at(1.0)[2] < 0
    assert made.bodies[0].path is not None
    return made


def test_records_with_arrays_are_equal_if_all_their_entries_are():
    assert Gravity() == Gravity()
    assert scene() == scene()
    assert scene() == scene().model_copy()
    assert scene() != scene(height=0.3)
    assert scene() != scene(diameter=[0.1, 0.3])
    assert scene() != scene(diameter=0.1)  # another shape
    assert scene() != scene(gravity=Gravity(ramp=1.0))
    assert Gravity() != Material(name="m")
    assert len({Gravity(), Gravity(), Gravity(ramp=1.0)}) == 2  # and those without arrays are found in sets
