"""Asking whether sources can be had: a first block is enough, and each kind of trouble has its word and a way out."""

import gzip
import io
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback import File, ftp_server, http_server
from openbiolink.errors import InputError
from openbiolink.sources.catalogue import parse_catalogue
from openbiolink.sources.doctor import FIRST_BLOCK, check_sources_online, find_version_online, unpack_start
from openbiolink.sources.lock import Locked
from openbiolink.sources.servers import Patience

QUICK = Patience(connect=2, stall=0.3, retries=0, backoff=0.01)
TABLE = b"#version: 5\n#more\nleft\tright\n" + b"1\t2\n" * 1000
PAGE = b"<!DOCTYPE html><html><title>Are you a robot?</title>captcha</html>"
ROWS = bytes(range(33, 123)) * 200  # what cannot be packed to nothing


def catalogue_of(tmp_path, addresses=(), **more):
    """A catalogue whose source `wanted` has these addresses, and `other`, opt-in, the same."""
    keys = {"version": '"5"', **more}
    text = "".join(
        f"[source.{name}]\n"
        f'title = "Things"\ngives = ["edge"]\nhomepage = "https://example.org"\nlicence = "CC0 1.0"\n'
        f'format = "delimited"\nfiles = ["{name}*"]\nsaved_as = "{name}.tsv"\ndefault = {default}\n'
        + "".join(f"{key} = {value}\n" for key, value in keys.items())
        + f'[[source.{name}.layout]]\nname = "table"\ncomment = "#"\nnamed = {{ a = "left", b = "right" }}\n'
        + "".join(f'[[source.{name}.address]]\nkind = "pinned"\n{address}\n' for address in addresses)
        + f'[rule.{name}]\nrelation = "GENE_GENE"\nsource = "{name}"\nlabel = "Things"\n'
        'head = { type = "GENE", column = "a", prefix = "NCBIGENE" }\n'
        'tail = { type = "GENE", column = "b", prefix = "NCBIGENE" }\n'
        for name, default in (("wanted", "true"), ("other", "false"))
    )
    path = tmp_path / "catalogue.toml"
    path.write_text(text, encoding="utf-8")
    return parse_catalogue("test", [path])


PROBE = {"probe": """{ pattern = '^#version: (\\S+)' }"""}


def check(catalogue, tmp_path, *names, **more):
    findings = check_sources_online(catalogue, names, folder=tmp_path / "sources", patience=QUICK, **more)
    assert [finding.source for finding in findings] == list(names or ("wanted", "other"))
    assert not any("\n" in finding.words for finding in findings)
    return findings[0]


@pytest.fixture
def server():
    with http_server() as memory:
        yield memory


def at(memory, path="/things.tsv", more=""):
    return f'url = "{memory.url(path)}"\n{more}'


def test_a_first_block_is_enough(server, tmp_path):
    whole = TABLE + b"x\ty\n" * (FIRST_BLOCK // 2)
    server.serve("/things.tsv", File(data=whole))
    finding = check(catalogue_of(tmp_path, [at(server)], **PROBE), tmp_path)
    assert (finding.state, finding.ok) == ("ok", True)
    assert finding.words == f"version 5, layout 'table' at {server.url('/things.tsv')}"
    assert set(server.ranges("/things.tsv")) == {f"bytes=0-{FIRST_BLOCK - 1}"}
    assert not (tmp_path / "sources").exists()


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TABLE,
        gzip.compress(TABLE + ROWS * 50)[:FIRST_BLOCK],
        gzip.compress(TABLE[:100]) + gzip.compress(TABLE[100:] + ROWS * 50),
        TABLE.rstrip(b"\n"),
    ],
    ids=["plain", "CR LF", "byte-order mark", "cut gzip", "two gzip members", "no last line end"],
)
def test_what_is_packed_is_unpacked_as_far_as_it_goes(server, tmp_path, data):
    server.serve("/things.tsv", File(data=data, ranges=False))
    assert check(catalogue_of(tmp_path, [at(server)], **PROBE), tmp_path).words.startswith("version 5, layout 'table'")


