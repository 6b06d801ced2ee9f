"""The modules that a program loads, from the images of a file: linking of separately compiled images, and parsing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ptx2amd.binary import Blob
from ptx2amd.errors import LinkError, PtxErrors
from ptx2amd.fatbin import Image
from ptx2amd.fatbin.container import LINKED, preferred, row, stored_row
from ptx2amd.ptx.ast import Module
from ptx2amd.records import replace
from ptx2amd.regex import regex
from ptx2amd.translate import parse, whole_of

if TYPE_CHECKING:
    from ptx2amd.ptx.linked_outline import LinkedOutline

# The part of a linked image that limits registers (linked_limit of shim/src/module/linked.c).
LIMIT = regex(rb'\.version 1\.0\n\.target sm_10\n\.pragma "ptx2amd maxnreg (\d{1,9})";\s*\0*')


# CUDA's device runtime library in a linked image: what our cuLink has in its place (shim/src/module/device_runtime.c),
# or the PTX that nvcc has linked, which asks the driver for launches; here ptx2amd/lower/runtime/launches.py has them.
RUNTIME = -1  # the place of its text among those of a linked image
DEVICE_RUNTIME_PTX = Path(__file__).parent / "ptx" / "device_runtime.ptx"
DEVICE_RUNTIME = regex(
    rb'\A\.version 1\.0\n\.target sm_10\n\.pragma "ptx2amd device runtime";'
    rb"|^\.visible \.func .*\bcudaLaunchDeviceV2\(",
    re.M,
)


def linked_images(images: Iterable[Image], capability: int = 80) -> list[Image]:
    """The images, with those of separate compilation (nvcc -rdc=true) linked into one, as the program's start-up does.

    capability: 80 for a program that sees compute capability 8.0; it decides which PTX of a fatbin is taken. Machine
    code in the fatbins that are linked is left out. The linked image is the one that shim/src/module/image.c makes."""
    whole: list[Image] = []
    parts: dict[str, dict[str, list[Image]]] = {}  # file -> fatbin -> its PTX
    for image in images:
        if not image.relocatable:
            whole.append(image)
        elif image.kind == "ptx":
            parts.setdefault(image.relocatable, {}).setdefault(image.fatbin, []).append(image)
    for file, fatbins in parts.items():
        chosen = [preferred(candidates, capability) for candidates in fatbins.values()]
        if len(chosen) > 1:
            blob = stored_row(chosen)
            size = sum(image.size for image in chosen)
            origin = f"{file}: {len(chosen)} parts linked"
            chosen = [replace(chosen[0], encoding=LINKED, stored=blob, size=size, origin=origin)]
        whole += chosen
    return whole


def module_of(image: Image, check: str = "") -> Module:
    """The parsed module of a PTX image; the parts of a linked one become one.

    check: "text" to judge all of a text that nobody has judged before, bodies included; "link" to see that modules
    which are linked define what they use. Raises PtxError (PtxErrors for a text that was checked), LinkError,
    ContainerError."""
    if image.encoding != LINKED:
        module = _parse(image.data(), image.origin)
        if check:
            _judge(image.data(), module)
        return module
    return _linked(image, check, False)[0]


def linked_with_outline(image: Image, check: str = "") -> tuple[Module, LinkedOutline | None]:
    """`module_of` a linked image, and its outline, for parse_linked; none of one that has a single text."""
    return _linked(image, check, True)


def _linked(image: Image, check: str, outlined: bool) -> tuple[Module, LinkedOutline | None]:
    from ptx2amd.ptx import linked_outline  # few modules are linked
    from ptx2amd.ptx.link import link
    from ptx2amd.ptx.verify import undefined

    parts = {place: part.data() for place, part in enumerate(row(Blob(image.stored, image.origin)))}
    limits = [int(found[1]) for text in parts.values() if (found := LIMIT.fullmatch(text))]
    parts = {place: text for place, text in parts.items() if not LIMIT.fullmatch(text)}
    texts = {place: text for place, text in parts.items() if not DEVICE_RUNTIME.search(text)}
    if len(texts) < len(parts):
        texts[RUNTIME] = DEVICE_RUNTIME_PTX.read_bytes()
    outlines: list[linked_outline.Part] = []
    if len(texts) == 1:
        [text] = texts.values()
        module = _parse(text, image.origin, check != "link")
        if check == "text":
            _judge(text, module)
    else:
        named = enumerate(texts.values(), 1)
        parsed = [_parse(text, f"{image.origin}, part {number}", False) for number, text in named]
        if outlined:
            outlines = linked_outline.parts_of({place: _text(text) for place, text in texts.items()}, parsed)
        module = link(parsed, image.origin)
    if check == "link" and (missing := [name for _, name, _ in undefined(module)]):
        raise LinkError("\n".join(f"{image.origin}: error: undefined reference to '{name}'" for name in missing))
    _limit_registers(module, limits)
    if not outlines:
        return module, None
    facts = module.version, module.target, module.target_options
    return module, linked_outline.LinkedOutline(*facts, outlines, limits, whole_of(module))


def parse_linked(image: Image, outline: LinkedOutline, kernel: str) -> Module | None:
    """What a kernel needs of a linked image, by its outline; None if it has no such kernel. Raises as module_of."""
    from ptx2amd.ptx.linked_outline import parse_linked_part

    parts = list(row(Blob(image.stored, image.origin)))

    def text_at(place: int) -> str:
        return _text(DEVICE_RUNTIME_PTX.read_bytes() if place == RUNTIME else parts[place].data())

    module = parse_linked_part(text_at, outline, image.origin, kernel)
    if module:
        _limit_registers(module, outline.limits)
    return module


def text_of(image: Image) -> str:
    """The PTX of an image that is one text. Raises ContainerError."""
    return _text(image.data())


def check_part(image: Image) -> None:
    """Judge a text that is to be linked with others. Raises PtxError, PtxErrors."""
    _judge(image.data(), _parse(image.data(), image.origin, False), whole=False)


def _judge(text: bytes, module: Module, whole: bool = True) -> None:
    from ptx2amd.lower.core.limits import oversized  # once for each module
    from ptx2amd.ptx.verify import characters, problems, unresolved

    errors = [*characters(text.decode(errors="replace"), module.source), *problems(module)]
    if whole:
        errors += unresolved(module)
    if whole and not errors:
        errors += oversized(module)
    if errors:
        raise PtxErrors(errors)


def _limit_registers(module: Module, limits: list[int]) -> None:
    """What the program asked of the just-in-time compiler, as if the kernels said it."""
    for function in module.functions.values():
        if function.kind == "entry" and limits:
            function.directives["maxnreg"] = (min([*function.directives.get("maxnreg", ()), *limits]),)


def _parse(text: bytes, name: str, whole: bool = True) -> Module:
    return parse(_text(text), name, whole)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
