from ptx2amd.cli import main

main()