@given(st.binary(max_size=5000), st.integers(0, 200), st.sampled_from(["plain", "gzip", "stored", "deflated"]))
def test_a_cut_block_gives_the_beginning_of_its_content(content, cut, kind):
    content = b"begin " + content
    if kind == "gzip":
        packed = gzip.compress(content)
    elif kind == "plain":
        packed = content
    else:
        archive = io.BytesIO()
        method = zipfile.ZIP_DEFLATED if kind == "deflated" else zipfile.ZIP_STORED
        with zipfile.ZipFile(archive, "w", method) as writer:
            writer.writestr("folder/things.tsv", content)
        packed = archive.getvalue()
    got = unpack_start(packed)
    assert got == content if kind != "stored" else got.startswith(content)
    begun = unpack_start(packed[: max(len(packed) - cut, 50)])
    assert content.startswith(begun[: len(content)])


def test_a_bomb_is_not_unpacked():
    assert len(unpack_start(gzip.compress(bytes(50_000_000)))) <= 1 << 20
    with pytest.raises(zlib.error):
        unpack_start(gzip.compress(TABLE)[:10] + ROWS)


@pytest.mark.parametrize(
    ("file", "state", "words"),
    [
        (File(data=b"", status=404), "down", "404"),
        (File(data=b"", ranges=False), "down", "is empty"),
        (File(data=PAGE), "down", "keeps robots out (CAPTCHA)"),
        (File(data=PAGE, status=403), "down", "403"),
        (File(data=b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "down", "Git-LFS pointer"),
        (File(data=TABLE, stall=0), "down", "broke off"),
        (File(data=gzip.compress(TABLE)[:10] + ROWS), "down", "damaged"),
        (File(data=TABLE.replace(b"right", b"wrong")), "changed", "'right'"),
        (File(data=b"\x00\x01\x02" * 100), "changed", "fits no known layout"),
    ],
    ids=["404", "empty", "captcha", "403", "pointer", "stall", "damaged", "renamed column", "binary"],
)
def test_each_trouble_has_its_word_and_a_way_out(server, tmp_path, file, state, words):
    server.serve("/things.tsv", file)
    catalogue = catalogue_of(tmp_path, [at(server)], by_hand='"ask them"', **PROBE)
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == (state, False)
    assert words in finding.words
    assert server.url("/things.tsv") in finding.words
    assert finding.words.endswith(f"by hand (ask them) and save it as {tmp_path / 'sources' / 'wanted.tsv'}")


def test_nobody_listens(server, tmp_path):
    catalogue = catalogue_of(tmp_path, ['url = "http://127.0.0.1:9/things.tsv"', at(server)])
    server.serve("/things.tsv", File(data=TABLE))
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == ("ok", True)
    assert finding.words.startswith(f"layout 'table' at {server.url('/things.tsv')}; http://127.0.0.1:9/things.tsv: ")
    alone = catalogue_of(tmp_path, ['url = "http://127.0.0.1:9/things.tsv"'])
    assert check(alone, tmp_path).state == "down"


def test_ftp_is_asked_too(tmp_path):
    with ftp_server() as memory:
        memory.serve("/things.tsv", File(data=TABLE + ROWS * 50))
        assert check(catalogue_of(tmp_path, [at(memory)], **PROBE), tmp_path).state == "ok"


def test_a_source_that_is_off_by_default_does_not_fail_a_build(server, tmp_path):
    catalogue = catalogue_of(tmp_path, [at(server)])
    findings = check_sources_online(catalogue, folder=tmp_path, patience=QUICK)
    assert [(finding.state, finding.ok) for finding in findings] == [("down", False), ("down", True)]
    assert not check(catalogue, tmp_path, "other").ok
    with pytest.raises(InputError, match="did you mean 'other'"):
        check(catalogue, tmp_path, "othr")


def test_a_file_that_is_here_is_used(server, tmp_path):
    (tmp_path / "sources").mkdir()
    file = tmp_path / "sources" / "wanted.tsv"
    file.write_bytes(TABLE)
    catalogue = catalogue_of(tmp_path, [at(server)], **PROBE)
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == ("down", True)
    assert finding.words.endswith(f"; a build uses {file}")
    by_hand = catalogue_of(tmp_path, by_hand='"buy it"')
    assert check(by_hand, tmp_path).state == "ok"
    server.serve("/things.tsv", File(data=TABLE))
    assert check(catalogue, tmp_path).state == "ok"
    file.write_bytes(b"something else\n")
    for one in (catalogue, by_hand):
        finding = check(one, tmp_path)
        assert (finding.state, finding.ok) == ("changed", False)
        assert str(file) in finding.words
    file.unlink()
    for names in ((), ("wanted",)):
        finding = check(by_hand, tmp_path, *names)
        assert (finding.state, finding.ok) == ("by hand", True)
        assert finding.words == f"get it (buy it) and save it as {file}"
    path = tmp_path / "catalogue.toml"
    path.write_text(path.read_text().replace('saved_as = "wanted.tsv"', ""))
    finding = check(parse_catalogue("test", [path]), tmp_path)
    assert finding.words == f"get it (buy it) and save it in {file.parent} under a name like wanted*"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"size": len(TABLE) + 1}, f"has {len(TABLE)} bytes, expected {len(TABLE) + 1}"),
        ({"min_bytes": 5000}, f"has {len(TABLE)} bytes, fewer than the 5000 of a whole file"),
    ],
)
def test_a_file_that_a_fetch_refuses_for_its_size_is_not_ok(server, tmp_path, facts, words):
    assert len(TABLE) < 5000
    more = "".join(f"{key} = {value}\n" for key, value in facts.items())
    server.serve("/things.tsv", File(data=TABLE))
    catalogue = catalogue_of(tmp_path, [at(server, more=more)])
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == ("down", False)
    assert words in finding.words
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "wanted.tsv").write_bytes(TABLE)
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == ("down", False)
    assert finding.words.startswith(f"{tmp_path / 'sources' / 'wanted.tsv'} {words}; ")
    with ftp_server() as memory:
        memory.serve("/things.tsv", File(data=TABLE))
        assert words in check(catalogue_of(tmp_path, [at(memory, more=more)]), tmp_path).words


