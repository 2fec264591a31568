"""`python -m openbiolink.cli` is the command `openbiolink`."""

from openbiolink.cli import main

if __name__ == "__main__":
    main()
