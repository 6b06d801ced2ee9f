"""AMD's own HIP libraries above the software KFD: CUDA samples through libcuda, and HIP programs on every chip. The
releases come from Debian's packages, into a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_samples import build, demo
from ptx2amd import launch, native
from ptx2amd.target import chips
from ptx2amd.translate import translate
from tests import ROOT, rocm
from tests.kfd import amd_hip, amd_hip_features, same_bytes, software_kfd

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
SMALL = ("5.7", "7.2")  # the releases of the small tier


@pytest.fixture(scope="module", params=SMALL)
def release(request: pytest.FixtureRequest) -> str:
    amd_hip_prefix(request.param)
    return str(request.param)


def amd_hip_prefix(release: str) -> rocm.Prefix:
    return rocm.prefix(release, amd_hip.packages(release))


@pytest.mark.parametrize("name", build.names())
def test_a_sample_does_what_the_page_says(release: str, name: str) -> None:
    told = json.loads(amd_hip.RESULTS.read_text())["samples"][release][name]["passed"]
    assert told != ((name, release) in amd_hip.WHY)
    if not told:
        pytest.skip(amd_hip.WHY[name, release])
    [program] = build.build_all(demo.OUT, [name]).values()
    outcome = amd_hip.run(amd_hip_prefix(release), program)
    assert outcome.passed, outcome.output[-1000:]


#: Few by default, as each is compiled again: all, and HIP 6.4, on request.
RECORDED = same_bytes.names() if os.environ.get("ALL_SAMPLES") else ["vector_add", "histogram", "mandelbrot"]


@pytest.mark.parametrize("name", RECORDED)
def test_a_sample_copies_the_same_bytes(name: str) -> None:
    """As from our own HIP library, as the page says."""
    told = json.loads(amd_hip.RESULTS.read_text())["bytes"]
    ours = same_bytes.results(name, same_bytes.OURS)
    assert ours == told[same_bytes.OURS][name] and " bytes " in ours
    for release in amd_hip.RELEASES if os.environ.get("ALL_SAMPLES") else SMALL:
        amd_hip_prefix(release)
        if (name, release) not in amd_hip.WHY:
            assert same_bytes.results(name, release) == ours


def test_the_page_is_that_of_the_results() -> None:
    assert amd_hip.PAGE.read_text() == amd_hip.page(json.loads(amd_hip.RESULTS.read_text()))


PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1; @%p ret;
  mul.wide.u32 %rd4, %r5, 4; add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;
  ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd3], %f3; ret; }
"""


@pytest.fixture(scope="module")
def hip_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hip") / "hip_program"
    subprocess.run(["gcc", "-O1", "-w", HERE / "hip_program.c", "-o", path, "-ldl"], check=True)
    return path


def run_hip(
    release: str, program: Path, chip: str, *arguments: str | Path, **settings: str
) -> subprocess.CompletedProcess:
    prefix = amd_hip_prefix(release)
    library = prefix.libraries / f"libamdhip64.so.{rocm.RELEASES[release].hip}"
    environment = {**os.environ, "LD_PRELOAD": str(software_kfd.LIBRARY), "PTX2AMD_DEVICE": f"kfd:{chip}", **settings}
    command = prefix.command(program, library, *arguments)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("chip", ["gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_a_hip_program(release: str, chip: str, hip_program: Path, tmp_path: Path) -> None:
    """From hipInit to a launch of one of our code objects; AMD's own fill and copy kernels run as well."""
    if release == "5.7" and chip == "gfx1201":
        pytest.skip("HIP 5.7 does not know the chip")
    [result] = translate(PTX, "add.ptx", [chip])
    (image := tmp_path / "add.hsaco").write_bytes(result.code)
    done = run_hip(release, hip_program, chip, image)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"1 {chips.devices()[chip]['product']} (ptx2amd software GPU)", "PASS"]


def test_as_a_model(hip_program: Path, tmp_path: Path) -> None:
    """ROCm 7 loads the library itself: nothing is preloaded."""
    [result] = translate(PTX, "add.ptx", ["gfx942"])
    (image := tmp_path / "add.hsaco").write_bytes(result.code)
    model = {"HSA_MODEL_LIB": str(software_kfd.LIBRARY), "HSA_MODEL_TOPOLOGY": str(tmp_path / "gpus" / "topology")}
    settings = {**model, "HSA_ENABLE_INTERRUPT": "0", "LD_PRELOAD": ""}
    done = run_hip("7.2", hip_program, "gfx942", image, **settings)
    assert done.returncode == 0 and "PASS" in done.stdout.splitlines(), done.stdout + done.stderr
    assert (tmp_path / "gpus" / "topology" / "nodes" / "1" / "properties").exists()
    done = run_hip("7.2", hip_program, "gfx942", image, **settings, PTX2AMD_DEVICE="vgpu")
    assert done.returncode and "HSA_MODEL_LIB: PTX2AMD_DEVICE has to be kfd or kfd:ARCH" in done.stderr


@pytest.mark.parametrize("copies", ["0", "1"])
def test_copies_by_kernels_and_by_engines(release: str, copies: str, hip_program: Path, tmp_path: Path) -> None:
    [result] = translate(PTX, "add.ptx", ["gfx942"])
    (image := tmp_path / "add.hsaco").write_bytes(result.code)
    done = run_hip(release, hip_program, "gfx942", image, HSA_ENABLE_SDMA=copies)
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr


def test_a_wrong_access_ends_the_program_as_on_a_chip(release: str, hip_program: Path, tmp_path: Path) -> None:
    """Our report says what was wrong; what follows is AMD's."""
    [result] = translate(PTX.replace("st.global.f32 [%rd3]", "st.global.f32 [%rd4]"), "add.ptx", ["gfx942"])
    (image := tmp_path / "add.hsaco").write_bytes(result.code)
    done = run_hip(release, hip_program, "gfx942", image)
    assert "memory access fault: kernel add: " in done.stderr
    if release == "7.2":  # which tells the program
        assert done.returncode == 1 and "HIP error 700" in done.stdout
    else:
        assert done.returncode == -6 and "Memory access fault by GPU node-1" in done.stderr


def python_on_amd(release: str, *words: str | Path, limit: float = 200) -> subprocess.CompletedProcess[str]:
    """This Python, with our libcuda on the release's HIP library."""
    command = amd_hip_prefix(release).command(sys.executable, *words, before=(native.DIRECTORY,))
    environment = {**os.environ, **launch.environment(device=f"kfd:{amd_hip.CHIP}"), "LD_AUDIT": ""}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit)


