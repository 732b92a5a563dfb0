"""What threads gain: measured on a settled box, and predicted for more of them from the graph of the sweep (PP 2.4, Fig. 2.9)."""

from __future__ import annotations

import copy
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

from .._jit import kernel
from ..analysis.parallel_model import FORMULA, LEFT_OUT, THREADS, ColourGraph, SweepCost, ZoneGraph
from ..analysis.results import state_hash
from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..nonsmooth import PGS
from ..nonsmooth.blocks import COLOURS, LANES
from ..nonsmooth.groups import ContactBlocks
from ..nonsmooth.kinds.every import FEW_BLOCKS, add_step_sums
from ..nonsmooth.problem import Problem
from ..nonsmooth.solvers.sweeping import extrapolate
from ..papers.stored_rows import StoredRows
from ..parallel import Team
from ..parallel.barrier import wait
from ..parallel.crew import Crew
from ..parallel.team import LEAST
from ..simulation import Simulation, make_settings
from .settled import settled_box, turning_drum
from .timing import REPEATS, Talk, about, warn_of_few_cores

PAPER = "about 6 at 8 threads without cached rows, then no more (Fig. 2.9, drum of 100 000)"
STEPS = 10  # of one measurement of whole steps
MEETINGS = (100, 1100)  # of two measurements, which differ in nothing else
TRIES = 100  # each lasts less than the time after which another process gets a core
ENOUGH = 2.0  # [s] of tries on a machine that is busy with something else
DRUM_SWEEPS = 3  # of one measurement: short, so that it is sometimes undisturbed
CELLS = (4, 8, 16, 24)  # widths of PP's cells [d]
JACOBIANS = ("recomputed", "cached", "both")


def measure_parallel(
    count: int = 20_000,
    rows: int = 6,
    iterations: int = 50,
    threads: int = 2,
    drum: int = 100_000,
    jacobian: Literal["recomputed", "cached", "both"] = "both",
    output: Path | None = None,
    talk: Talk = print,
) -> dict[str, Any]:
    """Speed-up of the solve and of the whole step with ``threads`` threads, and what the graph of a sweep allows for more.

    Measured is a settled box of ``count`` grains; predicted are that box and a turning drum of ``drum`` grains (0: no drum). ``jacobian``:
    plain sweeps with rows computed anew, with stored ones, or both. ``output``: a picture of the curves.
    """
    known_name("jacobian", jacobian, JACOBIANS)
    team = Team(threads)
    warn_of_few_cores(threads)
    if drum < 0:
        raise InputError(f"drum must be 0 (no drum) or a number of grains (got {drum}).")
    box = settled_box(count, rows, talk)
    turning = turning_drum(drum, talk) if drum else None
    talk("measuring")
    barrier = barrier_seconds(2)
    whole = step_seconds(box, iterations, threads)
    box.step()
    result: dict[str, Any] = {"benchmark": "parallel", **about(box, rows), "threads": threads, "iterations": iterations}
    solves = solve_seconds(box.nonsmooth.problem, iterations, team, jacobian)
    result["measured"] = {
        "solve_speed_up": solves["momentum"][0] / solves["momentum"][1],
        "step_speed_up": whole["seconds"][0] / whole["seconds"][1],
        "same_bits": whole["same_bits"],
        "barrier_nanoseconds": 1e9 * barrier,
        "milliseconds_per_step": {"1 thread": 1e3 * whole["seconds"][0], f"{threads} threads": 1e3 * whole["seconds"][1]},
    }
    per_contact = 1e9 / max(1, box.nonsmooth.problem.contact_count)
    result["rows_of_plain_sweeps"] = {
        name: {"speed_up": one / many, "ns_per_contact_iteration": one * per_contact}
        for name, (one, many) in solves.items()
        if name != "momentum"
    }
    result["predicted"] = {"box": predict(box, solves, barrier)}
    if turning is not None:
        turning.nonsmooth.detector.detect(turning.bodies, turning.time_step)
        turning.nonsmooth.prepare(turning.time_step, turning.scene.gravity.at(turning.time))
        sweeps = solve_seconds(turning.nonsmooth.problem, DRUM_SWEEPS, Team(1), jacobian)
        result["predicted"]["drum"] = {"grains": turning.grain_count, **predict(turning, sweeps, barrier)}
    result |= {"formula": FORMULA, "left_out": LEFT_OUT, "paper": PAPER}
    if output is not None:
        from ..papers.figures.speed_up import draw_speed_up

        result["figure"] = str(draw_speed_up(result, output))
    return result


