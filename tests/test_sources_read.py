"""Each reader gives what its format says, whatever the file's age, and names what it cannot read."""

import csv
import gzip
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.sources.declarations import Source
from openbiolink.sources.layout import SNIFFED_LINES, find_layout
from openbiolink.sources.obo import find_cycles, parse_name, read_obo
from openbiolink.sources.pgdump import iter_copy_rows
from openbiolink.sources.read import lines_where, load_source, recognise_layout, table_name
from openbiolink.tables import first_lines, open_database
from oracles.graph import Identifiers, read_copy, read_terms
from source_files import edition, gaf_row, ontologies, write, write_gaf, write_id_mapping, write_obo

CATALOGUE = edition()


def nothing(_: str) -> None:
    """A note that nobody reads."""


@pytest.fixture(scope="module")
def connection():
    with open_database() as (connection, _):
        yield connection


def load(connection, name, path, tables, source=None):
    """Rows (as dictionaries) of the wanted columns of each table of a source, its layout, and the notes."""
    notes: list[str] = []
    needed = {table: frozenset(columns) for table, columns in tables.items()}
    loaded = load_source(connection, name, path, source or CATALOGUE.sources[name], needed=needed, note=notes.append)
    rows = {}
    for table in tables:
        cursor = connection.execute(f"SELECT * FROM {table_name(name, table)}")
        columns = [column[0] for column in cursor.description]
        rows[table] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return rows, loaded, notes


def find(path, name, source=None):
    """The layout of a source's file."""
    lines = first_lines(path, nothing, limit=SNIFFED_LINES)
    return find_layout(lines, name=name, source=source or CATALOGUE.sources[name], place=str(path))


def declare(*layouts):
    """A source of delimited text with these layouts."""
    facts = {"title": "Made-up claims", "gives": ["edge"], "homepage": "https://example.org", "licence": "CC0"}
    return Source.model_validate({**facts, "format": "delimited", "files": ["*"], "layout": list(layouts)})


# ------------------------------------------------------------------------------------------- layouts of every age

ANNOTATION = {"disease_id": "OMIM:990001", "qualifier": "NOT", "hpo_id": "HP:9900001", "evidence": "TAS", "aspect": "P"}
PHENOTYPE = {"gene_id": "990001", "hpo_id": "HP:9900001"}
CODE = {"disease_id": "C9900001", "vocabulary": "DO", "code": "9901"}
AGES = [  # source, lines of the file (a semicolon stands for a tab), layout, the row that the file holds
    (
        "hpo.disease_phenotype",
        """#description: x
database_id;disease_name;qualifier;hpo_id;reference;evidence;onset;frequency;sex;modifier;aspect;biocuration
OMIM:990001;x #1;NOT;HP:9900001;x;TAS;;;;;P;x""",
        "hpoa, plain header (from 2021)",
        ANNOTATION,
    ),
    (
        "hpo.disease_phenotype",
        """#a comment
#another
#DatabaseID;DiseaseName;Qualifier;HPO_ID;Reference;Evidence;Onset;Frequency;Sex;Modifier;Aspect;Biocuration
OMIM:990001;#1 x;NOT;HP:9900001;x;TAS;;;;;P;x""",
        "hpoa, header in a comment (to 2021)",
        ANNOTATION,
    ),
    (
        "hpo.disease_phenotype",
        "OMIM;990001;x;NOT;HP:9900001;x;TAS;;;;P;;2020;;",
        "tab, 15 columns",
        ANNOTATION,
    ),
    (
        "hpo.disease_phenotype",
        "OMIM;990001;x;NOT;HP:9900001;x;TAS;;;;P;x;x;x",
        "tab, 14 columns, raw frequency last",
        ANNOTATION,
    ),
    (
        "hpo.disease_phenotype_negated",
        "OMIM;990001;x;NOT;HP:9900001;x;TAS;;;;;P;2020;x",
        "tab, 14 columns, assigned by last",
        ANNOTATION,
    ),
    (
        "hpo.gene_phenotype",
        "ncbi_gene_id;gene_symbol;hpo_id;hpo_name;frequency;disease_id\n990001;x;HP:9900001;x;-;x",
        "plain header (from 2023)",
        PHENOTYPE,
    ),
    (
        "hpo.gene_phenotype",
        "#Format: entrez-gene-id<tab>…\n990001;x;HP:9900001;x;;HP:0040283;;x;OMIM:990001",
        "9 columns (2020 to 2022)",
        PHENOTYPE,
    ),
    ("hpo.gene_phenotype", "#Format: …\n990001;x;HP:9900001;x", "4 columns, id before name", PHENOTYPE),
    ("hpo.gene_phenotype", "#Format: …\n990001;x;x;HP:9900001", "4 columns, name before id (to 2020)", PHENOTYPE),
    (
        "bgee.expression",
        """"Gene ID";"Gene name";"Anatomical entity ID";"Anatomical entity name";Expression;Call quality;Expression rank
ENSG99;"a";UBERON:9900001;"b, c";absent;gold quality;1""",
        "calls",
        {"gene_id": "ENSG99", "anatomy_id": "UBERON:9900001", "expression": "absent", "call_quality": "gold quality"},
    ),
    (
        "bgee.expression",
        """Gene ID;Gene name;Anatomical entity ID;Anatomical entity name;Expression;Call quality;FDR;Expression rank
ENSG99;a;UBERON:9900001;b;present;silver quality;NA;NA""",
        "calls",
        {"gene_id": "ENSG99", "expression": "present", "call_quality": "silver quality"},
    ),
    (
        "ctd.gene_pathway",
        "# x\n" * 27 + "# Fields:\n# GeneSymbol;GeneID;PathwayName;PathwayID\n#\nA;990001;x;REACT:R-HSA-9901",
        "header in a comment",
        {"gene_id": "990001", "pathway_id": "REACT:R-HSA-9901"},
    ),
    ("ctd.gene_pathway", "A;990001;x;KEGG:hsa99001", "4 columns", {"gene_id": "990001", "pathway_id": "KEGG:hsa99001"}),
    ("disgenet.mappings", "diseaseId|name|vocabulary|code|vocabularyName\nC9900001|a;b|DO|9901|x", "mappings", CODE),
    ("disgenet.mappings", "diseaseId;name;vocabulary;code;vocabularyName\nC9900001;a|b;DO;9901;x", "mappings", CODE),
    (
        "disgenet.gene_disease",
        """geneId;geneName;description;diseaseId;diseaseName;score;NofPmids;NofSnps;sources
1;a;b;umls:C99;c;0.9;1;0;x""",
        "curated",
        {"gene_id": "1", "disease_id": "umls:C99", "score": "0.9"},
    ),
    (
        "string.links",
        "protein1;protein2;homology;combined_score\n9606.A;9606.B;0;900",
        "links",
        {"protein1": "9606.A", "protein2": "9606.B", "combined_score": "900"},
    ),
    (
        "string.entrez",
        "# NCBI taxid / entrez / STRING \n9606;1|2;9606.A",
        "taxid entrez string",
        {"entrez": "1|2", "string": "9606.A"},
    ),
    (
        "sider.side_effects",
        "CID100000099;CID000000099;C1;PT;C1;x",
        "6 columns",
        {"stitch_stereo": "CID000000099", "label_cui": "C1"},
    ),
]


