"""The command line as users and scripts hold on to it: exit statuses, outputs, messages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ptx2amd.codegen.link import sidecar_of
from tests.fatbin.containers import entry, executable, fatbin

GOOD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry first(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 5; ret; }
.visible .entry second() { .shared .align 4 .b8 s[512]; st.shared.u32 [s], 1; ret; }
"""
ONE_BAD = GOOD + ".visible .entry third() { .reg .b32 %r<3>;\n add.u32 %r1, %r2; ret; }\n"


@pytest.fixture
def ptx2amd(tmp_path: Path):
    """Runs `ptx2amd ARGS...` in a folder of its own, with a cache of its own."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PTX2AMD_CACHE_DIR": str(tmp_path / "cache"), **variables}
        command = [sys.executable, "-m", "ptx2amd.cli", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.ptx"
    path.write_text(GOOD)
    return path


@pytest.fixture
def one_bad(tmp_path: Path) -> Path:
    path = tmp_path / "one_bad.ptx"
    path.write_text(ONE_BAD)
    return path


def test_run_passes_arguments_and_exit_status_on(ptx2amd) -> None:
    done = ptx2amd("run", "--", "sh", "-c", 'echo "$1"; exit 7', "sh", "--device")
    assert (done.returncode, done.stdout) == (7, "--device\n")


def test_run_sets_the_environment_of_the_program(ptx2amd) -> None:
    done = ptx2amd("run", "--device", "vgpu:gfx1100", "--", "env")
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert found["PTX2AMD_DEVICE"] == "vgpu:gfx1100"
    assert Path(found["LD_LIBRARY_PATH"].split(":")[0], "libcuda.so.1").exists()


def test_run_finds_the_libraries_of_wheels_beside_the_program(ptx2amd, tmp_path: Path, monkeypatch) -> None:
    """Behind folders that the user names."""
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "nvidia" / "cublas" / "lib"
    folder.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "python"
    program.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH"\n')
    program.chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/given")
    done = ptx2amd("run", "--", str(program))
    assert done.stdout.strip().split(":")[1:] == ["/given", str(folder)]


def test_run_print_env_can_be_sourced(ptx2amd) -> None:
    done = ptx2amd("run", "--device", "vgpu", "--print-env")
    script = done.stdout + 'test -e "${LD_LIBRARY_PATH%%:*}/libcuda.so.1" && echo "$PTX2AMD_DEVICE"'
    assert subprocess.run(["sh", "-c", script], capture_output=True, text=True).stdout == "vgpu\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("run", "--device", "cuda", "--", "true"), 1, "unknown device 'cuda'"),
        (("run", "--device", "vgpu:gfx802", "--", "true"), 1, "there is no software GPU 'gfx802'; there are gfx803,"),
        (("run", "--device", "kfd:gfx942,gfx1", "--", "true"), 1, "there is no software GPU 'gfx1'"),
        (("run", "--device", "vgpu:gfx1100,gfx942:xnack-", "--", "true"), 0, ""),
        (("doctor", "--selftest", "--device", "vgpu:gfx9999"), 1, "there is no software GPU 'gfx9999'"),
        (("precompile", "/bin/true"), 0, "no PTX was found; `ptx2amd inspect FILE`"),
        (("trace", "show", "/bin/true"), 1, "/bin/true:1: not a trace"),
        (("trace", "show", "good.ptx"), 1, "good.ptx:1: not a trace"),
        (("run", "--", "no-such-program"), 127, "no-such-program: not found"),
        (("run",), 2, "no program given"),
        (("run", "--profile=no/such.json", "--", "true"), 1, "no/such.json: cannot be written: there is no folder no"),
        (("run", "--trace", "/", "--", "true"), 2, "'/' is a directory"),
        (("translate", "missing.ptx"), 2, "missing.ptx"),
        (("translate", "good.ptx", "-o", "/dev/null"), 0, ""),
        (("translate", "good.ptx", "--arch", "gfx942,gfx1100", "-o", "/dev/null"), 1, "2 results need a folder"),
        (("translate", "good.ptx", "--arch", "gfx1"), 1, "unknown AMDGPU arch 'gfx1'"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_wrong_use_is_one_clear_message(
    ptx2amd, good: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    done = ptx2amd(*arguments)
    assert done.returncode == status and message in done.stderr and "Traceback" not in done.stderr


def test_translate_writes_a_file_per_arch(ptx2amd, good: Path, tmp_path: Path) -> None:
    done = ptx2amd("translate", "good.ptx", "--arch", "gfx942,gfx1100", "-o", "out")
    assert done.returncode == 0, done.stderr
    for arch, mapping in (("gfx942", "paired"), ("gfx1100", "native")):
        note = sidecar_of((tmp_path / "out" / f"good.{arch}.hsaco").read_bytes())
        assert note is not None and note["arch"] == arch
        assert {name: kernel["mapping"] for name, kernel in note["kernels"].items()} == dict.fromkeys(
            ("first", "second"), mapping
        )


def test_translate_bundle_holds_both(ptx2amd, good: Path, tmp_path: Path) -> None:
    assert ptx2amd("translate", "good.ptx", "--arch", "gfx942,gfx1100", "--bundle", "-o", "both.hipfb").returncode == 0
    blob = (tmp_path / "both.hipfb").read_bytes()
    assert blob.startswith(b"__CLANG_OFFLOAD_BUNDLE__") and b"amdhsa--gfx942" in blob and b"amdhsa--gfx1100" in blob
    assert blob.count(b"\x7fELF") == 2


@pytest.mark.parametrize(
    ("emit", "mark"),
    [("asm", b"s_endpgm"), ("ll", b"amdgpu_kernel void @first("), ("obj", b"\x7fELF"), ("hsaco", b"\x7fELF")],
)
def test_translate_emits(ptx2amd, good: Path, tmp_path: Path, emit: str, mark: bytes) -> None:
    assert ptx2amd("translate", "good.ptx", "--emit", emit, "-o", "result.bin").returncode == 0
    assert mark in (tmp_path / "result.bin").read_bytes()


def test_translate_one_kernel(ptx2amd, good: Path, tmp_path: Path) -> None:
    assert ptx2amd("translate", "good.ptx", "--kernel", "second", "-o", "x.hsaco").returncode == 0
    note = sidecar_of((tmp_path / "x.hsaco").read_bytes())
    assert note is not None and list(note["kernels"]) == ["second"]
    missing = ptx2amd("translate", "good.ptx", "--kernel", "nothing", "-o", "y.hsaco")
    assert missing.returncode == 1 and "nothing" in missing.stderr and not (tmp_path / "y.hsaco").exists()


def test_translate_names_the_kernel_that_failed(ptx2amd, one_bad: Path, tmp_path: Path) -> None:
    done = ptx2amd("translate", "one_bad.ptx", "-o", "x.hsaco")
    assert done.returncode == 1 and "third" in done.stderr and "one_bad.ptx:7:" in done.stderr
    assert not (tmp_path / "x.hsaco").exists()
    kept = ptx2amd("translate", "one_bad.ptx", "-o", "x.hsaco", "--keep-going")
    note = sidecar_of((tmp_path / "x.hsaco").read_bytes())
    assert kept.returncode == 1 and note is not None and list(note["kernels"]) == ["first", "second"]


def test_why_nothing_was_translated_is_told_where_the_output_exists(ptx2amd, one_bad: Path, tmp_path: Path) -> None:
    (tmp_path / "k.hsaco").write_text("of an earlier run")
    done = ptx2amd("translate", "one_bad.ptx", "-o", "k.hsaco")
    assert done.returncode == 1 and "third" in done.stderr and "one_bad.ptx:7:" in done.stderr


def test_inspect_says_what_runs_and_what_not(ptx2amd, one_bad: Path) -> None:
    done = ptx2amd("inspect", "--json", "one_bad.ptx")
    [image] = json.loads(done.stdout)["images"]
    verdicts = {kernel["name"]: kernel["runs"] for kernel in image["kernels"]}
    assert image["target"] == "sm_80" and verdicts == {"first": True, "second": True, "third": False}
    assert next(k for k in image["kernels"] if k["name"] == "second")["static_shared"] == 512
    text = ptx2amd("inspect", "one_bad.ptx").stdout
    assert "runs on gfx942: paired" in text and "does not run on gfx942" in text


def test_inspect_reads_our_own_code_objects(ptx2amd, good: Path) -> None:
    ptx2amd("translate", "good.ptx", "-o", "x.hsaco")
    assert "code object for gfx942, from PTX 8.0 for sm_80" in ptx2amd("inspect", "x.hsaco").stdout


def test_inspect_lists_without_judging(ptx2amd, one_bad: Path) -> None:
    [image] = json.loads(ptx2amd("inspect", "--json", "--list", "one_bad.ptx").stdout)["images"]
    verdicts = [(kernel["name"], kernel["runs"]) for kernel in image["kernels"]]
    assert verdicts == [("first", None), ("second", None), ("third", None)]
    text = ptx2amd("inspect", "--list", "one_bad.ptx").stdout
    assert "third" in text and "run" not in text


@pytest.mark.parametrize(
    "command",
    [
        ("translate", "good.ptx", "-o", "{}/x.hsaco"),
        ("translate", "good.ptx", "--arch", "gfx942,gfx1100", "-o", "{}"),
        ("translate", "good.ptx", "--bundle", "-o", "{}"),
        ("inspect", "good.ptx", "--report", "{}/report.html"),
        ("explain", "good.ptx", "--kernel", "first", "--html", "{}/page.html"),
        ("doctor", "--selftest", "--only", "arithmetic: bits", "--report", "{}/report"),
        ("compat", "run", "polybench", "--work", "{}"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_what_cannot_be_written_is_named(ptx2amd, good: Path, command: tuple[str, ...]) -> None:
    """Not even root can write there. Some were tracebacks."""
    done = ptx2amd(*(word.format("/proc/nowhere") for word in command))
    assert done.returncode == 1 and done.stderr.startswith("ptx2amd: /proc/nowhere") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["truncated.exe", "zero.fatbin", "negative.a", "note.hsaco"])
def test_damaged_files_are_one_line(ptx2amd, good: Path, tmp_path: Path, name: str) -> None:
    """Each was a traceback, or an endless loop."""
    ptx2amd("translate", "good.ptx", "-o", "x.hsaco")
    code = (tmp_path / "x.hsaco").read_bytes()
    blobs = {
        "truncated.exe": Path("/bin/true").read_bytes()[:5000],
        "zero.fatbin": bytes.fromhex("50ed55ba0100") + bytes(74),
        "negative.a": b"!<arch>\n" + b"m.o".ljust(48) + b"-60".ljust(10) + b"`\n" + bytes(100),
        "note.hsaco": code.replace(b'"kernels":', b'"kerneIs":'),
    }
    (tmp_path / name).write_bytes(blobs[name])
    done = ptx2amd("inspect", name)
    assert done.returncode == 1 and done.stderr.startswith(f"ptx2amd: {name}") and done.stderr.count("\n") == 1


SEPARATE = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry caller(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p];
{ .param .b32 x; .param .b32 r; st.param.b32 [x], 21; call.uni (r), twice, (x); ld.param.b32 %r1, [r]; }
st.global.u32 [%rd1], %r1; ret; }
"""
OTHER = """.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x];
add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }
"""


