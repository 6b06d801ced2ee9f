"""Whether the code of an instruction's row gives what the manual says, for all values of its operands."""

from __future__ import annotations

from typing import Any

import z3

from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.plan.kernel import Request
from ptx2amd.target import target
from ptx2amd.translate import parse
from tests.lower.alu_programs import Case, all_cases, constant_text, register_class
from tests.proofs import comparisons as comparisons  # which have definitions too
from tests.proofs import conversions as conversions
from tests.proofs import floats, other_solver, terms
from tests.proofs.definitions import DEFINITIONS, Definition
from tests.proofs.ir import Run
from tests.proofs.numbers import elements

FAMILIES = ("integer", "extended", "bits", "compare", "convert", "video")
PARTLY = ("float",)  # with instructions that have no definition
ANY_TYPE = ("cvt", "selp", "set", "setp", "slct")  # have one definition for integers and floats
PAD = "mov.f32 %pad, 0f3F800000; add.f32 %pad, %pad, %pad; add.f32 %pad, %pad, %pad;"  # f32 denormals are kept
BY_BYTES = ("bfe.s64",)  # z3 needs the position and the length as constants
BY_BASE = ("fns.b32",)  # Bitwuzla needs the base as a constant, and the sign
NOT_Z3 = ("cvt.rn.bf16.u64", "cvt.rn.bf16.s64")  # Bitwuzla alone, as z3 does not decide these in minutes
CARRIES = ("addc", "subc", "madc")  # read the flag
HEAD = ".version 9.3\n.target sm_120a\n.address_size 64\n"


def _bits(ptype: str) -> int:
    kind = register_class(ptype)
    return 1 if kind == "pred" else int(kind[1:])


def program(case: Case) -> str:
    """A kernel that reads a case's operands from its parameters, and stores the results 8 bytes apart."""
    parameters, declared, loads, stores = [".param .u64 out"], [".reg .b64 %out;"], ["ld.param.u64 %out, [out];"], []
    texts: dict[str, str] = {}
    if case.form.mnemonic in CARRIES:
        parameters.append(".param .b32 in_carry")
        loads.append("ld.param.u32 %word, [in_carry]; add.cc.u32 %word, %word, 0xffffffff;")
    for name, ptype, _ in case.operands:
        if name in dict(case.constants):
            texts[name] = constant_text(dict(case.constants)[name], ptype)
            continue
        kind, register = register_class(ptype), f"%{name}"
        declared.append(f".reg .{kind} {register};")
        texts[name] = register
        if name in "depq":
            at = 8 * len(stores)
            word = f"selp.u32 %word, 1, 0, {register}; st.global.u32 [%out+{at}], %word;"
            stores.append(word if kind == "pred" else f"st.global.{kind} [%out+{at}], {register};")
        elif kind == "pred":
            parameters.append(f".param .b32 in_{name}")
            loads.append(f"ld.param.u32 %word, [in_{name}]; setp.ne.u32 {register}, %word, 0;")
        else:
            parameters.append(f".param .{kind} in_{name}")
            loads.append(f"ld.param.{kind} {register}, [in_{name}];")
        mods = dict(case.mods)
        if part := mods.get(f"{name}sel"):
            texts[name] += "." + {"2": "h", "4": "b"}.get(case.form.mnemonic[-1], "") + part
        if name in mods.get("minus", ""):
            texts[name] = f"-{texts[name]}"
    pad = [PAD] if any("f" in ptype for _, ptype, _ in case.operands) else []
    if ".cc" in case.opcode:
        stores.insert(0, f"addc.u32 %word, 0, 0; st.global.u32 [%out+{8 * len(stores)}], %word;")
    names = [name for name, _, _ in case.operands]
    if "|" in case.form.operands:
        texts[names[0]] += "|" + texts.pop(names[1])
    body = " ".join(
        [
            *declared,
            ".reg .b32 %word; .reg .f32 %pad;",
            *pad,
            *loads,
            f"{case.opcode} {', '.join(texts.values())};",
            *stores,
            "ret;",
        ]
    )
    return f"{HEAD}.visible .entry k({', '.join(parameters)}) {{ {body} }}\n"


def ir(text: str, chip: str) -> str:
    """The kernel as the lowering writes it."""
    lowering = ModuleLowering(parse(text, "proof.ptx"), Request(target(chip)))
    lowering.kernel("k")
    return lowering.ir()


def definition(case: Case) -> Definition | None:
    """What the manual says of its instruction."""
    mnemonic = case.form.mnemonic
    if mnemonic not in ANY_TYPE and case.sources and "f" in (t := case.sources[0][1]):
        return floats.FLOATS.get(mnemonic) if elements(t)[0] in ("f32", "f64") else None
    if mnemonic == "cvt" and not conversions.defined(dict(case.mods)):
        return None
    starts = ".cc" in case.opcode and mnemonic not in CARRIES
    return DEFINITIONS.get(f"{mnemonic}.cc" if starts else mnemonic)


def cases() -> list[Case]:
    """Those with a definition."""
    return [case for family in FAMILIES + PARTLY for case in all_cases(family) if definition(case)]


