"""A program of Rodinia on a small input: its result.txt against the same computed here. Arguments: the program's name,
its file, the folder of the inputs."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

name, tool, data = sys.argv[1], sys.argv[2], Path(sys.argv[3])
folder = Path(tempfile.mkdtemp())


def result(*arguments: object) -> str:
    subprocess.run([tool, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return (folder / "result.txt").read_text()


def bfs() -> None:
    """The distance of each node from the source."""
    graph = data / "bfs" / "graph4096.txt"
    numbers = list(map(int, graph.read_text().split()))
    count = numbers[0]
    nodes = [numbers[1 + 2 * i : 3 + 2 * i] for i in range(count)]
    source, edges = numbers[1 + 2 * count], numbers[3 + 2 * count :: 2]
    wanted, level = {source: 0}, [source]
    while level:
        reached = {edges[e] for node in level for e in range(nodes[node][0], sum(nodes[node]))} - wanted.keys()
        wanted |= dict.fromkeys(reached, wanted[level[0]] + 1)
        level = sorted(reached)
    lines = [line.split(") cost:") for line in result(graph).split("\n") if line]
    got = {int(node): int(cost) for node, cost in lines}
    assert got == {node: wanted.get(node, -1) for node in range(count)}


def gaussian() -> None:
    """The solution of a linear system, printed with two digits and no space."""
    text = (data / "gaussian" / "matrix16.txt").read_text().split()
    count = int(text[0])
    numbers = np.array(text[1:], float)
    matrix, right = numbers[: count * count].reshape(count, count), numbers[count * count :][:count]
    printed = result("-f", data / "gaussian" / "matrix16.txt", "-q").replace("\0", "")
    got = np.array([float(part) for part in re.findall(r"-?\d+\.\d\d", printed)])
    assert abs(got - np.linalg.solve(matrix, right)).max() < 0.011, got


def hotspot() -> None:
    """A stencil over temperatures and power."""
    size, steps = 64, 6
    temperatures, power = (
        np.loadtxt(data / "hotspot" / f"{kind}_64", np.float64)[: size * size] for kind in ("temp", "power")
    )
    heat, power = temperatures.reshape(size, size), power.reshape(size, size)
    edge = 0.016 / size
    capacity, along, up = 0.5 * 1.75e6 * 0.0005 * edge * edge, 1 / (2 * 100 * 0.0005), 0.0005 / (100 * edge * edge)
    step = 0.001 / (3.0e6 / (0.5 * 0.0005 * 1.75e6))
    for _ in range(steps):
        pad = np.pad(heat, 1, "edge")
        flow = (pad[2:, 1:-1] + pad[:-2, 1:-1] + pad[1:-1, 2:] + pad[1:-1, :-2] - 4 * heat) / along + (80 - heat) / up
        heat = heat + step / capacity * (power + flow)
    lines = result(size, 2, steps, data / "hotspot" / "temp_64", data / "hotspot" / "power_64", "result.txt").split(
        "\n"
    )
    got = np.array([float(line.split("\t")[1]) for line in lines if line])
    np.testing.assert_allclose(got, heat.ravel(), rtol=2e-5)
    assert abs(got - temperatures).max() > 0.01


def pathfinder() -> None:
    """The cheapest ways through a grid."""
    columns, rows = 700, 30
    row, column = np.indices((rows, columns))
    wall = row * column % 10
    best = wall[0]
    for line in wall[1:]:
        best = np.minimum(best, np.minimum(np.append(best[1:], 99999), np.append(99999, best[:-1]))) + line
    last = result(columns, rows, 4).strip().split("\n")[-1]
    assert list(map(int, last.split())) == best.tolist(), last


{"bfs": bfs, "gaussian": gaussian, "hotspot": hotspot, "pathfinder": pathfinder}[name]()
print("right")