def test_what_no_default_rule_needs_is_not_wanted(server, tmp_path):
    catalogue = catalogue_of(tmp_path, [at(server)])
    assert catalogue.used_by_default() == ("wanted",)
    path = tmp_path / "catalogue.toml"
    text = path.read_text()
    path.write_text(text.replace("[rule.wanted]", "[rule.wanted]\ndefault = false"))
    catalogue = parse_catalogue("test", [path])
    assert catalogue.used_by_default() == ()
    assert check(catalogue, tmp_path).ok
    path.write_text(
        text.replace('column = "a", prefix', 'column = "a", via = ["other"], prefix')
        + (
            '[map.other]\nsource = "other"\nkey = { column = "a", prefix = "NCBIGENE" }\n'
            'value = { column = "b", prefix = "NCBIGENE" }\n'
        )
    )
    assert parse_catalogue("test", [path]).used_by_default() == ()
    path.write_text(path.read_text().replace("default = false", ""))
    assert parse_catalogue("test", [path]).used_by_default() == ("wanted", "other")


@pytest.mark.parametrize(
    ("expected", "locked", "state"),
    [("5", None, "ok"), ("4", None, "moved"), ("", None, "ok"), ("4", "5", "ok"), ("5", "4", "moved"), ("5", "", "ok")],
)
def test_a_version_moves(server, tmp_path, expected, locked, state):
    server.serve("/things.tsv", File(data=TABLE))
    entry = Locked(url="", version=locked or "", date="", size=0, sha256="", layout="", file="")
    catalogue = catalogue_of(tmp_path, [at(server)], version=f'"{expected}"', **PROBE)
    finding = check(catalogue, tmp_path, locked={} if locked is None else {"wanted": entry})
    assert (finding.state, finding.ok) == (state, True)
    if state == "moved":
        assert finding.words.startswith(f"version 5, the {'lock' if locked else 'edition'} has 4; layout")