@pytest.mark.parametrize("change", [bytes, gzip.compress, lambda raw: b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize(("name", "lines", "layout", "row"), AGES, ids=[f"{age[0]}: {age[2]}" for age in AGES])
def test_a_file_of_any_age_is_read_by_its_columns(connection, tmp_path, name, lines, layout, row, change):
    path = tmp_path / "file"
    path.write_bytes(change(lines.replace(";", "\t").encode() + b"\n"))
    rows, loaded, _ = load(connection, name, path, {"rows": row.keys()})
    assert loaded.layout == layout
    assert rows == {"rows": [row]}
    assert (loaded.size, loaded.path) == (path.stat().st_size, path)


def test_a_zip_of_one_table_is_read(connection, tmp_path):
    path = tmp_path / "calls.tsv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.tsv", "9606\t1\t9606.A\n")
    rows, _, _ = load(connection, "string.entrez", path, {"rows": ["entrez"]})
    assert rows["rows"] == [{"entrez": "1"}]


def test_a_commented_row_is_no_row_even_in_the_middle(connection, tmp_path):
    lines = ["# x", "9606\t1\t9606.A", "#9606\t2\t9606.B", "# x y", "9606\t3\t9606.C"]
    rows, _, notes = load(connection, "string.entrez", write(tmp_path / "f", lines), {"rows": ["entrez", "string"]})
    assert [row["entrez"] for row in rows["rows"]] == ["1", "3"]
    assert notes


# ------------------------------------------------------------------------------------------------- the wrong file

PAGE = "<!DOCTYPE html>\n<html><head><title>Moved</title></head></html>\n"


@pytest.mark.parametrize("name", [name for name, source in CATALOGUE.sources.items() if source.format == "delimited"])
@pytest.mark.parametrize(
    "content", [PAGE, "a\tb\n1\t2\n", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"]
)
def test_the_wrong_file_is_refused_and_the_nearest_layout_named(tmp_path, name, content):
    path = tmp_path / "named.tsv"
    path.write_text(content, encoding="utf-8")
    source = CATALOGUE.sources[name]
    with pytest.raises(InputError) as caught:
        find(path, name)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: fits no known layout of {name} ({source.title}); the nearest, ")
    assert any(repr(layout.name) in message for layout in source.layouts)
    assert "expects" in message
    assert "found" in message


@pytest.mark.parametrize(
    ("name", "lines", "named"),
    [
        (
            "string.links",
            ["protein1 protein2 score", "9606.A 9606.B 900"],
            (
                "the nearest, 'links', expects a column 'combined_score' ('score' may be its new name); "
                "found 3 columns: 'protein1', 'protein2', 'score'; "
            ),
        ),
        (
            "string.links",
            ["protein_1 protein_2 weight", "9606.A 9606.B 900"],
            (
                "expects columns 'protein1' ('protein_1' may be its new name), 'protein2' ('protein_2' may be its new "
                "name), 'combined_score'; found 3 columns"
            ),
        ),
        (
            "string.links",
            ["protein weight combined_score", "9606.A 9606.B 900"],
            "expects columns 'protein1' ('protein' may be its new name), 'protein2'; found 3 columns",
        ),
        ("string.entrez", ["# only", "# comments"], "expects 3 columns without a header (taxid like "),
        ("string.links", ["# no cells"], "expects columns 'protein1', 'protein2', 'combined_score'; found "),
        (
            "hpo.disease_phenotype",
            ["#x", "disease_ids;name;qualifier;hpo_term;ref;evidence;aspect".replace(";", "\t"), "x"],
            "the nearest, 'hpoa, plain header (from 2021)', expects columns 'database_id', ",
        ),
        (
            "hpo.disease_phenotype",
            ["#x", "#DatabaseID DiseaseName Qualifier HPO Evidence Aspect Biocuration".replace(" ", "\t"), "x"],
            (
                "the nearest, 'hpoa, header in a comment (to 2021)', expects a column 'HPO_ID' ('HPO' may be its new "
                "name); found 7 columns: 'DatabaseID', 'DiseaseName', 'Qualifier', 'HPO', 'Evidence', 'Aspect', "
            ),
        ),
        (
            "sider.side_effects",
            ["CID100000099;CID000000099;C1;PT;C1".replace(";", "\t")],
            (
                "the nearest, '6 columns', expects 6 columns without a header (stitch_flat like CID[1m]\\d{8}, "
                "stitch_stereo like CID[0s]\\d{8}); found 5 columns: 'CID100000099', 'CID000000099', 'C1', 'PT', 'C1'; "
            ),
        ),
        (
            "sider.side_effects",
            [*["CID100000099;CID000000099;C1;PT;C1;x".replace(";", "\t")] * 3, "CIDx\tCID000000099\tC1\tPT\tC1\ty"],
            "6 columns without a header, stitch_flat like CID[1m]\\d{8} and not 'CIDx'; found 6 columns: 'CIDx', ",
        ),
    ],
)
def test_a_misfit_is_described_by_what_is_expected_and_what_is_there(tmp_path, name, lines, named):
    path = write(tmp_path / "f", lines)
    with pytest.raises(InputError) as caught:
        find(path, name)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 900


def test_a_column_that_stands_twice_is_not_guessed_at(tmp_path):
    path = write(tmp_path / "f", ["protein1 protein2 combined_score combined_score", "9606.A 9606.B 900 800"])
    with pytest.raises(InputError, match=r"no known layout of string\.links"):
        find(path, "string.links")


@pytest.mark.parametrize("name", list(CATALOGUE.sources))
@pytest.mark.parametrize("raw", [b"", b"\n\n", gzip.compress(b"")], ids=["nothing", "blank lines", "empty gzip"])
def test_an_empty_file_is_refused(connection, tmp_path, name, raw):
    path = tmp_path / "empty"
    path.write_bytes(raw)
    tables = {"obo": ["is_a"], "pgdump": ["identifier"]}.get(CATALOGUE.sources[name].format, ["rows"])
    with pytest.raises(InputError, match="empty") as caught:
        load(connection, name, path, {table: ["go_id"] for table in tables})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", list(CATALOGUE.sources))
@pytest.mark.parametrize("raw", [bytes(range(256)) * 40, b"\x1f\x8b\x08\x00garbage", b"PK\x03\x04garbage"])
def test_a_binary_or_damaged_file_is_refused(connection, tmp_path, name, raw):
    path = tmp_path / "binary"
    path.write_bytes(raw)
    tables = {"obo": ["is_a"], "pgdump": ["identifier"]}.get(CATALOGUE.sources[name].format, ["rows"])
    with pytest.raises(InputError, match="binary") as caught:
        load(connection, name, path, {table: ["go_id"] for table in tables})
    assert "\n" not in str(caught.value)


PAGES = [
    (PAGE, "a web page"),
    (PAGE.replace("Moved", "Just a moment..."), "a web page that keeps robots out"),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git-LFS pointer"),
]


@pytest.mark.parametrize("name", list(CATALOGUE.sources))
@pytest.mark.parametrize(("content", "words"), PAGES, ids=["page", "CAPTCHA", "pointer"])
@pytest.mark.parametrize(
    "change", [bytes, gzip.compress, b"\xef\xbb\xbf".__add__, lambda raw: b"\xff".join([raw, raw])]
)
def test_what_stands_in_the_place_of_a_file_is_named(connection, tmp_path, name, content, words, change):
    path = tmp_path / "file.gz"
    path.write_bytes(change(content.encode()))
    source = CATALOGUE.sources[name]
    tables = {"obo": ["is_a"], "pgdump": ["identifier"]}.get(source.format, ["rows"])
    with pytest.raises(InputError) as caught:
        load(connection, name, path, {table: ["go_id"] for table in tables})
    assert str(caught.value).startswith(f"{path}: is {words}")
    assert f", not {source.title}; fetch the file again" in str(caught.value)


# ------------------------------------------------------------------------------------- quoted cells, headers below

GENCC = declare(
    {
        "name": "submissions",
        "quoted": True,
        "named": {"gene": "gene_curie", "disease": "disease_curie", "notes": "submitted_as_notes"},
        "patterns": {"gene": r"HGNC:\d+"},
    }
)
NOTES = ['said "x",\twith tabs\nand\r\nlines', "", '"', "  between blanks ", "#1", 'ends with "quotes"']


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@pytest.mark.parametrize("separator", ["\t", ","])
def test_quoted_cells_are_read_whole(connection, tmp_path, quoting, separator):
    source = declare({**GENCC.layouts[0].model_dump(), "separator": [separator]})
    rows = [["id", "gene_curie", "submitted_as_notes", "disease_curie"]]
    rows += [[f"a\n{number}", f"HGNC:{number}", notes, "MONDO:0000001"] for number, notes in enumerate(NOTES)]
    with (tmp_path / "f").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=separator, quoting=quoting).writerows(rows)
    found, loaded, notes = load(connection, "gencc", tmp_path / "f", {"rows": ["gene", "notes"]}, source)
    assert [row["notes"] for row in found["rows"]] == [text.strip(" ") for text in NOTES]
    assert [row["gene"] for row in found["rows"]] == [f"HGNC:{number}" for number in range(len(NOTES))]
    assert notes == []
    assert loaded.found.header == tuple(rows[0])
    places = lines_where(tmp_path / "f", loaded.found, "notes", fails=lambda cell: cell in {"", '"'}, limit=5)
    assert places == [6, 8]  # the header, a row of four lines, then rows of two


def test_an_open_quote_is_named_where_its_row_begins(connection, tmp_path):
    lines = [
        '"gene_curie"\t"disease_curie"\t"submitted_as_notes"',
        '"HGNC:1"\t"MONDO:1"\t"a',
        'b"',
        '"HGNC:2"\t"x\t"y"',
    ]
    with pytest.raises(InputError, match=r"f, line 4: quotation marks"):
        load(connection, "gencc", write(tmp_path / "f", lines), {"rows": ["gene"]}, GENCC)
    with pytest.raises(InputError, match=r"f, line 4 \(2 cells\): expected 3 cells separated by tabs"):
        load(connection, "gencc", write(tmp_path / "f", [*lines[:3], '"HGNC:2"\t"x"']), {"rows": ["gene"]}, GENCC)


def test_a_first_block_may_end_within_quotes(tmp_path):
    lines = ["gene_curie\tdisease_curie\tsubmitted_as_notes", "HGNC:1\tMONDO:1\tx", 'HGNC:2\tMONDO:2\t"cut']
    assert find(write(tmp_path / "f", lines), "gencc", GENCC).skip == 1
    lines[0] = lines[0].replace("notes", '"notes')
    with pytest.raises(
        InputError, match=r"'submissions', expects a column 'submitted_as_notes' \('submitted_as_\"notes'"
    ):
        find(write(tmp_path / "f", lines), "gencc", GENCC)


CLINGEN = declare(
    {
        "name": "validity",
        "quoted": True,
        "separator": [","],
        "comment": "+++",
        "header": "below",
        "named": {"gene": "GENE ID (HGNC)", "disease": "DISEASE ID (MONDO)", "grade": "CLASSIFICATION"},
    }
)
RULE, BANNER = ["+++++", "++++++++", "+++++++", "++++++"], ["CLINGEN GENE VALIDITY", "", "", ""]
HEADER = ["GENE SYMBOL", "GENE ID (HGNC)", "DISEASE ID (MONDO)", "CLASSIFICATION"]


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@pytest.mark.parametrize(
    "banner", [[], [BANNER], [BANNER, ['FILE "X", CREATED:\n2026', "", "", ""], RULE], [["one cell"], []]]
)
def test_a_header_below_a_banner_is_found(connection, tmp_path, quoting, banner):
    rows = [
        *banner,
        HEADER,
        RULE,
        ["A", "HGNC:5", "MONDO:0000001", "Definitive"],
        ["B", "HGNC:6", "MONDO:0000002", "Disputed"],
    ]
    with (tmp_path / "f").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=quoting).writerows(rows)
    found, loaded, notes = load(connection, "clingen", tmp_path / "f", {"rows": ["gene", "grade"]}, CLINGEN)
    assert found["rows"] == [{"gene": "HGNC:5", "grade": "Definitive"}, {"gene": "HGNC:6", "grade": "Disputed"}]
    assert loaded.layout == "validity"
    above = sum(1 + sum(cell.count("\n") for cell in row) for row in banner)
    expected = [f"{above} lines above the header were skipped"] if above else []
    expected += ["1 lines that begin with '+++' were skipped as comments"]
    assert notes == [f"{tmp_path / 'f'}: {note}" for note in expected]


