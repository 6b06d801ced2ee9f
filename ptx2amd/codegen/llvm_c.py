"""LLVM, through the C functions of a system's libLLVM (PTX2AMD_LLVM): the same as binding.py has of llvmlite.

Distributions build it without assertions, which llvmlite's has: it takes 40 % less time for the same code. What an
assertion would stop may end the process instead, or not be noticed."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ptx2amd import settings
from ptx2amd.codegen import binding
from ptx2amd.errors import Ptx2amdError

VALIDATED = (22, 1)  # the release whose faults codegen/workarounds knows
_POINTER, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_RESULT = ctypes.POINTER(ctypes.c_void_p)
_RETURN_STATUS = 2  # of LLVMVerifierFailureAction
_FUNCTION = 0xFFFFFFFF  # of LLVMAttributeIndex: of the function, not of a parameter
_PIC, _DEFAULT_MODEL = 2, 0  # of LLVMRelocMode, LLVMCodeModel
#: Function -> result and arguments.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "GetVersion": (None, *[ctypes.POINTER(ctypes.c_uint)] * 3),
    "InitializeAMDGPUTargetInfo": (None,),
    "InitializeAMDGPUTarget": (None,),
    "InitializeAMDGPUTargetMC": (None,),
    "InitializeAMDGPUAsmPrinter": (None,),
    "ParseCommandLineOptions": (None, _INT, ctypes.POINTER(_TEXT), _TEXT),
    "DisposeMessage": (None, _POINTER),
    "ContextCreate": (_POINTER,),
    "ContextDispose": (None, _POINTER),
    "CreateMemoryBufferWithMemoryRangeCopy": (_POINTER, _TEXT, ctypes.c_size_t, _TEXT),
    "ParseIRInContext": (_INT, _POINTER, _POINTER, _RESULT, _RESULT),
    "VerifyModule": (_INT, _POINTER, _INT, _RESULT),
    "PrintModuleToString": (_POINTER, _POINTER),
    "DisposeModule": (None, _POINTER),
    "GetTargetFromTriple": (_INT, _TEXT, _RESULT, _RESULT),
    "CreateTargetMachine": (_POINTER, _POINTER, _TEXT, _TEXT, _TEXT, _INT, _INT, _INT),
    "DisposeTargetMachine": (None, _POINTER),
    "CreateTargetDataLayout": (_POINTER, _POINTER),
    "CopyStringRepOfTargetData": (_POINTER, _POINTER),
    "DisposeTargetData": (None, _POINTER),
    "TargetMachineEmitToMemoryBuffer": (_INT, _POINTER, _POINTER, _INT, _RESULT, _RESULT),
    "GetBufferStart": (_POINTER, _POINTER),
    "GetBufferSize": (ctypes.c_size_t, _POINTER),
    "DisposeMemoryBuffer": (None, _POINTER),
    "CreatePassBuilderOptions": (_POINTER,),
    "DisposePassBuilderOptions": (None, _POINTER),
    "RunPasses": (_POINTER, _POINTER, _TEXT, _POINTER, _POINTER),
    "GetFirstFunction": (_POINTER, _POINTER),
    "GetNextFunction": (_POINTER, _POINTER),
    "GetEnumAttributeKindForName": (ctypes.c_uint, _TEXT, ctypes.c_size_t),
    "CreateEnumAttribute": (_POINTER, _POINTER, ctypes.c_uint, ctypes.c_uint64),
    "AddAttributeAtIndex": (None, _POINTER, ctypes.c_uint, _POINTER),
    "RemoveEnumAttributeAtIndex": (None, _POINTER, ctypes.c_uint, ctypes.c_uint),
    "GetErrorMessage": (_POINTER, _POINTER),
    "DisposeErrorMessage": (None, _POINTER),
}

# As LLVM 22 builds it for O3, where it has no name.
_CFG = "simplifycfg<switch-range-to-icmp>"
_COMBINE = "instcombine<no-verify-fixpoint>"
_UNIFORM = "amdgpu-uniform-intrinsic-combine"
_SIMPLIFY = (
    "sroa<modify-cfg>,early-cse<memssa>,speculative-execution<only-if-divergent-target>,jump-threading,"
    f"correlated-propagation,{_CFG},{_COMBINE},aggressive-instcombine,libcalls-shrinkwrap,{_UNIFORM},tailcallelim,{_CFG},"
    "reassociate,constraint-elimination,loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,"
    f"loop-rotate<header-duplication>,licm<allowspeculation>,simple-loop-unswitch<nontrivial>),{_CFG},{_COMBINE},"
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>,vector-combine,mldst-motion,gvn,sccp,bdce,"
    f"{_COMBINE},{_UNIFORM},jump-threading,correlated-propagation,adce,memcpyopt,dse,move-auto-init,"
    "loop-mssa(licm<allowspeculation>),infer-address-spaces,"
    f"simplifycfg<switch-range-to-icmp;hoist-common-insts;sink-common-insts>,{_COMBINE},{_UNIFORM}"
)


@cache
def _library() -> Any:
    """The library, with its functions declared. Raises Ptx2amdError."""
    path = settings.LLVM.text()
    try:
        library = ctypes.CDLL(path)
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(library, f"LLVM{name}")
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise Ptx2amdError(f"PTX2AMD_LLVM: {path} cannot be used: {error}") from None
    found = _version(library)
    if found[:2] != VALIDATED:
        words = ".".join(map(str, found)), ".".join(map(str, VALIDATED))
        raise Ptx2amdError(f"PTX2AMD_LLVM: {path} is LLVM {words[0]}; the translator is validated with {words[1]}")
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        getattr(library, f"LLVMInitializeAMDGPU{part}")()
    _set(library, "-force-vector-width=1")  # no vectorisation of loops, which O3 has when it is named in a text
    return library


def _set(library: Any, option: str) -> None:
    library.LLVMParseCommandLineOptions(2, (ctypes.c_char_p * 2)(b"ptx2amd", option.encode()), None)


def _version(library: Any) -> tuple[int, int, int]:
    numbers = [ctypes.c_uint() for _ in range(3)]
    library.LLVMGetVersion(*map(ctypes.byref, numbers))
    major, minor, patch = (number.value for number in numbers)
    return major, minor, patch


def version() -> tuple[int, int, int]:
    """Of LLVM."""
    return _version(_library())


def _call(name: str, *arguments: Any) -> Any:
    return getattr(_library(), f"LLVM{name}")(*arguments)


def _text(pointer: int | None, dispose: str = "DisposeMessage") -> str:
    """A text that LLVM has made, which is freed."""
    if not pointer:
        return ""
    said = ctypes.string_at(pointer).decode(errors="replace")
    _call(dispose, pointer)
    return said


def _called(name: str, *arguments: Any) -> None:
    """Call a function whose result says whether it failed, and whose last argument is where it returns the reason."""
    text = ctypes.c_void_p()
    failed = _call(name, *arguments, ctypes.byref(text))
    said = _text(text.value)
    if failed:
        raise RuntimeError(said)


def set_option(option: str) -> None:
    """Set an option of LLVM's command line, for the whole process."""
    _set(_library(), option)


