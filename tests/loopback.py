"""HTTP and FTP servers on this machine that misbehave as told, and remember what they were asked."""

import socket
import socketserver
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STALL = 20.0  # seconds; ends earlier when the server is closed
PIECE = 4096


@dataclass(frozen=True, kw_only=True)
class File:
    """A file, and how it is served.

    Attributes:
        data: its bytes.
        etag, modified: what the server says of its version; nothing where empty.
        ranges: whether a request for a part is understood.
        if_range: whether `If-Range` is minded.
        shift: by how many bytes the answer to a range request begins too early.
        content_range: whether an answer to a range request says what it holds.
        cut: the byte at which the connection is closed.
        stall: the byte at which nothing more comes.
        framing: how its end is told: "length", "chunked", or "close" of the connection.
        honest: whether an FTP server says of a cut transfer that it was cut.
        pause: seconds before each piece.
        status, headers: of the answer.
    """

    data: bytes
    etag: str = ""
    modified: str = ""
    ranges: bool = True
    if_range: bool = True
    shift: int = 0
    content_range: bool = True
    cut: int | None = None
    stall: int | None = None
    framing: str = "length"
    honest: bool = True
    pause: float = 0.0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def redirect(url, status=302):
    return File(data=b"", status=status, headers={"Location": url})


@dataclass(frozen=True)
class Asked:
    """A request that a server got: the path and the headers, or the FTP command."""

    path: str
    headers: dict[str, str] = field(default_factory=dict)


class _Memory:
    """What is served under which path, what was asked, and how many HTTP requests were served at once per host name."""

    def __init__(self):
        self.files, self.asked = {}, []
        self.now, self.most = Counter(), Counter()
        self.lock, self.closing = threading.Lock(), threading.Event()
        self.password = None

    def serve(self, path, *files):
        """Answer requests for a path with these files, one after another; the last one again and again."""
        self.files[path] = list(files)

    def next(self, path):
        with self.lock:
            waiting = self.files.get(path)
            return None if not waiting else waiting.pop(0) if len(waiting) > 1 else waiting[0]

    @contextmanager
    def counted(self, host):
        with self.lock:
            self.now[host] += 1
            self.most[host] = max(self.most[host], self.now[host])
        try:
            yield
        finally:
            with self.lock:
                self.now[host] -= 1

    def ranges(self, path):
        """The `Range` header of every request for a path, None where there was none."""
        return [asked.headers.get("Range") for asked in self.asked if asked.path == path]

    def send(self, file, start, write, *, flush=lambda: None):
        """Send the bytes of a file from `start` on, as far as it goes; False where the connection is to be cut."""
        end = min(len(file.data) if stop is None else stop for stop in (file.cut, file.stall))
        for place in range(start, end, PIECE):
            if file.pause and self.closing.wait(file.pause):
                return False
            write(file.data[place : min(place + PIECE, end)])
        if file.stall is not None:
            flush()
            self.closing.wait(STALL)
            return False
        return file.cut is None


class _AllButTheLast:
    """A stream that sends the last byte only when it is flushed."""

    closed = False

    def __init__(self, stream):
        self.stream, self.kept = stream, b""

    def write(self, data):
        data, self.kept = self.kept + data, b""
        self.stream.write(data[:-1])
        self.kept = data[-1:]

    def flush(self):
        kept, self.kept = self.kept, b""
        self.stream.write(kept)

    def close(self):
        self.stream.close()