def test_a_header_is_looked_for_in_fifty_lines(tmp_path):
    source = declare({"name": "below", "header": "below", "named": {"a": "a", "b": "b"}})
    assert find(write(tmp_path / "f", [*["x"] * 49, "b\ta", "1\t2"]), "x", source).skip == 50
    with pytest.raises(InputError, match=r"'below', expects columns 'a', 'b'; found 1 column: 'x'"):
        find(write(tmp_path / "f", [*["x"] * 50, "b\ta", "1\t2"]), "x", source)
    with pytest.raises(
        InputError, match=r"expects a column 'a' \('A_x' may be its new name\); found 2 columns: 'b', 'A_x'"
    ):
        find(write(tmp_path / "f", [*["x"] * 20, "b\tA_x", "1\t2"]), "x", source)
    found = find(write(tmp_path / "f", ["a\tb", "b\ta", "1\t2"]), "x", source)
    assert (found.skip, found.columns) == (1, ("a", "b"))


def test_cells_below_a_header_keep_to_their_patterns(tmp_path):
    source = declare({"name": "new", "named": {"gene": "Gene", "term": "Term"}, "patterns": {"term": r"HP:\d+"}})
    lines = ["Gene\tTerm", "1\t HP:1"]
    assert find(write(tmp_path / "f", [*lines, lines[0], '2\t"HP:2"', "ragged"]), "x", source).columns == (
        "gene",
        "term",
    )
    with pytest.raises(
        InputError, match=r"'new', expects text like HP:\\d\+ in column 'Term', not 'tall'; found 2 columns: 'Gene',"
    ):
        find(write(tmp_path / "f", [*lines, "1\ttall"]), "x", source)


