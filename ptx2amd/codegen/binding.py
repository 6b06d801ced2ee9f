"""LLVM, through the C functions of llvmlite's library that the translator needs.

Importing llvmlite's own Python, which declares hundreds of functions, takes as long as translating several kernels.
llvmlite is pinned to one release, so that these functions are known."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from ptx2amd.installed import llvmlite

_POINTER, _TEXT, _INT, _BOOL = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_bool
_TEXTS = ctypes.POINTER(ctypes.c_char_p)  # where a text is returned: _called
_PRINTING = Lock()  # llvmlite prints in the process's locale "C": two threads could leave it behind
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # of glibc's mallopt
#: Function -> result and arguments.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "InitializeAllTargetInfos": (None,),
    "InitializeAllTargets": (None,),
    "InitializeAllTargetMCs": (None,),
    "InitializeAllAsmPrinters": (None,),
    "SetCommandLine": (None, _TEXT, _TEXT),
    "GetVersionInfo": (ctypes.c_uint,),
    "DisposeString": (None, _TEXT),
    "ContextCreate": (_POINTER,),
    "ContextDispose": (None, _POINTER),
    "ParseAssembly": (_POINTER, _POINTER, _TEXT, _TEXTS),
    "VerifyModule": (_INT, _POINTER, _TEXTS),
    "PrintModuleToString": (None, _POINTER, _TEXTS),
    "DisposeModule": (None, _POINTER),
    "GetTargetFromTriple": (_POINTER, _TEXT, _TEXTS),
    "CreateTargetMachine": (_POINTER, _POINTER, _TEXT, _TEXT, _TEXT, _INT, _TEXT, _TEXT, _INT, _INT, _TEXT),
    "DisposeTargetMachine": (None, _POINTER),
    "CreateTargetMachineData": (_POINTER, _POINTER),
    "CopyStringRepOfTargetData": (None, _POINTER, _TEXTS),
    "DisposeTargetData": (None, _POINTER),
    "TargetMachineEmitToMemory": (_POINTER, _POINTER, _POINTER, _INT, _TEXTS),
    "GetBufferStart": (_POINTER, _POINTER),
    "GetBufferSize": (ctypes.c_size_t, _POINTER),
    "DisposeMemoryBuffer": (None, _POINTER),
    "CreatePipelineTuningOptions": (_POINTER,),
    "PTOSetLoopVectorization": (None, _POINTER, _BOOL),
    "PTOSetSLPVectorization": (None, _POINTER, _BOOL),
    "DisposePipelineTuningOptions": (None, _POINTER),
    "CreatePassBuilder": (_POINTER, _POINTER, _POINTER),
    "DisposePassBuilder": (None, _POINTER),
    "buildPerModuleDefaultPipeline": (_POINTER, _POINTER, _INT),
    "buildFunctionSimplificationPipeline": (_POINTER, _POINTER, _INT),
    "RunNewFunctionPassManager": (None, _POINTER, _POINTER, _POINTER),
    "DisposeNewFunctionPassManger": (None, _POINTER),  # spelt so
    "ModuleFunctionsIter": (_POINTER, _POINTER),
    "FunctionsIterNext": (_POINTER, _POINTER),
    "DisposeFunctionsIter": (None, _POINTER),
    "CreateNewModulePassManager": (_POINTER,),
    "RunNewModulePassManager": (None, _POINTER, _POINTER, _POINTER),
    "DisposeNewModulePassManger": (None, _POINTER),  # spelt so
    "module_AddSROAPass": (None, _POINTER),
    "module_AddSimplifyCFGPass": (None, _POINTER),
    "module_AddInstCombinePass": (None, _POINTER),
    "module_AddADCEPass": (None, _POINTER),
}


@cache
def _library() -> Any:
    library = ctypes.CDLL(str(llvmlite() / "binding" / "libllvmlite.so"))
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, f"LLVMPY_{name}")
        function.restype, function.argtypes = result, arguments
    for part in ("TargetInfos", "Targets", "TargetMCs", "AsmPrinters"):
        getattr(library, f"LLVMPY_InitializeAll{part}")()
    return library


def keep_memory() -> None:
    """Have this process's malloc keep what is freed: LLVM takes megabytes for a function, again and again, and each
    time that these come from the system costs a page fault for each page. For processes that do nothing but
    translate."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):  # glibc's
        for parameter, size in ((_TRIM_THRESHOLD, 1 << 30), (_MMAP_THRESHOLD, 64 << 20), (_TOP_PAD, 8 << 20)):
            mallopt(parameter, size)


def _call(name: str, *arguments: Any) -> Any:
    return getattr(_library(), f"LLVMPY_{name}")(*arguments)


