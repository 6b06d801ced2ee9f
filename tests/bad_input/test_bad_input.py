"""Bad input: each kind gives the documented CUDA error and one clear line, and the program goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ptx2amd import launch, native
from tests import rocm

#: A release of ROCm: these tests on AMD's HIP library above the software KFD (tests/kfd/amd_hip.py).
AMD_HIP = os.environ.get("BAD_INPUT_ON_HIP", "")
DRIVER = Path(__file__).with_name("driver.py")


def run(code: str, tmp_path: Path, device: str = "vgpu:gfx942", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run driver.py with `code` under our libcuda, in a process of its own."""
    script = tmp_path / "script.py"
    script.write_text(code)
    command = [sys.executable, str(DRIVER), str(script)]
    if AMD_HIP and device.startswith("vgpu"):
        device = device.replace("vgpu", "kfd")
        prefix = rocm.prefix(AMD_HIP, f"libamdhip64-{rocm.RELEASES[AMD_HIP].hip}")
        command = prefix.command(*command, before=(native.DIRECTORY,))
    environment = {
        **os.environ,
        **launch.environment(device),
        "PTX2AMD_CACHE_DIR": str(tmp_path / "cache"),
        **variables,
    }
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def check(code: str, tmp_path: Path, *messages: str, device: str = "vgpu:gfx942") -> None:
    """The code runs to its end, a good kernel still works after it, and stderr says each of `messages`."""
    done = run(f"cu = Driver().start()\n{code}\nstill_works(cu)\n", tmp_path, device)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "still works" in done.stdout
    for message in messages:
        assert message in done.stderr, f"{message!r} is not in: {done.stderr}"


def test_malformed_ptx_names_line_and_column(tmp_path: Path) -> None:
    check(
        r"""
bad = HEAD + b".visible .entry k(.param .u64 p {\n ret; }"
module = c.c_void_p()
assert cu.error("cuModuleLoadData", c.byref(module), bad) == "CUDA_ERROR_INVALID_PTX"
""",
        tmp_path,
        ":4:",
        "expected",
    )


def test_the_jit_log_buffer_is_filled_instead_of_stderr(tmp_path: Path) -> None:
    check(
        r"""
bad = HEAD + b".visible .entry k(.param .u64 p {\n ret; }"
log = c.create_string_buffer(4096)
options = (c.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, .._SIZE_BYTES
values = (c.c_void_p * 2)(c.addressof(log), 4096)
module = c.c_void_p()
assert cu.error("cuModuleLoadDataEx", c.byref(module), bad, 2, options, values) == "CUDA_ERROR_INVALID_PTX"
assert b":4:" in log.value and b"expected" in log.value, log.value
assert values[1] == len(log.value) or values[1] == len(log.value) + 1, values[1]
""",
        tmp_path,
    )


def test_truncated_and_corrupt_fatbins(tmp_path: Path) -> None:
    check(
        r"""
whole = fatbin((2, b"\x7fELF" + bytes(60)), (1, GOOD))
module = c.c_void_p()
damaged = bytearray(whole)
damaged[16 + 64 + 64 + 8] ^= 0xff  # payload size of the second entry
assert cu.error("cuModuleLoadData", c.byref(module), bytes(damaged)) == "CUDA_ERROR_INVALID_IMAGE"
zstd = bytearray(fatbin((1, b"no zstd at all.." * 4)))
zstd[16 + 40] = 0x11
zstd[16 + 41] = 0x80
zstd[16 + 16] = 64
zstd[16 + 56] = 200
assert cu.error("cuModuleLoadData", c.byref(module), bytes(zstd)) == "CUDA_ERROR_INVALID_IMAGE"
elf = b"\x7fELF garbage that is long enough to be looked at" + bytes(200)
NOT_OURS = ("CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_NO_BINARY_FOR_GPU")
assert cu.error("cuModuleLoadData", c.byref(module), elf) in NOT_OURS
text = b"neither PTX nor anything else"
assert cu.error("cuModuleLoadData", c.byref(module), text) in ("CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_PTX")
""",
        tmp_path,
    )


def test_machine_code_only_says_what_is_missing(tmp_path: Path) -> None:
    check(
        r"""
module = c.c_void_p()
image = fatbin((2, b"\x7fELF" + bytes(100)))
assert cu.error("cuModuleLoadData", c.byref(module), image) == "CUDA_ERROR_NO_BINARY_FOR_GPU"
""",
        tmp_path,
        "PTX",
    )


def test_unknown_kernel_and_global_names(tmp_path: Path) -> None:
    check(
        r"""
module = cu.load(GOOD)
function, pointer, size = c.c_void_p(), c.c_uint64(), c.c_size_t()
assert cu.error("cuModuleGetFunction", c.byref(function), module, b"nothing") == "CUDA_ERROR_NOT_FOUND"
assert cu.error("cuModuleGetGlobal_v2", c.byref(pointer), c.byref(size), module, b"nothing") == "CUDA_ERROR_NOT_FOUND"
""",
        tmp_path,
    )


@pytest.mark.parametrize("device", ["vgpu:gfx942", "vgpu:gfx1100"])
def test_launches_beyond_the_limits(tmp_path: Path, device: str) -> None:
    check(
        r"""
good = cu.function(cu.load(GOOD), "good")
out = cu.alloc(8192)
assert cu.launch(good, 1, 1025, 0, out, c.c_uint32(0)) == "CUDA_ERROR_INVALID_VALUE"
assert cu.launch(good, 0, 32, 0, out, c.c_uint32(0)) == "CUDA_ERROR_INVALID_VALUE"
assert cu.launch(good, 1, 32, 1 << 20, out, c.c_uint32(0)) == "CUDA_ERROR_INVALID_VALUE"
assert cu.launch(good, 1, 1024, 0, out, c.c_uint32(0)) == "CUDA_SUCCESS"
""",
        tmp_path,
        device=device,
    )


