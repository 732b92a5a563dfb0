"""Triggers fire without drift, observers are closed whatever happens."""

from __future__ import annotations

import pytest

from granum import PGS
from granum.checks import InputError
from granum.io import Recording, read_checkpoint
from granum.observe import Checkpointer, Energy, Recorder, StopWhen, seconds, steps
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from granum.simulation.saved import load_run


@pytest.mark.parametrize("period, h", [(0.01, 0.003), (0.1, 0.1 / 3), (0.005, 0.005), (1 / 3, 0.01), (0.001, 0.005), (0.07, 0.05)])
def test_seconds_fire_at_the_nearest_step(period, h):
    """One step for every multiple of the period: the nearest one; all steps if they are longer than the period."""
    fired = [n for n in range(400) if seconds(period).due(n, h)]
    wanted = sorted({round(k * period / h + 1e-9) for k in range(int(400 * h / period) + 2)})
    assert fired == [n for n in wanted if n < 400]
    assert [seconds(period).last(n, h) for n in range(400)] == [max(f for f in fired if f <= n) for n in range(400)]


def test_steps():
    assert [n for n in range(10) if steps(3).due(n, 0.1)] == [0, 3, 6, 9]
    assert steps(3).last(8, 0.1) == 6


@pytest.mark.parametrize("make, value", [(seconds, 0.0), (seconds, float("nan")), (steps, 0)])
def test_bad_triggers(make, value):
    with pytest.raises(InputError, match="every must be"):
        make(value)


@pytest.fixture
def sim():
    scene = make_scene("column", {"count": 3})
    return Simulation(scene, make_settings(scene.run))


def test_energy_and_stop(sim):
    energy = Energy(every=steps(2))
    sim.observers += [energy, StopWhen(kinetic_energy_below=1e-12, after=0.05, every=steps(1))]
    sim.run(20.0)
    assert sim.time < 20.0
    assert "kinetic energy" in sim.stop_reason
    assert energy.table.shape == (sim.step_count // 2, 4)
    assert energy.kinetic[-1] < energy.kinetic.max()


class Fails:
    """Fails at its third look, and again when it is closed."""

    def start(self, sim):
        self.looks = 0

    def observe(self, sim):
        self.looks += 1
        if self.looks == 3:
            raise RuntimeError("observer failed")

    def finish(self, sim):
        raise OSError("cannot close")


def test_files_are_finished_when_another_observer_fails(sim, tmp_path):
    sim.observers += [Fails(), Recorder(tmp_path / "x.h5", seconds(1.0)), Checkpointer(tmp_path / "x.checkpoint.h5", every=1000)]
    with pytest.raises(RuntimeError, match="observer failed"):
        sim.run(1.0)
    with Recording(tmp_path / "x.h5") as recording:
        assert list(recording.steps) == [0, 3]  # the last state too
    assert read_checkpoint(tmp_path / "x.checkpoint.h5")["simulation"]["step_count"] == 3


def test_half_a_step_is_not_saved(sim, tmp_path, monkeypatch):
    """A checkpoint of a step that did not end would not go on as the run would have."""
    sim.observers += [Checkpointer(tmp_path / "x.checkpoint.h5", every=1000)]
    solve = PGS.solve

    def interrupted(*problem, **how):
        if sim.step_count == 2:
            raise KeyboardInterrupt
        return solve(*problem, **how)

    monkeypatch.setattr(PGS, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sim.run(1.0)
    assert read_checkpoint(tmp_path / "x.checkpoint.h5")["simulation"]["step_count"] == 0


def test_python_run_continues_from_its_checkpoint(sim, tmp_path):
    sim.observers += [Recorder(tmp_path / "x.h5", seconds(0.01)), Checkpointer(tmp_path / "x.checkpoint.h5")]
    sim.run(0.05).run(0.05)
    again = load_run(tmp_path / "x.checkpoint.h5").simulation
    assert again.step_count == sim.step_count
    assert (again.run(0.05).position == sim.run(0.05).position).all()
    with Recording(tmp_path / "x.h5") as recording:
        assert (recording.steps[1:] > recording.steps[:-1]).all()
        assert recording.steps[-1] == sim.step_count


def test_a_kernel_that_is_compiled_in_spite_of_a_warm_cache_is_told_on_a_terminal():
    """Until the first step is done; nothing is said where nothing is compiled."""
    import io

    import numba
    from rich.console import Console

    from granum.observe import Compiling

    for kind in (int, float):
        said = Console(file=io.StringIO(), force_terminal=True, width=100)
        note = Compiling(said)
        note.watch()
        assert "compiling" not in said.file.getvalue()
        if kind is int:
            numba.njit(lambda x: x + 1)(kind(1))
        note.hide()
        numba.njit(lambda x: x + 2)(kind(1))
        assert ("compiling kernels" in said.file.getvalue()) == (kind is int)
