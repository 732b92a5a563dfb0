"""Which process runs which file of tests, where two share them (``pytest -n 2 --dist loadfile``).

Much of a fresh run is compilation, and two processes that need the same kernels at the same time compile them both. So files stand in the
order of the kernels that they need, and the two processes take them from the two ends: they meet in the middle, among those that need what
one of them has compiled long before.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

# Words in the names of files, from one end to the other; a file that has none of them stands in the middle.
FAMILIES = (
    ("machines", "joint", "loops", "excavator", "urdf", "regulator", "laboratory", "links", "shear_cell", "recorded_loads"),
    ("body_", "capsules", "rollers", "locked_axes", "fixed_grains", "free_turn", "driven_paths", "motion"),
    ("direct", "multigrid", "coarse", "fclib", "solve", "impact", "threads"),
    (),
    ("reduction", "aggregates", "mr", "shadow", "approximation"),
    ("smooth", "sn", "drums", "plan", "cost_model"),
    ("pack", "jam", "em", "minimisers", "cholesky"),
)
MIDDLE = FAMILIES.index(())


def family(path: str) -> int:
    """Where the file of a test stands."""
    name = path.split("::")[0].rsplit("/", 1)[-1].removeprefix("test_").removesuffix(".py")
    for number, words in reversed(list(enumerate(FAMILIES))):
        if any(word in name if len(word) > 2 else word in name.split("_") for word in words):
            return number
    return MIDDLE


class FromBothEnds(LoadFileScheduling):
    """Every second process takes the last file that is left instead of the first."""

    def _assign_work_unit(self, node) -> None:
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
