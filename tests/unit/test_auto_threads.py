"""``threads = "auto"``: as many as there is work for."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from granum import InputError, Settings, Simulation, make_scene
from granum.parallel import cores
from granum.parallel.team import LEAST
from granum.simulation import threads
from granum.simulation.threads import grains_in, threads_of


def auto_of_a_pile() -> int:
    return threads_of("auto", make_scene("pile", count=100_000), 1e4)


@pytest.mark.parametrize("grains, found", [(100, 1), (LEAST - 1, 1), (LEAST, 2), (3 * LEAST, 6), (100 * LEAST, 8)])
def test_every_thread_has_work_for_it(grains, found, monkeypatch):
    """Two contacts a grain, LEAST contacts a thread, on eight cores."""
    monkeypatch.setattr(threads, "cores", lambda: 8)
    assert threads_of("auto", make_scene("pile", count=grains), 1e9) == found


def test_grains_to_come_count_if_they_come_in_time():
    scene = make_scene("pile", count=1000, rate=100.0)
    assert grains_in(scene, 1e9) == 1000
    assert grains_in(scene, 2.0) == 201
    assert grains_in(make_scene("column", count=7), 1.0) == 7


def test_a_number_is_taken_as_it_is_and_nonsense_refused():
    assert threads_of(3, make_scene("column"), 1.0) == 3
    assert Settings(threads="auto").threads == "auto"
    assert Simulation(make_scene("column", count=3), threads="auto").threads == 1
    for wrong in ("all", 0, True):
        with pytest.raises(InputError, match="threads"):
            Settings(threads=wrong)


def test_a_run_in_a_pool_keeps_one_thread():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(auto_of_a_pile).result() == 1
    assert auto_of_a_pile() == cores()
