"""Code generation in a process of its own: LLVM ends the process when it cannot select an instruction, an assertion of
it does too, and there is IR that it takes hours for. The caller gets an error instead."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal

from ptx2amd.codegen.binding import keep_memory
from ptx2amd.codegen.error import CodegenError
from ptx2amd.codegen.llvm import emit, is_long, prepare_for_long_code
from ptx2amd.target import Target

SECONDS = 120  # of processor time that LLVM may take
OWN_WORDS = "\0ptx2amd\0"  # stands between what LLVM printed and our own message


class Isolated:
    """`emit` in a forked child, which runs beside this process. Not for processes with other threads."""

    def __init__(self, ir: str, target: Target, form: str = "obj", simple: bool = False, least: bool = False) -> None:
        self.out, self.errors = (os.fdopen(os.memfd_create(name), "w+b") for name in ("code", "errors"))
        self.pid = os.fork()
        if self.pid == 0:
            _child(ir, target, form, simple, least, self.out.fileno(), self.errors.fileno())

    def result(self) -> bytes:
        """Wait for the code. Raises CodegenError also when LLVM crashed, with LLVM's last words, or took too long."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with self.out, self.errors:
            self.out.seek(0)
            self.errors.seek(0)
            if status == 0:
                return self.out.read()
            said = self.errors.read().decode(errors="replace").partition(OWN_WORDS)
        if status == -signal.SIGXCPU:
            raise CodegenError(f"LLVM took more than {SECONDS} s of processor time")
        if said[1]:
            raise CodegenError(said[2])
        words = said[0].strip().splitlines()
        errors = [line for line in words if "error" in line.lower()]  # there may be warnings before it
        cause = signal.Signals(-status).name if status < 0 else f"status {status}"
        raise CodegenError(f"LLVM ended with {cause}" + (f": {(errors or words)[0]}" if words else ""))


def emit_isolated(ir: str, target: Target, form: str = "obj", simple: bool = False, least: bool = False) -> bytes:
    """`emit` in a forked child, waited for. Raises CodegenError."""
    return Isolated(ir, target, form, simple, least).result()


def _child(ir: str, target: Target, form: str, simple: bool, least: bool, out: int, errors: int) -> None:
    """Does the work and ends the process: 0 with the result in `out`, 1 with a message in `errors`."""
    faulthandler.disable()
    keep_memory()
    os.dup2(errors, 2)
    code = 1
    try:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        if is_long(ir):
            prepare_for_long_code()
        blob = emit(ir, target, form, simple, least)
        while blob:
            blob = blob[os.write(out, blob) :]
        code = 0
    except BaseException as error:  # nothing may return into the copy of the caller
        os.write(errors, f"{OWN_WORDS}{error}".encode())
    os._exit(code)
