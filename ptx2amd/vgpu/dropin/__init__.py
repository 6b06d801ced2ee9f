"""Replacements for AMD's libamdhip64: generate.py writes our libraries of that name from ptx2amd.api.hip."""
