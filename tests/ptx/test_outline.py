"""A kernel read alone, by the outline of its module: its code is the same as from the whole module, wherever its text
stands and whatever it names; what is read of a large module does not grow with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd.errors import Ptx2amdError
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.plan.kernel import Request
from ptx2amd.ptx import outline
from ptx2amd.ptx.ast import Module
from ptx2amd.ptx.outline import Outline
from ptx2amd.service import entry, translation
from ptx2amd.service.protocol import Message
from ptx2amd.target import target
from ptx2amd.translate import module_outline, parse, parse_kernel

ROOT = Path(__file__).resolve().parents[1]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FILES = sorted(path for path in ROOT.rglob("*.ptx") if ".entry" in path.read_text(errors="replace"))

#: What parts have to agree on, and what is hard to find: comments with braces and names, several pieces a line,
#: statics, handles, aliases, declarations before definitions, variables that hold addresses.
HARD = (
    HEAD
    + r"""
// .visible .entry gone() { ret; }   /* { */
.file 1 "a.cu"
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.func (.param .b32 r) later(.param .b32 x);
.global .align 4 .u32 first[3] = {1, 2, 3}; .global .u64 table[2] = {taken, generic(first)}; /* two
 lines { */ .const .f32 half = 0f3F000000; .shared .align 8 .b8 pool[64];
.global .u32 unused = 7;
.func (.param .b32 r) taken(.param .b32 x) { .reg .b32 %v; ld.param.b32 %v, [x]; st.param.b32 [r], %v; ret; }
.func other() { .reg .b64 %rd; mov.u64 %rd, taken2; st.global.u64 [table], %rd; ret; }
.func (.param .b32 r) taken2(.param .b32 x) { .reg .b32 %v; .global .u32 count = 5; ld.global.u32 %v, [count];
  st.param.b32 [r], %v; ret; } .visible .entry plain() { ret; }
.func (.param .b32 r) later(.param .b32 x) { .reg .b32 %v; ld.param.b32 %v, [x]; add.u32 %v, %v, 1; // } ret
  st.param.b32 [r], %v; ret; }
.alias same, later;
.func (.param .b32 r) same(.param .b32 x);
.visible .entry statics(.param .u64 p) { .reg .b32 %v; .reg .b64 %rd; .global .u32 count = 9; .const .u32 c = 4;
  { .global .u32 count = 10; ld.global.u32 %v, [count]; }
  ld.param.u64 %rd, [p]; st.global.u32 [%rd], %v; ld.const.u32 %v, [c]; st.global.u32 [%rd+4], %v; ret; }
.visible .entry calls(.param .u64 p) { .reg .b32 %v; .reg .b64 %rd; .param .b32 a; .param .b32 b;
  ld.param.u64 %rd, [p]; ld.shared.b32 %v, [pool]; st.param.b32 [a], %v; call (b), same, (a); ld.param.b32 %v, [b];
  st.global.u32 [%rd], %v; ld.const.b32 %v, [half]; st.global.u32 [first+4], %v; ret; }
.visible .entry through(.param .u64 p) { .reg .b32 %v; .reg .b64 %rd, %f; .param .b32 a; .param .b32 b;
  ld.param.u64 %rd, [p]; ld.global.u64 %f, [table]; st.param.b32 [a], 3;
  P: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (b), %f, (a), P; ld.param.b32 %v, [b]; st.global.u32 [%rd], %v; ret; }
.visible .entry wrong() { .reg .b32 %v; .reg .b64 %rd; mov.u64 %rd, first; nonsense.u32 %v, 1; ret; }
"""
)
#: What depends on all kernels (the registers of functions) and on all constants.
CALL = "call work, ();"
REGISTERS = f"""{HEAD}.const .u32 c = 1; .const .align 8 .b8 d[40]; .global .u32 g;
.func work() {{ .reg .pred %p; .reg .b64 %rd; isspacep.const %p, %rd; @%p st.global.u32 [g], 1; ret; }}
.visible .entry few() .maxnreg 40 {{ {CALL} ret; }} .visible .entry more() .maxnreg 64 {{ {CALL} ret; }}
.visible .entry asks() {{ .reg .pred %p; .reg .b64 %rd; isspacep.global %p, %rd; @%p st.global.u32 [g], 2; ret; }}
"""
OLD = """.version 1.{minor}
.target {target}
.visible .func (.reg .f32 %r) root (.reg .f32 %x) {{ sqrt.f32 %r, %x; ret; }} .visible .entry k(.param .u64 p)
{{ .reg .f32 %f<4>; .reg .u64 %rd; ld.param.u64 %rd, [p]; ld.global.f32 %f1, [%rd]; mad.f32 %f1, %f1, %f1, %f1;
 div.f32 %f2, %f1, %f1; call (%f3), root, (%f2); st.global.f32 [%rd], %f3; ret; }}