def test_an_empty_last_column_is_a_column(connection, tmp_path):
    path = write(tmp_path / "f", ["chemical\tprotein\tcombined_score\t", "CIDs1\t9606.A\t900\t"])
    rows, _, _ = load(connection, "stitch.links", path, {"rows": ["chemical", "combined_score"]})
    assert rows["rows"] == [{"chemical": "CIDs1", "combined_score": "900"}]


REPEATED = [  # a layout, and the header as it stands in the file
    ({}, "Gene\tScore\tNote"),
    ({"comment": "#"}, "Gene\tScore\tNote"),
    ({"comment": "#", "header": "comment"}, "#Gene\tScore\tNote"),
    ({"quoted": True}, '"Gene"\t"Score"\t"Note\n"'),
    ({"header": "below"}, "Gene\tScore\tNote"),
    ({"separator": [","]}, '"Gene","Score","Note"'),
]


@pytest.mark.parametrize("keep", [["gene", "score"], ["score"]])
@pytest.mark.parametrize(("layout", "header"), REPEATED)
def test_a_header_in_the_middle_is_no_row(connection, tmp_path, layout, header, keep):
    source = declare({"name": "x", "named": {"gene": "Gene", "score": "Score"}} | layout)
    rows = [line.replace("\t", source.layouts[0].separator[0]) for line in ("1\t5\tx", "2\tbad\ty", "3\t7\tScore")]
    mark = "" if "comment" in layout.get("header", "") or layout.get("quoted") else "\ufeff"
    path = write(tmp_path / "f", [header, rows[0], header, f"{mark}{header}", *rows[1:]])
    found, loaded, notes = load(connection, "x", path, {"rows": keep}, source)
    assert [row["score"] for row in found["rows"]] == ["5", "bad", "7"]
    assert [note.split(": ")[1][:26] for note in notes] == (
        ["2 lines that begin with '#'"[:26]]
        if "comment" in layout.get("header", "")
        else ["the header stands 2 more t"]
    )
    height = header.count("\n") + 1
    assert lines_where(path, loaded.found, "score", fails=lambda cell: not cell.isdigit(), limit=3) == [2 + 3 * height]