def test_separate_compilation_is_linked(ptx2amd, tmp_path: Path) -> None:
    """nvcc -rdc=true: each file's PTX alone has calls into the others'."""
    parts = b"".join(fatbin(entry(text.encode(), encoding="zstd")) for text in (SEPARATE, OTHER))
    (tmp_path / "rdc").write_bytes(executable(b"__nv_relfatbin", parts))
    [image] = json.loads(ptx2amd("inspect", "--json", "rdc").stdout)["images"]
    assert [(kernel["name"], kernel["runs"]) for kernel in image["kernels"]] == [("caller", True)]
    assert ptx2amd("translate", "rdc", "-o", "x.hsaco").returncode == 0
    assert "1 kernels of 1 modules" in ptx2amd("precompile", "rdc").stdout


SHARED = """.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 more[];
.visible .entry dynamic() { .shared .b8 s[1000]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [more], %r; ret; }
.visible .entry fixed() { .shared .b8 s[70000]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [s], %r; ret; }
.visible .entry none() { ret; }
"""


def test_inspect_says_what_shared_memory_beyond_the_chips_costs(ptx2amd, tmp_path: Path) -> None:
    (tmp_path / "shared.ptx").write_text(SHARED)
    text = ptx2amd("inspect", "shared.ptx").stdout
    assert "with more than 64,536 bytes of dynamic shared memory: in global memory; accesses are as slow" in text
    assert "70,656 bytes of static shared memory in global memory, as LDS is too small: accesses are as slow" in text
    assert text.count("accesses are as slow") == 2
    assert ptx2amd("inspect", "shared.ptx", "--arch", "gfx950").stdout.count("accesses are as slow") == 1  # 160 KiB