def colour_graph(problem: Problem) -> ColourGraph:
    """Of an assembled problem."""
    blocks, singles = np.diff(problem.blocks.colour_block), np.diff(problem.blocks.full_first)
    return ColourGraph(blocks[blocks > 0], singles[:COLOURS][singles[:COLOURS] > 0], int(singles[COLOURS]), FEW_BLOCKS)


def predict(sim: Simulation, solves: dict[str, tuple[float, float]], barrier: float) -> dict[str, Any]:
    """Numbers of the graph and S(p) of every kind of sweep; PP's zones beside."""
    problem, graph = sim.nonsmooth.problem, colour_graph(sim.nonsmooth.problem)
    single = single_seconds(problem)
    bodies, sums = momentum_seconds(problem)
    speed_up, costs = {}, {}
    for name, (one, _) in solves.items():
        extra = (bodies, sums) if name == "momentum" else (0.0, 0.0)
        block = max(0.0, one - sum(extra)) / max(1, graph.work)
        costs[name] = SweepCost(block, single, barrier, *extra)
        speed_up[name] = {str(p): graph.speed_up(costs[name], p) for p in THREADS}
    c, diameter = sim.nonsmooth.detector.contacts, 2 * float(sim.radius.mean())
    zones = {}
    for width in CELLS:
        zone = ZoneGraph.of(np.asarray(sim.position), c.a, c.b, width * diameter)
        zones[f"{width} d"] = {
            "zones": len(zone.contacts),
            "work": zone.work,
            "span": zone.span,
            "speed_up": {str(p): zone.speed_up(costs["momentum"], p) for p in THREADS},
        }
    cost, met = costs["momentum"], graph.barriers + 1
    moved = moved_bytes(problem)
    alone = (graph.left_over * cost.contact + cost.sums) * 1e6
    return {
        "contacts": problem.contact_count,
        "colours": len(graph.blocks),
        "work_blocks": graph.work,
        "span_blocks": graph.span,
        "barriers_per_sweep": met,
        "block_nanoseconds": 1e9 * cost.block,
        "bodies_microseconds": 1e6 * bodies,
        "alone_microseconds": alone,
        "work_over_span": graph.limit(cost),
        "megabytes_per_sweep": 1e-6 * moved,
        "gigabytes_per_second_at_8": 1e-9 * moved / graph.seconds(cost, 8),
        "formula": f"T_p = sum over {len(graph.blocks)} colours of ceil(B_c / p) {1e9 * cost.block:.0f} ns + {1e6 * bodies:.1f} us / p "
        f"+ {met} barriers of {1e9 * barrier:.0f} ns p / 2 + {alone:.1f} us; B_c = {', '.join(map(str, graph.blocks))}",
        "speed_up": speed_up,
        "zones": zones,
    }


def moved_bytes(problem: Problem) -> int:
    """That a sweep with momentum reads and writes in order: contacts, their impulses now and before, body slots; bodies come on top."""
    kept = problem.rows + 1
    return problem.colour_blocks * LANES * (8 * (problem.blocks.fields + 3 * kept) + 8)


def solve_seconds(problem: Problem, iterations: int, team: Team, jacobian: str) -> dict[str, tuple[float, float]]:
    """Seconds of a sweep with one thread and with the team, of sweeps with momentum and of plain ones by kind of rows: best of several."""
    body, data, teams = problem.packed.body.copy(), problem.blocks.data.copy(), (Team(1), team)
    runs: dict[str, Any] = {"momentum": lambda: PGS(iterations=iterations).solve(problem, measure=False)}
    if jacobian != "cached":
        runs["recomputed"] = lambda: PGS(iterations=iterations, momentum=False).solve(problem, measure=False)
    if jacobian != "recomputed":
        stored = StoredRows(problem)
        start = stored.impulse.copy()
        runs["cached"] = lambda: stored.sweep(iterations)
    best = {name: [np.inf, np.inf] for name in runs}
    for _ in range(2 * REPEATS):  # the first may compile; the fastest counts
        for name, solve in runs.items():
            for k, problem.team in enumerate(teams):
                problem.packed.body[:], problem.blocks.data[:] = body, data
                if name == "cached":
                    stored.impulse[:] = start
                began = perf_counter()
                solve()
                best[name][k] = min(best[name][k], perf_counter() - began)
    problem.packed.body[:], problem.blocks.data[:], problem.team = body, data, teams[0]
    return {name: (one / iterations, many / iterations) for name, (one, many) in best.items()}


