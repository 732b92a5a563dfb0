"""One process compiles a kernel, the others wait for it; and what a rehearsed step compiles is what a step runs."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from granum.turns import Turn


def test_a_turn_comes_after_the_one_before(tmp_path):
    first = Turn(tmp_path / "kernels" / "a.turn")
    assert not first.waited
    second: list[Turn] = []
    waiting = threading.Thread(target=lambda: second.append(Turn(tmp_path / "kernels" / "a.turn")))
    waiting.start()
    waiting.join(0.1)
    assert not second
    first.end()
    waiting.join()
    assert second[0].waited
    second[0].end()
    assert not Turn(tmp_path / "kernels" / "a.turn").waited
    assert not Turn(tmp_path / "kernels" / "b.turn").waited


def test_a_turn_ends_with_its_process(tmp_path):
    took = subprocess.run(
        [sys.executable, "-c", "import os, pathlib; from granum.turns import Turn; t = Turn(pathlib.Path('a.turn')); os._exit(9)"],
        cwd=tmp_path,
        check=False,
    )
    assert took.returncode == 9
    assert (tmp_path / "a.turn").exists()
    assert not Turn(tmp_path / "a.turn").waited


def test_without_a_folder_to_write_to_nobody_waits(tmp_path):
    (tmp_path / "file").write_text("")
    assert not Turn(tmp_path / "file" / "a.turn").waited


def run_script(folder, text, *arguments) -> subprocess.Popen:
    (folder / "script.py").write_text(textwrap.dedent(text))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.Popen([sys.executable, "script.py", *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def test_of_two_processes_one_compiles(tmp_path):
    """Both need the same kernel at the same time: it takes one of them so long that the other one comes in the meantime."""
    text = """
        import sys, time
        from pathlib import Path
        from numba.core import event
        from granum._jit import kernel

        compiled = []

        class Listener(event.Listener):
            def on_start(self, one):
                compiled.append(one.data["dispatcher"].py_func.__name__)
                Path("begun").touch()
                while not Path("other").exists():
                    time.sleep(0.01)
                time.sleep(0.2)

            def on_end(self, one):
                pass

        event.register("numba:compile", Listener())

        @kernel
        def double(x):
            return 2 * x

        if sys.argv[1] == "second":
            while not Path("begun").exists():
                time.sleep(0.01)
            Path("other").touch()
        print(double(21), len(compiled))
    """
    both = [run_script(tmp_path, text, which) for which in ("first", "second")]
    assert [one.communicate()[0].split() for one in both] == [["42", "1"], ["42", "0"]]


def test_a_rehearsed_step_has_compiled_what_a_step_runs(tmp_path):
    """Grains that fall onto each other: after a rehearsal no kernel of the solver, of collisions or of the move is new to a process."""
    text = """
        import sys
        from granum.simulation.ahead import rehearse
        from granum import Grains, Material, Plane, Scene, Simulation

        stuff = Material(name="stuff", density=2500, youngs_modulus=1e8, restitution=0.5, friction=0.3, rolling_friction=0.1)
        place = [[0, 0, 0.0051 + 0.0102 * k] for k in range(5)]
        falling = Grains(material="stuff", position=place, diameter=0.01, velocity=[[0, 0, -1.0]] * 5)
        scene = Scene(materials=[stuff], walls=[Plane(material="stuff")], grains=[falling])

        def signatures():
            found = {}
            for name, module in list(sys.modules.items()):
                if name.startswith("granum.nonsmooth"):
                    for one in vars(module).values():
                        if hasattr(one, "_cache") and hasattr(one, "signatures") and one.py_func.__module__ == name:
                            found[f"{name}.{one.py_func.__name__}"] = len(one.signatures)
            return found

        rehearse(Simulation(scene).stepper, 1e-3)
        before = signatures()
        sim = Simulation(scene)
        for _ in range(20):
            sim.step()
        after = signatures()
        assert sim.stage_seconds["impact"] > 0 and after["granum.nonsmooth.solvers.sweeping.sweep_until"] == 2
        print(*sorted(name for name in after if after[name] != before[name]))
    """
    environment = {**os.environ, "GRANUM_COMPILE_AHEAD": "0"}
    (tmp_path / "script.py").write_text(textwrap.dedent(text))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"granum.nonsmooth.impact.part_rebounding", "granum.nonsmooth.impact.by_grains"}


@pytest.mark.slow
def test_a_first_run_that_is_compiled_ahead_has_the_same_bits(tmp_path):
    """Kernels of the solver are on disk when it ends, whoever compiled them; the process that did is gone."""
    text = """
        import multiprocessing, sys
        from granum import Simulation, make_scene
        from granum.analysis.results import state_hash
        sim = Simulation(make_scene("column", {"count": 5}))
        print(len(multiprocessing.active_children()))
        sim.run(0.1)
        print(state_hash(sim.position, sim.orientation, sim.velocity, sim.spin))
    """
    found = []
    for ahead in ("0", "1"):
        (tmp_path / ahead).mkdir()
        (tmp_path / ahead / "script.py").write_text(textwrap.dedent(text))
        environment = {**os.environ, "GRANUM_COMPILE_AHEAD": ahead, "XDG_CACHE_HOME": str(tmp_path / ahead / "cache")}
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path / ahead, env=environment, capture_output=True, text=True, check=True
        )
        children, bits = done.stdout.split()
        assert int(children) == int(ahead)
        found.append(bits)
    assert found[0] == found[1]
