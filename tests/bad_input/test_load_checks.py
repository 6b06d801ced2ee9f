"""PTX text that a program hands over is judged when it is loaded: all of it, with every error in the log, as NVIDIA's
driver does; images of fatbins, which ptxas has judged, are not; what is legal but not supported still loads."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import check

LOADS = r"""
import ctypes as c
def logged():
    log = c.create_string_buffer(8192)
    return log, (c.c_int * 2)(5, 6), (c.c_void_p * 2)(c.addressof(log), 8192)
def load(text, way="module"):
    (log, options, values), handle = logged(), c.c_void_p()
    if way == "module":
        error = cu.error("cuModuleLoadDataEx", c.byref(handle), text, 2, options, values)
    else:
        error = cu.error("cuLibraryLoadData", c.byref(handle), text, options, values, 2, None, None, 0)
    return error, log.value.decode()
def link(*texts):
    (log, options, values), state = logged(), c.c_void_p()
    cu.cuLinkCreate_v2(2, options, values, c.byref(state))
    for n, text in enumerate(texts):
        error = cu.error("cuLinkAddData_v2", state, 1, text, len(text) + 1, b"part %d" % n, 0, None, None)
        if error != "CUDA_SUCCESS":
            return error, log.value.decode(), None
    image, size = c.c_void_p(), c.c_size_t()
    error = cu.error("cuLinkComplete", state, c.byref(image), c.byref(size))
    return error, log.value.decode(), image
GOOD_KERNEL = b".visible .entry k() { ret; }\n"
"""


def test_every_error_of_every_function_is_in_the_log(tmp_path: Path) -> None:
    check(
        LOADS
        + r"""
bad = HEAD + GOOD_KERNEL + b'''.visible .entry other() { foo.u32 x;
 add.u33 x, x, x;
 ret; }
.func not_called() { .reg .u32 r; mov.u32 r, missing; ret; }
'''
for way in "module", "library":
    error, log = load(bad, way)
    assert error == "CUDA_ERROR_INVALID_PTX"
    for place in (":5:27: error: unknown instruction 'foo'", ":6:2: error: modifier '.u33'", ":8:46: error: 'missing'"):
        assert place in log, log
assert load(HEAD + GOOD_KERNEL)[0] == "CUDA_SUCCESS"
""",
        tmp_path,
    )


REFUSED = {
    "a version that does not exist": "HEAD.replace(b'8.0', b'7.9') + GOOD_KERNEL",
    "characters that are not ASCII": "b'// \\xc3\\xa9\\n' + HEAD + GOOD_KERNEL",
    "a function that nothing defines": "HEAD + b'.extern .func f(); .visible .entry k() { call f; ret; }'",
    "a variable that nothing defines": "HEAD + b'.extern .global .b32 v[];' + GOOD_KERNEL",
    "a function without a body": "HEAD + b'.func f();' + GOOD_KERNEL",
    "an address of nothing": "HEAD + b'.global .u64 p = nothing;' + GOOD_KERNEL",
    "an alignment of 2^31": "HEAD + b'.global .align 2147483648 .b32 x;' + GOOD_KERNEL",
    "integers with floats": "HEAD + b'.global .f32 x = 1+2.0;' + GOOD_KERNEL",
}
TAKEN = {
    "a declaration that nothing uses": "HEAD + b'.extern .func f();' + GOOD_KERNEL",
    "what the driver defines": "HEAD + b'.extern .func (.param .b64 r) malloc(.param .b64 n); .visible .entry k() {"
    " .param .b64 p, q; st.param.b64 [p], 8; call (q), malloc, (p); ret; }'",
    "a variable that its declaration defines": "HEAD + b'.extern .global .b32 v;' + GOOD_KERNEL",
    "instructions that are refused by name": "b'.version 8.6\\n.target sm_100a\\n.address_size 64\\n'"
    " b'.visible .entry k() { .reg .b32 r; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r], 32; ret; }'",
    "wrong text in a fatbin": "fatbin((1, HEAD + GOOD_KERNEL + b'.func f() { foo; }'))",
}


def each(texts: dict[str, str], error: str) -> str:
    return LOADS + "".join(f"assert load({text})[0] == {error!r}, {what!r}\n" for what, text in texts.items())


def test_what_ptxas_refuses(tmp_path: Path) -> None:
    check(each(REFUSED, "CUDA_ERROR_INVALID_PTX"), tmp_path)


def test_what_ptxas_takes(tmp_path: Path) -> None:
    check(each(TAKEN, "CUDA_SUCCESS"), tmp_path)


def test_a_text_known_from_a_fatbin_is_judged_when_it_comes_as_text(tmp_path: Path) -> None:
    """The cache has its index then, but nobody has looked at its bodies."""
    check(
        LOADS
        + r"""
text = HEAD + GOOD_KERNEL + b".func f() { foo; }"
assert load(fatbin((1, text)))[0] == "CUDA_SUCCESS"
assert load(text)[0] == "CUDA_ERROR_INVALID_PTX"
""",
        tmp_path,
    )


def test_links(tmp_path: Path) -> None:
    check(
        LOADS
        + r"""
user = HEAD + b".extern .func f(); .extern .global .b32 v;\n.visible .entry k() { call f; ret; }\n"
definer = HEAD + b".visible .func f() { ret; } .visible .global .b32 v;\n"
error, log, image = link(user, definer)
assert (error, log) == ("CUDA_SUCCESS", ""), log
cu.load(image)
error, log, _ = link(user)
assert error == "CUDA_ERROR_INVALID_SOURCE"
assert "undefined reference to 'f'" in log and "undefined reference to 'v'" in log, log
error, log, _ = link(user, definer + b".func g() { foo; }\n")
assert error == "CUDA_ERROR_INVALID_PTX" and "part 1:5:13: error: unknown instruction 'foo'" in log, log
""",
        tmp_path,
    )
