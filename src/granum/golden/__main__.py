"""``python -m granum.golden``: compare this machine's bits with the golden ones, or write these anew."""

from __future__ import annotations

import argparse
import json
import sys

from ..checks import InputError, known_name
from . import SCENES, compute, expected, mismatches, write


def main() -> int:
    """Exit code 0: equal, 1: some hashes differ, 2: bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m granum.golden",
        description="Compute the golden scenes and compare their hashes with those that granum was published with.",
    )
    parser.add_argument("--scene", action="append", metavar="NAME", help=f"only this one; repeatable: {', '.join(SCENES)}")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write all hashes anew: for a change that moves bits on purpose")
    parser.add_argument("--json", action="store_true", help="the hashes of this machine as one JSON object on stdout")
    given = parser.parse_args()
    try:
        if given.write:
            write()
            print("wrote the golden hashes. Say in CHANGELOG.md that bits have moved, and why.", file=sys.stderr)
            return 0
        names = [known_name("golden scene", name, SCENES) for name in given.scene or SCENES]
        reference = expected()
        found = compute(names, given.threads)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    other = mismatches(found, reference)
    if given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:10} {found[name][:16]}  {'differs' if name in other else 'equal'}" for name in names))
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
