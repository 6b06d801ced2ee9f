"""The solver Bitwuzla, for terms of z3 that z3 does not decide in time."""

from __future__ import annotations

import bitwuzla
import z3


def model(condition: z3.BoolRef, seconds: float) -> str | None:
    """None: no values fulfil the condition. Else such values; raises TimeoutError."""
    solver = z3.Solver()
    solver.add(condition)
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(seconds * 1000))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(f"(set-logic ALL)\n{solver.to_smt2()}", True, False)
    second = parser.bitwuzla()
    match second.check_sat():
        case bitwuzla.Result.UNSAT:
            return None
        case bitwuzla.Result.SAT:
            values = [f"{name.symbol()} = {second.get_value(name)}" for name in parser.get_declared_funs()]
            return ", ".join(values)
    raise TimeoutError
