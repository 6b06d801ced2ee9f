"""Build the native half: the libcuda shim and the software AMD GPU, into ptx2amd/_native/.

    python -m ptx2amd.native [vgpu] [kfd] [shim] [--sanitize address,undefined | thread --output DIRECTORY]

Generators write C (ptx2amd/vgpu/generate.py, ptx2amd/api, ptx2amd/interface); ninja runs gcc where a command or a file
that it reads has changed (ptx2amd/ninja.py). A build of everything writes build/compile_commands.json.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ptx2amd import settings
from ptx2amd.errors import Ptx2amdError
from ptx2amd.ninja import Builder, BuildFile, Object
from ptx2amd.service.build_id import current_build_id

PACKAGE = Path(__file__).resolve().parent
#: Where the libraries lie; PTX2AMD_NATIVE: another build of them, for example with sanitizers.
DIRECTORY = Path(settings.NATIVE.text() or PACKAGE / "_native").resolve()
WORK = PACKAGE.parent / "build" / "native"
#: C sources: libcuda (a folder for each area), what stands in for NVIDIA's tools, NVML.
SHIM, STANDINS, NVML = (PACKAGE.parent / "shim" / name for name in ("src", "standin", "nvml"))


def vgpu_includes(work: Path) -> tuple[str, ...]:
    """The -I options of the software GPU's C, with hip.h written into `work`."""
    from ptx2amd.api import generate, hip
    from ptx2amd.vgpu.unit import FOLDERS

    generate.write(_prepared(work), hip.header())
    return tuple(f"-I{folder}" for folder in (*FOLDERS, hip.TYPES, PACKAGE / "settings", work))


def shim_includes(work: Path) -> tuple[str, ...]:
    """The -I options of the shim's C, whose generated part is in `work`."""
    from ptx2amd.api import hip

    areas = sorted(path for path in SHIM.iterdir() if path.is_dir())
    return tuple(f"-I{folder}" for folder in (work, *areas, PACKAGE / "settings", PACKAGE / "interface", hip.TYPES))


def build_vgpu(builder: Builder, target: Path) -> None:
    """libptx2amd_vgpu.so: every unit once, per wave width, or per wave width and x86-64 level."""
    from ptx2amd.vgpu import generate
    from ptx2amd.vgpu.unit import LEVELS, WIDTHS

    include = vgpu_includes(builder.work)
    objects = []
    for unit in generate.write(_prepared(builder.work)):
        levels = {"once": (), "width": ("v2",), "build": tuple(LEVELS)}[unit.per]
        variants = [(w, level) for w in WIDTHS for level in levels]
        if not variants:
            objects.append(Object(unit.path, (*include, f"-march={LEVELS['v2']}", *unit.flags)))
        for width, level in variants:
            flags = (*include, f"-march={LEVELS[level]}", f"-DW={width}", f"-DLEVEL={level}", *unit.flags)
            kernels = unit.path.name != "wave_loop.c"  # which sees what decoding publishes
            objects.append(Object(unit.path, flags, f"w{width}-{level}", kernels))
    library = target / "libptx2amd_vgpu.so"
    builder.library(library, objects, (f"-Wl,-soname,{library.name}", "-lm", "-ldl", "-Wl,-z,nodelete"))
    build_dropin(builder, library)


def build_dropin(builder: Builder, vgpu: Path) -> None:
    """hip/libamdhip64.so.5, .so.6, .so.7 and .so: HIP programs and ROCm's libraries find the software GPU by them."""
    from ptx2amd.vgpu.dropin import generate

    folder = _prepared(vgpu.parent / "hip")
    flags = (f"-I{generate.FOLDER}", "-Wno-builtin-declaration-mismatch")
    for major, (source, versions) in generate.write(builder.work).items():
        soname = f"libamdhip64.so.{major}"
        link: tuple[str, ...] = (f"-Wl,-soname,{soname}", f"-Wl,--version-script,{versions}")
        link += (f"-Wl,--filter,{vgpu.name}", str(vgpu), "-Wl,--enable-new-dtags,-rpath,$ORIGIN/..")
        builder.library(folder / soname, [Object(source, flags)], link, uses=(vgpu, versions))
    _link(folder / "libamdhip64.so", f"libamdhip64.so.{max(generate.MAJORS)}")
    link = ("-Wl,-soname,librocm_smi64.so.7", str(vgpu), "-Wl,--enable-new-dtags,-rpath,$ORIGIN/..")
    builder.library(folder / "librocm_smi64.so.7", [Object(generate.FOLDER / "smi.c")], link, uses=(vgpu,))
    plain = builder.plain()  # as for the other audit library
    audit = Object(generate.FOLDER / "audit.c", variant="hip")
    plain.library(folder / "libptx2amd_hip_audit.so", [audit], ("-ldl",))


