"""A kernel of a linked image read alone: its code is the same as from the whole, whichever parts define what it names
and what the linker renamed; parts that it does not need are not even unpacked."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd.fatbin import Image
from ptx2amd.fatbin.container import LINKED
from ptx2amd.modules import linked_with_outline, module_of, parse_linked
from ptx2amd.ptx.linked_outline import LinkedOutline
from ptx2amd.service import entry, translation
from ptx2amd.service.protocol import Message
from tests.bad_input.driver import fatbin
from tests.ptx.test_outline import HARD, HEAD, REGISTERS, large, lowered
from tests.service.test_linked import IN_ITS_PLACE, LIBRARY, PROGRAM

SHARED = f"""{HEAD}.extern .global .align 4 .u32 total; .global .align 4 .u32 mine = 3;
.extern .func (.param .b32 r) scaled(.param .b32 x); .extern .shared .align 16 .b8 pool[];
.func (.param .b32 r) own(.param .b32 x) {{ .reg .b32 %v; ld.param.b32 %v, [x]; st.param.b32 [r], %v; ret; }}
.weak .func (.param .b32 r) soft(.param .b32 x) {{ .reg .b32 %v; mov.b32 %v, 1; st.param.b32 [r], %v; ret; }}
.visible .entry uses(.param .u64 p) {{ .reg .b32 %v, %w; .reg .b64 %rd; .param .b32 a, b; ld.param.u64 %rd, [p];
  ld.global.u32 %v, [total]; ld.global.u32 %w, [mine]; add.u32 %v, %v, %w; st.param.b32 [a], %v;
  call (b), scaled, (a); ld.param.b32 %v, [b]; st.param.b32 [a], %v; call (b), own, (a); ld.param.b32 %v, [b];
  st.param.b32 [a], %v; call (b), soft, (a); ld.param.b32 %w, [b]; st.global.u32 [%rd], %v; st.global.u32 [%rd+4], %w;
  ld.shared.u32 %v, [pool]; st.global.u32 [%rd+8], %v; ret; }}
"""
OTHER = f"""{HEAD}.visible .global .align 4 .u32 total = 17; .global .align 4 .u32 mine = 4;
.func (.param .b32 r) own(.param .b32 x) {{ .reg .b32 %v; ld.global.u32 %v, [mine]; st.param.b32 [r], %v; ret; }}
.visible .func (.param .b32 r) scaled(.param .b32 x) {{ .param .b32 a, b; .reg .b32 %v; ld.param.b32 %v, [x];
  st.param.b32 [a], %v; call (b), own, (a); ld.param.b32 %v, [b]; mul.lo.u32 %v, %v, 3; st.param.b32 [r], %v; ret; }}
.visible .func (.param .b32 r) soft(.param .b32 x) {{ .reg .b32 %v; mov.b32 %v, 2; st.param.b32 [r], %v; ret; }}
.visible .entry second(.param .u64 p) {{ .reg .b32 %v; .reg .b64 %rd; ld.param.u64 %rd, [p]; ld.global.u32 %v, [mine];
  st.global.u32 [%rd], %v; ret; }}
"""
LIMIT = '.version 1.0\n.target sm_10\n.pragma "ptx2amd maxnreg 40";\n'
IMAGES = {
    "shared names": (SHARED, OTHER),
    "the other order": (OTHER, SHARED),
    "handles": (HARD, OTHER, SHARED),
    "constants": (SHARED, REGISTERS, OTHER),
    "limits": (SHARED, LIMIT, OTHER),
    "device runtime": (PROGRAM, OTHER, LIBRARY),
    "ours": (IN_ITS_PLACE, PROGRAM),
}


def image(*parts: str) -> Image:
    return Image("ptx", 80, "", (0, 0), LINKED, fatbin(*((1, part.encode()) for part in parts))[16:], 0, "m")


@pytest.mark.parametrize("name", IMAGES)
def test_a_kernel_read_alone_is_the_same(name: str) -> None:
    whole = image(*IMAGES[name])
    module, outline = linked_with_outline(whole)
    assert outline is not None
    found = LinkedOutline.unpack(outline.pack())
    kernels = [name for name, function in module.functions.items() if function.kind == "entry" and function.text]
    assert kernels
    for kernel in kernels:
        alone = parse_linked(whole, found, kernel)
        assert alone is not None
        assert lowered(alone, kernel, "gfx942") == lowered(module_of(whole), kernel, "gfx942"), kernel
    assert lowered(module_of(whole), kernels[0], "gfx942")[0] != "refused"
    assert parse_linked(whole, found, "gone") is None


def test_parts_that_are_not_needed_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = image(*(large(6).replace("helper", f"h{n}").replace("kernel", f"k{n}") for n in range(9)))
    _, outline = linked_with_outline(whole)
    assert outline is not None
    unpacked: list[str] = []
    data = Image.data

    def counting(self: Image) -> bytes:
        unpacked.append(self.origin)
        return data(self)

    monkeypatch.setattr(Image, "data", counting)
    alone = parse_linked(whole, outline, "k4_3")
    assert alone is not None and alone.functions.keys() == {"k4_3", "h4_3"} and len(unpacked) == 1


def test_one_text_has_no_outline() -> None:
    assert linked_with_outline(image(OTHER))[1] is None


def test_the_service_reads_a_kernel_by_the_outline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    body = image(large(60), SHARED, OTHER).stored
    assert len(body) > translation.LARGE
    common = {"module": entry.module_id(body), "encoding": "linked", "size": "0", "name": "m"}

    def asked(cache: str, **header: str) -> Message:
        return translation.answer(Message({**common, "cache": cache, **header}, body), "build")

    whole = asked("", op="kernel", arch="gfx942", kernel="uses")
    assert asked(str(tmp_path), op="index").header["stored"] == "1"
    monkeypatch.setattr(translation, "module_of", lambda *_: pytest.fail("the whole module was read"))
    alone = asked(str(tmp_path), op="kernel", arch="gfx942", kernel="uses")
    assert alone.header["status"] == "ok", alone.body
    assert entry.Entry.unpack(alone.body, "").payload == entry.Entry.unpack(whole.body, "").payload
