"""`python -m ptx2amd.service`."""

from ptx2amd import collector


def main() -> None:
    collector.run_rarely()
    from ptx2amd.service import server

    server.main()


main()
