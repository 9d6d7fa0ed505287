"""
Moves per CPU second of counting: states in a dictionary (before) and packed into sorted arrays (after), on the same blocks.

    python tests/scale/counting.py results/paper/release/000.parquet [blocks]
"""

import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from dictionary_count import count_by_dictionary
from genverify.core.release import read_releases, read_schema
from genverify.solve.counting.diagram import draw_diagram
from genverify.solve.counting.passes import count_vectors
from genverify.solve.program import build_program

MOST_CLASSES = 130  # more would keep the dictionary busy for minutes


def main() -> None:
    counts, most = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6
    done, before, after = 0, [0, 0.0], [0, 0.0]
    for release in read_releases(counts, read_schema(counts.parent / "schema.json")):
        program = build_program(release, 2_000_000)
        if program.classes > MOST_CLASSES or done == most:
            continue
        started = process_time()
        slow, moves = count_by_dictionary(program.A, program.lo, program.hi)
        middle = process_time()
        diagram = draw_diagram(program)
        fast = count_vectors(diagram)
        assert slow == fast, "the two counts differ"
        before = [before[0] + moves, before[1] + middle - started]
        after = [after[0] + diagram.moves, after[1] + process_time() - middle]
        done += 1
    print(f"{done} blocks, the same counts from both.")
    for name, (moves, seconds) in {"dictionary": before, "arrays": after}.items():
        print(f"{name}: {moves} moves in {seconds:.2f} core-seconds, {moves / seconds:,.0f} per second")
    print(f"{before[1] / after[1]:.0f} times faster")


if __name__ == "__main__":
    main()