"""
TEXTS = {
    "registers and constants": REGISTERS,
    "registers of some": REGISTERS.replace("asks() {", "asks() .maxnreg 128 {"),
    **{f"PTX 1.{minor}, {target}": OLD.format(minor=minor, target=target) for minor in (3, 4) for target in ("sm_13",)},
    "hard": HARD,
    "hard, CRLF": HARD.replace("\n", "\r\n"),
    "hard, more bytes than characters": HARD.replace("a.cu", "\N{GREEK SMALL LETTER ALPHA}.cu") + "\0\0",
    **{str(path.relative_to(ROOT)): path.read_text(errors="replace") for path in FILES},
}


def lowered(module: Module, kernel: str, arch: str) -> tuple[str, str]:
    """A kernel's IR and plan, or why there are none."""
    lowering = ModuleLowering(module, Request(target(arch), "kernel", True))
    try:
        lowering.kernel(kernel)
    except Ptx2amdError as error:
        return "refused", str(error)
    return lowering.ir(), str(lowering.plans[kernel])


@pytest.mark.parametrize("name", TEXTS)
def test_a_kernel_read_alone_is_the_same(name: str) -> None:
    text = TEXTS[name]
    try:
        module = parse(text, name)
    except Ptx2amdError:
        pytest.skip("a module with an error")
    found = Outline.unpack(module_outline(text, module).pack())
    for kernel in [name for name, function in module.functions.items() if function.kind == "entry" and function.text]:
        alone = parse_kernel(text, name, found, kernel)
        assert alone is not None
        assert lowered(alone, kernel, "gfx942") == lowered(parse(text, name), kernel, "gfx942"), kernel


@pytest.mark.parametrize("kernel", ["plain", "statics", "calls", "through"])
def test_the_hard_kernels_are_translated(kernel: str) -> None:
    assert lowered(parse(HARD), kernel, "gfx942")[0] != "refused"


def test_what_is_not_named_is_not_read() -> None:
    found = module_outline(HARD, parse(HARD))
    alone = parse_kernel(HARD, "m", found, "statics")
    assert alone is not None
    assert {"plain", "calls", "other"}.isdisjoint(alone.functions) and "unused" not in alone.variables
    assert {"taken", "taken2"} <= alone.functions.keys(), "calls through addresses reach those that have one"
    assert parse_kernel(HARD, "m", found, "gone") is None


def large(kernels: int) -> str:
    lines = "".join(f"add.u32 %r{n % 7}, %r{(n + 1) % 7}, {n};\n" for n in range(60))
    body = "{\n.reg .b32 %r<8>;\n" + lines + "ret;\n}\n"
    functions = "".join(f".func helper_{n}() {body}" for n in range(kernels))
    return (
        HEAD
        + functions
        + "".join(
            f".visible .entry kernel_{n}(.param .u64 p)\n{body[:-7]}call helper_{n}, ();\nret;\n}}\n"
            for n in range(kernels)
        )
    )


def test_what_is_read_of_a_large_module_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    texts = {kernels: large(kernels) for kernels in (10, 400)}
    outlines = {kernels: module_outline(text, parse(text)) for kernels, text in texts.items()}
    prepare = outline.prepare

    def counting(text: str) -> str:
        read[-1] += len(text)
        return prepare(text)

    monkeypatch.setattr(outline, "prepare", counting)
    for kernels, text in texts.items():
        read.append(0)
        module = parse_kernel(text, "m", outlines[kernels], "kernel_5")
        assert module is not None and module.functions.keys() == {"kernel_5", "helper_5"}
    assert read[0] == read[1] < len(texts[400]) / 100


def asked(body: bytes, cache: Path, **header: str) -> Message:
    common = {
        "module": entry.module_id(body),
        "encoding": "none",
        "size": str(len(body)),
        "cache": str(cache),
        "name": "m",
    }
    return translation.answer(Message({**common, **header}, body), "build")


def test_the_service_reads_a_kernel_by_the_outline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = large(60).encode()
    assert len(body) > translation.LARGE
    tmp_path.chmod(0o700)
    whole = asked(body, tmp_path / "other", op="kernel", arch="gfx942", kernel="kernel_7")
    index = asked(body, tmp_path, op="index")
    assert index.header["stored"] == "1" and int(index.header["written"]) > len(index.body)

    def refuse(*_: object) -> Module:
        raise AssertionError("the whole module was read")

    monkeypatch.setattr(translation, "module_of", refuse)
    alone = asked(body, tmp_path, op="kernel", arch="gfx942", kernel="kernel_7")
    assert alone.header["status"] == "ok", alone.body
    assert entry.Entry.unpack(alone.body, "").payload == entry.Entry.unpack(whole.body, "").payload


@pytest.mark.parametrize("damage", [b"", b"x", b"nothing"])
def test_without_an_outline_the_module_is_read(tmp_path: Path, damage: bytes) -> None:
    body = large(60).encode()
    tmp_path.chmod(0o700)
    asked(body, tmp_path, op="index")
    path = tmp_path / (key := entry.outline_key(entry.module_id(body), "build"))[:2] / f"{key}.p2a"
    if damage == b"nothing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + damage)
    found = asked(body, tmp_path, op="kernel", arch="gfx942", kernel="kernel_7")
    assert found.header["status"] == "ok", found.body
    assert asked(body, tmp_path, op="kernel", arch="gfx942", kernel="no_such").header["status"] == "error"