#: Beginnings of cases. Of many of their handles, addresses and sizes AMD's library knows that they are wrong only by
#: crashing: libcuda has to know it.
CONFORMING = (
    "cuMemCreate(", "cuMemMap(", "cuMemUnmap(", "cuMemSetAccess(", "cuMemAllocAsync(", "cuMemFreeAsync(",
    "cuMemRelease(",
    "cuMemAddress", "cuMemImportFrom", "cuMemPool", "cuMemAllocFromPoolAsync(", "cuMemcpyDtoD_v2(", "cuMemcpyPeer(",
    "cuMemHostRegister_v2(", "cuMemRangeGetAttribute", "cuExternalMemoryGetMappedBuffer(", "cuDestroyExternalMemory(",
    "cuGraphGetNodes(", "cuGraphInstantiateWithFlags(", "cuGraphExecDestroy(", "cuGraphAddChildGraphNode(",
    "cuGraphMemcpyNodeGetParams(", "cuMemsetD32_v2(", "cuStreamBatchMemOp(", "cuIpcGetMemHandle(out",
)  # fmt: skip


def conforms(release: str, beginning: str) -> None:
    library = native.DIRECTORY / "libcuda.so.1"
    done = python_on_amd(release, "-m", "tests.shim.conformance_run", library, "--only", beginning)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert done.returncode == 0 and answers, done.stderr[-1000:]
    assert [answer for answer in answers if answer[2] not in answer[1]] == []


@pytest.mark.parametrize("beginning", CONFORMING)
def test_calls_answer_as_on_our_hip(beginning: str) -> None:
    conforms("7.2", beginning)


def test_memory_as_a_descriptor_before_hip_7() -> None:
    """HIP 6 takes its address, and crashes at the descriptor itself."""
    conforms("6.4", "cuMemImportFrom")


RESERVE = """
address, size = c.c_uint64(), c.c_size_t(2 << 20)
zero = c.c_uint64(0)
print(Driver().start().error("cuMemAddressReserve", c.byref(address), size, zero, zero, zero))
"""


def test_no_virtual_memory_on_hip_5(tmp_path: Path) -> None:
    """Its functions are there, and fail later."""
    (script := tmp_path / "script.py").write_text(RESERVE)
    done = python_on_amd("5.7", ROOT / "tests" / "bad_input" / "driver.py", script)
    assert done.returncode == 0 and done.stdout == "CUDA_ERROR_NOT_SUPPORTED\n", done.stdout + done.stderr
    assert "cuMemAddressReserve with this version of HIP is not supported" in done.stderr


