"""mov: registers, constants, special registers, addresses, packing and unpacking (PTX manual 9.7.9)."""

from __future__ import annotations

from ptx2amd.isa.form import Form

FORMS = [
    Form("mov.{t:pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64}", "d:t, a:t", "mov"),
    Form("mov.{vec:v2|v4}.{t:b16|b32|u16|u32|s16|s32|f32}", "{d}:t, {a}:t", "mov_vector"),
    Form("mov.{vec:v2}.{t:b64|u64|s64|f64}", "{d}:t, {a}:t", "mov_vector"),
    Form("mov.b128", "d:b128, a:b128", "mov", since=(8, 3), sm=70),
    Form("mov.{t:b32|b64|u32|u64|s32|s64}", "d:t, a:sym", "mov"),
    Form("mov.{t:b16|b32|b64}", "d:t, {a*2}:t/2", "mov"),
    Form("mov.{t:b32|b64}", "d:t, {a*4}:t/4", "mov"),
    Form("mov.{t:b16|b32|b64}", "{d*2}:t/2, a:t", "mov"),
    Form("mov.{t:b32|b64}", "{d*4}:t/4, a:t", "mov"),
    Form("mov.{t:b128}", "d:t, {a*2}:t/2", "mov", since=(8, 3), sm=70),
    Form("mov.{t:b128}", "d:t, {a*4}:t/4", "mov", since=(8, 3), sm=70),
    Form("mov.{t:b128}", "{d*2}:t/2, a:t", "mov", since=(8, 3), sm=70),
    Form("mov.{t:b128}", "{d*4}:t/4, a:t", "mov", since=(8, 3), sm=70),
]
