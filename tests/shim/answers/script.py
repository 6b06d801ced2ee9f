"""The names of a question's statements, and what they answer."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from typing import Any

from tests.shim.answers.ptx import NAMES
from tests.shim.conformance_world import Driver, World

Answer = Callable[[str], None]


class _Said(ast.NodeTransformer):
    """Every statement that is an expression is an answer."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        said = ast.Call(ast.Name("say", ast.Load()), [node.value], [])
        return ast.copy_location(ast.Expr(said), node)


class Script(World):
    """The names of a script."""

    def __init__(self, driver: Driver, context: int, answer: Answer) -> None:
        super().__init__(driver, context)
        self.answer = answer
        self.update(
            say=self.say,
            val=self.val,
            get=self._get,
            room=self._room,
            read=self.read,
            text=self.text,
            word=self.word,
            struct=self._struct,
            words=self._words,
            ints=self._ints,
            cast=self.ffi.cast,
            address=self.address,
            load=self.load,
            launch=self.launch,
            range=range,
            int=int,
            len=len,
            hex=hex,
            bytes=bytes,
            str=str,
            dead=self.dead,
            pack=self.pack,
            tuple=tuple,
            name=self.named,
            thread=self.thread,
            ffi=self.ffi,
            max=max,
            jit=self.jit,
            image=self.image,
            driver=self.driver,
            eval=lambda text: eval(text, {}, self),
            **NAMES,
        )

    def again(self) -> Script:
        """Other objects in the same context."""
        return Script(self.driver, self["ctx"], self.answer)

    def _unknown(self, name: str) -> Any:
        if name.startswith("cu"):
            return lambda: lambda *arguments: self.called(name, *arguments)
        raise KeyError(name)

    def called(self, symbol: str, *arguments: Any) -> int | str:
        try:
            getattr(self.driver.lib, symbol)
        except Exception:  # of a later driver
            return "absent"
        return self.driver.call(symbol, list(arguments))

    def run(self, statements: str) -> None:
        tree = ast.fix_missing_locations(_Said().visit(ast.parse(statements)))
        for statement in tree.body:
            exec(compile(ast.Module([statement], []), "script", "exec"), {}, self)

    def say(self, value: Any) -> None:
        if value is not None:
            self.answer(str(value).replace("\n", "\\n").replace("\t", "\\t"))

    def read(self, room: Any, kind: str = "int", at: int = 0) -> Any:
        return self.ffi.cast(f"{kind} *", room)[at]

    def word(self, room: Any) -> int:
        return int(self.read(room, "uint64_t"))

    def text(self, room: Any) -> str:
        return bytes(self.ffi.string(self.ffi.cast("char *", room))).decode(errors="replace")

    def address(self, room: Any) -> int:
        return int(self.ffi.cast("uintptr_t", room))

    def val(self, symbol: str, *arguments: Any, kind: str = "int") -> str:
        """The code, and the result if the call succeeds."""
        room = self._room(64)
        self.ffi.memmove(room, b"\xaa" * 64, 64)
        code = self.driver.call(symbol, [room, *arguments])
        return str(code) if code else f"0:{self.read(room, kind)}"

    def named(self, value: int, **known: int) -> str:
        """An address by what it is."""
        exact = next((name for name, base in known.items() if base and base == value), "")
        if exact:
            return exact
        for name, base in known.items():
            if base and base <= value < base + (1 << 20):
                return name if value == base else f"{name}+{value - base}"
        return "0" if not value else "address"

    def pack(self, *values: Any) -> Any:
        """Arguments of a kernel: pointers to 8 bytes each."""
        cells = [self._words(int(value)) for value in values]
        return self._words(*map(self.address, cells))

    def load(self, ptx: str) -> int:
        return int(self._get("cuModuleLoadData", self.image(ptx)))

    def image(self, ptx: str) -> Any:
        made = self.ffi.new("char[]", ptx.encode())
        self._keep.append(made)
        return made

    def launch(self, function: int, *arguments: Any, grid: Any = (1, 1, 1), block: Any = (1, 1, 1), shared: int = 0,
               stream: Any = None) -> int:  # fmt: skip
        return self.driver.call(
            "cuLaunchKernel", [function, *grid, *block, shared, stream, self.pack(*arguments), None]
        )

    def jit(self, image: Any, size: int = 4096, loader: str = "cuModuleLoadDataEx") -> str:
        """The code of loading an image, and what the error log says."""
        log = self._room(4096)
        options = self._ints(5, 6)
        values = self._words(self.address(log), size)
        image = self.image(image) if isinstance(image, str) else image
        code = self.driver.call(loader, [self._room(), image, 2, options, values])
        return f"{code}:{self.text(log)}"

    def thread(self, symbol: str, *arguments: Any) -> int:
        """The call by another thread, which has this context."""
        got = []

        def body() -> None:
            self.driver.call("cuCtxSetCurrent", [self["ctx"]])
            got.append(self.driver.call(symbol, list(arguments)))

        other = threading.Thread(target=body)
        other.start()
        other.join()
        return got[0]


_kept: list[int] = []  # the context of this process's last question


def started(driver: Driver, answer: Answer) -> Script:
    """The driver initialised in this process, and a context: the last question's, unless that spoilt it."""
    if not _kept:
        code = driver.lib.cuInit(0)
        assert code == 0, code
    if not _kept or not usable(driver, _kept[-1]):
        _kept.append(new_context(driver))
    return Script(driver, _kept[-1], answer)


def usable(driver: Driver, context: int) -> bool:
    """Whether nothing is left of it on the stack but itself, and it has no error and no capture."""
    now = driver.ffi.new("CUcontext *")
    while driver.lib.cuCtxPopCurrent_v2(now) == 0:
        pass
    fine = driver.call("cuCtxPushCurrent_v2", [context]) == 0 and driver.lib.cuCtxSynchronize() == 0
    if not fine:
        driver.call("cuCtxDestroy_v2", [context])
    return fine


def new_context(driver: Driver) -> int:
    """Current, and not the device's primary one."""
    own = driver.ffi.new("CUcontext *")
    code = driver.lib.cuCtxCreate_v2(own, 0, 0)
    assert code == 0, code
    return int(driver.ffi.cast("uintptr_t", own[0]))


def parsed(call: str) -> tuple[str, str]:
    """The symbol, and its arguments as text."""
    symbol, _, rest = call.partition("(")
    return symbol, rest.removesuffix(")")