class _HTTP(BaseHTTPRequestHandler):
    """Answers one request a connection, which counts until the last byte goes out: whoever has read all of an answer
    is not counted any more.
    """

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.wfile = _AllButTheLast(self.wfile)

    def log_message(self, *_):
        pass

    def do_GET(self):
        memory = self.server.memory
        memory.asked.append(Asked(self.path, dict(self.headers)))
        file = memory.next(self.path) or File(data=b"nothing here", status=404)
        self.close_connection = True
        with suppress(ConnectionError):
            with memory.counted(self.headers["Host"].split(":")[0]):
                self.answer(memory, file)
            self.wfile.flush()

    def wanted(self, file):
        """The first byte to send, and whether a part was asked for."""
        asked, last_known = self.headers.get("Range"), self.headers.get("If-Range")
        if not asked or not file.ranges or file.status != 200:
            return 0, False
        if file.if_range and last_known and last_known not in (file.etag, file.modified):
            return 0, False
        return int(asked.removeprefix("bytes=").split("-")[0]), True

    def answer(self, memory, file):
        start, part = self.wanted(file)
        if part and start >= len(file.data):
            file, part, start = File(data=b"", status=416), False, 0
        start = max(start - file.shift, 0) if part else 0
        self.send_response(206 if part else file.status)
        headers = {"ETag": file.etag, "Last-Modified": file.modified, **file.headers}
        if part and file.content_range:
            headers["Content-Range"] = f"bytes {start}-{len(file.data) - 1}/{len(file.data)}"
        if file.framing == "length":
            headers["Content-Length"] = str(len(file.data) - start)
        if file.framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        chunked = file.framing == "chunked"
        write = self.write_chunk if chunked else self.wfile.write
        whole = memory.send(file, start, write, flush=self.wfile.flush)
        if whole and chunked:
            self.wfile.write(b"0\r\n\r\n")

    def write_chunk(self, piece):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))


class _FTP(socketserver.StreamRequestHandler):
    """The commands that a download needs; `File.etag` and `File.headers` mean nothing here."""

    def handle(self):
        memory, self.rest, self.user = self.server.memory, 0, ""
        self.files, self.doors = {}, ExitStack()
        with suppress(ConnectionError), self.doors:
            self.say("220 ready")
            for line in self.rfile:
                text = line.decode().rstrip("\r\n")
                memory.asked.append(Asked(text))
                command, _, argument = text.partition(" ")
                method = getattr(self, f"do_{command.upper()}", None)
                if method is None:
                    self.say("502 no such command")
                elif method(argument) == "end":
                    return

    def say(self, text):
        self.wfile.write(f"{text}\r\n".encode())

    def file(self, path):
        """The file as this session sees it: what a path holds does not change before the session ends."""
        if path not in self.files:
            self.files[path] = self.server.memory.next("/" + path)
        return self.files[path]

    def do_USER(self, name):
        self.user = name
        self.say("331 password, please")

    def do_PASS(self, word):
        needed = self.server.memory.password
        self.say("230 in" if needed in (None, f"{self.user}:{word}") else f"530 {word} is not of {self.user}.")

    def do_TYPE(self, _):
        self.say("200 binary")

    def do_SIZE(self, path):
        file = self.file(path)
        self.say(f"213 {len(file.data)}" if file and file.framing == "length" else "550 no size")

    def do_MDTM(self, path):
        file = self.file(path)
        self.say(f"213 {file.modified}" if file and file.modified else "550 no date")

    def do_PASV(self, _):
        self.door = self.doors.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = self.door.getsockname()[1]
        self.say(f"227 here (127,0,0,1,{port // 256},{port % 256})")

    def do_REST(self, start):
        self.rest = int(start)
        self.say("350 from there on")

    def do_RETR(self, path):
        start, self.rest = self.rest, 0
        file = self.file(path)
        if file is None or (start and not file.ranges):
            self.say("550 No such file." if file is None else "501 REST not understood")
            return None
        if file.status == 503:
            self.say("450 busy")
            return "end"
        self.say("150 it comes")
        connection, _ = self.door.accept()
        with connection:
            whole = self.server.memory.send(file, start, connection.sendall)
        self.say("226 done" if whole or not file.honest else "426 aborted")
        return None if whole else "end"

    def do_QUIT(self, _):
        self.say("221 bye")
        return "end"


class _FTPServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextmanager
def _running(server, scheme):
    memory = server.memory = _Memory()
    memory.port = server.server_address[1]
    memory.url = lambda path, host="127.0.0.1": f"{scheme}://{host}:{memory.port}{path}"
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        memory.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def http_server():
    """An HTTP server on a free port, for a with block."""
    return _running(ThreadingHTTPServer(("127.0.0.1", 0), _HTTP), "http")


def ftp_server():
    """An FTP server on a free port, for a with block."""
    return _running(_FTPServer(("127.0.0.1", 0), _FTP), "ftp")
