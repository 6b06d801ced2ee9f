"""What NVIDIA's hardware answers: programs that ask it, and golden files of its answers.

The programs run on a machine with an NVIDIA GPU and need neither LLVM nor the native parts of ptx2amd; the tests
compare the golden files with the references of tests/reference and with the software GPU.
"""
