"""libnvidia-ml.so.1 of ours: what tools read from it, with sensors and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import native
from ptx2amd.api import nvml

ASK = r"""
import json, sys
from cffi import FFI
ffi = FFI()
ffi.cdef('''
typedef struct device *dev;
struct pci { char legacy[16]; unsigned domain, bus, device, device_id, subsystem; char id[32]; };
struct memory { unsigned long long total, free, used; };
struct process { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; };
int nvmlInit_v2(void); int nvmlShutdown(void); int nvmlDeviceGetCount_v2(unsigned *);
int nvmlSystemGetDriverVersion(char *, unsigned); int nvmlSystemGetCudaDriverVersion_v2(int *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, dev *); int nvmlDeviceGetHandleByPciBusId_v2(const char *, dev *);
int nvmlDeviceGetHandleByUUID(const char *, dev *); int nvmlDeviceGetName(dev, char *, unsigned);
int nvmlDeviceGetUUID(dev, char *, unsigned); int nvmlDeviceGetPciInfo_v3(dev, struct pci *);
int nvmlDeviceGetMemoryInfo(dev, struct memory *); int nvmlDeviceGetUtilizationRates(dev, unsigned *);
int nvmlDeviceGetTemperature(dev, int, unsigned *); int nvmlDeviceGetPowerUsage(dev, unsigned *);
int nvmlDeviceGetClockInfo(dev, int, unsigned *); int nvmlDeviceGetMaxClockInfo(dev, int, unsigned *);
int nvmlDeviceGetComputeRunningProcesses_v3(dev, unsigned *, struct process *);
int nvmlDeviceGetCudaComputeCapability(dev, int *, int *); int nvmlDeviceGetNvLinkState(dev, unsigned, int *);
int nvmlDeviceGetCpuAffinity(dev, unsigned, unsigned long *); int nvmlDeviceSetCpuAffinity(dev);
int nvmlDeviceGetCpuAffinityWithinScope(dev, unsigned, unsigned long *, unsigned);
int nvmlDeviceGetMemoryAffinity(dev, unsigned, unsigned long *, unsigned); int nvmlDeviceClearCpuAffinity(dev);
''')
ml = ffi.dlopen(sys.argv[1])
out = {}
n, d, e = ffi.new('unsigned *'), ffi.new('dev *'), ffi.new('dev *')
out['before'] = ml.nvmlDeviceGetCount_v2(n)
out['init'] = ml.nvmlInit_v2()
out['count'] = ml.nvmlDeviceGetCount_v2(n), n[0]
out['handle'] = ml.nvmlDeviceGetHandleByIndex_v2(0, d)
out['beyond'] = ml.nvmlDeviceGetHandleByIndex_v2(99, e)
def text(call, *before):
    room = ffi.new('char[96]')
    code = call(*before, room, 96)
    return code, ffi.string(room).decode()