# -------------------------------------------------------------------------------------------------- first lines only

BEGINNINGS = [
    ("go.annotations", ["!gaf-version: 2.2", "!x", gaf_row("A", "GO:9900001")], "gaf 2.2"),
    ("go.ontology", ["format-version: 1.2"], "obo 1.2"),
    ("drugcentral.dump", ["--", "-- PostgreSQL database dump", "--"], "plain-text dump"),
    ("ctd.gene_pathway", ["# x", "A\t1\tx\tKEGG:hsa1"], "4 columns"),
]


def test_a_layout_is_told_by_first_lines_alone():
    sources = {name: source for name, source in CATALOGUE.sources.items() if source.format == "pgdump"}
    for name, lines, layout in BEGINNINGS:
        source = CATALOGUE.sources[next(iter(sources)) if name == "drugcentral.dump" else name]
        found = recognise_layout(lines, name=name, source=source, place="https://example.org/x")
        assert (found if isinstance(found, str) else found.layout.name) == layout
        for wrong in (["x", "y"], [], [" "]):
            with pytest.raises(InputError, match=r"^https://example\.org/x[:,]") as caught:
                recognise_layout(wrong, name=name, source=source, place="https://example.org/x")
            assert source.title in str(caught.value)


def test_the_first_lines_of_a_source_are_remembered(connection, tmp_path):
    lines = ["#version: 2026-01-01", "ncbi_gene_id\tgene_symbol\thpo_id\thpo_name", *["1\tA\tHP:0000001\tx"] * 300]
    source = declare({**CATALOGUE.sources["hpo.gene_phenotype"].layouts[0].model_dump(), "comment": "#"})
    for end in ("\n", "\r\n"):
        path = write(tmp_path / "f", lines, end=end)
        _, loaded, _ = load(connection, "x", path, {"rows": ["gene_id"]}, source)
        assert loaded.first_lines == tuple(lines[:200])
    path = write_obo(tmp_path / "x.obo", {"GO:9900001": []})
    _, loaded, _ = load(connection, "go.ontology", path, {"is_a": ["id"]})
    assert loaded.first_lines == tuple(path.read_text().splitlines())


# ------------------------------------------------------------------------------------------------------------ GAF