def counterexample(case: Case, chip: str, seconds: float, code: Case | None = None) -> str | None:
    """None: proven. Else values of the operands for which code and manual differ; raises TimeoutError. code: the case
    whose code to take, for tests."""
    text = ir(program(code or case), chip)
    if case.opcode in BY_BYTES:
        return by_bytes(case, text, seconds)
    if case.opcode in BY_BASE:
        return by_base(case, text, seconds)
    if case.opcode in NOT_Z3:
        return other_solver.model(z3.And(*_solver(case, text, seconds).assertions()), seconds)
    with terms.abstract():
        if _solver(case, text, seconds).check() == z3.unsat:
            return None
    solver = _solver(case, text, seconds)
    match solver.check():
        case z3.unsat:
            return None
        case z3.sat:
            return f"{case.opcode} {dict(case.mods)}: {solver.model()}"
    return other_solver.model(z3.And(*solver.assertions()), seconds)


def by_bytes(case: Case, text: str, seconds: float) -> str | None:
    """As counterexample, for each value of two operands' lowest bytes below 64, and for the others in three parts."""
    whole = z3.And(*_solver(case, text, seconds).assertions())
    for first in lowest_bytes("b"):
        half = z3.simplify(z3.substitute(whole, first))
        for second in lowest_bytes("c"):
            part = z3.simplify(z3.substitute(half, second))
            if z3.is_false(part):
                continue
            solver = z3.SolverFor("QF_UFBV")
            solver.set("timeout", int(seconds * 1000))
            solver.add(part)
            match solver.check():
                case z3.sat:
                    return f"{case.opcode}: b = {first[1]}, c = {second[1]}: {solver.model()}"
                case z3.unknown:
                    raise TimeoutError(case.opcode)
    return None


def by_base(case: Case, text: str, seconds: float) -> str | None:
    """As counterexample, for each base below 32 and each sign of the offset, and for other bases."""
    whole = z3.And(*_solver(case, text, seconds).assertions())
    base, offset = z3.BitVec("b", 32), z3.BitVec("c", 32)
    parts = [z3.And(z3.UGT(base, 31), whole)]
    for n in range(32):
        part = z3.substitute(whole, (base, z3.BitVecVal(n, 32)))
        parts += [z3.And(sign, part) for sign in (offset < 0, offset == 0, offset > 0)]
    for part in parts:
        if wrong := other_solver.model(z3.simplify(part), seconds):
            return f"{case.opcode}: {wrong}"
    return None


def lowest_bytes(name: str) -> list[tuple[z3.BitVecRef, z3.BitVecRef]]:
    """An operand, and what it may be: with a lowest byte below 64, or with one whose upper two bits are not 0."""
    upper, rest = z3.BitVec(f"{name}_upper", 24), z3.BitVec(f"{name}_rest", 6)
    values = [z3.Concat(upper, z3.BitVecVal(k, 8)) for k in range(64)]
    values += [z3.Concat(upper, z3.BitVecVal(k, 2), rest) for k in (1, 2, 3)]
    return [(z3.BitVec(name, 32), value) for value in values]


def _solver(case: Case, text: str, seconds: float) -> z3.Solver:
    """Asks whether there are operands for which code and manual differ."""
    mods: dict[str, Any] = {**dict(case.mods), "name": case.form.mnemonic, "opcode": case.opcode}
    values: dict[str, z3.BitVecRef] = {}
    parameters: dict[int, z3.BitVecRef] = {0: z3.BitVec("out", 64)}
    sources = [(name, ptype) for name, ptype, _ in case.operands if name not in "depq"]
    end = 8
    for name, ptype in [("carry", "pred")] * (case.form.mnemonic in CARRIES) + sources:
        if name in dict(case.constants):
            values[name] = z3.BitVecVal(dict(case.constants)[name], 32)
            continue
        if _bits(ptype) == 1:
            word = z3.BitVec(name, 32)
            values[name] = z3.If(word != 0, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        else:
            word = values[name] = z3.BitVec(name, _bits(ptype))
        size = word.size() // 8
        at = -(-end // size) * size
        parameters[at], end = word, at + size
    run = Run(parameters).kernel(text)
    types = {name: ptype for name, ptype, _ in case.operands}
    meaning = definition(case)
    assert meaning is not None
    wanted = meaning(mods, values, types)
    differs = list(run.forbidden)
    results = [name for name, _, _ in case.operands if name in "depq"] + ["carry"] * (".cc" in case.opcode)
    for at, name in enumerate(results):
        differs.append(different(wanted[name], run.stored[8 * at]))
    solver = z3.SolverFor("QF_FPBV" if run.machine.used else "QF_UFBV")
    solver.set("timeout", int(seconds * 1000))
    solver.add(*run.machine.assumed, z3.Or(differs), z3.Not(wanted.get("open", z3.BoolVal(False))))
    return solver


def different(want: Any, got: z3.BitVecRef) -> z3.BoolRef:
    """Whether the bits of a result are not what is wanted. Of a float that is NaN any bits of NaN will do; of several
    floats each is compared, the lowest first."""
    if isinstance(want, list):
        n = got.size() // len(want)
        return z3.Or([different(part, z3.Extract(n * i + n - 1, n * i, got)) for i, part in enumerate(want)])
    if isinstance(want, z3.FPRef):
        return z3.fpBVToFP(got, want.sort()) != want
    return (z3.ZeroExt(got.size() - want.size(), want) if want.size() < got.size() else want) != got
