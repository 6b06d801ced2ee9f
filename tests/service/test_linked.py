"""Linked images: NVIDIA's device runtime library among their parts, or what our cuLink has in its place, goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd.service import entry, translation
from ptx2amd.service.entry import Entry
from ptx2amd.service.protocol import Message
from tests.bad_input.driver import fatbin

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
PROGRAM = f"""{HEAD}.extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 f);
.extern .func (.param .b32 e) __cudaCDP2GetLastError();
.visible .entry k(.param .u64 p) {{ .reg .b64 %rd;
  {{ .param .b64 h; .param .b32 f; .param .b32 e; call (e), cudaCGSynchronize, (h, f); }}
  {{ .param .b32 e; call (e), __cudaCDP2GetLastError, (); }} ret; }}
"""
LIBRARY = """.version 9.0
.target sm_121
.address_size 64
.extern .func (.param .b32 r) system_call(.param .b64 b, .param .b64 s);
.entry its_own() { ret; }
.visible .func (.param .b32 r) cudaLaunchDeviceV2(
	.param .b64 b,
	.param .b64 s
)
{ call (r), system_call, (b, s); ret; }
.visible .func (.param .b32 r) __cudaCDP2GetLastError() { trap; }
"""
IN_ITS_PLACE = '.version 1.0\n.target sm_10\n.pragma "ptx2amd device runtime";\n'


def served(cache: Path, operation: str, *parts: str, **more: str) -> Entry:
    body = fatbin(*((1, part.encode()) for part in parts))[16:]
    header = {"op": operation, "module": entry.module_id(body), "encoding": "linked", "cache": str(cache), **more}
    answer = translation.answer(Message(header, body), "build")
    assert answer.header["status"] == "ok", answer.body
    return Entry.unpack(answer.body, "entry")


@pytest.mark.parametrize("library", [LIBRARY, IN_ITS_PLACE], ids=["NVIDIA's", "ours"])
def test_the_device_runtime_library_is_replaced(tmp_path: Path, library: str) -> None:
    index = served(tmp_path, "index", PROGRAM, library)
    lines = index.text.splitlines()
    assert "target 80" in lines and [line for line in lines if line.startswith("kernel ")] == ["kernel k"]
    kernel = served(tmp_path, "kernel", PROGRAM, library, arch="gfx942", kernel="k")
    assert {"launches 1", "launch_words 1"} <= set(kernel.text.splitlines()) and kernel.payload


def test_other_parts_stay(tmp_path: Path) -> None:
    other = f"{HEAD}.visible .func (.param .b32 r) launcher() {{ ret; }}\n.visible .entry second() {{ ret; }}\n"
    index = served(tmp_path, "index", f"{HEAD}.visible .entry first() {{ ret; }}\n", other)
    assert [line for line in index.text.splitlines() if line.startswith("kernel ")] == ["kernel first", "kernel second"]
