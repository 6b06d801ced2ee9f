"""Run by suites.py under `ptx2amd run`: quantum circuits on Qiskit Aer's GPU simulators, its own and cuStateVec's,
against Qiskit's matrices or Aer's CPU simulators."""

import math
from functools import partial

import cases
import numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator, Statevector
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, depolarizing_error

QUBITS = 8


def rotations() -> QuantumCircuit:
    circuit = QuantumCircuit(QUBITS)
    for qubit in range(QUBITS):
        circuit.h(qubit)
        circuit.rz(0.3 * qubit, qubit)
        circuit.ry(0.1 * qubit + 0.2, qubit)
    return circuit


def entangled() -> QuantumCircuit:
    circuit = rotations()
    for qubit in range(QUBITS - 1):
        circuit.cx(qubit, qubit + 1)
        circuit.crx(0.4 * qubit, qubit, (qubit + 3) % QUBITS)
    circuit.ccx(0, 3, 5)
    circuit.swap(2, 6)
    return circuit


def fourier() -> QuantumCircuit:
    circuit = entangled()
    for qubit in range(QUBITS):
        circuit.h(qubit)
        for other in range(qubit + 1, QUBITS):
            circuit.cp(math.pi / 2 ** (other - qubit), other, qubit)
    return circuit


def state(circuit: QuantumCircuit, precision: str, library: bool = False) -> None:
    want = Statevector(circuit).data
    circuit = circuit.copy()
    circuit.save_statevector()
    simulator = AerSimulator(method="statevector", device="GPU", precision=precision, cuStateVec_enable=library)
    # Without the transpiler: it takes swaps away, and what was saved would have other places.
    found = np.asarray(simulator.run(circuit).result().get_statevector())
    np.testing.assert_allclose(found, want, atol=1e-5 if precision == "single" else 1e-12)


def unitary() -> None:
    circuit = QuantumCircuit(5)
    circuit.h(0)
    circuit.cx(0, 3)
    circuit.rx(0.7, 2)
    circuit.ccx(3, 2, 4)
    want = Operator(circuit).data
    circuit.save_unitary()
    simulator = AerSimulator(method="unitary", device="GPU")
    found = np.asarray(simulator.run(circuit).result().get_unitary())
    np.testing.assert_allclose(found, want, atol=1e-12)


def density() -> None:
    noise = NoiseModel()
    noise.add_all_qubit_quantum_error(depolarizing_error(0.1, 1), ["h", "ry"])
    circuit = QuantumCircuit(4)
    for qubit in range(4):
        circuit.h(qubit)
        circuit.ry(0.3 * qubit, qubit)
    circuit.cx(0, 2)
    circuit.save_density_matrix()
    found = []
    for device in ("CPU", "GPU"):
        simulator = AerSimulator(method="density_matrix", device=device, noise_model=noise)
        found.append(np.asarray(simulator.run(circuit).result().data()["density_matrix"]))
    np.testing.assert_allclose(*found, atol=1e-12)


def counts() -> None:
    """As often as the state says, within 6 standard deviations."""
    circuit, shots = entangled(), 20000
    likely = Statevector(circuit).probabilities()
    circuit.measure_all()
    simulator = AerSimulator(method="statevector", device="GPU", seed_simulator=5)
    found = simulator.run(circuit, shots=shots).result().get_counts()
    for word, times in enumerate(likely):
        measured = found.get(f"{word:0{QUBITS}b}", 0)
        assert abs(measured - times * shots) < 6 * math.sqrt(times * shots) + 6, (word, measured, times * shots)


states = {
    f"{make.__name__}, {precision}": partial(state, make(), precision)
    for make in (rotations, entangled, fourier)
    for precision in ("single", "double")
}
states |= {f"{make.__name__}, cuStateVec": partial(state, make(), "double", True) for make in (entangled, fourier)}
cases.run(states | {"unitary": unitary, "density matrix with noise": density, "counts": counts})
