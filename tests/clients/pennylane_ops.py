"""Run by suites.py under `ptx2amd run`: circuits on PennyLane's Lightning for GPUs, against its simulator in numpy."""

from collections.abc import Callable

import cases
import numpy as np
import pennylane as qml

WIRES = 5
rng = np.random.default_rng(1)
ANGLES = rng.uniform(0, 2 * np.pi, (3, WIRES, 3))
UNITARY = qml.matrix(qml.QFT(wires=range(3)))


def layers(angles: np.ndarray) -> None:
    for number, layer in enumerate(angles):
        for wire in range(WIRES):
            qml.Rot(*layer[wire], wires=wire)
        for wire in range(WIRES):
            qml.CNOT(wires=[wire, (wire + 1 + number) % WIRES])


def gates() -> None:
    qml.Hadamard(0), qml.S(1), qml.T(2), qml.PauliY(3), qml.SX(4)
    qml.Toffoli([0, 1, 2]), qml.CSWAP([0, 3, 4]), qml.CRX(0.3, [1, 2]), qml.CRot(0.1, 0.2, 0.3, [2, 4])
    qml.IsingXX(0.4, [0, 1]), qml.IsingZZ(0.5, [1, 3]), qml.SingleExcitation(0.6, [2, 3])
    qml.DoubleExcitation(0.7, [0, 1, 2, 3]), qml.MultiRZ(0.8, [0, 2, 4]), qml.PhaseShift(0.9, 1)


def prepared(then: Callable[[], None]) -> Callable[[], None]:
    return lambda: (layers(ANGLES), then())[1]


def agrees(circuit: Callable[[], None], *measured: Callable[[], object], precision: float = 1e-10) -> None:
    def node(device: str, **more: object) -> list[np.ndarray]:
        run = qml.QNode(lambda: (circuit(), [one() for one in measured])[1], qml.device(device, wires=WIRES, **more))
        return [np.asarray(value) for value in run()]

    kind = np.complex64 if precision > 1e-8 else np.complex128
    for got, want in zip(node("lightning.gpu", c_dtype=kind), node("default.qubit"), strict=True):
        np.testing.assert_allclose(got, want, atol=precision)


def gradient() -> None:
    def node(device: str, method: str) -> np.ndarray:
        @qml.qnode(qml.device(device, wires=WIRES), diff_method=method)
        def cost(angles: np.ndarray) -> object:
            layers(angles)
            return qml.expval(qml.PauliZ(0) @ qml.PauliX(2))

        return np.asarray(qml.grad(cost)(qml.numpy.array(ANGLES, requires_grad=True)))

    want = node("default.qubit", "backprop")
    assert np.abs(want).max() > 0.05
    np.testing.assert_allclose(node("lightning.gpu", "adjoint"), want, atol=1e-10)


def samples() -> None:
    """Frequencies of 20,000 samples are within five standard deviations."""
    device, shots = qml.device("lightning.gpu", wires=WIRES, seed=3), 20_000
    drawn = qml.set_shots(qml.QNode(lambda: (layers(ANGLES), qml.sample())[1], device), shots)()
    numbers = np.asarray(drawn) @ (1 << np.arange(WIRES)[::-1])
    want = qml.QNode(lambda: (layers(ANGLES), qml.probs())[1], qml.device("default.qubit", wires=WIRES))()
    found = np.bincount(numbers, minlength=2**WIRES) / shots
    assert (np.abs(found - want) < 5 * np.sqrt(want * (1 - want) / shots) + 1e-9).all()


OBSERVABLES = (
    lambda: qml.expval(qml.PauliX(0)),
    lambda: qml.expval(qml.PauliY(1) @ qml.PauliZ(3)),
    lambda: qml.var(qml.PauliZ(2)),
    lambda: qml.expval(qml.Hermitian(np.array([[1, 2j], [-2j, 3]]), wires=4)),
    lambda: qml.expval(qml.Hamiltonian([0.2, -0.7], [qml.PauliX(0) @ qml.PauliY(1), qml.PauliZ(4)])),
)
cases.run(
    {
        "layers": lambda: agrees(lambda: layers(ANGLES), qml.state),
        "layers, single precision": lambda: agrees(lambda: layers(ANGLES), qml.state, precision=1e-5),
        "gates": lambda: agrees(prepared(gates), qml.state),
        "a matrix": lambda: agrees(prepared(lambda: qml.QubitUnitary(UNITARY, wires=[3, 0, 2])), qml.state),
        "its adjoint": lambda: agrees(prepared(lambda: qml.adjoint(qml.QFT)(wires=[4, 1, 0])), qml.state),
        "controlled": lambda: agrees(prepared(lambda: qml.ctrl(qml.RY(0.4, 2), [0, 4], [1, 0])), qml.state),
        "probabilities": lambda: agrees(lambda: layers(ANGLES), lambda: qml.probs(wires=[1, 3])),
        "observables": lambda: agrees(lambda: layers(ANGLES), *OBSERVABLES),
        "gradient": gradient,
        "samples": samples,
    }
)