def test_one_refused_kernel_does_not_lose_the_others(tmp_path: Path) -> None:
    check(
        r"""
module = cu.load(GOOD + b".visible .entry bad() { .reg .b32 %r<3>; .reg .b64 %rd<2>;"
                        b" tcgen05.wait::ld.sync.aligned; ret; }\n")
function = c.c_void_p()
got = cu.error("cuModuleGetFunction", c.byref(function), module, b"bad")
if got == "CUDA_SUCCESS":
    got = cu.launch(function, 1, 32, 0)
assert got == "CUDA_ERROR_NOT_SUPPORTED", got
good = cu.function(module, "good")
out = cu.alloc(128)
assert cu.launch(good, 1, 32, 0, out, c.c_uint32(5)) == "CUDA_SUCCESS"
assert struct.unpack("<I", cu.read(out, 4)) == (5,)
""",
        tmp_path,
        "tcgen05",
        "bad",
    )


def test_handles_that_are_none(tmp_path: Path) -> None:
    check(
        r"""
good = cu.function(cu.load(GOOD), "good")
module = cu.load(GOOD)
cu.cuModuleUnload(module)
INVALID = ("CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_INVALID_VALUE")
assert cu.error("cuModuleUnload", module) in INVALID
function = c.c_void_p()
assert cu.error("cuModuleGetFunction", c.byref(function), module, b"good") in INVALID
assert cu.launch(c.c_void_p(0), 1, 32, 0) == "CUDA_ERROR_INVALID_HANDLE"
assert cu.launch(c.c_void_p(0x1234), 1, 32, 0) == "CUDA_ERROR_INVALID_HANDLE"
assert cu.error("cuStreamSynchronize", c.c_void_p(0x12345678)) in INVALID
assert cu.error("cuMemFree_v2", c.c_uint64(0x1234)) == "CUDA_ERROR_INVALID_VALUE"
""",
        tmp_path,
    )


@pytest.mark.parametrize("device", ["vgpu:gfx942", "vgpu:gfx1100"])
def test_a_wild_store_is_an_error_of_the_context_not_a_crash(tmp_path: Path, device: str) -> None:
    done = run(
        r"""
cu = Driver().start()
good = cu.function(cu.load(GOOD), "good")
assert cu.launch(good, 1, 32, 0, c.c_uint64(0x10), c.c_uint32(0)) == "CUDA_SUCCESS"
assert cu.error("cuCtxSynchronize") == "CUDA_ERROR_ILLEGAL_ADDRESS"
assert cu.error("cuCtxSynchronize") == "CUDA_ERROR_ILLEGAL_ADDRESS"
print("survived")
""",
        tmp_path,
        device,
    )
    assert done.returncode == 0 and "survived" in done.stdout, done.stdout + done.stderr
    assert "good" in done.stderr and "0x10" in done.stderr


def test_no_hip_library(tmp_path: Path) -> None:
    done = run(
        r"""
cu = Driver()
assert cu.error("cuInit", 0) == "CUDA_ERROR_NO_DEVICE"
print("survived")
""",
        tmp_path,
        "hip",
    )
    assert done.returncode == 0 and "survived" in done.stdout, done.stdout + done.stderr
    assert "libamdhip64" in done.stderr


def test_unknown_software_arch(tmp_path: Path) -> None:
    done = run(
        'cu = Driver()\nassert cu.error("cuInit", 0) == "CUDA_ERROR_NO_DEVICE"\nprint("survived")',
        tmp_path,
        PTX2AMD_DEVICE="vgpu:gfx9999",
    )
    assert done.returncode == 0 and "survived" in done.stdout, done.stdout + done.stderr
    assert "there is no software GPU 'gfx9999'" in done.stderr


def test_a_program_without_the_service_gets_an_error_not_a_hang(tmp_path: Path) -> None:
    code = r"""
cu = Driver().start()
module = c.c_void_p()
print(cu.error("cuModuleLoadData", c.byref(module), GOOD))
"""
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        done = run(code, tmp_path, PTX2AMD_PYTHON="/bin/false", PTX2AMD_RUNTIME_DIR=folder)
    assert done.returncode == 0, done.stderr
    assert "CUDA_ERROR" in done.stdout and "service" in done.stderr


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null/cache"])
def test_a_cache_that_cannot_be_written_costs_time_not_results(tmp_path: Path, folder: str) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = run("still_works(Driver().start())", tmp_path, PTX2AMD_CACHE_DIR=folder, TMPDIR=str(scratch))
    assert done.returncode == 0 and "still works" in done.stdout, done.stdout + done.stderr
    assert folder in done.stderr and "set PTX2AMD_CACHE_DIR" in done.stderr
    assert not list(scratch.iterdir())


def test_a_runtime_folder_of_another_login_is_passed_over(tmp_path: Path) -> None:
    done = run("still_works(Driver().start())", tmp_path, PTX2AMD_RUNTIME_DIR="", XDG_RUNTIME_DIR="/proc/nowhere")
    assert done.returncode == 0 and "still works" in done.stdout, done.stdout + done.stderr
