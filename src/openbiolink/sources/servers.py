"""What servers send over HTTP and FTP: a file from some byte on, and which version of it, or why not.

No more than two connections to one host are open at a time. Credentials come from the environment only; they go to
the server that the catalogue names and to no other, and stand in no message.
"""

from __future__ import annotations

import ftplib
import os
import re
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import responses
from importlib import metadata
from threading import BoundedSemaphore, Event
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.util import Retry

from openbiolink.errors import InputError
from openbiolink.files import not_data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from socket import socket

    from openbiolink.sources.declarations import Address

CHUNK = 1 << 16
PAGE = 1 << 16  # bytes of an error page that are looked at
LINE = 200  # characters of a server's own words that are repeated
REDIRECTS = 10
PER_HOST = 2
WORTH_RETRYING = (429, 500, 502, 503, 504)
CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class CutError(Exception):
    """A transfer ended before the file did; another try may go on from there. It never leaves this stage."""


class StaleError(CutError):
    """The beginning that has come cannot be gone on with; another try may bring the whole file."""


class _Retry(Retry):
    """Retries that go by their own patience where a server says nonsense of how long to wait."""

    def parse_retry_after(self, retry_after: str) -> float:
        try:
            return super().parse_retry_after(retry_after)
        except InvalidHeader:
            return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long servers are waited for.

    Attributes:
        connect: seconds until a connection must stand.
        stall: seconds without a byte after which a connection counts as cut.
        retries: how often a request without an answer is repeated, and how often a transfer may break off in a row
            without having brought anything new.
        backoff: seconds before the first repetition, doubled with each further one.
        longest_wait: seconds that are waited at most, whatever a server asks for.
    """

    connect: float = 10.0
    stall: float = 30.0
    retries: int = 4
    backoff: float = 1.0
    longest_wait: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What all transfers of one run share.

    Attributes:
        patience: how long servers are waited for.
        slots: host name → its free connections; an FTP session counts as one.
        stop: set when the run is given up.
    """

    patience: Patience = Patience()
    slots: dict[str, BoundedSemaphore] = field(default_factory=dict)
    stop: Event = field(default_factory=Event)

    def slot(self, url: str) -> AbstractContextManager[bool]:
        """A connection to the host of an address; waits while two are in use."""
        return self.slots.setdefault(urlsplit(url).hostname or "", BoundedSemaphore(PER_HOST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What tells one version of a remote file from another.

    Attributes:
        url: the address in the catalogue, not where it redirects to.
        etag: strong entity tag, or empty.
        modified: when it was last changed, as the server writes it, or empty.
        size: its bytes, or None where the server does not say.
    """

    url: str
    etag: str = ""
    modified: str = ""
    size: int | None = None

    def date(self) -> str:
        """When it was last changed, as YYYY-MM-DD; empty where the server does not say.

        >>> Version(url="", modified="Fri, 27 Mar 2020 12:00:00 GMT").date()
        '2020-03-27'
        >>> Version(url="", modified="20200327120000").date()
        '2020-03-27'
        """
        if re.fullmatch(r"\d{14}", self.modified):
            return f"{self.modified[:4]}-{self.modified[4:6]}-{self.modified[6:8]}"
        try:
            return parsedate_to_datetime(self.modified).date().isoformat()
        except ValueError:
            return ""

    def differs(self, other: Version) -> bool:
        """Whether both say something of which the other says something else."""
        mine, theirs = asdict(self), asdict(other)
        return any(mine[key] and theirs[key] and mine[key] != theirs[key] for key in mine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A running transfer: of which version, from which byte on, and whether its regular end proves that it is whole."""

    version: Version
    start: int
    chunks: Iterator[bytes]
    end_is_told: bool


def shown(url: str) -> str:
    """An address as messages print it: without the name and password that it may carry.

    >>> shown("ftp://me:secret@example.org/a.gz")
    'ftp://example.org/a.gz'
    """
    return re.sub(r"^(\w+://)[^/]*@", r"\1", url)


def open_address(
    address: Address, earlier: Version | None, span: tuple[int, int | None], traffic: Traffic
) -> AbstractContextManager[Opened]:
    """Open an address for the bytes from the first number of `span` on, at most as many as the second.

    Args:
        address: where the file is.
        earlier: the version that the bytes before belong to.
        span: what to ask for; what comes may start at 0, and may be more.
        traffic: what all transfers of the run share.

    Raises:
        InputError: the server does not send the file; the message does not name the address.
        CutError: the connection broke off, also while the bytes come; another try may do better.
        StaleError: it does not send the bytes from there on; another try may bring the whole file.
    """
    if shown(address.url) != address.url:
        raise InputError("names a user; put the credential into an environment variable and name that in `credential`")
    credential = "" if address.credential is None else _credential(address.credential)
    if urlsplit(address.url).scheme == "ftp":
        return _open_ftp(address, credential, earlier, span[0], traffic)
    return _open_http(address, credential, earlier, span, traffic)


def _credential(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise InputError(f"needs the environment variable {variable}, which is not set")
    if not (value.isascii() and value.isprintable()):
        raise InputError(f"needs the environment variable {variable}, which holds a character that cannot be sent")
    return value


# HTTP ----------------------------------------------------------------------------------------------------------------


@contextmanager
def _open_http(
    address: Address, credential: str, earlier: Version | None, span: tuple[int, int | None], traffic: Traffic
) -> Iterator[Opened]:
    start, limit = span
    headers = {
        "Accept-Encoding": "identity",
        "Connection": "close",
        "User-Agent": f"openbiolink/{metadata.version('openbiolink')}",
    }
    if start or limit:
        headers["Range"] = f"bytes={start}-{'' if limit is None else start + limit - 1}"
    if earlier is not None and start and (earlier.etag or earlier.modified):
        headers["If-Range"] = earlier.etag or earlier.modified
    with _answer(address.url, headers, credential, traffic) as response:
        opened = _accept(address, response, ranged="Range" in headers)
        if opened.start not in {0, start}:
            raise StaleError(f"sent the bytes from {opened.start} on instead of those from {start} on")
        if opened.start and earlier is not None and earlier.differs(opened.version):
            raise StaleError("changed between two requests")
        yield opened


@contextmanager
def _answer(url: str, headers: dict[str, str], credential: str, traffic: Traffic) -> Iterator[requests.Response]:
    """The answer at the end of all redirects; the credential is sent to the first server only."""
    home, patience = urlsplit(url), traffic.patience
    retry = _Retry(
        total=patience.retries,
        status_forcelist=WORTH_RETRYING,
        backoff_factor=patience.backoff,
        backoff_max=patience.longest_wait,
        retry_after_max=max(int(patience.longest_wait), 1),
        raise_on_status=False,
    )
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry))
        for _ in range(REDIRECTS + 1):
            here = urlsplit(url)
            sent = credential if (here.scheme, here.netloc) == (home.scheme, home.netloc) else ""
            with traffic.slot(url), _get(session, url, headers, sent, patience) as response:
                target = session.get_redirect_target(response)
                if target is None:
                    yield response
                    return
            url = urljoin(url, target)
            if urlsplit(url).scheme not in {"http", "https"}:
                raise InputError(f"redirects to {urlsplit(url).scheme}:, which is not followed")
    raise InputError(f"redirects more than {REDIRECTS} times")


def _get(
    session: requests.Session, url: str, headers: dict[str, str], credential: str, patience: Patience
) -> requests.Response:
    def authorize(request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Takes the place of what requests would find in ~/.netrc or in the address."""
        if credential:
            request.headers["Authorization"] = credential
        return request

    try:
        return session.get(
            url,
            headers=headers,
            auth=authorize,
            stream=True,
            timeout=(patience.connect, patience.stall),
            allow_redirects=False,
        )
    except (requests.RequestException, HTTPError, OSError, ValueError) as error:
        raise InputError(f"does not answer ({_reason(error)})") from None


def _accept(address: Address, response: requests.Response, *, ranged: bool) -> Opened:
    """What a good answer brings.

    Raises:
        InputError: it is not the file.
        StaleError: the part that was asked for cannot be had.
    """
    status, headers = response.status_code, response.headers
    span = CONTENT_RANGE.match(headers.get("Content-Range", "")) if status == HTTPStatus.PARTIAL_CONTENT else None
    if ranged and not span and status in {HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE}:
        raise StaleError("does not send the bytes that were asked for")
    if status != HTTPStatus.OK and not (ranged and span):
        raise InputError(_describe_status(address, response))
    coding = headers.get("Content-Encoding", "identity").lower()
    if coding not in {"identity", "gzip", "x-gzip"}:
        raise InputError(f"is packed as {coding!r}, which was not asked for")
    chunked = "chunked" in headers.get("Transfer-Encoding", "").lower()
    length = "" if chunked else headers.get("Content-Length", "")
    length = span[2] if span else length
    etag = headers.get("ETag", "")
    version = Version(
        url=address.url,
        etag="" if etag.startswith("W/") else etag,
        modified=headers.get("Last-Modified", ""),
        size=int(length) if length.isdecimal() else None,
    )
    return Opened(
        version=version,
        start=int(span[1]) if span else 0,
        chunks=_iter_body(response),
        end_is_told=chunked or version.size is not None,
    )


def _describe_status(address: Address, response: requests.Response) -> str:
    page = b""
    with suppress(CutError):
        for chunk in _iter_body(response):
            page += chunk
            if len(page) >= PAGE:
                break
    found = not_data(page)
    words = f"answers {response.status_code} {responses.get(response.status_code, '')}".rstrip()
    asks = response.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN} and address.credential is not None
    hint = f"; check the environment variable {address.credential}" if asks else ""
    return f"{words} with {found}{hint}" if found and "CAPTCHA" in found else f"{words}{hint}"


def _iter_body(response: requests.Response) -> Iterator[bytes]:
    """The bytes as they are sent, each as soon as it is there."""
    try:
        while chunk := response.raw.read1(CHUNK, decode_content=False):
            yield chunk
    except (HTTPError, OSError) as error:
        raise CutError(f"broke off ({_reason(error)})") from error


# FTP -----------------------------------------------------------------------------------------------------------------


@contextmanager
def _open_ftp(
    address: Address, credential: str, earlier: Version | None, start: int, traffic: Traffic
) -> Iterator[Opened]:
    url = urlsplit(address.url)
    path = unquote(url.path).removeprefix("/")
    with traffic.slot(address.url), closing(ftplib.FTP()) as session:  # noqa: S321 - some sources are only there
        with _ftp_faults("does not answer"):
            session.connect(url.hostname or "", url.port or 0, timeout=traffic.patience.connect)
            _log_in(session, credential, address.credential)
            session.voidcmd("TYPE I")
            version = Version(url=address.url, modified=_modified(session, path), size=_size(session, path))
            if earlier is None or earlier.differs(version):
                start = 0
            if session.sock is not None:
                session.sock.settimeout(traffic.patience.stall)
            data, start = _retrieve(session, path, start)
            data.settimeout(traffic.patience.stall)
        with data:
            chunks = _iter_data(session, data)
            yield Opened(version=version, start=start, chunks=chunks, end_is_told=True)


def _log_in(session: ftplib.FTP, credential: str, variable: str | None) -> None:
    """Log in; what the server says then is not repeated, since it may hold the name and the password."""
    user, _, password = credential.partition(":")
    try:
        session.login(user, password)
    except ftplib.error_perm as error:
        hint = f"; check the environment variable {variable}" if variable else ""
        raise InputError(f"answers {str(error)[:3]} to the login{hint}") from None


@contextmanager
def _ftp_faults(words: str) -> Iterator[None]:
    try:
        yield
    except ftplib.error_perm as error:
        words = "".join(filter(str.isprintable, str(error)))[:LINE]
        raise InputError(f"answers {'530 (not logged in)' if words.startswith('530') else words}") from None
    except ftplib.all_errors as error:
        raise CutError(f"{words} ({_reason(error)})") from error
    except InputError:
        raise
    except ValueError:
        raise InputError("has a line end in its path") from None


def _retrieve(session: ftplib.FTP, path: str, start: int) -> tuple[socket, int]:
    """The data connection and the byte that it begins at, which is 0 where the server cannot go on."""
    if start:
        with suppress(ftplib.error_perm):
            return session.transfercmd(f"RETR {path}", rest=start), start
    return session.transfercmd(f"RETR {path}"), 0


def _size(session: ftplib.FTP, path: str) -> int | None:
    with suppress(ftplib.error_perm):
        return session.size(path)
    return None


def _modified(session: ftplib.FTP, path: str) -> str:
    with suppress(ftplib.error_perm):
        return session.sendcmd(f"MDTM {path}")[4:18]
    return ""


def _iter_data(session: ftplib.FTP, data: socket) -> Iterator[bytes]:
    with _ftp_faults("broke off"):
        while chunk := data.recv(CHUNK):
            yield chunk
        data.close()
        session.voidresp()


def _reason(error: BaseException) -> str:
    """What lies at the bottom of an exception, in words that hold no address, header or credential."""
    while (deeper := error.__cause__ or error.__context__) is not None:
        error = deeper
    words = (error.strerror or str(error)) if isinstance(error, OSError) else ""
    return words or type(error).__name__
