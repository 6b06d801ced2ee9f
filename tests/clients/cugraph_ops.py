"""Run by suites.py under `ptx2amd run`: algorithms of libcugraph on a random graph, against networkx."""

import cases
import cupy as cp
import networkx as nx
import numpy as np
import pylibcugraph as pg

NODES = 60
# Edges between a node and those after it in a random order, so that the graph is connected.
graph = nx.compose(nx.gnm_random_graph(NODES, 200, seed=3), nx.path_graph(NODES))
rng = np.random.default_rng(1)
for _, _, data in graph.edges(data=True):
    data["weight"] = float(rng.integers(1, 20))
directed = nx.gnp_random_graph(NODES, 0.08, seed=5, directed=True)
nx.set_edge_attributes(directed, 1.0, "weight")
handle = pg.ResourceHandle()


def loaded(source: nx.Graph, transposed: bool = False) -> pg.SGGraph:
    both = source if source.is_directed() else source.to_directed()
    edges = np.array([(a, b, w) for a, b, w in both.edges(data="weight")])
    return pg.SGGraph(
        handle, pg.GraphProperties(is_symmetric=not source.is_directed(), is_multigraph=False),
        cp.asarray(edges[:, 0].astype(np.int32)), cp.asarray(edges[:, 1].astype(np.int32)),
        weight_array=cp.asarray(edges[:, 2].astype(np.float64)), store_transposed=transposed, renumber=True,
        do_expensive_check=True,
    )  # fmt: skip


undirected, pulled = loaded(graph), loaded(directed, transposed=True)


def by_node(nodes: cp.ndarray, values: cp.ndarray) -> np.ndarray:
    found = np.full(NODES, np.nan)
    found[cp.asnumpy(nodes)] = cp.asnumpy(values)
    return found


def wanted(values: dict[int, float]) -> np.ndarray:
    return np.array([values[node] for node in range(NODES)], float)


def close(got: np.ndarray, want: np.ndarray, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-8)


def pagerank() -> None:
    found = pg.pagerank(
        handle, pulled, None, None, None, None, alpha=0.85, epsilon=1e-10, max_iterations=500, do_expensive_check=False
    )
    close(by_node(*found[:2]), wanted(nx.pagerank(directed, tol=1e-12, max_iter=1000)), 1e-5)


def katz() -> None:
    found = pg.katz_centrality(handle, pulled, None, 0.05, 1.0, 1e-10, 1000, False)
    close(by_node(*found[:2]), wanted(nx.katz_centrality(directed, alpha=0.05, tol=1e-12)), 1e-5)


def hits() -> None:
    nodes, hubs, authorities = pg.hits(handle, pulled, 1e-10, 1000, None, None, True, False)
    want = nx.hits(directed, max_iter=5000, tol=1e-14)
    close(by_node(nodes, hubs), wanted(want[0]), 1e-4)
    close(by_node(nodes, authorities), wanted(want[1]), 1e-4)


def bfs() -> None:
    start = cp.asarray(np.array([0], np.int32))
    distances, _, nodes = pg.bfs(handle, undirected, start, False, 10**6, True, False)
    close(by_node(nodes, distances), wanted(nx.single_source_shortest_path_length(graph, 0)))


def sssp() -> None:
    nodes, distances, _ = pg.sssp(handle, undirected, 0, 1e9, True, False)
    close(by_node(nodes, distances), wanted(nx.single_source_dijkstra_path_length(graph, 0)))


def triangles() -> None:
    found = pg.triangle_count(handle, undirected, None, False)
    close(by_node(*found), wanted(nx.triangles(graph)))


def cores() -> None:
    found = pg.core_number(handle, undirected, "bidirectional", False)
    got = by_node(*found)
    close(got / got.max(), wanted(nx.core_number(graph)) / max(nx.core_number(graph).values()))


def components() -> None:
    apart = nx.disjoint_union(nx.path_graph(NODES - 20), nx.cycle_graph(20))
    nx.set_edge_attributes(apart, 1.0, "weight")
    nodes, labels = pg.weakly_connected_components(handle, loaded(apart), None, None, None, None, False)
    got = by_node(nodes, labels)
    assert len(set(got[: NODES - 20])) == 1 and len(set(got)) == 2, got


def betweenness() -> None:
    found = pg.betweenness_centrality(handle, undirected, None, None, True, False, False)
    close(by_node(*found), wanted(nx.betweenness_centrality(graph)))


def jaccard() -> None:
    pairs = np.array([(0, n) for n in range(1, NODES)], np.int32)
    first, second = cp.asarray(pairs[:, 0].copy()), cp.asarray(pairs[:, 1].copy())
    *_, got = pg.jaccard_coefficients(handle, undirected, first, second, False, False)
    want = [value for _, _, value in nx.jaccard_coefficient(graph, pairs.tolist())]
    assert max(want) > 0.1
    close(cp.asnumpy(got), np.array(want))


def eigenvector() -> None:
    found = pg.eigenvector_centrality(handle, loaded(graph, transposed=True), 1e-10, 1000, False)
    got = by_node(*found)
    close(got / got.max(), np.array(list(map(float, _eigenvector()))), 1e-4)


def _eigenvector() -> np.ndarray:
    want = wanted(nx.eigenvector_centrality(graph, max_iter=5000, tol=1e-13, weight="weight"))
    return want / want.max()


def louvain() -> None:
    """Heuristics differ: the modularity is that of the partition, and no worse than what networkx finds by much."""
    nodes, labels, modularity = pg.louvain(handle, undirected, 100, 1e-7, 1.0, False)
    groups = by_node(nodes, labels)
    parts = [set(map(int, np.flatnonzero(groups == label))) for label in set(groups)]
    close(np.array(modularity), np.array(nx.community.modularity(graph, parts)), 1e-5)
    best = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
    assert modularity > 0.8 * best, (modularity, best)


cases.run({f.__name__: f for f in (
    pagerank, katz, hits, bfs, sssp, triangles, cores, components, betweenness, jaccard, eigenvector, louvain,
)})  # fmt: skip