def test_a_version_may_be_declared_less_exactly(server, tmp_path):
    server.serve("/things.tsv", File(data=TABLE.replace(b"version: 5", b"version: 2026-06-23")))
    for declared, state in (("2026-06", "ok"), ("2026", "ok"), ("2026-0", "moved"), ("26", "moved")):
        catalogue = catalogue_of(tmp_path, [at(server)], version=f'"{declared}"', **PROBE)
        assert check(catalogue, tmp_path).state == state


def test_a_version_stands_on_a_page_elsewhere(server, tmp_path):
    server.serve("/things.tsv", File(data=TABLE))
    server.serve("/version.json", File(data=b'{"date": "6"}'))
    page = server.url("/version.json")
    catalogue = catalogue_of(tmp_path, [at(server)], probe=f"""{{ pattern = '"date": "(.)"', url = "{page}" }}""")
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == ("moved", True)
    assert finding.words.startswith("version 6, the edition has 5")
    assert find_version_online(catalogue.sources["wanted"]) == "6"
    for page_start in (b"<!DOCTYPE html><title>Are you a robot? captcha</title>", b"<html>"):
        server.serve("/version.json", File(data=page_start + b'\n"date": "6"\n'))
        assert find_version_online(catalogue.sources["wanted"]) == ""
    server.serve("/version.json", File(data=b"", status=404))
    assert check(catalogue, tmp_path).words.startswith("no version found, layout 'table'")
    assert find_version_online(catalogue_of(tmp_path, [at(server)]).sources["wanted"]) == ""


def test_a_key_is_needed_and_never_shown(server, tmp_path, monkeypatch):
    server.serve("/things.tsv", File(data=TABLE))
    catalogue = catalogue_of(tmp_path, [at(server, more='credential = "THINGS_KEY"')])
    monkeypatch.delenv("THINGS_KEY", raising=False)
    finding = check(catalogue, tmp_path)
    assert (finding.state, finding.ok) == ("down", False)
    assert "THINGS_KEY" in finding.words
    assert server.asked == []
    monkeypatch.setenv("THINGS_KEY", "not to be told")
    assert check(catalogue, tmp_path).state == "ok"
    assert server.asked[-1].headers["Authorization"] == "not to be told"
    server.serve("/things.tsv", File(data=b"", status=401))
    finding = check(catalogue, tmp_path)
    assert finding.state == "down"
    assert "not to be told" not in finding.words


def test_progress_and_few_connections(server, tmp_path):
    server.serve("/things.tsv", File(data=TABLE, pause=0.05))
    steps = []
    check(catalogue_of(tmp_path, [at(server)]), tmp_path, progress=lambda *step: steps.append(step))
    assert steps == [("ask servers", number, 2) for number in range(3)]
    text = (tmp_path / "catalogue.toml").read_text(encoding="utf-8")
    (tmp_path / "catalogue.toml").write_text(
        "".join(text.replace("wanted", f"a{n}").replace("other", f"b{n}") for n in range(4))
    )
    catalogue = parse_catalogue("test", [tmp_path / "catalogue.toml"])
    findings = check_sources_online(catalogue, folder=tmp_path, patience=QUICK)
    assert {finding.state for finding in findings} == {"ok"}
    assert [finding.source for finding in findings] == list(catalogue.sources)
    assert max(server.most.values()) <= 2
