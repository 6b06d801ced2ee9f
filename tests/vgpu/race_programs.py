"""Random programs of warps and blocks that exchange values through memory, of which some lack a barrier.

`python -m tests.vgpu.race_programs CODE RESULT CHIP` runs those in the folder CODE in this process, in the mode that
the environment says, and writes what each one left in memory."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
WARP = 32
#: Room for the words of all threads; the counter of the grid's barrier follows.
WORDS = 512


@dataclass(frozen=True)
class Program:
    """rounds: where a value goes, the distance to the thread that reads it, the barriers behind write and read."""

    blocks: int
    warps: int
    rounds: tuple[tuple[str, int, str, str], ...]

    def kernel(self, name: str) -> str:
        return _TEXT.format(
            name=name, threads=self.blocks * self.warps * WARP, block=self.warps * WARP, counter=4 * WORDS,
            body="\n".join(self._round(k, *each) for k, each in enumerate(self.rounds)),
        )  # fmt: skip

    def _round(self, number: int, where: str, distance: int, written: str, read: str) -> str:
        """Each thread writes its value, and adds to it the value of the thread at the distance."""
        base, first, size = (
            ("%s", "%tid", self.warps * WARP) if where == "shared" else ("%g", "%id", self.blocks * self.warps * WARP)
        )
        space, add = ("shared", "u32") if where == "shared" else ("global", "u64")
        own = f"mul.wide.u32 %a, {first}, 4;" if add == "u64" else f"shl.b32 %c, {first}, 2;"
        partner = f"add.u32 %t, {first}, {distance}; rem.u32 %t, %t, {size};"
        there = "mul.wide.u32 %a, %t, 4;" if add == "u64" else "shl.b32 %c, %t, 2;"
        at = "%a" if add == "u64" else "%c"
        return f"""  {own} add.{add} {at}, {at}, {base};
  st.{space}.u32 [{at}], %x;
  {self._barrier(written, f"W{number}")}
  {partner} {there} add.{add} {at}, {at}, {base};
  ld.{space}.u32 %v, [{at}]; mad.lo.u32 %x, %x, 5, %v;
  {self._barrier(read, f"R{number}")}"""

    def _barrier(self, scope: str, label: str) -> str:
        if scope == "none":
            return ""
        if scope == "block":
            return "bar.sync 0;"
        return f"""bar.sync 0;
  setp.ne.u32 %p, %tid, 0; @%p bra {label}_PASS;
  fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%n], 1;
{label}_WAIT:
  ld.relaxed.gpu.global.u32 %t, [%n]; setp.ne.u32 %p, %t, {self.blocks}; @%p bra {label}_WAIT;
  fence.acq_rel.gpu;
{label}_PASS:
  bar.sync 0;"""


_TEXT = """
.visible .entry {name}(.param .u64 p, .param .u64 out) {{
  .reg .b64 %g, %n, %a, %out; .reg .b32 %tid, %id, %x, %v, %t, %s, %c; .reg .pred %p;
  .shared .align 4 .b32 words[{block}];
  ld.param.u64 %g, [p]; ld.param.u64 %out, [out]; add.u64 %n, %g, {counter};
  mov.u32 %tid, %tid.x; mov.u32 %t, %ctaid.x; mad.lo.u32 %id, %t, {block}, %tid; mov.u32 %s, words;
  shl.b32 %c, %tid, 2; add.u32 %c, %c, %s; st.shared.u32 [%c], 0; bar.sync 0;
  mad.lo.u32 %x, %id, 7, 1;
{body}
  mul.wide.u32 %a, %id, 4; add.u64 %out, %out, %a; st.global.u32 [%out], %x;
  ret;
}}
"""


def draw(seed: int) -> Program:
    """Rounds within a block, through shared or global memory, and at the end perhaps one across blocks; of the
    barriers some are missing, or are only the block's. racecheck takes blocks that have both used atomics as ordered:
    one round across blocks is what it can judge."""
    some = random.Random(f"races {seed}")
    blocks, warps = some.choice([1, 2, 3]), some.choice([2, 3, 4])
    rounds = []
    for _ in range(some.randint(1, 3)):
        where = some.choice(["shared", "global"]) if blocks == 1 else "shared"
        rounds.append((where, WARP * some.randrange(1, warps), "block", "block"))
    if blocks > 1:
        rounds.append(("global", warps * WARP * some.randrange(1, blocks), "grid", "block"))
    if some.random() < 0.5:
        k = some.randrange(len(rounds))
        where, distance, written, read = rounds[k]
        weaker = "block" if written == "grid" and some.random() < 0.5 else "none"
        rounds[k] = (where, distance, weaker, read) if some.random() < 0.6 else (where, distance, written, "none")
    return Program(blocks, warps, tuple(rounds))


def main(code: Path, result: Path, chip: str) -> None:
    from ptx2amd import hip

    gpu = hip.open(f"vgpu:{chip}")
    module = gpu.load((code / "code").read_bytes())
    left = {}
    for seed in json.loads((code / "seeds").read_text()):
        program = draw(seed)
        p, out = gpu.buffer(np.zeros(WORDS + 1, np.uint32)), gpu.buffer(np.zeros(WORDS, np.uint32))
        module.kernel(f"k{seed}").launch(program.blocks, program.warps * WARP, [p, out])
        gpu.synchronize()
        left[seed] = out.numpy(np.uint32).tolist()
    result.write_text(json.dumps(left))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
