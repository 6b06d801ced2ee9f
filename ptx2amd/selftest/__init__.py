"""The self-test of a device: small programs on our libcuda, each in a process of its own, and a report of their ends.

gpu: the driver API for a case. case: what a case is, and how results are compared. rows and floats: kernels
that are made of rows, and exact arithmetic. arithmetic, conversions, memory, threads, matrix, images, launches: the
cases, with expected values that Python computes. child: runs one case.
runner: starts the children and judges. machine: what there is. report: text and JSON."""
