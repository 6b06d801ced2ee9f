"""What ends a link."""

from __future__ import annotations

from ptx2amd.errors import Ptx2amdError


class LinkError(Ptx2amdError):
    """Objects that cannot be linked: a symbol without a definition or with two, or what the linker does not know."""
