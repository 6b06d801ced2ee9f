"""Parts of a device's multiprocessors, on the software GPU."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import run

CODE = """
cu = Driver().start()
SIZE = 144  # of a CUdevResource; the number of multiprocessors is 96 bytes into it


def resources(count):
    return c.create_string_buffer(SIZE * count)


def sizes(room):
    return [struct.unpack_from("<I", room, at + 96)[0] for at in range(0, len(room.raw) - SIZE + 1, SIZE)]


def groups(*counts):
    return c.create_string_buffer(b"".join(struct.pack("<16I", count, *[0] * 15) for count in counts))


everything, parts, rest = resources(1), resources(2), resources(1)
cu.cuDeviceGetDevResource(0, everything, 1)
count, = sizes(everything)
cu.cuDevSmResourceSplit(parts, 2, everything, rest, 0, groups(4, 2))
assert sizes(parts) + sizes(rest) == [4, 2, count - 6]
asked = groups(4, 0)  # the second is told what is left
cu.cuDevSmResourceSplit(None, 2, everything, rest, 0, asked)
assert struct.unpack_from("<I", asked, 64)[0] == (count - 4) // 2 * 2
wrong = [cu.error("cuDevSmResourceSplit", parts, 2, everything, rest, 0, groups(*bad)) for bad in ((3, 2), (count, 0))]
assert wrong == ["CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"], wrong
description, green, stream, context = (c.c_void_p() for _ in range(4))
cu.cuDevResourceGenerateDesc(c.byref(description), parts, 1)
cu.cuGreenCtxCreate(c.byref(green), description, 0, 1)
cu.cuGreenCtxGetDevResource(green, rest, 1)
assert sizes(rest) == [4]
cu.cuGreenCtxStreamCreate(c.byref(stream), green, 1, 0)
cu.cuCtxFromGreenCtx(c.byref(context), green)
cu.cuCtxSetCurrent(context)
good = cu.function(cu.load(GOOD), "good")
out = cu.alloc(128)
assert cu.launch(good, 1, 32, 0, out, c.c_uint32(100)) == "CUDA_SUCCESS"
assert struct.unpack("<32I", cu.read(out, 128)) == tuple(range(100, 132))
cu.cuStreamDestroy_v2(stream)
cu.cuGreenCtxDestroy(green)
print("split")
"""


def test_split(tmp_path: Path) -> None:
    done = run(CODE, tmp_path)
    assert done.returncode == 0 and "split" in done.stdout, done.stdout + done.stderr
