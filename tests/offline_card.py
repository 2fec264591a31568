"""Runs the code of a card as one doctest, in a process that may open no connection."""

import doctest
import re
import sys
from pathlib import Path

NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}


def blocks_of(text):
    """The blocks of Python in a page."""
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def refuse_network(event, args):
    if event in NETWORK:
        raise PermissionError(f"{event} {args[1:]}: there is no network here")


def main(card):
    sys.addaudithook(refuse_network)
    code = "\n".join(blocks_of(Path(card).read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(code, {}, card, card, 0)
    failed, attempted = doctest.DocTestRunner().run(test)
    print(f"{attempted} attempted")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