WAITS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry waits() { .reg .b32 %r<3>; .reg .pred %p; .shared .u32 s; mov.u32 %r1, %tid.x;
setp.eq.u32 %p, %r1, 40; @%p st.volatile.shared.u32 [s], 1;
L: ld.volatile.shared.u32 %r2, [s]; setp.eq.u32 %p, %r2, 0; @%p bra L; ret; }
"""


def test_the_warp_mapping_is_shown_and_can_be_chosen(ptx2amd, tmp_path: Path) -> None:
    (tmp_path / "waits.ptx").write_text(WAITS)
    shown = ptx2amd("inspect", "waits.ptx").stdout
    assert "runs on gfx942: padded" in shown and "line 6: a loop waits" in shown and "twice the size in x" in shown
    assert "native" in ptx2amd("inspect", "--arch", "gfx1100", "waits.ptx").stdout
    for options, mapping in (([], "padded"), (["--mapping", "paired"], "paired")):
        assert ptx2amd("translate", "waits.ptx", *options, "-o", "x.hsaco").returncode == 0
        [kernel] = sidecar_of((tmp_path / "x.hsaco").read_bytes())["kernels"].values()
        assert (kernel["mapping"], len(kernel["hazards"])) == (mapping, 1)
    refused = ptx2amd("translate", "waits.ptx", "--mapping", "native")
    assert refused.returncode == 1 and "no waves of 32 lanes" in refused.stderr
    assert "PTX2AMD_MAPPING=padded" in ptx2amd("run", "--mapping", "padded", "--print-env").stdout
    weak = ptx2amd("run", "--weak=7", "--print-env").stdout
    assert "PTX2AMD_WEAK=7\n" in weak and "PTX2AMD_DEVICE=vgpu\n" in weak
    random = ptx2amd("run", "--weak", "--", "true")
    assert re.fullmatch(r"ptx2amd: --weak=[1-9]\d* repeats this run\n", random.stderr)


def test_doctor_finds_what_the_tests_run_with(ptx2amd) -> None:
    done = ptx2amd("doctor", "--json")
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    assert findings["libcuda.so.1"]["level"] == findings["linker"]["level"] == "ok"


def test_doctor_reports_a_cache_that_cannot_be_written(ptx2amd) -> None:
    done = ptx2amd("doctor", PTX2AMD_CACHE_DIR="/proc/nowhere")
    assert done.returncode == 1 and "missing" in done.stdout and "PTX2AMD_CACHE_DIR" in done.stdout


def test_precompile_and_cache(ptx2amd, good: Path, tmp_path: Path) -> None:
    done = ptx2amd("precompile", "good.ptx", "--arch", "gfx942,gfx1100")
    assert done.returncode == 0 and "4 kernels of 1 modules" in done.stdout
    listing = ptx2amd("cache", "list").stdout
    assert listing.count("paired") == listing.count("native") == 2
    assert [line.split()[2] for line in listing.splitlines() if line.startswith("module")] == ["sm_80"]
    assert ptx2amd("cache", "check").returncode == 0
    [entry, *_] = (tmp_path / "cache").rglob("*.p2a")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert ptx2amd("cache", "check").returncode == 1
    ptx2amd("cache", "clear")
    assert not list((tmp_path / "cache").rglob("*.p2a"))


def test_a_kernel_that_llvm_ends_over_costs_no_other(ptx2amd, tmp_path: Path) -> None:
    """LLVM ends the process when registers that it keeps in memory make a stack too large."""
    loads = "".join(f"ld.volatile.global.u64 %v{i}, [%a+{8 * i}];\n" for i in range(300))
    stores = "".join(f"st.volatile.global.u64 [%a+{8 * i}], %v{i};\n" for i in range(300))
    text = (
        GOOD + ".visible .entry third(.param .u64 p) .maxntid 1024 { .local .align 8 .b8 s[131040];\n"
        f".reg .b64 %a, %l, %v<300>; ld.param.u64 %a, [p]; mov.u64 %l, s; add.u64 %l, %l, %a; st.local.u64 [%l], %a;\n"
        f"{loads} bar.sync 0; {stores} ld.local.u64 %l, [%l]; st.global.u64 [%a], %l; ret; }}\n"
    )
    (tmp_path / "m.ptx").write_text(text)
    for command in (("precompile", "m.ptx"), ("translate", "m.ptx", "--keep-going")):
        done = ptx2amd(*command)
        said = " ".join((done.stdout + done.stderr).split())
        assert "bytes of local memory a thread (the largest array: s), where gfx942 has 131,056" in said
        assert "Traceback" not in said
    assert "2 kernels of 1 modules" in ptx2amd("precompile", "m.ptx").stdout


def test_folders_may_be_relative() -> None:
    """The service, which is in a folder of its own, finds what the program calls `c` and `r`."""
    driver = Path(__file__).resolve().parents[1] / "bad_input" / "driver.py"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "load.py").write_text("import os\nos.chdir('/')\ncu = Driver().start()\nstill_works(cu)\n")
        settings = {"PTX2AMD_CACHE_DIR": "c", "PTX2AMD_RUNTIME_DIR": "r", "PTX2AMD_SERVICE_IDLE": "1"}
        program = [sys.executable, driver, "load.py"]
        command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu", "--", *program]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=120
        )
        assert "still works" in done.stdout, done.stderr
        assert list(Path(folder, "c").rglob("*.p2a"))


def test_the_cache_can_be_switched_off(ptx2amd, good: Path, tmp_path: Path) -> None:
    """PTX2AMD_CACHE=0: programs run, nothing is kept."""
    script = tmp_path / "load.py"
    driver = Path(__file__).resolve().parents[1] / "bad_input" / "driver.py"
    script.write_text("cu = Driver().start()\nstill_works(cu)\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    off = {"PTX2AMD_CACHE": "0", "TMPDIR": str(scratch)}
    done = ptx2amd("run", "--device", "vgpu", "--", sys.executable, str(driver), str(script), **off)
    assert "still works" in done.stdout, done.stderr
    assert not list(tmp_path.rglob("*.p2a"))


def test_translate_prints_what_is_dangerous(ptx2amd, tmp_path: Path) -> None:
    (tmp_path / "lock.ptx").write_text(
        """.version 8.0
