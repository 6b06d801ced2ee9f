"""Conversions and dot products of 8-bit floats: gfx942 has the FNUZ formats, later chips OCP's under the same names."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op

#: Architectures by format.
FNUZ, OCP = ("gfx942",), ("gfx950", "gfx12")
_TYPES = ("fp8", "bf8")
#: The names of OCP's formats, in rows and C.
OCP_NAMES = {"fp8": "e4m3", "bf8": "e5m2"}


def _conversions(name: str, c: str, archs: tuple[str, ...], chosen: str, pair: str) -> list[Op]:
    """chosen, pair: the part of A that is converted to one and to two f32, as C statements that set s."""
    return [
        Op(f"v_cvt_f32_{name}", "VOP1", "d:f32, a:b32", f"{chosen}D = {c}_to_f32(s);", archs=archs),
        Op(f"v_cvt_pk_f32_{name}", "VOP1", "d:b64, a:b32",
           f"{pair}D = join(f32_bits({c}_to_f32(s)), f32_bits({c}_to_f32(s >> 8)));", archs=archs),
        Op(f"v_cvt_pk_{name}_f32", "VOP3", "d:b16, a:f32, b:f32",
           f"D = f32_to_{c}(A, SATURATE8) | f32_to_{c}(B, SATURATE8) << 8;", archs=archs, keeps_high_half=True),
        Op(f"v_cvt_sr_{name}_f32", "VOP3", "d=:b32, a:f32, b:b32", "uint32_t s = OPSEL >> 2 << 3; "
           f"D = (D & ~(255u << s)) | f32_to_{c}(add_noise(A, B), SATURATE8) << s;", archs=archs),
    ]  # fmt: skip


def _dots() -> list[Op]:
    rows = []
    for a in _TYPES:
        for b in _TYPES:
            terms = " + ".join(
                f"{OCP_NAMES[a]}_to_f32(A >> {8 * k}) * {OCP_NAMES[b]}_to_f32(B >> {8 * k})" for k in range(4)
            )
            rows.append(Op(f"v_dot4_f32_{a}_{b}", "VOP3P", "d:f32, a:b32, b:b32, c:f32", f"D = C + {terms};"))
    return rows


def ops() -> list[Op]:
    rows = []
    for name in _TYPES:
        rows += _conversions(name, name, FNUZ, "uint32_t s = A; ", "uint32_t s = A; ")
        rows += _conversions(name, OCP_NAMES[name], OCP, "uint32_t s = A >> ((OPSEL & 1) << 4 | (OPSEL & 2) << 2); ",
                             "uint32_t s = A >> (OPSEL & 1) * 16; ")  # fmt: skip
    return rows + _dots()