def build_kfd(builder: Builder, target: Path) -> None:
    """libptx2amd_kfd.so, which stands for the kernel's driver below AMD's ROCm stack; the engine stays in the software
    GPU's library."""
    from ptx2amd.settings import generate
    from ptx2amd.vgpu import gen_chips
    from ptx2amd.vgpu.unit import FOLDERS

    sources = PACKAGE / "vgpu" / "kfd"
    flags = tuple(f"-I{folder}" for folder in (sources, *FOLDERS, PACKAGE / "settings", builder.work))
    files = [*sorted(sources.glob("*.c")), *generate.write(_prepared(builder.work))]
    gen_chips.write(builder.work)
    builder.library(target / "libptx2amd_kfd.so", [Object(path, flags) for path in files], ("-ldl",))


def build_shim(builder: Builder, target: Path) -> None:
    """libcuda.so.1, and libcuda.so for programs that open or link that name."""
    from ptx2amd.api import generate, hip
    from ptx2amd.api.driver import libcuda
    from ptx2amd.interface import generate as interface
    from ptx2amd.libraries import ptx_builds
    from ptx2amd.settings import generate as settings_table

    folder = _prepared(builder.work)
    texts = {**libcuda.texts(), **hip.table_texts(), "ptx_builds.h": ptx_builds.header()}
    generated = generate.write(folder, texts)
    sources = [*sorted(SHIM.glob("*/*.c")), *settings_table.write(folder), *interface.write(folder), *generated]
    flags = ("-fno-semantic-interposition", *shim_includes(folder))
    library = target / "libcuda.so.1"
    link = (f"-Wl,-soname,{library.name}", "-Wl,-z,defs", "-Wl,-z,nodelete", "-ldl")
    builder.library(library, [Object(path, flags) for path in sources], link)
    _link(target / "libcuda.so", library.name)
    build_standins(builder, target, flags)
    build_nvml(builder, target)
    build_libmap(builder, target)


def build_standins(builder: Builder, target: Path, flags: tuple[str, ...]) -> None:
    """What stands in for NVIDIA's tools: ptxas, nvJitLink, NVRTC; and what puts ours first (LD_AUDIT, LD_PRELOAD)."""
    sources, folder = STANDINS, _prepared(target / "standin")
    plain = builder.plain()  # a sanitizer's run time cannot be where these libraries are
    settings_table = Object(PACKAGE / "settings" / "settings.c", flags, "audit")
    for name, others in (("audit", [settings_table]), ("preload", [])):
        objects = [Object(sources / f"{name}.c", flags), *others]
        plain.library(target / f"libptx2amd_{name}.so", objects, ("-ldl",))
    linked = SHIM / "module" / "linked.c"
    builder.program(folder / "ptxas", [Object(source, flags, "program") for source in (sources / "ptxas.c", linked)])
    for name in ("libnvJitLink.so.12", "libnvJitLink.so.13"):
        parts = [sources / "nvjitlink.c", SHIM / "module" / "device_runtime.c"]
        _build_standin(builder, folder / name, parts, flags)
    for name in ("libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13"):
        real = builder.work / f"ptx2amd-real-{name}"
        builder.library(real, [], ("-x", "c", "/dev/null", f"-Wl,-soname,{real.name}"))
        link = ("-Wl,--no-as-needed", str(real))
        _build_standin(builder, folder / name, [sources / "nvrtc.c", linked], flags, link, uses=(real,))


def _build_standin(
    builder: Builder,
    path: Path,
    sources: list[Path],
    flags: tuple[str, ...],
    link: tuple[str, ...] = (),
    uses: tuple[Path, ...] = (),
) -> None:
    """A library in the place of NVIDIA's, which it knows as REAL_LIBRARY. Symbols have the library's name as
    version, as NVIDIA's have."""
    objects = [Object(source, (*flags, f'-DREAL_LIBRARY="ptx2amd-real-{path.name}"'), path.name) for source in sources]
    builder.library(path, objects, (f"-Wl,-soname,{path.name}", "-Wl,--default-symver", *link, "-ldl"), uses)


