"""Run by suites.py under `ptx2amd run`: estimators of cuML, against scikit-learn or numpy."""

import cases
import cuml
import numpy as np
import sklearn.cluster
import sklearn.decomposition
import sklearn.linear_model
from sklearn.metrics import adjusted_rand_score

rng = np.random.default_rng(1)
SIZE, COLUMNS = 400, 8
data = (rng.normal(size=(SIZE, COLUMNS)) * np.arange(1, COLUMNS + 1)).astype(np.float32)
target = (data @ np.arange(COLUMNS) + 3 + rng.normal(0, 0.1, SIZE)).astype(np.float32)
groups = rng.integers(0, 4, SIZE)
clouds = (rng.normal(0, 0.3, (SIZE, 3)) + 5 * np.eye(4, 3)[groups] * (groups[:, None] < 3)).astype(np.float32)
distances = np.linalg.norm(clouds[:, None].astype(np.float64) - clouds[None], axis=2)


def close(got: object, want: np.ndarray, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=rtol * np.abs(want).max())


def pca() -> None:
    got = cuml.PCA(n_components=3, output_type="numpy").fit(data)
    want = sklearn.decomposition.PCA(n_components=3, svd_solver="full").fit(data)
    close(got.explained_variance_, want.explained_variance_)
    close(np.abs(got.components_), np.abs(want.components_), 1e-2)


def linear() -> None:
    got = cuml.LinearRegression(output_type="numpy").fit(data, target)
    want = sklearn.linear_model.LinearRegression().fit(data, target)
    close(got.coef_, want.coef_)
    close(got.predict(data), want.predict(data))


def ridge() -> None:
    got = cuml.Ridge(alpha=10.0, output_type="numpy").fit(data, target)
    close(got.coef_, sklearn.linear_model.Ridge(alpha=10.0).fit(data, target).coef_)


def logistic() -> None:
    labels = (target > np.median(target)).astype(np.float32)
    got = cuml.LogisticRegression(C=0.1, tol=1e-6, max_iter=2000, output_type="numpy").fit(data, labels)
    want = sklearn.linear_model.LogisticRegression(C=0.1, tol=1e-8, max_iter=5000).fit(data, labels)
    close(np.ravel(got.coef_), np.ravel(want.coef_), 1e-2)


def kmeans() -> None:
    got = cuml.KMeans(n_clusters=4, random_state=1, n_init=3, output_type="numpy").fit(clouds)
    want = sklearn.cluster.KMeans(4, n_init=3, random_state=1).fit(clouds)
    assert adjusted_rand_score(np.asarray(got.labels_), want.labels_) == 1
    close(got.inertia_, np.array(want.inertia_))


def dbscan() -> None:
    got = cuml.DBSCAN(eps=0.5, min_samples=5, output_type="numpy").fit_predict(clouds)
    want = sklearn.cluster.DBSCAN(eps=0.5, min_samples=5).fit_predict(clouds)
    assert len(set(want)) > 2 and ((got == -1) == (want == -1)).all()
    assert adjusted_rand_score(got, want) > 0.999


def neighbours() -> None:
    found, indices = cuml.NearestNeighbors(n_neighbors=10, output_type="numpy").fit(clouds).kneighbors(clouds)
    want = np.sort(distances, axis=1)[:, :10]
    close(found, want)
    close(np.take_along_axis(distances, np.asarray(indices, int), 1), want)


def forest() -> None:
    labels = groups.astype(np.int32)
    model = cuml.RandomForestClassifier(n_estimators=8, max_depth=6, random_state=1, n_streams=1, output_type="numpy")
    right = np.mean(model.fit(clouds, labels).predict(clouds) == labels)
    assert right > 0.98, right


cases.run({f.__name__: f for f in (pca, linear, ridge, logistic, kmeans, dbscan, neighbours, forest)})
