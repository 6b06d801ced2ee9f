"""Statements that only one of ptxas and ptx2amd takes, by what they come from. `_33` is the register that a changed
form (tests/ptx/forms.py) has, 5, 0f3f8... and svar the operands."""

from __future__ import annotations

import re

STRICTER = {  # what ptxas refuses and we take
    "short and packed floats: ptxas wants untyped registers, or any": [r"(bf16|ue8m0|[fsu]16x2)\S* .*_33"],
    "operands of the instructions that ptxas puts in their place": [
        r"^cvt\.rp\.ftz\.f32\.f64 ",
        r"^cvt\.rna\S*\.tf32\.f32 b32_0, [01]",
        r"^wmma\.load.*\[s64",
    ],
    "constants where ptxas wants registers": [
        r"^setp?\S*bf16.* 5;",
        r"^(cvt\.rs|stackrestore|movmatrix).* 5;",
        r"^txq\.level.*0f3f8",
    ],
    "registers of other types, and `_`, in fragments": [
        r"^w?mma\S* .*\{[^}]*([fsu](32|64)_33|_,)",
        r"^w?mma\S*(tf32|s32).* \{",
    ],
    "the order of the words": [
        r"^(testp\.f|div\.\S*f32\S*\.full|membar\.alias|txq\.b32|cvt\.\S*\.pack)",
        r"^(fence\.proxy|createpolicy|mma\.(kind|block|row|m16|f|s32)|mma\.sp\S*\.sync\.f)",
        r"^mbarrier\.arrive(_drop)?\.\S+\.expect_tx",
        r"^(ld|st)matrix\.\S*\.b(8|\dx16_p\d\d)\b",
    ],
    "kinds of addresses, and of untyped registers": [
        r"^prefetchu\.L1 \[svar\]",
        r"^isspacep\.param pred_0, f64",
        r"^cvt\.pack\S* f32_33",
    ],
}
LAXER = {  # what ptxas takes and we refuse
    "registers of any type as elements of a fragment": [r"(mma|matrix).*\{[^}]*(pred|u64)_", r"movmatrix.*pred_33"],
    "and of some vectors": [r"^(ldu?|st|mov)\b.*\{[^}]*(pred|[subf]\d+)_"],
    "and as some addresses": [r"\[([bsu](8|16|32)|f\d+|pred)_\d+"],
    "registers of type .f16x2 in integer instructions": [r"^(add|sub|min|max|abs|neg|setp)\S* .*f16x2_"],
    "operands of other kinds and widths": [
        r"^(add|sub|fma)\S*\.f32\.bf16 f32_0, 5,",
        r"^fns\.b32 .*(0f3f8|f32_33)",
        r"^(bmsk|shfl|tensormap)\b.*(0f3f800000|f32_33)",
        r"^setp\S*\.bf16x2 pred_0,",
        r"^set\.\S*bf16\S* s16_0",
        r"^cvt\S*ue8m0x2\S* \w+, 0f",
        r"^cvt\.pack.*[bu]64_33",
        r"^isspacep\.\S+ pred_0, [bsu]32",
        r"^match\.all\S* _,",
        r"^mov\.b(16|128) \w+, svar",
    ],
    "the order of the words": [
        r"^tensormap\.(replace\.\S*b1024|cp_fenceproxy)",
        r"^cp\.async\.bulk\.(mbarrier|bulk_group|prefetch\.global|\S*bytes\S*\.global)",
    ],
    "words that mean nothing there": [
        r"^mma\S*(\.u4\S*f64|xor\S*u4|rz\.f64)",
        r"^mma\.sp\S*kind::mx(?!\S*block_scale)",
        r"^wmma\S*m8n32k16\S*u4",
        r"^rcp\S*ftz\.f64",
        r"^fma\.r[pz]\S*bf16",
        r"^atom\.relaxed\.cta\.global\.and\.b32 .*, b32_3;",
        r"^st\S*\.mmio\.b128",
        r"^ld\S*lu\S*\.v8\.b8",
        r"^fence\.(acquire|release)\.async\b",
    ],
}
BOTH = {
    "calls to ptxas: it judges them as it judges arguments, and misses words": [
        r"^(red\.async|st\.async|tensormap|st\.bulk|cp\.reduce).*(_33|0d3ff|0f3f8|1\.5|svar)",
        r"^(st|red)\.async\.(?!.*(release|mbarrier))",
        r"^(st|red)\.async.*(b128_|\{)",
        r"^st\.async\.\S*v[24]\b\S* \[\w+\], \w+,",
        r"^red\.async\S*gpu",
        r"^cp\.async\.bulk.*(_33|\[svar)",
        r"^clusterlaunchcontrol\.query_cancel",
        r"^wgmma",
    ],
    "coordinates and elements of images, of which ptxas counts some": [
        r"^(tex|suld|sust|sured|suq)\b.*(\{[bs]\d+_|_33|\[uvar|\{f32_0\})"
    ],
}
KNOWN = re.compile("|".join(p for group in (STRICTER, LAXER, BOTH) for patterns in group.values() for p in patterns))

MODULES = {  # the same of what stands around statements (tests/ptx/test_changed_modules.py)
    "words that run into the keyword in front of them": [
        r"\.(ptr|align|entry|func|alias|param|reg|global|local|const)[\w$]"
    ],
    "numbers and names that run together": [r"[ ,=]\d+[A-Za-z_$]"],
    "an alignment behind a parameter's type": [r"\.param \.[busf]\d+ +\.align"],
    "declarations without a state space": [r"[{;]\s*\.\w+\s*;"],
    "keywords among the names of a debug section": [r"\.section .*, ?\.[a-z]"],
    "elements of arrays in another state space": [r"\b(ld|st)\.(shared|local|const)\.\w+ [^;]*gv ?\["],
    "names in the state of a texture or sampler": [r"= \{ *\w*channel_data_type"],
    "a flag given twice": [r"\.noreturn *\.noreturn"],
    "a space left out after brx.idx": [r"brx\.idx\w"],
    "variables in a body with the names of special registers": [r"\{ *\.(global|shared|const|local) [^;]*%laneid"],
    "addresses of what is declared later": [r"^\S* ?\.global.*= *[{a-z].*; *\.(global|entry|visible)"],
}
MODULES_KNOWN = re.compile("|".join(p for patterns in MODULES.values() for p in patterns) or r"(?!)")
