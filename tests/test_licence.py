"""The terms of a graph are those of its sources together: never freer than the strictest, and nobody is left out."""

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.graph.licence import effective_licence, licence_text, unknown_terms_text
from openbiolink.sources.declarations import Catalogue, Licence
from source_files import edition

# Short name → reuse, whether the source must be named, whether the whole must have the same terms.
TERMS = {
    "CC0": ("CC0-1.0", "open", False, False),
    "BY": ("CC-BY-4.0", "open", True, False),
    "EITHER": ("MIT OR Apache-2.0", "open", True, False),
    "SA": ("CC-BY-SA-4.0", "share-alike", True, True),
    "SA 3": ("CC-BY-SA-3.0", "share-alike", True, True),
    "NC-SA": ("CC-BY-NC-SA-4.0", "non-commercial", True, True),
    "NC": ("CC-BY-NC-4.0", "non-commercial", True, False),
    "ODBL": ("ODbL-1.0", "share-alike", True, True),
    "SHUT": ("LicenseRef-shut", "closed", True, False),
}
ORDER = ["open", "share-alike", "non-commercial", "closed"]


@cache
def made_up():
    """A catalogue with one source for each kind of terms, named after them."""
    pattern = next(iter(edition().sources.values()))
    sources = {
        f"of {short}": pattern.model_copy(
            update={
                "licence": short,
                "title": f"Title of {short}",
                "homepage": f"https://{short}.example",
                "version": "7",
            }
        )
        for short in TERMS
    }
    licences = {
        short: Licence(
            title=f"Terms {short}",
            url=f"https://example.org/{spdx.replace(chr(32), chr(95))}",
            spdx=spdx,
            reuse=reuse,
            attribution=named,
        )
        for short, (spdx, reuse, named, _) in TERMS.items()
    }
    return edition().model_copy(update={"sources": sources, "licences": licences})


CHOSEN = st.lists(st.sampled_from(sorted(TERMS)), min_size=1, unique=True)


def terms_of(shorts, **known):
    return effective_licence(made_up(), [f"of {short}" for short in shorts], **known)


@settings(deadline=None)
@given(shorts=CHOSEN)
def test_the_whole_is_as_strict_as_its_strictest_part(shorts):
    found = terms_of(shorts)
    kinds = {TERMS[short][1] for short in shorts}
    assert found["reuse"] == max(kinds, key=ORDER.index)
    assert found["commercial"] == (not kinds & {"non-commercial", "closed"})
    assert found["redistribution"] == ("closed" not in kinds)
    assert found["share_alike"] == any(TERMS[short][3] for short in shorts)
    assert found["attribution"] == sorted(f"of {short}" for short in shorts if TERMS[short][2])
    parts = {f"({TERMS[short][0]})" if " OR " in TERMS[short][0] else TERMS[short][0] for short in shorts}
    assert set(found["spdx"].split(" AND ")) == parts
    assert found["terms"].keys() == set(shorts)
    assert found["sources"].keys() == {f"of {short}" for short in shorts}


@settings(deadline=None)
@given(shorts=CHOSEN, more=st.sampled_from(sorted(TERMS)))
def test_a_further_source_never_frees_the_whole(shorts, more):
    before, after = terms_of(shorts), terms_of([*shorts, more])
    assert ORDER.index(before["reuse"]) <= ORDER.index(after["reuse"])
    assert before["share_alike"] <= after["share_alike"]
    assert {tuple(one["licences"]) for one in before["conflicts"]} <= {
        tuple(one["licences"]) for one in after["conflicts"]
    }


@settings(deadline=None)
@given(shorts=CHOSEN, shuffler=st.randoms(use_true_random=False))
def test_order_and_repeats_change_nothing(shorts, shuffler):
    mixed = [*shorts, *shorts]
    shuffler.shuffle(mixed)
    assert json.dumps(terms_of(mixed)) == json.dumps(terms_of(shorts))
    assert licence_text(terms_of(mixed)) == licence_text(terms_of(shorts))


@pytest.mark.parametrize(
    ("shorts", "conflict"),
    [
        (["SA", "NC-SA"], True),
        (["SA", "NC"], True),
        (["SA", "SHUT"], True),
        (["NC-SA", "NC"], True),
        (["SA", "ODBL"], True),
        (["SA", "SA 3"], False),
        (["SA", "BY"], False),
        (["NC-SA", "CC0"], False),
        (["NC", "SHUT"], False),
        (["BY", "CC0", "EITHER"], False),
    ],
)
def test_terms_that_cannot_be_met_together_are_named(shorts, conflict):
    found = terms_of(shorts)
    assert [one["licences"] for one in found["conflicts"]] == ([sorted(shorts)] if conflict else [])
    assert ("no one licence" in found["words"]) == conflict
    assert (licence_text(found).count("\nConflict: ") == 1) == conflict


@settings(deadline=None)
@given(shorts=CHOSEN)
def test_the_text_names_every_source_and_all_terms(shorts):
    versions, edges = {f"of {shorts[0]}": "2026-01"}, {f"of {shorts[0]}": 1234567}
    text = licence_text(terms_of(shorts, versions=versions, edges=edges))
    for short in TERMS:
        assert (f": Title of {short}, version" in text) == (short in shorts)
        assert (f"https://{short}.example" in text) == (short in shorts)
        assert (f"\nhttps://example.org/{TERMS[short][0].replace(chr(32), chr(95))}\n" in text) == (short in shorts)
    assert "version 2026-01, 1,234,567 edges" in text
    assert text.count("version unknown (that of the edition: 7)") == len(shorts) - 1
    for part in ("CC0 1.0", "as they are", "fitness"):
        assert part in text
        assert part in unknown_terms_text()
    assert max(len(line) for line in unknown_terms_text().splitlines()) <= 120
    assert "The terms are unknown" in unknown_terms_text()


@pytest.mark.parametrize("name", ["2020"])
def test_the_whole_edition_says_what_its_sources_forbid(name):
    whole: Catalogue = edition()
    found = effective_licence(whole, whole.sources)
    assert (found["reuse"], found["commercial"], found["share_alike"], found["redistribution"]) == (
        "non-commercial", False, True, True
    )  # fmt: skip
    assert ["CC BY-NC-SA 4.0", "CC BY-SA 4.0"] in [one["licences"] for one in found["conflicts"]]
    free = [name for name in whole.sources if name.split(".")[0] in {"go", "uniprot", "bgee", "do", "string"}]
    assert effective_licence(whole, free)["reuse"] == "open"
