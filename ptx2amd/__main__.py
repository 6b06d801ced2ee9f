"""`python -m ptx2amd`: the command, where its script is not on PATH."""

from ptx2amd.cli import main

main()
