"""The work of a service's worker: it reads an image, writes a cache entry and returns a short answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptx2amd.errors import LinkError, Ptx2amdError, PtxError, Unsupported
from ptx2amd.fatbin import ContainerError, Image
from ptx2amd.fatbin.container import LINKED
from ptx2amd.interface.lines import entry_text
from ptx2amd.interface.module import ModuleIndex, TextCheck
from ptx2amd.isa import table
from ptx2amd.lower.core import registry
from ptx2amd.modules import check_part, linked_with_outline, module_of, parse_linked, text_of
from ptx2amd.plan.kernel import FEW, GRIDS
from ptx2amd.plan.registers import estimate
from ptx2amd.plan.shared_memory import VARIANTS
from ptx2amd.ptx.ast import Module
from ptx2amd.ptx.linked_outline import LinkedOutline
from ptx2amd.ptx.outline import Outline
from ptx2amd.ptx.parse import parse_body
from ptx2amd.records import replace
from ptx2amd.service import cache, entry, shared
from ptx2amd.service.entry import Entry, EntryError
from ptx2amd.service.folder import FolderError
from ptx2amd.service.protocol import Message
from ptx2amd.target import MAPPINGS, MATRIX
from ptx2amd.target.arch import UnknownArch
from ptx2amd.translate import module_index, module_outline, parse, parse_kernel, translate

# The CUDA error that the shim returns for each kind of failure.
CODES: tuple[tuple[type[Exception], str], ...] = (
    (PtxError, "CUDA_ERROR_INVALID_PTX"),
    (LinkError, "CUDA_ERROR_UNKNOWN"),  # what NVIDIA's driver gives for it
    (ContainerError, "CUDA_ERROR_INVALID_IMAGE"),
    (Unsupported, "CUDA_ERROR_NOT_SUPPORTED"),
    (UnknownArch, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
    (OSError, "CUDA_ERROR_OPERATING_SYSTEM"),
)


AnyOutline = Outline | LinkedOutline
TYPICAL = Path(__file__).with_name("typical.ptx")
WARM_UP = """.version 7.0
.target sm_52
.address_size 64
.visible .entry warm_up(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %q;
ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %q, %r1, 7; @%q st.global.u32 [%rd1], %r1; ret; }
"""


def warm_up() -> None:
    """Translate a small kernel, so that forked workers find grammar, lowerings and LLVM loaded."""
    translate(WARM_UP, "warm-up", ["gfx942"])


def preparations() -> Iterator[None]:
    """What makes later workers faster, in short steps for when nothing else is to be done: all lowerings and
    instruction families, and the statements that compilers write most often."""
    registry.load()
    yield
    table.rows()
    yield
    module = parse(TYPICAL.read_text(), TYPICAL.name)
    for function in module.functions.values():
        parse_body(module, function)
        yield


def answer(request: Message, build: str, again: bool = False) -> Message:
    """Serve one request. Every failure becomes an answer with a CUDA error and a text for the user.

    again: a worker has crashed over this request, so LLVM is kept apart from this process."""
    begin = time.perf_counter()
    try:
        key, made, outline, problem = _serve(request, build, "all" if again else "risky")
    except Exception as error:
        code = next((code for kind, code in CODES if isinstance(error, kind)), "CUDA_ERROR_UNKNOWN")
        text = str(error)
        if not isinstance(error, Ptx2amdError | OSError):
            sys.excepthook(type(error), error, error.__traceback__)  # to the service's log
            text = f"internal error of the translator: {type(error).__name__}: {error}"
        said = text.encode(errors="replace")
        return Message({"status": "error", "code": code, "time_ms": _milliseconds(begin)}, said)
    packed = made.pack()
    root = request.header.get("cache", "")
    stored = _store(root, key, packed)
    if problem:
        stored.setdefault("note", problem)
    written = len(packed)
    if outline is not None and stored["stored"] == "1":
        beside = Entry(OUTLINE, outline.pack()).pack()
        _store(root, entry.outline_key(request.header["module"], build), beside)
        written += len(beside)
    return Message({"status": "ok", **stored, "written": str(written), "time_ms": _milliseconds(begin)}, packed)


def _store(root: str, key: str, packed: bytes) -> dict[str, str]:
    """Put an entry into the cache folder of a request. It is in the answer too: a folder that cannot be written costs
    time only, and the user gets a message."""
    if not root:
        return {"stored": "0"}
    try:
        entry.write(cache.path_of(Path(root), key), packed)
    except (OSError, FolderError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        note = f"the cache folder {root} can't be written ({why}): kernels are translated again in every run"
        return {
            "stored": "0",
            "note": f"{note}; make room there, or set PTX2AMD_CACHE_DIR to another folder that you own",
        }
    return {"stored": "1"}


def _milliseconds(begin: float) -> str:
    return f"{(time.perf_counter() - begin) * 1e3:.1f}"


def _serve(request: Message, build: str, isolate: str) -> tuple[str, Entry, AnyOutline | None, str]:
    """The key and the entry that the request asks for, the outline of a large module, which is stored beside its
    index, and what is wrong with the shared cache."""
    header = request.header
    module_id = header["module"]
    name = header.get("name") or "<module>"
    if entry.module_id(request.body) != module_id:
        raise ContainerError(f"{name}: the image does not have the digest that the request names")
    encoding, size = request.header.get("encoding", "none"), int(request.header.get("size") or 0)
    image = Image("ptx", 0, "", (0, 0), encoding, request.body, size, name)
    if header["op"] == "check":
        check_part(image)
        return entry.check_key(module_id, build), Entry(entry_text(TextCheck()), b""), None, ""
    if header["op"] == "index":
        module, outline = _outlined(image, header.get("check", ""))
        index = replace(module_index(module), checked=bool(header.get("check")))
        return entry.index_key(module_id, build), index_entry(index), outline, ""
    arch, kernel, options = header["arch"], header["kernel"], header.get("options", "")
    key = entry.kernel_key(module_id, build, arch, options, kernel)
    found, problem = _found(header.get("cache", ""), key), ""
    if found is None:
        found, problem = shared.fetch(key)
    if found is not None:
        return key, found, None, problem
    module = _part(image, kernel, header.get("cache", ""), entry.outline_key(module_id, build)) or module_of(image)
    made = kernel_entry(module, kernel, arch, build, parse_options(options), isolate)
    return key, made, None, problem or shared.offer(key, made.pack())


def _found(root: str, key: str) -> Entry | None:
    """An entry of the cache: the kernel was translated ahead, or for another process, since the request was made."""
    if not root:
        return None
    try:
        return cache.read(cache.path_of(Path(root), key))
    except (EntryError, OSError, FolderError):
        return None


def _is_large(image: Image) -> bool:
    return max(image.size, len(image.stored)) >= LARGE


def _outlined(image: Image, check: str) -> tuple[Module, AnyOutline | None]:
    """A module, and its outline if its kernels are worth reading alone."""
    if not _is_large(image):
        return module_of(image, check), None
    if image.encoding == LINKED:
        return linked_with_outline(image, check)
    module = module_of(image, check)
    return module, module_outline(text_of(image), module)


def _part(image: Image, kernel: str, root: str, key: str) -> Module | None:
    """The part of a module that a kernel needs, if the cache has the module's outline."""
    if not _is_large(image) or not root:
        return None
    found = _found(root, key)
    if found is None:
        return None
    if image.encoding == LINKED:
        return parse_linked(image, LinkedOutline.unpack(found.payload), kernel)
    return parse_kernel(text_of(image), image.origin, Outline.unpack(found.payload), kernel)