def _called(name: str, *arguments: Any) -> tuple[Any, str]:
    """Call a function whose last argument is where it returns a text; its result and that text."""
    text = ctypes.c_char_p()
    result = _call(name, *arguments, ctypes.byref(text))
    if text.value is None:
        return result, ""
    said = text.value.decode(errors="replace")
    _call("DisposeString", text)
    return result, said


def version() -> tuple[int, int, int]:
    """Of LLVM."""
    number = _call("GetVersionInfo")
    return number >> 16 & 255, number >> 8 & 255, number & 255


def set_option(option: str) -> None:
    """Set an option of LLVM's command line, for the whole process."""
    _call("SetCommandLine", b"ptx2amd", option.encode())


class Module:
    """IR, in an LLVM context of its own: threads may work on different modules at the same time. Raises RuntimeError
    for text that is no IR, with LLVM's message."""

    _pointer: int | None = None
    _call = staticmethod(_call)  # llvm_c.py has another

    def __init__(self, ir: str) -> None:
        self._context = _call("ContextCreate")
        self._pointer, problem = _called("ParseAssembly", self._context, ir.encode())
        if not self._pointer:
            raise RuntimeError(problem)

    def verify(self) -> None:
        """Raises RuntimeError for IR that is not well formed."""
        wrong, problem = _called("VerifyModule", self._pointer)
        if wrong:
            raise RuntimeError(problem)

    def __str__(self) -> str:
        with _PRINTING:
            return _called("PrintModuleToString", self._pointer)[1]

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if ending():
            return
        if self._pointer:
            self._call("DisposeModule", self._pointer)
        self._call("ContextDispose", self._context)


class Machine:
    """A target machine. level: of code generation, as in -O."""

    _pointer: int | None = None
    _call = staticmethod(_call)

    def __init__(self, triple: str, cpu: str, features: str, level: int) -> None:
        target, problem = _called("GetTargetFromTriple", triple.encode())
        if not target:
            raise RuntimeError(problem)
        texts = triple.encode(), cpu.encode(), features.encode()
        self._pointer = _call("CreateTargetMachine", target, *texts, level, b"pic", b"default", 0, 0, b"")

    @property
    def layout(self) -> str:
        """The machine's data layout, as IR has it."""
        data = _call("CreateTargetMachineData", self._pointer)
        text = _called("CopyStringRepOfTargetData", data)[1]
        _call("DisposeTargetData", data)
        return text

    def optimise(self, module: Module, slp: bool, passes: Iterable[str] = ()) -> None:
        """Run passes, "SROA", over a module; without any: LLVM's O3, with SLP vectorisation or without."""
        with self._builder(slp) as builder:
            names = list(passes)
            create = "CreateNewModulePassManager"
            manager = _call(create) if names else _call("buildPerModuleDefaultPipeline", builder, 3)
            for name in names:
                _call(f"module_Add{name}Pass", manager)
            _call("RunNewModulePassManager", manager, module._pointer, builder)
            _call("DisposeNewModulePassManger", manager)

    def simplify(self, module: Module) -> None:
        """Run the passes that simplify functions in LLVM's O3, without those over the whole module and those behind
        them, which vectorise, unroll loops and find out alignments."""
        functions = _call("ModuleFunctionsIter", module._pointer)
        while function := _call("FunctionsIterNext", functions):
            with self._builder(slp=False) as builder:  # serves once
                manager = _call("buildFunctionSimplificationPipeline", builder, 3)
                _call("RunNewFunctionPassManager", manager, function, builder)
                _call("DisposeNewFunctionPassManger", manager)
        _call("DisposeFunctionsIter", functions)

    @contextmanager
    def _builder(self, slp: bool) -> Iterator[int]:
        """LLVM's builder of pipelines."""
        options = _call("CreatePipelineTuningOptions")
        _call("PTOSetLoopVectorization", options, False)
        _call("PTOSetSLPVectorization", options, slp)
        builder = _call("CreatePassBuilder", self._pointer, options)
        yield builder
        _call("DisposePassBuilder", builder)
        _call("DisposePipelineTuningOptions", options)

    def emit_object(self, module: Module) -> bytes:
        """An object file."""
        return self._emit(module, True)

    def emit_assembly(self, module: Module) -> bytes:
        return self._emit(module, False)

    def _emit(self, module: Module, code: bool) -> bytes:
        buffer, problem = _called("TargetMachineEmitToMemory", self._pointer, module._pointer, int(code))
        if not buffer:
            raise RuntimeError(problem)
        blob = ctypes.string_at(_call("GetBufferStart", buffer), _call("GetBufferSize", buffer))
        _call("DisposeMemoryBuffer", buffer)
        return blob

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._pointer and not ending():
            self._call("DisposeTargetMachine", self._pointer)


__all__ = ["Machine", "Module", "keep_memory", "set_option", "version"]