def test_an_annotation_file_is_read_whatever_its_header(connection, tmp_path):
    columns = ["object_id", "qualifier", "go_id", "evidence", "taxon"]
    row = gaf_row("X90001", "GO:9900001", qualifier="NOT|enables", taxon=" taxon:9606 |taxon:562")
    for comments in ([], ["!gaf-version: 2.2"], ["!gaf-version: 2.1", "!", *["! x"] * 60]):
        for cells in (15, 16, 17):
            path = write(tmp_path / "f.gaf", [*comments, "\t".join(row.split("\t")[:cells]), "!a\tcomment\twithin"])
            rows, loaded, _ = load(connection, "go.annotations", path, {"rows": columns})
            assert rows["rows"] == [
                dict(zip(columns, ["X90001", "NOT|enables", "GO:9900001", "IDA", "taxon:9606"], strict=True))
            ]
            assert loaded.layout == ("gaf " + comments[0][-3:] if comments else "gaf")


@pytest.mark.parametrize("cells", [1, 14, 18])
def test_an_annotation_file_of_another_width_is_refused(connection, tmp_path, cells):
    path = write(tmp_path / "f.gaf", ["!x", "\t".join(["x"] * cells)])
    with pytest.raises(InputError, match=rf"f\.gaf, line 2: {cells} cells, expected the 15 to 17"):
        load(connection, "go.annotations", path, {"rows": ["go_id"]})


def test_a_ragged_annotation_is_named(connection, tmp_path):
    path = write_gaf(tmp_path, [gaf_row("A", "GO:9900001"), gaf_row("B", "GO:9900001").rpartition("\t")[0]])
    with pytest.raises(InputError, match=r"goa_human\.gaf, line 4 \(16 cells\)"):
        load(connection, "go.annotations", path, {"rows": ["go_id"]})


# ------------------------------------------------------------------------------------------------------------ OBO

MESSY = """\
format-version: 1.4
idspace: GO http://example.org/GO_
id-mapping: x y
is_a: nothing

[Term]
id: GO:9900001
name: a "quoted { name
namespace: made_up ! x
alt_id: GO:9900090 ! merged
is_anonymous: true
xref: UMLS:C9900001 "a description"
xref: FMA:1 {source="a, b"}

[Typedef]
id: part_of
is_a: overlaps

[Instance]
id: GO:9900077
is_a: GO:9900001

[Term]
id: GO:9900002
is_a: GO:9900001 {is_inferred="true"} ! a
is_a: GO:9900003
relationship: part_of GO:9900001 {x="y"} ! a
relationship: part_of_something GO:9900003
relationship: regulates GO:9900001
intersection_of: part_of GO:9900003

[Term]
id:GO:9900003
is_obsolete: true
replaced_by: GO:9900004
replaced_by: GO:9900001

[Term]
id: GO:9900004
is_obsolete: true ! gone
consider: GO:9900001
alt_id: GO:9900091
"""


def test_tags_are_matched_whole_and_by_stanza(tmp_path):
    path = tmp_path / "x.obo"
    for end in ("\n", "\r\n"):
        path.write_bytes(MESSY.replace("\n", end).encode())
        ontology = read_obo(path, nothing)
        assert ontology.is_a == [("GO:9900002", "GO:9900001", "false"), ("GO:9900002", "GO:9900003", "false")]
        assert ontology.part_of == [("GO:9900002", "GO:9900001", "false")]
        assert ontology.xref == [("GO:9900001", "UMLS:C9900001"), ("GO:9900001", "FMA:1")]
        assert ontology.resolved == {
            "GO:9900001": "GO:9900001", "GO:9900090": "GO:9900001", "GO:9900002": "GO:9900002", "GO:9900003": "",
            "GO:9900004": "", "GO:9900091": "",
        }  # fmt: skip
        assert ontology.name == [("GO:9900001", 'a "quoted { name', "made_up")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("plain", "plain"),
        ("  around  ", "around"),
        ("with ! a comment ! and more", "with"),
        ("wow! such a name", "wow! such a name"),
        (r"kept \! here", "kept ! here"),
        ('qualified {xref="a", note="b \\" ! } c"} ! comment', "qualified"),
        ("qualified {source=PMID:1}", "qualified"),
        ("set {a, b} of letters", "set {a, b} of letters"),
        ("ends in {braces}", "ends in {braces}"),
        (r"2\,3\:4-\{x\=1\} \(R\) \[S\] \"q\" \\ back", r'2,3:4-{x=1} (R) [S] "q" \ back'),
        (r"two\nlines\tand\Wa blank", "two lines and a blank"),
        ("", ""),
        (' {x="y"}', ""),
    ],
)
def test_a_name_is_what_its_tag_says(connection, tmp_path, text, name):
    assert parse_name(text) == name
    stanza = ["is_obsolete: true", f"name: {text}"]
    lines = ["format-version: 1.2", "[Term]", "id: GO:9900001", f"name: {text}", "namespace: x", "[Term]"]
    path = write(tmp_path / "x.obo", [*lines, "id: GO:9900002", *stanza, "[Typedef]", "id: part_of", f"name: {text}"])
    rows, _, _ = load(connection, "go.ontology", path, {"name": ["id", "name", "namespace"]})
    assert rows["name"] == ([{"id": "GO:9900001", "name": name, "namespace": "x"}] if name else [])