def index_entry(index: ModuleIndex) -> Entry:
    """A module's index as a cache entry."""
    return Entry(entry_text(index), index.payload)


OUTLINE = "outline 1\n"  # the text of a module's outline
LARGE = 1 << 17  # bytes of PTX; less is read as fast without an outline
OPTIONS = {"mapping": MAPPINGS, "matrix": MATRIX, "shared": VARIANTS, "grid": GRIDS}


def parse_options(text: str) -> dict[str, str]:
    """The options of a kernel's key, "mapping=padded shared=spilled", as keyword arguments of `translate`."""
    options = dict(item.partition("=")[::2] for item in text.split())
    for name, value in options.items():
        if value not in OPTIONS.get(name, ()):
            raise Ptx2amdError(f"the translator has no option {name}={value}")
    return options


def kernel_entry(
    module: Module,
    kernel: str,
    arch: str,
    build: str,
    options: dict[str, str] | None = None,
    isolate: str = "risky",
) -> Entry:
    """Translate one kernel. Raises Unsupported or PtxError when that can't be done."""
    begin = time.perf_counter()
    asked: dict[str, Any] = {"grid": FEW, **(options or {}), "isolate": isolate}
    [result] = translate(module, module.source, [arch], [kernel], build_id=build, **asked)
    outcome = result.kernels[kernel]
    if outcome.error:
        raise _named(outcome.error, kernel, module.source)
    outcome.arch = arch
    outcome.registers = estimate(module, module.functions[kernel])
    outcome.time_ms = round((time.perf_counter() - begin) * 1e3, 1)
    return Entry(entry_text(outcome), result.code)


def _named(error: Ptx2amdError, kernel: str, source: str) -> Ptx2amdError:
    """The error of a kernel that was not translated, with its module's name, which PtxErrors have already."""
    if isinstance(error, Unsupported):
        return Unsupported(error.reason, f"{kernel} of {source}", error.line, error.opcode)
    return error
