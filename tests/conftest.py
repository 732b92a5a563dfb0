"""The command line in a folder of its own, and the option ``--nudge``: do verdicts hang on chaos?

``pytest --nudge 1`` moves every grain that a scene places by about 1e-12 of its diameter, in directions that the number decides. Physics
does not notice; a verdict that changes measures rounding, not granum. A coordinate that all grains share is moved for all of them alike:
grains in a row that nothing guides buckle, which is physics, and tests of such rows mean the row.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from matplotlib.figure import Figure

from granum.kernel_groups import check_groups
from granum.simulation import simulation
from tests.command_line import granum as call_granum
from tests.scheduling import FromBothEnds, family

SHARE = 1e-12  # of the diameter

os.environ.setdefault("GRANUM_COMPILE_AHEAD", "0")  # tests keep all cores busy themselves

# The same few examples in every run: tests are fast and verdicts stay. Search for more with --hypothesis-profile many.
hypothesis.settings.register_profile(
    "few", max_examples=20, derandomize=True, deadline=None, phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate)
)
hypothesis.settings.register_profile("many", max_examples=1000, deadline=None)
hypothesis.settings.load_profile("few")


def pytest_addoption(parser):
    parser.addoption("--check-groups", action="store_true", help="Look at the types of all groups of arrays that kernels are given (slow).")
    parser.addoption("--nudge", type=int, default=0, metavar="N", help="Move placed grains by 1e-12 d, another way for every N.")


def pytest_configure(config):
    check_groups(config.getoption("--check-groups"))  # quick calls trust in these types: a wrong one would be a wild read


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: family(item.nodeid))  # see scheduling.py; files stay whole, as sorting is stable


def pytest_collection_finish():
    gc.freeze()  # modules and tests stay: garbage is not looked for among them


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return FromBothEnds(config, log)


@pytest.fixture(autouse=True)
def _nudge(request, monkeypatch):
    number = request.config.getoption("--nudge")
    if not number or any(word in str(request.node.nodeid) for word in ("golden", "doctor", "workers")):
        return  # hashes are those of plain scenes, and other processes do not know of the nudge
    plain = simulation.make_bodies

    def nudged(scene, with_grains=True):
        bodies = plain(scene, with_grains)
        rng = np.random.default_rng([number, bodies.grain_count])
        moves = bodies.inverse_mass[bodies.grains] > 0
        shift = SHARE * 2 * bodies.radius[:, None] * rng.standard_normal((bodies.grain_count, 3))
        for axis in range(3):
            if bodies.grain_count and np.ptp(bodies.position[bodies.grains, axis]) == 0.0:
                shift[:, axis] = shift[0, axis]
        bodies.position[bodies.grains] += np.where(moves[:, None], shift, 0.0)
        return bodies

    monkeypatch.setattr(simulation, "make_bodies", nudged)


@pytest.fixture
def granum(tmp_path, monkeypatch):
    """Runs a command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return call_granum


@pytest.fixture
def drawn(monkeypatch):
    """Figures that are saved during a test, by the name of their file: tests look at what they show."""
    figures, plain = {}, Figure.savefig

    def savefig(figure, target, *more, **options):
        figures[Path(target).name] = figure
        return plain(figure, target, *more, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return figures
