"""Generators ask a row's fields, and guess nothing from its name or its statements.

Protects: a new row cannot become wrong because its name looks like another one's, and a generator that looks at names
or text is found here, not by a kernel's result.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ptx2amd.vgpu import generate
from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.meaning import Branch, Call, Matrix, waits
from ptx2amd.vgpu.isa.op import Op, opcodes
from ptx2amd.vgpu.isa.table import all_ops, memory_ops, scalar_ops, vector_ops

GENERATORS = sorted(Path(generate.__file__).parent.glob("gen_*.py"))


def _guesses(source: str) -> list[str]:
    """Expressions that compare or search `.name` or `.semantics` of a row."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if any(isinstance(part, ast.Call) for part in parts):
                continue  # with a value of meaning.py
        elif isinstance(node, ast.Call):
            function = node.func
            parts = [function.value] if isinstance(function, ast.Attribute) else []
            if isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "re":
                parts = list(node.args)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            parts = [node.value, node.slice]
        else:
            continue
        if any(
            isinstance(part, ast.Attribute)
            and part.attr in ("name", "semantics")
            and "op" in ast.unparse(part.value).split(".")
            for part in parts
        ):
            found.append(ast.unparse(node))  # fmt: skip
    return found


def test_the_check_finds_guesses() -> None:
    for text in (
        '"cmpx" in op.name', 'op.name.startswith("s_")', 're.search("_mac_", self.op.name)', "table[op.name]",
        '"EXEC" in op.semantics', 'X.match(op.semantics)', 'op.semantics == ";"',
    ):  # fmt: skip
        expected = text != "X.match(op.semantics)"  # a compiled expression is found by `re.compile` below
        assert bool(_guesses(text)) == expected, text


@pytest.mark.parametrize("path", GENERATORS, ids=lambda path: path.name)
def test_generators_ask_fields(path: Path) -> None:
    source = path.read_text()
    assert _guesses(source) == []
    patterns = [line for line in source.splitlines() if "re.compile" in line]
    assert len(patterns) <= (path.name == "gen_native.py")  # that one reads the notation of sequences


def test_every_row_exists_somewhere() -> None:
    """A row without a number on any architecture has a wrong name."""
    lost = [op.name for op in all_ops() if all(op.opcode(arch) is None for arch in DECODERS)]
    assert lost == []


def test_no_row_is_a_second_one() -> None:
    for arch in DECODERS:
        keys = [("VOP3P" if op.format == "VOP3P_MAI" else op.format, op.opcode(arch)) for op in all_ops()
                if op.opcode(arch) is not None]  # fmt: skip
        assert len(keys) == len(set(keys)), arch


def test_rows_that_set_the_program_counter_say_so() -> None:
    for op in scalar_ops():
        jumps = {"BRANCH", "JUMP"} & op.words()
        never = op.semantics == "BRANCH(false);"
        assert bool(op.branch) == bool(jumps) or never, op.name
        if op.branch:
            assert (op.branch is Branch.RELATIVE) == ("BRANCH" in op.words()), op.name


def test_rows_that_wait_or_control_caches_say_so() -> None:
    """The weak-memory mode takes a wait without a word for nothing, and finds fewer errors."""
    other = {"expcnt", "event", "alu", "xcnt", "asynccnt", "tensorcnt", "depctr"}  # nothing that the mode lets run on
    for op in scalar_ops():
        prefix, _, what = op.name.rpartition("cnt_" if op.name.startswith("s_waitcnt_") else "wait_")
        if prefix in ("s_wait", "s_") and what not in other and op.semantics == ";":
            assert op.order == waits(what), op.name
    controls = {op.name: op.order for op in all_ops() if isinstance(op.semantics, Call)
                and op.semantics.function == "fence" and not op.operands}  # fmt: skip
    assert [name for name, order in controls.items() if (order is None) != (name == "ds_nop")] == []


def test_rows_that_change_exec_say_so() -> None:
    assert [op.name for op in scalar_ops() if op.writes_exec != ("EXEC" in op.assigned())] == []
    assert [op.name for op in vector_ops() if op.writes_exec != op.name.startswith("v_cmpx_")] == []


def test_a_row_with_effects_cannot_be_pure() -> None:
    for text in ("EXEC = A;", "return wave_end(w, i);", "D = M0;", "D = PC_NEXT;", "wave_signal(w);"):
        with pytest.raises(ValueError, match="not pure"):
            Op("s_x", "SOP1", "d:b32, a:b32", text, pure=True)


def test_accesses_agree_with_operands() -> None:
    """The bytes that tools see are the bytes of the row's registers."""
    for op in memory_ops():
        if not op.access or not op.call or op.access.space == "LDS2" or "D16" in "".join(op.call.arguments):
            continue
        name = op.call.function.split("_")[1]
        data = [o for o in op.parse_operands() if o.name == ("d" if name in ("load", "atomic") else "b")]
        if name in ("load", "store") and data:
            assert op.access.bytes <= data[0].bits // 8, op.name
            assert op.access.bytes == data[0].bits // 8 or op.access.bytes < 4, op.name


def test_matrix_rows_have_shapes() -> None:
    shapes = [op for op in vector_ops() if isinstance(op.semantics, Matrix)]
    assert len(shapes) > 80
    for op in shapes:
        x = op.semantics
        assert isinstance(x, Matrix)
        assert f"_{x.m}x{x.n}x{x.k}" in op.name, op.name


def test_handlers_that_modify_are_named_so() -> None:
    """`_all` at the end of a C function says that it applies modifiers itself; so must the row."""
    for op in vector_ops():
        if isinstance(op.semantics, Call):
            assert op.semantics.modifies == op.semantics.function.endswith("_all"), op.name


def test_opcodes_are_listed_once() -> None:
    for arch in DECODERS:
        found: dict[tuple[str, int], str] = {}
        for (fmt, name), numbers in opcodes().items():
            if arch in numbers:
                other = found.setdefault((fmt, numbers[arch]), name)
                assert other == name, (arch, fmt, other, name)
