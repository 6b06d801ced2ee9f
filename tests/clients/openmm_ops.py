"""Run by suites.py under `ptx2amd run`: OpenMM's CUDA platform (NVRTC) against its Reference platform."""

import cases
import numpy as np
import openmm as mm
from openmm import unit

rng = np.random.default_rng(1)
side = 8
grid = np.array([(i, j, k) for i in range(side) for j in range(side) for k in range(side)]) * 0.3
positions = grid + rng.uniform(-0.02, 0.02, grid.shape)
atoms, box = len(grid), side * 0.3


def system(*forces: mm.Force) -> mm.System:
    made = mm.System()
    made.setDefaultPeriodicBoxVectors((box, 0, 0), (0, box, 0), (0, 0, box))
    for _ in range(atoms):
        made.addParticle(39.9)
    for force in forces:
        made.addForce(force)
    return made


def state(platform: str, made: mm.System, steps: int = 0, **properties: str) -> mm.State:
    context = mm.Context(made, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName(platform), properties)
    context.setPositions(positions)
    context.getIntegrator().step(steps)
    return context.getState(getForces=True, getEnergy=True, getPositions=True)


def nonbonded(method: int) -> mm.NonbondedForce:
    force = mm.NonbondedForce()
    force.setNonbondedMethod(method)
    force.setCutoffDistance(0.9)
    force.setEwaldErrorTolerance(1e-6)  # the platforms round the mesh's sizes differently: fine ones agree
    for i in range(atoms):
        force.addParticle(0.2 * (-1) ** i, 0.25, 0.5)
    return force


def bonded() -> list[mm.Force]:
    bonds, angles, torsions = mm.HarmonicBondForce(), mm.HarmonicAngleForce(), mm.PeriodicTorsionForce()
    for i in range(0, atoms - 3, 3):
        bonds.addBond(i, i + 1, 0.3, 1000.0)
        angles.addAngle(i, i + 1, i + 2, 2.0, 50.0)
        torsions.addTorsion(i, i + 1, i + 2, i + 3, 2, 0.5, 3.0)
    return [bonds, angles, torsions]


def custom() -> mm.Force:
    """An expression that becomes a kernel."""
    force = mm.CustomNonbondedForce("k*exp(-r/s)*cos(3*r); s=0.3; k=5")
    force.setNonbondedMethod(mm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(0.9)
    for _ in range(atoms):
        force.addParticle([])
    return force


def agree(*forces: mm.Force, **properties: str) -> None:
    made = system(*forces)
    reference, gpu = state("Reference", made), state("CUDA", made, **properties)
    of, got = (s.getForces(asNumpy=True)._value for s in (reference, gpu))
    error = np.median(np.linalg.norm(of - got, axis=1) / (1 + np.linalg.norm(of, axis=1)))
    energies = [s.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole) for s in (reference, gpu)]
    assert error < 1e-4 and abs(energies[0] - energies[1]) < 1e-3 * abs(energies[0]) + 0.1, (error, energies)


def motion() -> None:
    made = system(nonbonded(mm.NonbondedForce.CutoffPeriodic), *bonded())
    ends = [state(p, made, 20).getPositions(asNumpy=True)._value for p in ("Reference", "CUDA")]
    assert np.abs(ends[0] - positions).max() > 1e-3
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-4)


CASES = {
    "bonded": lambda: agree(*bonded()),
    "no-cutoff": lambda: agree(nonbonded(mm.NonbondedForce.NoCutoff)),
    "cutoff": lambda: agree(nonbonded(mm.NonbondedForce.CutoffPeriodic), *bonded()),
    "custom": lambda: agree(custom()),
    "motion": motion,
    "ewald": lambda: agree(nonbonded(mm.NonbondedForce.Ewald)),
    "double": lambda: agree(nonbonded(mm.NonbondedForce.CutoffPeriodic), *bonded(), Precision="double"),
    "particle-mesh": lambda: agree(nonbonded(mm.NonbondedForce.PME)),  # cuFFT
}

cases.run(CASES)