class Module(binding.Module):
    """As llvmlite's."""

    _call = staticmethod(_call)

    def __init__(self, ir: str) -> None:
        text, module = ir.encode(), ctypes.c_void_p()
        self._context = _call("ContextCreate")
        buffer = _call("CreateMemoryBufferWithMemoryRangeCopy", text, len(text), b"<string>")  # as llvmlite has it
        _called("ParseIRInContext", self._context, buffer, ctypes.byref(module))
        self._pointer = module.value

    def verify(self) -> None:
        _called("VerifyModule", self._pointer, _RETURN_STATUS)

    def __str__(self) -> str:
        return _text(_call("PrintModuleToString", self._pointer))


class Machine(binding.Machine):
    """As llvmlite's."""

    _call = staticmethod(_call)

    def __init__(self, triple: str, cpu: str, features: str, level: int) -> None:
        target = ctypes.c_void_p()
        _called("GetTargetFromTriple", triple.encode(), ctypes.byref(target))
        texts = triple.encode(), cpu.encode(), features.encode()
        self._pointer = _call("CreateTargetMachine", target, *texts, level, _PIC, _DEFAULT_MODEL)

    @property
    def layout(self) -> str:
        data = _call("CreateTargetDataLayout", self._pointer)
        text = _text(_call("CopyStringRepOfTargetData", data))
        _call("DisposeTargetData", data)
        return text

    def optimise(self, module: binding.Module, slp: bool, passes: Iterable[str] = ()) -> None:
        with contextlib.nullcontext() if slp else _without_vectors(module):
            self._run(module, ",".join(passes).lower() or "default<O3>")

    def simplify(self, module: binding.Module) -> None:
        self._run(module, f"function({_SIMPLIFY})")

    def _run(self, module: binding.Module, passes: str) -> None:
        options = _call("CreatePassBuilderOptions")
        problem = _call("RunPasses", module._pointer, passes.encode(), self._pointer, options)
        _call("DisposePassBuilderOptions", options)
        if problem:
            raise RuntimeError(_text(_call("GetErrorMessage", problem), "DisposeErrorMessage"))

    def _emit(self, module: binding.Module, code: bool) -> bytes:
        buffer, problem = ctypes.c_void_p(), ctypes.c_void_p()
        arguments = int(code), ctypes.byref(problem), ctypes.byref(buffer)
        failed = _call("TargetMachineEmitToMemoryBuffer", self._pointer, module._pointer, *arguments)
        said = _text(problem.value)
        if failed:
            raise RuntimeError(said)
        blob = ctypes.string_at(_call("GetBufferStart", buffer), _call("GetBufferSize", buffer))
        _call("DisposeMemoryBuffer", buffer)
        return blob


@contextlib.contextmanager
def _without_vectors(module: binding.Module) -> Iterator[None]:
    """Passes do no SLP vectorisation meanwhile: O3 that is named in a text has it always."""
    name = b"noimplicitfloat"  # with which SLP vectorisation leaves a function as it is
    kind = _call("GetEnumAttributeKindForName", name, len(name))
    attribute = _call("CreateEnumAttribute", module._context, kind, 0)
    for function in _functions(module):
        _call("AddAttributeAtIndex", function, _FUNCTION, attribute)
    yield
    for function in _functions(module):
        _call("RemoveEnumAttributeAtIndex", function, _FUNCTION, kind)


def _functions(module: binding.Module) -> Iterator[int]:
    function = _call("GetFirstFunction", module._pointer)
    while function:
        yield function
        function = _call("GetNextFunction", function)


__all__ = ["Machine", "Module", "set_option", "version"]
