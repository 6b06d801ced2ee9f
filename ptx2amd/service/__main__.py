from ptx2amd.service.server import main

main()
