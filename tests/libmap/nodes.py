"""Machines of a network, as namespaces of Linux: each has a host name and a network interface of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Node:
    process: int
    address: str

    @property
    def enter(self) -> tuple[str, ...]:
        """The words that start a command there."""
        return ("nsenter", "-t", str(self.process), "-n", "-u")


def shell(nodes: Iterable[Node]) -> str:
    """A command that takes an address and a command to be run there, as ssh does."""
    return " ".join([sys.executable, str(Path(__file__)), *(f"{node.address}={node.process}" for node in nodes)])


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


@contextmanager
def pair() -> Iterator[list[Node]]:
    """Two that are connected. Raises OSError or CalledProcessError where the system does not permit them."""
    nodes: list[Node] = []
    with ExitStack() as held:
        for number in (1, 2):
            words = ["unshare", "-n", "-u", "sh", "-c", f"hostname node{number} && echo made && exec sleep 3600"]
            process = held.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            held.callback(process.kill)
            if not process.stdout or process.stdout.readline() != b"made\n":
                raise OSError(process.stderr.read().decode() if process.stderr else "no namespace")
            nodes.append(Node(process.pid, f"10.83.7.{number}"))
        first, second = (str(node.process) for node in nodes)
        end, other = (f"nccl{node}" for node in (first, second))
        _run("ip", "link", "add", end, "netns", first, "type", "veth", "peer", "name", other, "netns", second)
        for node, link in zip(nodes, (end, other), strict=True):
            _run(*node.enter, "ip", "address", "add", f"{node.address}/24", "dev", link)
            for up in ("lo", link):
                _run(*node.enter, "ip", "link", "set", up, "up")
        yield nodes


if __name__ == "__main__":
    at = next(at for at, word in enumerate(sys.argv) if at and "=" not in word)
    known = dict(word.split("=") for word in sys.argv[1:at])
    remote = (*Node(int(known[sys.argv[at]]), sys.argv[at]).enter, "sh", "-c", " ".join(sys.argv[at + 1 :]))
    os.execvp(remote[0], remote)
