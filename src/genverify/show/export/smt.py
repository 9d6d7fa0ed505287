"""SMT-LIB 2: the rows and the opposite of the goal, over whole numbers; `unsat` means verified. For cvc5, z3 and others."""

from collections.abc import Iterator, Sequence

from genverify.show.export.program import AT_MOST, CLAIM, NEVER, Program
from genverify.show.export.words import header, unique_names

HOW = ("Format: SMT-LIB 2, linear arithmetic of whole numbers. unsat: the goal is true of every dataset; sat: it is not",)


def smt_text(program: Program) -> str:
    """The script as one text."""
    return "\n".join([*(f"; {line}" for line in header(program, HOW)), *_script(program), ""])


def _script(program: Program) -> Iterator[str]:
    yield "(set-logic QF_LIA)"
    for place in range(len(program.kinds)):
        yield f"(declare-const z{place} Int)"
        yield f"(assert (>= z{place} 0))"
    names = unique_names(program.rows.items())
    for key, row in program.rows.items():
        total = _sum(program.added[key])
        said = f"(= {total} {row.lo})" if row.lo == row.hi else f"(<= {row.lo} {total} {row.hi})"
        yield f"(assert (! {said} :named |{names[key]}|))"
    if program.question.goal != NEVER:
        yield f"(assert (! {_opposite(program)} :named |not_the_goal|))"
    yield "(check-sat)"


def _opposite(program: Program) -> str:
    """The goal is false: more than m records, or fewer."""
    m, count = program.question.m, _sum(program.added[CLAIM])
    return f"(> {count} {m})" if program.question.goal == AT_MOST else f"(< {count} {m})"


def _sum(values: Sequence[int]) -> str:
    terms = [f"z{place}" if value == 1 else f"(* {value} z{place})" for place, value in enumerate(values) if value]
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "0"