@given(terms=ontologies("GO"))
@settings(max_examples=100, deadline=None)
def test_an_ontology_is_what_a_plain_reading_gives(tmp_path_factory, terms):
    path = write_obo(tmp_path_factory.mktemp("obo") / "x.obo", terms)
    ontology = read_obo(path, nothing)
    plain = read_terms(path)
    assert ontology.is_a == [(t.identifier, one, str(t.obsolete).lower()) for t in plain for one in t.is_a]
    assert ontology.part_of == [(t.identifier, one, str(t.obsolete).lower()) for t in plain for one in t.part_of]
    assert ontology.resolved == Identifiers({"x": path}).ontology("x")
    live = {t.identifier for t in plain if not t.obsolete}
    outside = {"GO:9999999"} | {one for t in plain for one in t.replaced_by}
    assert set(ontology.resolved.values()) <= {"", *live, *outside}


edges = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), max_size=12)


@given(edges=edges, limit=st.integers(1, 4))
@settings(max_examples=200)
def test_cycles_are_cycles_and_found_whenever_there_are_any(edges, limit):
    cycles = find_cycles(edges, limit=limit)
    assert len(cycles) <= limit
    for cycle in cycles:
        assert cycle[0] == min(cycle)
        assert len(set(cycle)) == len(cycle)
        assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= set(edges)
    reach = set(edges)
    while more := {(a, d) for a, b in reach for c, d in reach if b == c} - reach:
        reach |= more
    assert bool(cycles) == any(a == b for a, b in reach)
    assert find_cycles(list(reversed(edges)), limit=limit) == cycles


@pytest.mark.parametrize("first", ["ontology: go", "[Term]", "<rdf:RDF>", "\ufeffformat: 1"])
def test_what_does_not_begin_like_an_ontology_is_refused(connection, tmp_path, first):
    path = write(tmp_path / "x.obo", [first, "id: GO:9900001"])
    with pytest.raises(InputError, match=r"x\.obo, line 1: an OBO file begins with 'format-version:'"):
        load(connection, "go.ontology", path, {"is_a": ["id"]})


# ----------------------------------------------------------------------------------------------- PostgreSQL dumps

DUMP = [
    "-- a comment", "SET x = 1;",
    "COPY public.identifier_type (id, type) FROM stdin;", "1\tx", "\\.",
    'COPY public."identifier" ("struct_id", id, id_type, identifier, parent_match) FROM stdin;',
    "9901\t1\tPUBCHEM_CID\t990001\t\\N", "9902\t2\tA\\tB\\\\C\\nD\t\\N\t", "\t\t\t\t", "\\.", "",
    "COPY other.omop_relationship (umls_cui, struct_id, relationship_name) FROM stdin;",
    "C9900001\t9901\tindication", "\\.", "COPY public.more (x) FROM stdin;", "x\ty", "\\.",
]  # fmt: skip
TABLES = {"identifier": ("identifier", "id_type", "struct_id"), "omop_relationship": ("struct_id", "umls_cui")}


def test_copy_blocks_are_read_by_name_in_the_order_asked_for(tmp_path):
    for end in ("\n", "\r\n"):
        path = write(tmp_path / "x.sql", DUMP, end=end)
        assert list(iter_copy_rows(path, TABLES, nothing)) == [
            ("identifier", ("990001", "PUBCHEM_CID", "9901")),
            ("identifier", ("", "A\tB\\C\nD", "9902")),
            ("identifier", ("", "", "")),
            ("omop_relationship", ("9901", "C9900001")),
        ]


def escape(cell: str) -> str:
    table = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
    return "".join(table.get(letter, letter) for letter in cell)


@given(
    rows=st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\\N.\t\n"), max_size=5)] * 3)
    )
)
@settings(max_examples=100, deadline=None)
def test_what_a_dump_escapes_comes_back_as_it_was(tmp_path_factory, rows):
    body = ["\t".join(escape(cell) for cell in row) for row in rows]
    path = write(tmp_path_factory.mktemp("dump") / "x.sql", ["COPY public.t (a, b, c) FROM stdin;", *body, "\\."])
    found = [cells for _, cells in iter_copy_rows(path, {"t": ("a", "b", "c")}, nothing)]
    assert found == rows
    assert [tuple(row) for row in read_copy(path, "t", "a", "b", "c")] == rows


def test_a_dump_may_escape_by_number(tmp_path):
    path = write(tmp_path / "x.sql", ["COPY t (a) FROM stdin;", r"\101\x42\x9\7C\d", r"\\N", "\\."])
    assert [cells for _, cells in iter_copy_rows(path, {"t": ("a",)}, nothing)] == [("AB\t\aCd",), ("\\N",)]


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (DUMP[:7], r"x\.sql: ends inside table identifier"),
        ([*DUMP[:7], "9903\t1\tPUBCHEM_CID", *DUMP[7:]], r"x\.sql, line 8: 3 cells in table identifier, expected 5"),
        (DUMP[:10], r"x\.sql: has no COPY block of table omop_relationship"),
        (
            [line.replace("id_type", "kind") for line in DUMP],
            r"x\.sql, line 6: table identifier has no column 'id_type'",
        ),
        ([], "x.sql"),
    ],
)
def test_a_dump_that_lacks_something_is_refused(tmp_path, lines, named):
    path = write(tmp_path / "x.sql", lines)
    with pytest.raises(InputError, match=named):
        list(iter_copy_rows(path, TABLES, nothing))