def build_nvml(builder: Builder, target: Path) -> None:
    """libnvidia-ml.so.1."""
    from ptx2amd.api import generate, nvml

    generated = generate.write(builder.work, nvml.texts())
    flags = ("-I", str(builder.work), "-I", str(NVML))
    objects = [Object(path, flags) for path in (*sorted(NVML.glob("*.c")), *generated)]
    builder.library(target / "libnvidia-ml.so.1", objects, ("-Wl,-soname,libnvidia-ml.so.1", "-ldl"))


def build_libmap(builder: Builder, target: Path) -> None:
    """libmap/: CUDA's libraries over ROCm's, for programs that are to find these before NVIDIA's. The sonames of one
    differ in the version that it answers; symbols have the soname as version, as NVIDIA's have."""
    from ptx2amd.api import generate, hip, libraries

    folder = _prepared(target / "libmap")
    for mapped in libraries.MAPPED:
        name = mapped.library.name
        work = builder.work / name
        generated = generate.write(work, mapped.texts())
        flags = tuple(f"-I{path}" for path in (work, *mapped.includes, hip.TYPES))
        objects = [Object(path, flags, name) for path in (*mapped.sources, *generated) if path.name != "version.c"]
        for soname, version in mapped.library.sonames.items():
            which = Object(libraries.VERSION, (*flags, f"-DLIBRARY_VERSION={version}"), soname)
            link = (f"-Wl,-soname,{soname}", "-Wl,--default-symver", "-Wl,-z,defs", "-lm", "-ldl")
            builder.library(folder / soname, [*objects, which], link)


def _link(path: Path, to: str) -> None:
    if not path.is_symlink():
        path.unlink(missing_ok=True)
        path.symlink_to(to)


def _prepared(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


BUILDS = {"vgpu": build_vgpu, "kfd": build_kfd, "shim": build_shim}


def build(parts: Sequence[str] = tuple(BUILDS), target: Path = DIRECTORY, extra: tuple[str, ...] = ()) -> None:
    """Build the named parts into `target`, and what the translator loads from there. Raises Ptx2amdError when a
    command fails, which has then been printed."""
    from ptx2amd.lower.core.registry import INDEX, write_index
    from ptx2amd.ptx.grammar import TABLES, write_tables
    from ptx2amd.target import chips

    target = _prepared(target).resolve()
    kind = "" if target == DIRECTORY else re.sub(r"[/,]", "_", "".join(extra))  # ld splits its options at commas
    file = BuildFile(WORK / f"ninja{kind}")
    for part in parts:
        BUILDS[part](Builder(file, WORK / f"{part}{kind}", extra), target)
    file.run()
    if set(parts) == set(BUILDS) and not kind:
        file.write_commands(WORK.parent / "compile_commands.json")
    (target / "build-id").write_text(current_build_id() + "\n")
    write_tables(target / TABLES.name)
    write_index(target / INDEX.name)
    chips.write(target / chips.READ.name)


def drop_levels(highest: str) -> None:
    """Leave out the software GPU's builds for the levels above: what sanitizers need is one of each width."""
    from ptx2amd.vgpu.unit import LEVELS

    for level in [level for level in LEVELS if level > highest]:
        del LEVELS[level]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m ptx2amd.native", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{' or '.join(BUILDS)}; default: all")
    parser.add_argument("--sanitize", help="gcc sanitizers: address,undefined or thread (use with --output)")
    parser.add_argument("--level", choices=("v2", "v3", "v4"), help="x86-64 levels of the software GPU up to this one")
    parser.add_argument("--output", type=Path, default=DIRECTORY)
    parser.add_argument("--werror", action="store_true", help="warnings are errors")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(BUILDS):
        parser.error(f"unknown part {', '.join(unknown)}: use {' or '.join(BUILDS)}")
    extra = (f"-fsanitize={options.sanitize}", "-fno-omit-frame-pointer", "-O1") if options.sanitize else ()
    if options.level:
        drop_levels(options.level)
    try:
        build(options.parts or list(BUILDS), options.output, extra + (("-Werror",) if options.werror else ()))
        # The translator's interpreter, for programs that find our libcuda without `ptx2amd run`.
        (options.output / "python").write_text(sys.executable + "\n")
    except Ptx2amdError as error:
        sys.exit(f"ptx2amd.native: {error}")


if __name__ == "__main__":
    main()
