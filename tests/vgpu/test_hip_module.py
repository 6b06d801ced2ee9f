"""Code objects through the HIP API: what loads, what does not, and what is in it.

Protects: code objects of other producers and versions load; broken ones are a documented error and one line on
stderr, never a crash.
"""

from __future__ import annotations

import contextlib
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import cramjam
import numpy as np
import pytest

from ptx2amd import hip
from tests import ROOT
from tests.vgpu.engine import assemble, kernel_text, link
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import ARCHS, compile_hip

SOURCE = r"""
DEVICE u32 counter = 41;
DEVICE u32 zeros[1000] = {0};
CONSTANT u32 table[4] = {10, 20, 30, 40};
DEVICE u32 *pointer = &zeros[7];                     /* a relocation */
DEVICE __attribute__((noinline)) u32 twice(u32 x) { return 2 * x; }
typedef u32 (*function)(u32);
DEVICE function functions[2] = {twice, 0};           /* another */
GLOBAL void globals(u32 *out) {
  out[TX] = table[TX] + counter + *pointer + functions[0](TX);
}
GLOBAL void second(float x, u32 *out) { out[0] = x; }
"""


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> Iterator[hip.Gpu]:
    yield from opened(request.param)


@pytest.mark.parametrize("version", (4, 5, 6))
def test_globals_and_relocations(gpu: hip.Gpu, version: int) -> None:
    module = gpu.load(compile_hip(SOURCE, gpu.arch, version))
    zeros = module.variable("zeros")
    assert zeros.size == 4000 and not any(zeros.bytes())
    zeros.write(np.arange(100, 1100, dtype=np.uint32))
    counter = module.variable("counter")
    assert counter.numpy(np.uint32).tolist() == [41]
    counter.write(np.uint32(5).tobytes())
    module.variable("table").write(np.array([1, 2, 3, 4], np.uint32))
    out = gpu.buffer(np.zeros(4, np.uint32))
    module.kernel("globals").launch(1, 4, [out])
    assert out.numpy().tolist() == [k + 1 + 5 + 107 + 2 * k for k in range(4)]


def test_modules_have_their_own_variables(gpu: hip.Gpu) -> None:
    image = compile_hip(SOURCE, gpu.arch)
    a, b = gpu.load(image), gpu.load(image)
    a.variable("counter").write(np.uint32(1).tobytes())
    assert b.variable("counter").numpy(np.uint32)[0] == 41
    assert a.variable("counter").address != b.variable("counter").address


def test_names(gpu: hip.Gpu) -> None:
    lib, module, count = gpu.library, gpu.load(compile_hip(SOURCE, gpu.arch)), gpu.library.ffi.new("unsigned *")
    for name in ("missing", "globals.kd", "twice"):
        with fails("hipErrorNotFound"):
            module.kernel(name)
    for name in ("missing", "globals"):
        with fails("hipErrorNotFound"):
            module.variable(name)
    lib.hipModuleGetFunctionCount(count, module.handle)
    assert count[0] == 2
    assert lib.ffi.string(lib.hipKernelNameRef(module.kernel("second").handle)) == b"second"