# ------------------------------------------------------------------------------------------------ places in files


def test_lines_with_a_wrong_cell_are_found_by_number(tmp_path):
    name = "ctd.gene_pathway"
    lines = [
        "# x",
        "# GeneSymbol\tGeneID\tPathwayName\tPathwayID",
        "A\t1\tx\ty",
        "",
        "A\tbad\tx\ty",
        "# A\tbad\tx\ty",
        "A\tbad\tx\ty",
    ]
    path = write(tmp_path / "f", lines)
    found = find(path, name)
    assert lines_where(path, found, "gene_id", fails=lambda cell: cell == "bad", limit=3) == [5, 7]
    assert lines_where(path, found, "gene_id", fails=lambda cell: cell == "bad", limit=1) == [5]


def test_what_is_read_does_not_depend_on_a_name(connection, tmp_path):
    source = write_id_mapping(tmp_path, {"X90001": "990001; 990002"}, {"X90001": "ENSG99.1; ENSG98"})
    odd = tmp_path / "a folder. with dots, and; signs" / 'it\'s 100% "odd".csv'
    odd.parent.mkdir()
    odd.write_bytes(source.read_bytes())
    rows, loaded, _ = load(connection, "uniprot.id_mapping", odd, {"rows": ["accession", "gene_id", "ensembl"]})
    assert rows["rows"] == [{"accession": "X90001", "gene_id": "990001; 990002", "ensembl": "ENSG99.1; ENSG98"}]
    assert loaded.layout == "22 columns"


# ------------------------------------------------------------------------------------------------------ real files

FIXTURES = {
    "STRING_gene_gene.txt": "string.links", "STRING_gene_gene_actions.tsv": "string.actions",
    "String_mapping_gene_ncbi_string.tsv": "string.entrez", "STITCH_gene_drug.tsv": "stitch.links",
    "STITCH_gene_drug_actions.tsv": "stitch.actions", "BGEE_expr_calls.tsv": "bgee.expression",
    "BGEE_overexpr.tsv": "bgee.differential", "CDT_gene_pathway.tsv": "ctd.gene_pathway",
    "DisGeNet_gene_disease.tsv": "disgenet.gene_disease", "DisGeNet_mapping_disease_umls_do.tab": "disgenet.mappings",
    "HPO_disease_phenotype.tab": "hpo.disease_phenotype",
    "HPO_TN_disease_phenotype.tab": "hpo.disease_phenotype_negated",
    "HPO_gene_phenotype.tsv": "hpo.gene_phenotype", "SIDER_se.tsv": "sider.side_effects",
    "Uniprot_mapping_gene.tab": "uniprot.id_mapping",
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("file", sorted(FIXTURES))
def test_the_layout_of_a_file_of_2020_is_recognised(shared, connection, file):
    path, name = shared / "data" / "openbiolink-fixtures" / file, FIXTURES[file]
    needed = {rule.source: rule.columns() for rule in CATALOGUE.rules.values()}
    columns = needed.get(name, {"string.entrez": {"entrez"}, "disgenet.mappings": {"code"}}.get(name, {"gene_id"}))
    rows, _, _ = load(connection, name, path, {"rows": columns})
    text = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
    header = bool(re.match(r"(protein1|item_id|chemical|Gene ID|geneId|diseaseId)", text[0].strip('"')))
    assert len(rows["rows"]) == len(text) - header


EXCERPTS = {
    "hpo/excerpts/phenotype.2025-05-06.excerpt.hpoa": "hpo.disease_phenotype",
    "hpo/excerpts/phenotype.excerpt.hpoa": "hpo.disease_phenotype",
    "hpo/excerpts/genes_to_phenotype.2025.excerpt.txt": "hpo.gene_phenotype",
    "hpo/excerpts/genes_to_phenotype.old-4-column.excerpt.txt": "hpo.gene_phenotype",
    "disgenet/curated_gene_disease_associations.v3.txt.gz": "disgenet.gene_disease",
    "string/excerpts/9606.protein.links.full.v12.0.txt.gz": "string.links",
    "string/excerpts/10090.protein.links.detailed.txt": "string.links",
    "go/excerpts/goa_human_head.gaf22.gaf": "go.annotations",
    "go/excerpts/goa_human.2020-06-01.gaf21.gaf.gz": "go.annotations",
    "go/excerpts/sars-cov-2.goa.gaf": "go.annotations",
    "do/DO_cancer_slim.2026-07-31.obo.gz": "do.ontology",
    "uberon/efo-slim.obo.gz": "uberon.ontology",
}


@pytest.mark.real
@pytest.mark.parametrize("file", sorted(EXCERPTS))
def test_other_releases_of_a_source_are_read(shared, connection, file):
    path, name = Path(shared / "data" / file), EXCERPTS[file]
    rule = next(rule for rule in CATALOGUE.rules.values() if rule.source == name)
    rows, loaded, _ = load(connection, name, path, {rule.table: rule.columns()})
    assert len(rows[rule.table]) >= 4
    assert all(row[rule.head.column] for row in rows[rule.table])
    assert loaded.layout
