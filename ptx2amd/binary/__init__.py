"""Binary files, read with bounds: ELF, its notes, MessagePack. Nothing in them is trusted."""

from ptx2amd.binary.blob import Blob, ContainerError
from ptx2amd.binary.elf import Elf, note_object

__all__ = ["Blob", "ContainerError", "Elf", "note_object"]
