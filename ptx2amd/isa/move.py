"""mov: registers, constants, special registers, addresses, packing and unpacking (PTX manual 9.7.9)."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING, SPECIALS
from ptx2amd.isa.form import family
from ptx2amd.isa.sections import DATA

row = family(*DATA, does=NOTHING, takes=SPECIALS)

FORMS = [
    row("mov.{t:pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64}", "d:t, a:t", "mov", computes="copy"),
    row("mov.{vec:v2|v4}.{t:b16|b32|u16|u32|s16|s32|f32}", "{d}:t, {a}:t", "mov_vector", discards="a"),
    row("mov.{vec:v2}.{t:b64|u64|s64|f64}", "{d}:t, {a}:t", "mov_vector", discards="a"),
    row("mov.b128", "d:b128, a:b128", "mov", since=(8, 3), sm=70, computes="copy"),
    row("mov.{t:b32|b64|u32|u64|s32|s64}", "d:t, a:sym", "mov", computes="copy"),
    row("mov.{t:b16|b32|b64}", "d:t, {a*2}:t/2", "mov", discards="a"),
    row("mov.{t:b32|b64}", "d:t, {a*4}:t/4", "mov", discards="a"),
    row("mov.{t:b16|b32|b64}", "{d*2}:t/2, a:t", "mov", computes="unpack"),
    row("mov.{t:b32|b64}", "{d*4}:t/4, a:t", "mov", computes="unpack"),
    row("mov.{t:b128}", "d:t, {a*2}:t/2", "mov", since=(8, 3), sm=70, discards="a"),
    row("mov.{t:b128}", "d:t, {a*4}:t/4", "mov", since=(8, 3), sm=70, discards="a"),
    row("mov.{t:b128}", "{d*2}:t/2, a:t", "mov", since=(8, 3), sm=70, computes="unpack"),
    row("mov.{t:b128}", "{d*4}:t/4, a:t", "mov", since=(8, 3), sm=70, computes="unpack"),
]
