"""NVML as data: the exports of libnvidia-ml.so.1. unanswered.txt lists the functions that are not implemented."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.api import bodies, generate
from ptx2amd.api.spec import Api, Check, Function

_DEVICE = "nvmlDevice_t device"
_NUMBER = f"{_DEVICE}, out unsigned *value"
_LIST = f"{_DEVICE}, out unsigned *count, void *infos"
_CLOCK = f"{_DEVICE}, int type, out unsigned *mhz"

UNANSWERED = tuple(Path(__file__).with_name("unanswered.txt").read_text().split())

API = Api(
    name="nvml",
    status="nvmlReturn_t",
    header="nvml_state.h",
    null="NVML_ERROR_INVALID_ARGUMENT",
    before="if (!nvml_ready()) return NVML_ERROR_UNINITIALIZED;",
    checks={"nvmlDevice_t": Check("!device_known({})", "NVML_ERROR_INVALID_ARGUMENT")},
    refusal="NVML_ERROR_NOT_SUPPORTED",
    success="NVML_SUCCESS",
)

#: Chip generations, by compute capability: 2 Kepler, 3 Maxwell, 4 Pascal, 5 Volta, 6 Turing, 7 Ampere, 8 Ada, 9 Hopper,
#: 10 Blackwell.
_ARCHITECTURE = (
    "device->cc_major >= 10 ? 10 : device->cc_major == 9 ? 9 : "
    "device->cc_major == 8 ? (device->cc_minor == 9 ? 8 : 7) : "
    "device->cc_major == 7 ? (device->cc_minor >= 5 ? 6 : 5) : "
    "device->cc_major >= 3 ? device->cc_major - 1 - (device->cc_major == 6) : 2"
)

ROWS = (
    Function("nvmlInit", 0, "void", c="nvmlInit_v2()"),
    Function("nvmlInit_v2", 0, "void", ours=True),
    Function("nvmlInitWithFlags", 0, "unsigned flags", c="flags & ~3u ? NVML_ERROR_INVALID_ARGUMENT : nvmlInit_v2()"),
    Function("nvmlShutdown", 0, "void", ours=True),
    Function("nvmlErrorString", 0, "nvmlReturn_t result", ours=True, returns="const char *"),
    # the system
    Function("nvmlSystemGetCudaDriverVersion", 0, "out int *version", ours=True),
    Function("nvmlSystemGetCudaDriverVersion_v2", 0, "out int *version", c="nvmlSystemGetCudaDriverVersion(version)"),
    Function("nvmlSystemGetDriverVersion", 0, "out(length) char *version, unsigned length", ours=True),
    Function("nvmlSystemGetNVMLVersion", 0, "out(length) char *version, unsigned length", ours=True),
    Function("nvmlSystemGetProcessName", 0, "unsigned pid, out(length) char *name, unsigned length", ours=True),
    Function("nvmlSystemGetHicVersion", 0, "out unsigned *entries, void *hics", value="0"),
    Function("nvmlUnitGetCount", 0, "out unsigned *units", value="0"),
    # devices
    Function("nvmlDeviceGetCount", 0, "out unsigned *devices", c="nvmlDeviceGetCount_v2(devices)"),
    Function("nvmlDeviceGetCount_v2", 0, "out unsigned *devices", ours=True),
    Function("nvmlDeviceGetHandleByIndex", 0, "unsigned index, out nvmlDevice_t *device",
        c="nvmlDeviceGetHandleByIndex_v2(index, device)"),
    Function("nvmlDeviceGetHandleByIndex_v2", 0, "unsigned index, out nvmlDevice_t *device", ours=True),
    Function("nvmlDeviceGetHandleByUUID", 0, "const char *uuid, out nvmlDevice_t *device", ours=True),
    Function("nvmlDeviceGetHandleBySerial", 0, "const char *serial, out nvmlDevice_t *device", ours=True),
    Function("nvmlDeviceGetHandleByPciBusId", 0, "const char *id, out nvmlDevice_t *device",
        c="nvmlDeviceGetHandleByPciBusId_v2(id, device)"),
    Function("nvmlDeviceGetHandleByPciBusId_v2", 0, "const char *id, out nvmlDevice_t *device", ours=True),
    Function("nvmlDeviceGetName", 0, f"{_DEVICE}, out(length) char *name, unsigned length", ours=True),
    Function("nvmlDeviceGetUUID", 0, f"{_DEVICE}, out(length) char *uuid, unsigned length", ours=True),
    Function("nvmlDeviceGetPciInfo", 0, f"{_DEVICE}, out struct pci *pci", c="nvmlDeviceGetPciInfo_v2(device, pci)"),
    Function("nvmlDeviceGetPciInfo_v2", 0, f"{_DEVICE}, out struct pci *pci", ours=True),
    Function("nvmlDeviceGetPciInfo_v3", 0, f"{_DEVICE}, out struct pci *pci", ours=True),
    Function("nvmlDeviceGetIndex", 0, _NUMBER, value="device_index(device)"),
    Function("nvmlDeviceGetMinorNumber", 0, _NUMBER, value="device_index(device)"),
    Function("nvmlDeviceGetBoardId", 0, _NUMBER,
        value="device->pci.domain << 16 | device->pci.bus << 8 | device->pci.device"),
    Function("nvmlDeviceGetBrand", 0, _NUMBER, value="0"),  # unknown
    Function("nvmlDeviceGetMultiGpuBoard", 0, _NUMBER, value="0"),
    Function("nvmlDeviceGetComputeMode", 0, _NUMBER, value="0"),  # default compute mode: any number of contexts
    Function("nvmlDeviceGetPersistenceMode", 0, _NUMBER, value="1"),
    Function("nvmlDeviceGetDisplayMode", 0, _NUMBER, value="0"),
    Function("nvmlDeviceGetDisplayActive", 0, _NUMBER, value="0"),
    Function("nvmlDeviceGetPerformanceState", 0, _NUMBER, value="0"),
    Function("nvmlDeviceGetPowerState", 0, _NUMBER, value="0"),
    Function("nvmlDeviceGetMemoryBusWidth", 0, _NUMBER, value="device_attribute(device, 37)"),
    Function("nvmlDeviceGetNumGpuCores", 0, _NUMBER, value="device_attribute(device, 16) * 64"),
    Function("nvmlDeviceGetMaxMigDeviceCount", 0, _NUMBER, value="0"),
    Function("nvmlDeviceIsMigDeviceHandle", 0, _NUMBER, value="0"),
    Function("nvmlDeviceGetArchitecture", 0, _NUMBER, value=_ARCHITECTURE),
    Function("nvmlDeviceGetCudaComputeCapability", 0, f"{_DEVICE}, out int *major, out int *minor", ours=True),
    Function("nvmlDeviceOnSameBoard", 0, "nvmlDevice_t a, nvmlDevice_t b, out int *same", value="a == b"),
    Function("nvmlDeviceValidateInforom", 0, _DEVICE, value="0"),
    # memory and processes
    Function("nvmlDeviceGetMemoryInfo", 0, f"{_DEVICE}, out struct memory *memory", ours=True),
    Function("nvmlDeviceGetMemoryInfo_v2", 0, f"{_DEVICE}, out struct memory_v2 *memory", ours=True),
    Function("nvmlDeviceGetBAR1MemoryInfo", 0, f"{_DEVICE}, out struct memory *memory",
        c="nvmlDeviceGetMemoryInfo(device, memory)"),  # all of the memory can be mapped
    Function("nvmlDeviceGetComputeRunningProcesses", 0, _LIST,
        c="processes(device, count, infos, offsetof(struct process, gpu_instance))"),
    Function("nvmlDeviceGetComputeRunningProcesses_v2", 0, _LIST,
        c="processes(device, count, infos, sizeof(struct process))"),
    Function("nvmlDeviceGetComputeRunningProcesses_v3", 0, _LIST,
        c="processes(device, count, infos, sizeof(struct process))"),
    Function("nvmlDeviceGetGraphicsRunningProcesses", 0, _LIST, value="0"),
    Function("nvmlDeviceGetGraphicsRunningProcesses_v2", 0, _LIST, value="0"),
    Function("nvmlDeviceGetGraphicsRunningProcesses_v3", 0, _LIST, value="0"),
    Function("nvmlDeviceGetMPSComputeRunningProcesses", 0, _LIST, value="0"),
    Function("nvmlDeviceGetMPSComputeRunningProcesses_v2", 0, _LIST, value="0"),
    Function("nvmlDeviceGetMPSComputeRunningProcesses_v3", 0, _LIST, value="0"),
    # sensors
    Function("nvmlDeviceGetUtilizationRates", 0, f"{_DEVICE}, out struct utilization *rates", ours=True),
    Function("nvmlDeviceGetTemperature", 0, f"{_DEVICE}, int sensor, out unsigned *celsius", ours=True),
    Function("nvmlDeviceGetTemperatureV", 0, f"{_DEVICE}, inout struct temperature *t", ours=True),
    Function("nvmlDeviceGetPowerUsage", 0, f"{_DEVICE}, out unsigned *milliwatts", ours=True),
    Function("nvmlDeviceGetMaxClockInfo", 0, _CLOCK, c="clock_limit(device, type, mhz)"),
    Function("nvmlDeviceGetApplicationsClock", 0, _CLOCK, c="clock_limit(device, type, mhz)"),
    Function("nvmlDeviceGetDefaultApplicationsClock", 0, _CLOCK, c="clock_limit(device, type, mhz)"),
    Function("nvmlDeviceGetClockInfo", 0, _CLOCK, ours=True),
    # processors near a device
    Function("nvmlDeviceGetCpuAffinity", 0, f"{_DEVICE}, unsigned words, out(words) unsigned long *set", ours=True),
    Function("nvmlDeviceGetCpuAffinityWithinScope", 0,
        f"{_DEVICE}, unsigned words, out(words) unsigned long *set, unsigned scope", ours=True),
    Function("nvmlDeviceGetMemoryAffinity", 0,
        f"{_DEVICE}, unsigned words, out(words) unsigned long *set, unsigned scope", ours=True),
    Function("nvmlDeviceSetCpuAffinity", 0, _DEVICE, ours=True),
    Function("nvmlDeviceClearCpuAffinity", 0, _DEVICE, ours=True),
)  # fmt: skip


def functions() -> tuple[Function, ...]:
    """All functions. Those that are not implemented do not read their parameters, which the calling convention
    allows."""
    return (*ROWS, *(Function(name, 0, "void") for name in UNANSWERED))


def texts() -> dict[str, str]:
    """The generated files: name -> text."""
    visible, before = "#pragma GCC visibility push(default)\n", "#pragma GCC visibility pop\n"
    declared = visible + generate.prototypes(API, functions()) + before
    return {
        "nvml_api.h": generate.header("nvml_api.h", declared, ['"nvml_types.h"']),
        "nvml_answers.c": bodies.forward(API, ROWS),
        "nvml_unanswered.c": bodies.refused(API, functions()),
    }