def test_from_a_file(gpu: hip.Gpu, tmp_path: object, capfd: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/k.hsaco"
    with open(path, "wb") as file:
        file.write(compile_hip(SOURCE, gpu.arch))
    out = gpu.buffer(np.zeros(1, np.uint32))
    gpu.load(path).kernel("second").launch(1, 1, [np.float32(7), out])
    assert out.numpy()[0] == 7
    with fails("hipErrorFileNotFound"):
        gpu.load(path + ".missing")
    assert "k.hsaco.missing" in capfd.readouterr().err


def test_another_architecture_is_named(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    with fails("hipErrorNoBinaryForGpu"):
        gpu.load(compile_hip(SOURCE, "gfx90a"))
    assert f"is for gfx90a (0x3f), the device is {gpu.arch}" in capfd.readouterr().err


def bundle(entries: dict[str, bytes]) -> bytes:
    """A clang offload bundle."""
    head, at, table, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)), 4096, b"", b""
    for name, image in entries.items():
        table += struct.pack("<QQQ", at + len(body), len(image), len(name)) + name.encode()
        body += image.ljust((len(image) + 4095) // 4096 * 4096, b"\0")
    return (head + table).ljust(at, b"\0") + body


def test_offload_bundles(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    images = {f"hipv4-amdgcn-amd-amdhsa--{arch}:xnack-": compile_hip(SOURCE, arch) for arch in ARCHS}
    host = {"host-x86_64-unknown-linux-gnu-": b""}
    assert gpu.load(bundle(host | images)).variable("counter").numpy(np.uint32)[0] == 41
    others = {name: image for name, image in images.items() if gpu.arch not in name}
    with fails("hipErrorNoBinaryForGpu"):
        gpu.load(bundle(host | others))
    other = next(a for a in ARCHS if a != gpu.arch)
    said = capfd.readouterr().err
    assert f"no code for {gpu.arch}" in said and f"the offload bundle holds {other}:xnack-" in said


def compressed(plain: bytes, version: int, method: int = 1) -> bytes:
    """A compressed offload bundle; method 0: zlib, 1: zstd."""
    packed = zlib.compress(plain) if method == 0 else bytes(cramjam.zstd.compress(plain))
    size = {2: "II", 3: "QQ"}[version]
    head = struct.calcsize(f"<4sHH{size}Q")
    return struct.pack(f"<4sHH{size}Q", b"CCOB", version, method, head + len(packed), len(plain), 0) + packed


@pytest.mark.parametrize(("version", "method"), [(2, 1), (3, 1), (3, 0)])
def test_compressed_bundles(gpu: hip.Gpu, version: int, method: int, tmp_path: Path) -> None:
    plain = bundle({f"hipv4-amdgcn-amd-amdhsa--{arch}": compile_hip(SOURCE, arch) for arch in ARCHS})
    packed = compressed(plain, version, method)
    assert gpu.load(packed).variable("counter").numpy(np.uint32)[0] == 41
    file = tmp_path / "kernels.hipfb"
    file.write_bytes(packed)
    assert gpu.load(str(file)).variable("counter").numpy(np.uint32)[0] == 41


def test_broken_compressed_bundles_are_refused_in_one_line(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    good = compressed(bundle({f"hipv4-amdgcn-amd-amdhsa--{gpu.arch}": compile_hip(SOURCE, gpu.arch)}), 3)
    assert gpu.load(good)
    u16, u64 = (struct.Struct(f"<{kind}").pack for kind in "HQ")
    broken = {
        "version 1 of": patched(good, 4, u16(1)),
        "version 9 of": patched(good, 4, u16(9)),
        "method 7 of": patched(good, 6, u16(7)),
        "zlib, is truncated or corrupt": patched(good, 6, u16(0)),
        "truncated or corrupt (16 bytes": patched(good, 8, u64(16)),
        f"({2**62} bytes": patched(good, 8, u64(2**62)),
        "zstd, is truncated or corrupt": patched(good, 16, u64(len(good))),
        f"{2**40} decompressed": patched(good, 16, u64(2**40)),
    }
    for said, data in broken.items():
        with fails("hipErrorInvalidImage"):
            gpu.load(data)
        line = capfd.readouterr().err
        assert said in line and line.count("\n") == 1, (said, line)
    for seed in range(40):
        generator = random.Random(seed)
        data = bytearray(good)
        for _ in range(1 + seed % 3):
            data[generator.choice((generator.randrange(4, 32), generator.randrange(32, len(good))))] ^= 1 << seed % 8
        with contextlib.suppress(hip.HipError):  # the hash is not looked at
            gpu.load(bytes(data))


def patched(image: bytes, at: int, data: bytes) -> bytes:
    return image[:at] + data + image[at + len(data) :]


BROKEN = {
    "text": (lambda i: b".version 9.0\n.target sm_80\n\0", "not an ELF code object"),
    "x86": (lambda i: patched(i, 18, b"\x3e\0"), "machine 62"),
    "32 bits": (lambda i: patched(i, 4, b"\1"), "not a 64-bit"),
    "relocatable": (lambda i: patched(i, 16, b"\1\0"), "link it"),
    "code object version": (lambda i: patched(i, 8, b"\7"), "code object version 9"),
    "program headers": (lambda i: patched(i, 32, b"\xff" * 7), "headers are corrupt"),
    "no metadata": (lambda i: i.replace(b"AMDGPU\0", b"AMDGPX\0"), "no AMDGPU metadata note"),
    "corrupt metadata": (lambda i: i.replace(b".kernarg_segment_size", b"\xc1kernarg_segment_size"), "metadata"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_images_say_what_is_wrong(gpu: hip.Gpu, what: str, capfd: pytest.CaptureFixture[str]) -> None:
    damage, text = BROKEN[what]
    with fails("hipErrorInvalidImage"):
        gpu.load(damage(compile_hip(SOURCE, gpu.arch)))
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1 and text in lines[0]


def damaged(image: bytes, seed: int) -> bytes:
    rng = random.Random(seed)
    data = bytearray(image)
    if seed % 4 == 0:
        return bytes(data[: rng.randrange(len(data))])
    # Headers, notes and dynamic tables lie in front; machine code behind is any bytes anyway.
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(data) if rng.random() < 0.2 else min(len(data), 3000))
        data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(data)


def sweep(arch: str, first: int, last: int) -> None:
    """Loads damaged images until one crashes; run in a process of its own."""
    gpu = hip.open(f"vgpu:{arch}")
    image = compile_hip(SOURCE, arch)
    for seed in range(first, last):
        print(seed, flush=True)
        try:
            module = gpu.load(damaged(image, seed))
            for name in ("globals", "second"):
                module.kernel(name)
            module.variable("zeros").bytes()
        except hip.HipError:
            pass


@pytest.mark.parametrize("arch", ARCHS)
def test_damaged_images_never_crash(arch: str) -> None:
    """Truncations and changed bytes. The last seed printed is the one that crashed."""
    command = [sys.executable, "-c", f"from tests.vgpu.test_hip_module import sweep; sweep({arch!r}, 0, 1500)"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stdout.split()[-1:], done.stderr[-500:])
    assert done.stdout.split()[-1] == "1499"


def test_a_note_for_each_object() -> None:
    """Objects that an assembler made have a metadata note each, and linking keeps them apart (rocBLAS's kernels)."""
    objects = []
    for n in range(5):
        body = f"s_load_dwordx2 s[4:5], s[0:1], 0\nv_mov_b32 v0, 0\nv_mov_b32 v1, {100 + n}\ns_waitcnt lgkmcnt(0)\n"
        text = kernel_text(body + "global_store_dword v0, v1, s[4:5]", "gfx942", kernarg=8, name=f"k{n}")
        sizes = {"kernarg_segment_size": 8, "kernarg_segment_align": 8, "group_segment_fixed_size": 0,
                 "private_segment_fixed_size": 0, "wavefront_size": 64, "sgpr_count": 32, "vgpr_count": 32,
                 "max_flat_workgroup_size": 256}  # fmt: skip
        lines = [f"    .name: k{n}", f"    .symbol: k{n}.kd", *(f"    .{name}: {size}" for name, size in sizes.items()),
                 "    .args:", "      - .offset: 0", "        .size: 8", "        .value_kind: global_buffer",
                 "        .address_space: global"]  # fmt: skip
        lines[0] = lines[0].replace("    .", "  - .", 1)
        note = "\n".join(["---", "amdhsa.version: [1, 2]", "amdhsa.kernels:", *lines, "..."])
        objects.append(assemble(f"{text}.amdgpu_metadata\n{note}\n.end_amdgpu_metadata\n", "gfx942"))
    gpu = hip.open("vgpu:gfx942")
    module, out = gpu.load(link(objects)), gpu.buffer(np.zeros(1, np.uint32))
    for n in range(5):
        module.kernel(f"k{n}").launch(1, 1, [out])
        gpu.synchronize()
        assert out.numpy()[0] == 100 + n
