"""z3 and cvc5 on SMT-LIB scripts, where they are installed."""

import importlib.util
from collections.abc import Callable

import pytest

INSTALLED = [name for name in ("z3", "cvc5") if importlib.util.find_spec(name)]
SOLVERS = [
    pytest.param(name, marks=pytest.mark.skipif(name not in INSTALLED, reason=f"the package of {name} is not installed"))
    for name in ("z3", "cvc5")
]


def solver(name: str) -> Callable[[str], str]:
    return {"z3": with_z3, "cvc5": with_cvc5}[name]


def with_z3(text: str) -> str:
    import z3

    asked = z3.Solver()
    asked.from_string(text)
    return str(asked.check())


def with_cvc5(text: str) -> str:
    import cvc5

    asked = cvc5.Solver()
    parser = cvc5.InputParser(asked)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    symbols, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(asked, symbols)
    return said.strip()
