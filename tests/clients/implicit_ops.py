"""Run by suites.py under `ptx2amd run`: recommendations by implicit's models on the GPU, against its CPU code."""

import cases
import implicit.gpu
import numpy as np
import scipy.sparse
from implicit.cpu.als import AlternatingLeastSquares as OnCPU
from implicit.gpu.als import AlternatingLeastSquares as OnGPU
from implicit.gpu.bpr import BayesianPersonalizedRanking

assert implicit.gpu.HAS_CUDA
USERS, ITEMS, FACTORS = 120, 80, 32
rng = np.random.default_rng(1)
# Users and items of four kinds: who likes one of a kind likes others of it.
kinds = rng.integers(0, 4, USERS)[:, None] == rng.integers(0, 4, ITEMS)[None]
liked = scipy.sparse.csr_matrix(((rng.random((USERS, ITEMS)) < np.where(kinds, 0.5, 0.03)) * 1.0).astype(np.float32))
OPTIONS = {"factors": FACTORS, "iterations": 5, "regularization": 0.1, "random_state": 1}


def als(**options: object) -> None:
    """The same start leads to the same products of factors."""
    models = [OnGPU(**OPTIONS, **options), OnCPU(**OPTIONS, use_native=True, use_cg=True)]
    start = np.random.default_rng(2).random((USERS + ITEMS, FACTORS), np.float32) * 0.01
    for model in models:
        wrap = implicit.gpu.Matrix if model is models[0] else np.array
        model.user_factors, model.item_factors = wrap(start[:USERS].copy()), wrap(start[USERS:].copy())
        model.fit(liked, show_progress=False)
    got, want = (model.to_cpu() if model is models[0] else model for model in models)
    scores = [np.asarray(model.user_factors) @ np.asarray(model.item_factors).T for model in (got, want)]
    np.testing.assert_allclose(*scores, atol=0.02)


trained = OnGPU(**OPTIONS)
trained.fit(liked, show_progress=False)
users, items = trained.user_factors.to_numpy(), trained.item_factors.to_numpy()


def recommended() -> None:
    found, scores = trained.recommend(np.arange(USERS), liked, N=10, filter_already_liked_items=True)
    all_scores = users @ items.T
    all_scores[liked.toarray() > 0] = -np.inf
    np.testing.assert_allclose(scores, -np.sort(-all_scores, axis=1)[:, :10], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(all_scores, found, 1), scores, atol=1e-5)


def similar() -> None:
    found, scores = trained.similar_items(np.arange(ITEMS), N=6)
    unit = items / np.linalg.norm(items, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.testing.assert_allclose(scores, -np.sort(-cosines, axis=1)[:, :6], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(cosines, found, 1), scores, atol=1e-5)


def bpr() -> None:
    """It is random: what it recommends is of the users' kinds."""
    model = BayesianPersonalizedRanking(factors=FACTORS, iterations=100, learning_rate=0.1, random_state=1)
    model.fit(liked, show_progress=False)
    found, _ = model.recommend(np.arange(USERS), liked, N=5)
    share = np.take_along_axis(kinds, found, 1).mean()
    assert share > 0.8, share


def loss() -> None:
    got = implicit.gpu.LeastSquaresSolver().calculate_loss(
        implicit.gpu.CSRMatrix(liked), implicit.gpu.Matrix(users), implicit.gpu.Matrix(items), 0.1
    )
    scores, dense = (users @ items.T).astype(np.float64), liked.toarray()
    weights = np.where(dense > 0, dense, 1)
    want = (weights * ((dense > 0) - scores) ** 2).sum() + 0.1 * ((users**2).sum() + (items**2).sum())
    np.testing.assert_allclose(got, want / (dense.sum() + USERS * ITEMS - (dense > 0).sum()), rtol=1e-3)


cases.run({"ALS": als, "recommend": recommended, "similar items": similar, "BPR": bpr, "loss": loss})
