"""The description of the software GPUs in /sys, as ROCm's thunk reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ptx2amd import hip
from ptx2amd.hip.library import software_gpu
from tests.kfd import software_kfd

ROOT = "/sys/devices/virtual/kfd/kfd/topology"
CLASS = "/sys/class/kfd/kfd/topology"  # the same folder, by the name that RCCL uses
READ = """
import json, os, sys
def folder(path):
    names = {}
    for name in sorted(os.listdir(path)):
        below = os.path.join(path, name)
        names[name] = folder(below) if os.path.isdir(below) else open(below).read()
        assert os.path.isdir(below) or os.stat(below).st_size == len(names[name])
    return names
print(json.dumps(folder(sys.argv[1])))
"""


def topology(device: str, root: str = ROOT, **settings: str) -> dict:
    environment = {**os.environ, "LD_PRELOAD": str(software_kfd.LIBRARY), "PTX2AMD_DEVICE": device, **settings}
    done = subprocess.run([sys.executable, "-c", READ, root], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def properties(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def archs() -> list[str]:
    library = software_gpu()
    return library.ffi.string(library.raw.ptx2amd_vgpu_archs()).decode().split(",")


@pytest.mark.parametrize("arch", archs())
def test_a_chip_is_described_as_it_is(arch: str) -> None:
    tree = topology(f"kfd:{arch}")
    assert sorted(tree["nodes"]) == ["0", "1"]
    node = tree["nodes"]["1"]
    told = properties(node["properties"])
    version = told["gfx_target_version"]
    assert f"gfx{version // 10000}{version // 100 % 100}{version % 100:x}" == arch
    gpu = hip.open(f"vgpu:{arch}")
    assert told["wave_front_size"] == gpu.wave
    assert told["simd_count"] // told["simd_per_cu"] == int(gpu.properties.multiProcessorCount)
    assert told["array_count"] * told["cu_per_simd_array"] >= told["simd_count"] // told["simd_per_cu"]
    assert told["array_count"] % told["simd_arrays_per_engine"] == 0
    assert bool(told["capability"] >> 26 & 1) == (b"sramecc+" in gpu.library.ffi.string(gpu.properties.gcnArchName))


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_counted_is_there(count: int) -> None:
    """The thunk takes the counts for the numbers of folders, and links for paths between all nodes."""
    nodes = topology("kfd:gfx90a", PTX2AMD_VGPU_COUNT=str(count))["nodes"]
    assert topology("kfd:gfx90a", CLASS, PTX2AMD_VGPU_COUNT=str(count))["nodes"] == nodes
    assert sorted(nodes) == [str(k) for k in range(count + 1)]
    assert len({node["gpu_id"] for node in nodes.values()}) == count + 1
    for number, node in nodes.items():
        told = properties(node["properties"])
        for what in ("mem_banks", "caches", "io_links"):
            assert sorted(node.get(what, {})) == [str(k) for k in range(told[f"{what}_count"])], (number, what)
        links = [properties(link["properties"]) for link in node["io_links"].values()]
        assert [link["node_from"] for link in links] == [int(number)] * count
        assert sorted(link["node_to"] for link in links) == [k for k in range(count + 1) if str(k) != number]


def test_other_processes_see_the_machine_as_it_is() -> None:
    """The library may be loaded where the software GPU is used otherwise."""
    environment = {**os.environ, "LD_PRELOAD": str(software_kfd.LIBRARY), "PTX2AMD_DEVICE": "vgpu"}
    look = f"import os; print(os.path.exists({ROOT!r})); open('/dev/kfd')"
    plain = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    ours = subprocess.run([sys.executable, "-c", look], env=environment, capture_output=True, text=True)
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_an_unknown_chip_is_refused_by_name() -> None:
    environment = {**os.environ, "LD_PRELOAD": str(software_kfd.LIBRARY), "PTX2AMD_DEVICE": "kfd:gfx802"}
    done = subprocess.run([sys.executable, "-c", READ, ROOT], env=environment, capture_output=True, text=True)
    assert "there is no software GPU 'gfx802'" in done.stderr and "gfx942" in done.stderr
