"""Words that a launch appends to the parameters of kernels with the property `launch_words`."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout

LAUNCH_WORDS = Layout(
    "launch_words",
    "8-byte aligned behind the parameters, right before the hidden arguments. A kernel that launches none has all but "
    "the first.",
    Field("records", "u64", "the launch's records: `launch_records`"),
    Field("workspace", "u64", "64 bytes of the grid's own, zero at first; 0 unless the launch is cooperative"),
    Field("shared", "u64", "bytes of dynamic shared memory; HIP knows of none where it lies in the arena"),
)  # fmt: skip
