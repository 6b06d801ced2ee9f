"""What is known of a translated kernel: a line each in its cache entry, which the driver reads as `struct
kernel_properties`, and in the note of its code object.

A new fact about a kernel is a row here, `planned` if the kernel's plan has it under the same name. The driver then has
it as `code->properties.NAME`, the note and docs/internals/abi.md have it by themselves."""

from __future__ import annotations

from typing import Any

from ptx2amd.interface.lines import row
from ptx2amd.records import dataclass

MAPPINGS = ("native", "paired", "padded")
ALL, NOTE, PEOPLE = "driver note", "note", "people"


def planned(meaning: str, default: Any, readers: str = ALL, **more: Any) -> Any:
    """A row that KernelPlan has as well (`ptx2amd.translate` takes it over)."""
    return row(meaning, default, readers=readers, source="plan", **more)


@dataclass(slots=True, kw_only=True)
class KernelProperties:
    """Sizes in bytes."""

    name: str = planned("the kernel", "", PEOPLE)
    mapping: str = planned(
        "how warps lie in waves: a warp a wave, two side by side in a wave of 64 lanes, or one in its lower half; "
        "then launches have blocks of twice the size in x",
        "", choices=MAPPINGS)  # fmt: skip
    wave: int = row("lanes of a wave", 0)
    params: list[tuple[int, int, int]] = planned("parameters", list, NOTE, columns="offset size align")
    max_threads: int = planned("most threads of a block, as CUDA counts them", 0)
    static_shared: int = planned("static LDS", 0)
    local: int = row("scratch of a thread", 0, readers=ALL)
    vgprs: int = row("vector registers", 0, readers=ALL)
    sgprs: int = row("scalar registers", 0, readers=ALL)
    registers: int = row("register count that programs see: an estimate of ptxas's", 0)
    cells: frozenset[int] = row("cells of the environment that it reads", frozenset, readers=ALL)
    needs: list[str] = row("what a program has to know that launches it by itself", list, readers=NOTE)
    spilled: bool = row("shared memory lies in a slot of the arena", False, readers=ALL)
    slot: int = row("bytes of static variables in that slot", 0, readers="people note")
    dynamic: bool = planned("it uses dynamic shared memory", False, NOTE)
    launch_words: bool = planned("launches append their words to the parameters", False)
    launches: bool = planned("it may launch kernels, for which there is a launch word more", False)
    fidelity: str = row("`exact`, or `approx: ` and the opcodes that are not", "", readers="people note")
    hazards: list[str] = row(
        "where warps of a block wait for each other, `line N: WHY`: why it is padded", list, readers=ALL)  # fmt: skip
    apart: list[tuple[int, int]] = row(
        "offsets of pointers among the parameters that must not lead into one allocation; a launch whose do takes the "
        "variant mapping=padded",
        list, columns="first second", c="uint32_t", readers=ALL)  # fmt: skip
    rows: int = row(
        "the block's size in x must divide this, or the launch takes that variant; 0: any", 0, readers=ALL)  # fmt: skip
    blocks: int = planned("most blocks of a launch in x; a launch of more takes the variant grid=any; 0: any", 0)
    warnings: list[str] = row("what may hang in every mapping; said when the kernel is loaded", list, readers=ALL)
    arch: str = row("the chip", "", readers=PEOPLE)
    line: int = row("line of its PTX", 0, readers=NOTE)
    time_ms: float = row("time of its translation", 0.0, readers=PEOPLE)