out['name'] = text(ml.nvmlDeviceGetName, d[0])
out['short'] = ml.nvmlDeviceGetName(d[0], ffi.new('char[96]'), 3)
out['uuid'] = text(ml.nvmlDeviceGetUUID, d[0])
out['by uuid'] = ml.nvmlDeviceGetHandleByUUID(out['uuid'][1].encode(), e), e[0] == d[0]
pci = ffi.new('struct pci *')
out['pci'] = ml.nvmlDeviceGetPciInfo_v3(d[0], pci), ffi.string(pci.id).decode()
out['by pci'] = ml.nvmlDeviceGetHandleByPciBusId_v2(pci.id, e), e[0] == d[0]
out['nowhere'] = ml.nvmlDeviceGetHandleByPciBusId_v2(b'1234:56:1f.0', e)
out['stale'] = ml.nvmlDeviceGetName(ffi.cast('dev', 8), ffi.new('char[96]'), 96)
out['null'] = ml.nvmlDeviceGetName(d[0], ffi.NULL, 96)
memory = ffi.new('struct memory *')
out['memory'] = ml.nvmlDeviceGetMemoryInfo(d[0], memory), memory.total, memory.free, memory.used
pair = ffi.new('unsigned[2]')
out['busy'] = ml.nvmlDeviceGetUtilizationRates(d[0], pair), *pair
out['temperature'] = ml.nvmlDeviceGetTemperature(d[0], 0, pair), pair[0]
out['power'] = ml.nvmlDeviceGetPowerUsage(d[0], pair), pair[0]
out['clock'] = ml.nvmlDeviceGetClockInfo(d[0], 1, pair), pair[0]
out['max clock'] = ml.nvmlDeviceGetMaxClockInfo(d[0], 1, pair), pair[0]
process = ffi.new('struct process[8]')
n[0] = 8
out['processes'] = ml.nvmlDeviceGetComputeRunningProcesses_v3(d[0], n, process), n[0], process[0].pid, process[0].used
out['nvlink'] = ml.nvmlDeviceGetNvLinkState(d[0], 0, ffi.new('int *'))
import os
allowed, words = os.sched_getaffinity(0), ffi.new('unsigned long[16]')
out['near'] = ml.nvmlDeviceGetCpuAffinity(d[0], 16, words), [k for k in range(1024) if words[k // 64] >> k % 64 & 1]
out['near within'] = ml.nvmlDeviceGetCpuAffinityWithinScope(d[0], 16, words, 1)
out['beyond scopes'] = ml.nvmlDeviceGetCpuAffinityWithinScope(d[0], 16, words, 2)
out['no room'] = ml.nvmlDeviceGetCpuAffinity(d[0], 0, words), ml.nvmlDeviceGetCpuAffinity(d[0], 16, ffi.NULL)
out['memory near'] = ml.nvmlDeviceGetMemoryAffinity(d[0], 16, words, 0), words[0]
os.sched_setaffinity(0, {min(allowed)})
out['run near'] = ml.nvmlDeviceSetCpuAffinity(d[0]), os.sched_getaffinity(0) == allowed
os.sched_setaffinity(0, {min(allowed)})
out['run anywhere'] = ml.nvmlDeviceClearCpuAffinity(d[0]), os.sched_getaffinity(0) == allowed
out['shutdown'] = ml.nvmlShutdown()
out['after'] = ml.nvmlDeviceGetCount_v2(n)
print(json.dumps(out))
"""


def ask(stub_path: Path, extra: Path | None = None) -> dict[str, object]:
    environment = {**os.environ, "PTX2AMD_HIP_LIBRARY": str(stub_path), "PTX2AMD_TRACE": ""}
    if extra:
        environment["LD_LIBRARY_PATH"] = str(extra)
    library = str(native.DIRECTORY / "libnvidia-ml.so.1")
    done = subprocess.run([sys.executable, "-c", ASK, library], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_without_sensors(stub_path: Path) -> None:
    answers = ask(stub_path)
    assert answers["before"] == answers["after"] == 1 and answers["init"] == answers["shutdown"] == 0
    assert answers["count"] == [0, 1] and answers["beyond"] == 2 and answers["nowhere"] == 6
    assert answers["name"][0] == 0 and answers["short"] == 7  # type: ignore[index]
    assert answers["by uuid"] == answers["by pci"] == [0, True]
    assert answers["stale"] == answers["null"] == 2
    code, total, free, used = answers["memory"]  # type: ignore[misc]
    assert code == 0 and total == free + used and total > 0
    assert [answers[name][0] for name in ("busy", "temperature", "power", "clock")] == [3] * 4  # type: ignore[index]
    assert answers["nvlink"] == 3


def test_what_is_near(stub_path: Path) -> None:
    """DALI and NCCL ask which processors are near a device: all, where it is not on the bus."""
    answers = ask(stub_path)
    code, near = answers["near"]  # type: ignore[misc]
    assert code == 0 and set(near) >= os.sched_getaffinity(0)
    assert answers["near within"] == 0 and answers["beyond scopes"] == 2 and answers["no room"] == [2, 2]
    assert answers["memory near"][0] == 0 and answers["memory near"][1] & 1  # type: ignore[index]
    assert answers["run near"] == answers["run anywhere"] == [0, True]


def test_with_sensors(stub_path: Path, tmp_path: Path) -> None:
    domain, bus, slot = (int(part, 16) for part in str(ask(stub_path)["pci"][1])[:-2].split(":"))  # type: ignore[index]
    place = f"-DPLACE={domain << 32 | bus << 8 | slot << 3}ull"
    source, library = Path(__file__).with_name("stub_smi.c"), tmp_path / "librocm_smi64.so"
    subprocess.run(["gcc", "-shared", "-fPIC", place, str(source), "-o", str(library)], check=True)
    answers = ask(stub_path, tmp_path)
    assert answers["memory"][3] == 123456789  # type: ignore[index]
    assert answers["busy"] == [0, 42, 17] and answers["temperature"] == [0, 61]
    assert answers["power"] == [0, 250000] and answers["clock"] == [0, 2100]
    assert answers["processes"] == [0, 1, 4711, 1000000]


def test_no_function_is_there_twice_or_missing() -> None:
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", str(native.DIRECTORY / "libnvidia-ml.so.1")], capture_output=True, text=True
    ).stdout
    names = {line.split()[2] for line in exported.splitlines()}
    assert names == {row.symbol for row in nvml.functions()} and len(names) > 400
    pynvml = pytest.importorskip("pynvml")
    words = {name for name in Path(pynvml.__file__).read_text().split('"') if name.startswith("nvml")}
    assert {name for name in words - names if name.replace("_", "").isalnum() and name[4:5].isupper()} == set()
