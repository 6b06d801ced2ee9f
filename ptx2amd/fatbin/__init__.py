"""CUDA containers: fatbins, cubins, executables and archives, read without any CUDA tool."""

from ptx2amd.binary import ContainerError
from ptx2amd.fatbin.container import Image, decompress, entries
from ptx2amd.fatbin.files import files_below, images, images_of, mapped_images

__all__ = ["ContainerError", "Image", "decompress", "entries", "files_below", "images", "images_of", "mapped_images"]