def step_seconds(sim: Simulation, iterations: int, threads: int) -> dict[str, Any]:
    """Seconds of a whole step with one thread and with several, and whether both end with the same bits.

    Both take the same steps in turn, several times over; the fastest try of each step counts.
    """
    saved, how = sim.checkpoint(), make_settings(sim.settings.model_dump(), {"stepper": {"solver": {"iterations": iterations}}})
    seconds, digests = np.full((2, STEPS), np.inf), set()
    for _ in range(4):
        sims = [Simulation.restore(sim.scene, how.model_copy(update={"threads": n}), copy.deepcopy(saved)) for n in (1, threads)]
        for step in range(STEPS):
            for k, one in enumerate(sims):
                began = perf_counter()
                one.step()
                seconds[k, step] = min(seconds[k, step], perf_counter() - began)
        digests |= {state_hash(one.position, one.orientation, one.velocity, one.spin) for one in sims}
    return {"seconds": seconds.mean(axis=1), "same_bits": len(digests) == 1}


@kernel
def meet(crew: Crew, times: int) -> None:
    """All threads meet that many times, with nothing to do in between."""
    _, threads, barrier = crew
    for _ in range(times):
        wait(barrier, threads)


def barrier_seconds(threads: int) -> float:
    """Of one barrier: more and fewer meetings of a team that is called alike, the best of many tries."""
    team, best, first = Team(threads), [np.inf, np.inf], perf_counter()
    for _ in range(TRIES):
        if perf_counter() - first > ENOUGH and best[1] < np.inf:
            break
        for k, times in enumerate(MEETINGS):
            began = perf_counter()
            team.run(meet, threads * LEAST, times)
            best[k] = min(best[k], perf_counter() - began)
    few, many = best
    return (many - few) / (MEETINGS[1] - MEETINGS[0]) if many > few else many / MEETINGS[1]


@kernel
def move_ahead(body: FloatArray, body_before: FloatArray, bodies: int, times: int) -> None:
    """What momentum does to the velocities of all bodies before a sweep."""
    for _ in range(times):
        extrapolate(body, body_before, 0, bodies, 0.0)


@kernel
def add_sums(sums: FloatArray, blocks: ContactBlocks, times: int) -> float:
    """What momentum does after a sweep."""
    total = 0.0
    for _ in range(times):
        ahead, square, _whole = add_step_sums(blocks, sums)
        total += ahead + square
        sums[0] = 0.5 * sums[1]  # so that no round is left out
    return total


def momentum_seconds(problem: Problem) -> tuple[float, float]:
    """t_bodies, and the sums, of one sweep with momentum on one thread [s]."""
    times, best = 20, [np.inf, np.inf]
    sums = problem.momentum.sums.copy()
    for _ in range(REPEATS + 1):
        began = perf_counter()
        move_ahead(problem.packed.body, problem.momentum.body_before, problem.packed.yielding, times)
        middle = perf_counter()
        add_sums(sums, problem.blocks, times)
        best = [min(best[0], middle - began), min(best[1], perf_counter() - middle)]
    return best[0] / times, best[1] / times


def single_seconds(problem: Problem) -> float:
    """Of one contact that is swept by itself [s]."""
    body, data = problem.packed.body.copy(), problem.blocks.data.copy()
    solver, best = PGS(iterations=2, momentum=False, order="given"), np.inf
    for _ in range(3):
        problem.packed.body[:], problem.blocks.data[:] = body, data
        began = perf_counter()
        solver.solve(problem, measure=False)
        best = min(best, perf_counter() - began)
    problem.packed.body[:], problem.blocks.data[:] = body, data
    return best / 2 / max(1, problem.contact_count)
