"""The self-test of a device: small programs on our libcuda, each in its own process, and a report of their results.

gpu: the driver API for a case. case: definition of a case, comparison of results. rows and floats: kernels made of
rows, and exact arithmetic. arithmetic, conversions, memory, threads, matrix, images, launches: the cases, with expected
values computed in Python. child: runs one case. runner: starts the children and judges their results. machine: facts
about the machine. report: text and JSON."""