.target sm_80
.address_size 64
.visible .entry locked(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %q;
ld.param.u64 %rd1, [p];
AGAIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %q, %r1, 0; @%q bra AGAIN; ret; }
"""
    )
    done = ptx2amd("translate", "lock.ptx", "--arch", "gfx1100", "-o", "lock.hsaco")
    assert done.returncode == 0 and "warning: locked for gfx1100: " in done.stderr and "another lane" in done.stderr


def test_explain_shows_a_kernel_or_writes_a_page(ptx2amd, good: Path, tmp_path: Path) -> None:
    done = ptx2amd("explain", "good.ptx", "--kernel", "fir", "--arch", "gfx1100")
    assert done.returncode == 0, done.stderr
    assert "st.global.u32" in done.stdout and "global_store_b32" in done.stdout
    assert "native: gfx1100 has waves of 32 lanes" in done.stdout and "second" not in done.stdout
    assert ptx2amd("explain", "good.ptx", "--kernel", "second", "--html", "k.html").stdout == "k.html\n"
    assert "<title>second</title>" in (tmp_path / "k.html").read_text()


def test_explain_names_the_kernels_that_there_are(ptx2amd, good: Path, one_bad: Path) -> None:
    done = ptx2amd("explain", "good.ptx", "--kernel", "none")
    assert (done.returncode, done.stderr) == (1, "ptx2amd: good.ptx: none: no such kernel; it has: first, second\n")
    assert "several kernels" in ptx2amd("explain", "good.ptx", "--kernel", "s").stderr
    assert "one_bad.ptx:7:2" in ptx2amd("explain", "one_bad.ptx", "--kernel", "third").stderr


def test_inspect_writes_a_report(ptx2amd, one_bad: Path, tmp_path: Path) -> None:
    done = ptx2amd("inspect", "one_bad.ptx", "--report", "verdicts.html")
    assert done.returncode == 0 and "2 run on gfx942, 1 do not" in done.stdout
    text = (tmp_path / "verdicts.html").read_text()
    assert text.index("third") < text.index("first"), "what does not run comes first"
    assert "of which 2 run on gfx942" in text and "http" not in text
    assert ptx2amd("inspect", "one_bad.ptx", "--report", "x.html", "--json").returncode == 2