MAPPED = """
size = 2 << 20
reserved, handle = c.c_uint64(), c.c_uint64()
properties = struct.pack("<4i8x8x", 1, 0, 1, 0)              # pinned, of device 0
cu.cuMemCreate(c.byref(handle), c.c_size_t(size), properties, c.c_uint64(0))
cu.cuMemAddressReserve(c.byref(reserved), c.c_size_t(2 * size), c.c_size_t(0), c.c_uint64(0), c.c_uint64(0))
halves = [c.c_uint64(reserved.value), c.c_uint64(reserved.value + size)]
for half in halves:                                          # twice the same memory
    cu.cuMemMap(half, c.c_size_t(size), c.c_size_t(0), handle, c.c_uint64(0))
    cu.cuMemSetAccess(half, c.c_size_t(size), struct.pack("<3i", 1, 0, 3), c.c_size_t(1))
cu.cuMemsetD32_v2(halves[0], 7, c.c_size_t(size // 4))       # by a kernel
assert struct.unpack("<4I", cu.read(halves[1], 16)) == (7, 7, 7, 7)
other = cu.alloc(16)
cu.cuMemsetD32_v2(c.c_uint64(halves[1].value + size - 16), 9, c.c_size_t(4))
cu.cuMemcpyDtoD_v2(other, c.c_uint64(halves[0].value + size - 16), c.c_size_t(16))
assert struct.unpack("<4I", cu.read(other, 16)) == (9, 9, 9, 9)
for half in halves: cu.cuMemUnmap(half, c.c_size_t(size))
cu.cuMemRelease(handle)
cu.cuMemAddressFree(reserved, c.c_size_t(2 * size))
print("mapped")
"""


def test_virtual_memory(tmp_path: Path) -> None:
    """Memory without an address, mapped at two."""
    (script := tmp_path / "script.py").write_text("cu = Driver().start()\n" + MAPPED)
    done = python_on_amd("7.2", ROOT / "tests" / "bad_input" / "driver.py", script)
    assert done.returncode == 0 and done.stdout.endswith("mapped\n"), done.stdout + done.stderr


IPC = """
import ctypes as c, subprocess, sys

hip, size, handle = c.CDLL(sys.argv[1]), c.c_size_t(3 << 20), (c.c_char * 64)()
old = sys.argv[1].endswith("5")


class Handle(c.Structure):
    _fields_ = [("bytes", c.c_char * 64)]


def call(name, *arguments):
    if error := getattr(hip, name)(*arguments): raise SystemExit(f"{name}: HIP error {error}")


pointer, word = c.c_void_p(), c.c_uint32()
if len(sys.argv) == 2:
    call("hipMalloc", c.byref(c.c_void_p()), c.c_size_t(4096))          # then it begins within the driver's memory
    call("hipMalloc", c.byref(pointer), size)
    call("hipMemset", pointer, 5, size)
    call("hipIpcGetMemHandle", handle, pointer)
    call("hipDeviceSynchronize")
    with open("/proc/self/cmdline") as line: words = line.read().split("\\0")[:-1]
    for broken in ("", "broken"):
        raw = bytearray(bytes(handle))
        if broken: raw[12 if old else 28] ^= 0x5a                         # what tells a handle from another
        subprocess.run([*words, raw.hex(), broken], check=True)
    call("hipMemcpy", c.byref(word), c.c_void_p(pointer.value + size.value - 4), c.c_size_t(4), 2)
    print(hex(word.value))
else:
    there = Handle.from_buffer_copy(bytes.fromhex(sys.argv[2]))
    error = hip.hipIpcOpenMemHandle(c.byref(pointer), there, not old)
    if sys.argv[3]: raise SystemExit(0 if error else "a wrong handle was taken")
    if error: raise SystemExit(f"hipIpcOpenMemHandle: HIP error {error}")
    call("hipMemcpy", c.byref(word), pointer, c.c_size_t(4), 2)
    call("hipMemset", c.c_void_p(pointer.value + size.value - 4), 7, c.c_size_t(4))
    call("hipDeviceSynchronize")
    call("hipIpcCloseMemHandle", pointer)
    print(hex(word.value), flush=True)
"""


def test_memory_of_another_process(release: str, tmp_path: Path) -> None:
    """Another process sees an allocation and writes into it; a handle that is none is an error there."""
    (script := tmp_path / "ipc.py").write_text(IPC)
    prefix = amd_hip_prefix(release)
    library = prefix.libraries / f"libamdhip64.so.{rocm.RELEASES[release].hip}"
    settings = {"LD_PRELOAD": str(software_kfd.LIBRARY), "PTX2AMD_DEVICE": f"kfd:{amd_hip.CHIP}"}
    command = prefix.command(sys.executable, script, library)
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.split() == ["0x5050505", "0x7070707"], done.stdout + done.stderr


def test_the_selftest(release: str) -> None:
    """`doctor --selftest --device kfd`: graphs, child kernels, printf and cooperation, as the page says."""
    told = json.loads(amd_hip.RESULTS.read_text())["selftest"][release]
    found = amd_hip_features.selftest(amd_hip_prefix(release), amd_hip.CHIP, "launches")
    assert found == {title: told[title] for title in found} and set(found.values()) == {"right"} and len(found) > 4
