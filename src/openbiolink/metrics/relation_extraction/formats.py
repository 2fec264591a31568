"""One reader for each format of relation files: documents one after another, each with its place for messages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.files import check_file, iter_lines
from openbiolink.metrics.relation_extraction.checks import check_document
from openbiolink.metrics.relation_extraction.fields import (
    ID_FIELDS,
    Placed,
    Relations,
    Source,
    counted,
    field_of,
    holds_both,
    id_of,
    iter_objects,
    of_kind,
    scored,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

PUBTATOR_TEXT = re.compile(r"([^|\t\[{][^|\t]*)\|([ta])\|(.*)", re.DOTALL)
PUBTATOR_PLACE = re.compile(r"\d{1,15}", re.ASCII)
BRAT_TEXT = re.compile(r"(T[^\t ]*)\t([^\t ]+) (\d{1,15} \d{1,15}(?:;\d{1,15} \d{1,15})*)\t(.*)", re.DOTALL | re.ASCII)
BRAT_RELATION = re.compile(r"R[^\t ]*\t([^\t ]+) ([^\t :]+):([^\t ]+) ([^\t :]+):([^\t ]+)\s*")
BRAT_EVENT = re.compile(r"(E[^\t ]*)\t[^\t :]+:([^\t ]+)(?: [^\t :]+:[^\t ]+)*\s*")
BRAT_CONCEPT = re.compile(r"N[^\t ]*\t[^\t ]+ ([^\t ]+) ([^\t ]+)(\t.*)?")
BRAT_OTHER = {  # kinds of lines that are no relations: shape and example
    "E": (BRAT_EVENT, "E1<tab>Type:T1 Role:T2"),
    "A": (re.compile(r"A[^\t ]*\t[^\t ]+ [^\t ]+( [^\t]+)?\s*"), "A1<tab>Type T1"),
    "M": (re.compile(r"M[^\t ]*\t[^\t ]+ [^\t ]+( [^\t]+)?\s*"), "M1<tab>Type T1"),
    "N": (BRAT_CONCEPT, "N1<tab>Type T1 Source:Id<tab>text"),
    "#": (re.compile(r"#[^\t ]*\t[^\t ]+ [^\t ]+(\t.*)?", re.DOTALL), "#1<tab>Type T1<tab>remark"),
    "*": (re.compile(r"\*\t[^\t ]+( [^\t ]+)+\s*"), "*<tab>Type T1 T2"),
}
BRAT_SHAPES = (
    "a line of BRAT (T1<tab>Type start end<tab>text, R1<tab>Type Arg1:T1 Arg2:T2, or one that begins with E, A, M, N, "
    "# or *)"
)
SPERT_ENTITY = (("start", int), ("end", int), ("type", str))
NO_CONCEPT = ("", "-", "-1")


def _plain(value: object, source: Source, place: str, document: str | int) -> Relations:
    """The relations of a document as they are given, checked."""
    try:
        checked = check_document(value, side=source.side, document=document)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    return [{**one, **scored(one)} if "confidence" in one else one for one in checked]


def read_jsonl(source: Source) -> Iterator[Placed]:
    """A document a line: an object with `relations` and perhaps an id."""
    for number, (place, record) in enumerate(iter_objects(source)):
        name = id_of(record, place)
        relations = field_of(record, "relations", list, place)
        yield Placed(place, name, _plain(relations, source, place, number if name is None else name))


def read_json(source: Source) -> Iterator[Placed]:
    """All documents in one value: a list, or an object by id."""
    content = source.content
    if holds_both(content):
        content = content[source.side]
    return iter_documents(content, source)


def iter_documents(content: Any, source: Source) -> Iterator[Placed]:
    """Documents of a JSON value: a list of them, or an object by id.

    Raises:
        InputError: it is something else, or one of them is no document.
    """
    listed: Iterable[tuple[str | None, str | int, Any]]
    if isinstance(content, dict):
        listed = ((key, key, value) for key, value in content.items())
    else:
        whole = of_kind(content, list, f"{source.path}: {source.side}")
        listed = ((None, number, value) for number, value in enumerate(whole))
    for key, shown, value in listed:
        place = f"{source.path}: {source.side}, document {shown!r}"
        name, relations = key, value
        if isinstance(value, dict) and "relations" in value:
            name, relations = id_of(value, place) if key is None else key, value["relations"]
        yield Placed(place, name, _plain(relations, source, str(source.path), shown if name is None else name))


def read_dygie(source: Source, *, own: bool = False) -> Iterator[Placed]:
    """Documents of DyGIE++ or SciERC; spans are of tokens, their ends counted.

    Args:
        source: the file. In predictions `predicted_relations` and `predicted_ner` are read, or `relations` and `ner` if
            there are none.
        own: refuse predictions without `predicted_relations`.
    """
    names: tuple[str, str | None] | None = None
    counts: Counter[str] = Counter()
    for place, record in iter_objects(source):
        tokens = [*_in_lists(record, "sentences", str, place)]
        names = names or _dygie_names(record, source, place, own=own)
        types = _dygie_types(record, names[1], place)
        counts["several"] += sum(len(labels) > 1 for labels in types.values())
        relations: Relations = []
        for number, entry in enumerate(_in_lists(record, names[0], list, place)):
            at = f"{place}, relation {number}"
            relations.append(_dygie_relation(entry, tokens, types, at))
            if names[1] is not None:
                _count_unlisted(relations[-1], source, counts, at)
        yield Placed(place, id_of(record, place), relations, tuple(tokens))
    _note_entities(source, counts)


def _dygie_names(record: Mapping[str, Any], source: Source, place: str, *, own: bool) -> tuple[str, str | None]:
    """The names of the lists of relations and, if there are any, of entities that count in this file."""
    relations, entities = "relations", "ner"
    if source.side == "predictions" and (own or "predicted_relations" in record):
        relations, entities = "predicted_relations", "predicted_ner" if "predicted_ner" in record else "ner"
    field_of(record, relations, list, place)  # before anything is said of a file that is something else
    if source.side == "predictions" and relations == "relations":
        source.note(f"{source.path}: has no predicted_relations; its relations are taken as the predictions")
    if entities in record:
        return relations, entities
    source.note(f"{source.path}: has no entities ({entities}), so the entity types of all {source.side} are empty")
    return relations, None


def _in_lists(record: Mapping[str, Any], name: str, kind: type, place: str) -> Iterator[Any]:
    """What is in a list of lists, one list for each sentence."""
    for one in field_of(record, name, list, place):
        for entry in of_kind(one, list, f"{place}, field {name!r}"):
            yield of_kind(entry, kind, f"{place}, field {name!r}")


def _dygie_types(record: Mapping[str, Any], name: str | None, place: str) -> dict[tuple[int, int], set[str]]:
    """The types of each entity by first and last token."""
    types = defaultdict[tuple[int, int], set[str]](set)
    for entry in () if name is None else _in_lists(record, name, list, place):
        if len(entry) < 3 or not _kinds(entry, (int, int, str)):
            raise InputError(f"{place}, field {name!r}: {shortened(entry)} is not [start, end, type]; correct it")
        types[entry[0], entry[1]].add(entry[2])
    return types


def _kinds(entry: Sequence[Any], kinds: Sequence[type]) -> bool:
    return all(type(value) is kind for value, kind in zip(entry, kinds, strict=False))


def _dygie_relation(
    entry: Sequence[Any], tokens: Sequence[str], types: Mapping[tuple[int, int], set[str]], place: str
) -> dict[str, Any]:
    numbers = all(type(value) in {int, float} for value in entry[5:])
    if not 5 <= len(entry) <= 7 or not numbers or not _kinds(entry, (int, int, int, int, str)):
        raise InputError(
            f"{place}: {shortened(entry)} is not [start, end, start, end, type], perhaps with scores; correct it"
        )
    found: dict[str, Any] = {"type": entry[4]} | ({"score": entry[-1]} if len(entry) > 5 else {})
    for end, (first, last) in (("head", entry[:2]), ("tail", entry[2:4])):
        found |= _token_end(end, tokens, (first, last + 1), place)
        found[f"{end}_type"] = "|".join(sorted(types.get((first, last), ())))
    return found


def _token_end(end: str, tokens: Sequence[str], span: tuple[int, int], place: str) -> dict[str, Any]:
    """Text and span of a head or tail."""
    start, stop = span
    if not 0 <= start < stop <= len(tokens):
        raise InputError(
            f"{place}: the {end} is of tokens {start} up to {stop} (excluded), but of those there are {len(tokens)}; "
            "correct it"
        )
    return {end: " ".join(tokens[start:stop]), f"{end}_span": [start, stop]}


def _count_unlisted(relation: Mapping[str, Any], source: Source, counts: Counter[str], place: str) -> None:
    """Count ends that no entity describes; in references they are refused."""
    for end in ("head", "tail"):
        if not relation[f"{end}_type"]:
            if source.side == "references":
                raise InputError(
                    f"{place}: the {end} {relation[end]!r} is none of the document's entities; "
                    "list it there, or leave the relation out"
                )
            counts["unlisted"] += 1


def _note_entities(source: Source, counts: Counter[str]) -> None:
    if counts["unlisted"]:
        source.note(
            f"{source.path}: {counted(counts['unlisted'], 'head or tail', 'heads and tails')} of predictions not among "
            "the file's entities, kept with an empty type, which no reference has"
        )
    if counts["several"]:
        source.note(
            f"{source.path}: {counted(counts['several'], 'entity', 'entities')} of several types, which are joined, as "
            "in Method|Task"
        )


def read_spert(source: Source) -> Iterator[Placed]:
    """Sentences of SpERT; spans are of tokens."""
    for number, record in enumerate(of_kind(source.content, list, str(source.path))):
        place = f"{source.path}, document {number}"
        of_kind(record, dict, place)
        tokens = field_of(record, "tokens", list, place)
        for token in tokens:
            of_kind(token, str, f"{place}, field 'tokens'")
        entities = []
        for which, entity in enumerate(field_of(record, "entities", list, place)):
            at = f"{place}, entity {which}"
            of_kind(entity, dict, at)
            entities.append([field_of(entity, name, kind, at) for name, kind in SPERT_ENTITY])
        relations: Relations = []
        for which, relation in enumerate(field_of(record, "relations", list, place)):
            at = f"{place}, relation {which}"
            of_kind(relation, dict, at)
            found = {"type": field_of(relation, "type", str, at)} | scored(relation)
            for end in ("head", "tail"):
                start, stop, kind = _numbered(entities, field_of(relation, end, int, at), f"{at}, field {end!r}")
                found |= _token_end(end, tokens, (start, stop), at) | {f"{end}_type": kind}
            relations.append(found)
        yield Placed(place, id_of(record, place, ("orig_id", *ID_FIELDS)), relations, tuple(tokens))


def _numbered(entities: Sequence[Any], number: int, place: str) -> Any:
    """The entity of a number."""
    if not 0 <= number < len(entities):
        there = counted(len(entities), "entity", "entities")
        raise InputError(f"{place}: is {number}, but the document has {there}, from 0; correct it")
    return entities[number]


def read_docred(source: Source) -> Iterator[Placed]:
    """Documents of DocRED; an entity is its number in the document, its text and type those of its first mention.

    Predictions are a list of relations, which is empty where nothing was found: then every document has none.
    """
    records = of_kind(source.content, list, str(source.path))
    found_none = not records and source.side == "predictions" and source.entities is not None
    if not found_none and (not records or "vertexSet" in of_kind(records[0], dict, f"{source.path}, document 0")):
        yield from _docred_gold(source, records)
        return
    if source.entities is None:
        raise InputError(
            f"{source.path}: predictions of DocRED have no entities; give the references that they are for as well"
        )
    gold = Source(path=source.entities, side="references", entities=None, note=source.note)
    vertices = {}
    for number, record in enumerate(of_kind(gold.content, list, str(gold.path))):
        place = f"{gold.path}, document {number}"
        vertices[field_of(of_kind(record, dict, place), "title", str, place)] = _docred_entities(record, place)
    found: dict[str, Relations] = {title: [] for title in vertices}
    for number, record in enumerate(records):
        place = f"{source.path}, relation {number}"
        title = field_of(of_kind(record, dict, place), "title", str, place)
        if title not in found:
            raise InputError(f"{place}: document {title!r} is not in {gold.path}; leave it out, or give its references")
        found[title].append(_docred_relation(record, ("h_idx", "t_idx"), vertices[title], place))
    for title, relations in found.items():
        yield Placed(f"{source.path}, document {title!r}", title, relations)


def _docred_gold(source: Source, records: Iterable[Any]) -> Iterator[Placed]:
    for number, record in enumerate(records):
        place = f"{source.path}, document {number}"
        title = field_of(of_kind(record, dict, place), "title", str, place)
        entities = _docred_entities(record, place)
        relations: Relations = []
        for which, label in enumerate(field_of(record, "labels", list, place)):
            at = f"{place}, relation {which}"
            relations.append(_docred_relation(of_kind(label, dict, at), ("h", "t"), entities, at))
        yield Placed(place, title, relations)


def _docred_entities(record: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """What relations say of each entity: text, type, id, all names and, where there are sentences, its first span."""
    sentences = field_of(record, "sents", list, place) if "sents" in record else []
    starts = [0, *accumulate(len(of_kind(one, list, f"{place}, field 'sents'")) for one in sentences)]
    found = []
    for number, mentions in enumerate(field_of(record, "vertexSet", list, place)):
        at = f"{place}, entity {number}"
        if not of_kind(mentions, list, at):
            raise InputError(f"{at}: has no mention; correct it")
        names = [field_of(of_kind(one, dict, at), "name", str, at) for one in mentions]
        entity = {"": names[0], "_type": field_of(mentions[0], "type", str, at), "_id": str(number), "_names": names}
        pos, sentence = mentions[0].get("pos"), mentions[0].get("sent_id")
        spans = type(sentence) is int and 0 <= sentence < len(sentences)
        if spans and isinstance(pos, list) and len(pos) == 2 and _kinds(pos, (int, int)):
            entity["_span"] = [starts[sentence] + pos[0], starts[sentence] + pos[1]]
        found.append(entity)
    return found


def _docred_relation(
    record: Mapping[str, Any], ends: tuple[str, str], entities: Sequence[Mapping[str, Any]], place: str
) -> dict[str, Any]:
    found = {"type": field_of(record, "r", str, place)} | scored(record)
    for end, name in (("head", ends[0]), ("tail", ends[1])):
        entity = _numbered(entities, field_of(record, name, int, place), f"{place}, field {name!r}")
        found |= {f"{end}{what}": value for what, value in entity.items()}
    return found


def read_brat(source: Source) -> Iterator[Placed]:
    """Documents of BRAT, an `.ann` file each; a concept id is that of the normalisation of an entity."""
    path, counts = source.path, Counter[str]()
    if path.is_dir():
        files = sorted(path.rglob("*.ann"), key=lambda one: one.relative_to(path).as_posix())
        if not files:
            raise InputError(f"{path}: is a folder without .ann files; give the one that has them")
        bare = sum(not one.with_suffix(".ann").is_file() for one in path.rglob("*.txt"))
        if bare:
            source.note(f"{path}: {counted(bare, '.txt file')} without an .ann file beside, so no document of these")
        names: list[str | None] = [one.relative_to(path).with_suffix("").as_posix() for one in files]
    else:
        check_file(path)
        files, names = [path], [None]
    for name, file in zip(names, files, strict=True):
        relations, text = _read_ann(file, source, counts)
        yield Placed(str(file), name, relations, text)
    if counts["other"]:
        source.note(
            f"{path}: {counted(counts['other'], 'line')} of something else than relations of two (events, attributes, "
            "equivalences, remarks), not read"
        )
    if counts["unlike"]:
        number = counted(counts["unlike"], "entity", "entities")
        source.note(f"{path}: {number} with another text than the .txt file, that of .ann taken")
    if counts["pieces"]:
        source.note(
            f"{path}: {counted(counts['pieces'], 'entity', 'entities')} in several pieces, each with a span from its "
            "first character to its last"
        )


def _read_ann(path: Path, source: Source, counts: Counter[str]) -> tuple[Relations, str | None]:
    """The relations of an `.ann` file, and the text of the `.txt` file beside it, if there is one."""
    beside = path.with_suffix(".txt")
    there = path.suffix == ".ann" and beside.is_file()
    text = "".join(iter_lines(beside, source.note, ends=True)) if there else None
    entities: dict[str, dict[str, Any]] = {}
    triggers: dict[str, str] = {}
    concepts = defaultdict[str, set[str]](set)
    waiting: list[tuple[str, re.Match[str]]] = []
    for number, line in enumerate(iter_lines(path, source.note), 1):
        place = f"{path}, line {number}"
        if line.startswith("T"):
            _add_entity(line, entities, text, counts, place)
        elif line.startswith("R"):
            waiting.append((place, _matched(BRAT_RELATION, "R1<tab>Type Arg1:T1 Arg2:T2", line, place)))
        elif line.strip():
            if line[0] not in BRAT_OTHER:
                raise InputError(f"{place}: {shortened(line)} is not {BRAT_SHAPES}; correct it")
            found = _matched(*BRAT_OTHER[line[0]], line, place)
            if line[0] == "N":
                concepts[found[1]].add(found[2])
                continue
            counts["other"] += 1
            if line[0] == "E":
                triggers[found[1]] = found[2]
    return [_brat_relation(found, entities, triggers, concepts, place) for place, found in waiting], text


def _matched(pattern: re.Pattern[str], shape: str, line: str, place: str) -> re.Match[str]:
    found = pattern.fullmatch(line)
    if found is None:
        raise InputError(f"{place}: {shortened(line)} is not {shape}; correct it")
    return found


def _add_entity(
    line: str, entities: dict[str, dict[str, Any]], text: str | None, counts: Counter[str], place: str
) -> None:
    name, kind, spans, words = _matched(BRAT_TEXT, "T1<tab>Type start end<tab>text", line, place).groups()
    ends = [tuple(map(int, one.split())) for one in spans.split(";")]
    if name in entities or any(start >= end for start, end in ends):
        fault = "comes again" if name in entities else "has no character"
        raise InputError(f"{place}: {name} {fault}; correct it")
    if text is not None and " ".join(text[start:end] for start, end in ends).split() != words.split():
        counts["unlike"] += 1
    counts["pieces"] += len(ends) > 1
    entities[name] = {"": words, "_type": kind, "_span": [min(ends)[0], max(end for _, end in ends)]}


def _brat_relation(
    found: re.Match[str],
    entities: Mapping[str, Mapping[str, Any]],
    triggers: Mapping[str, str],
    concepts: Mapping[str, set[str]],
    place: str,
) -> dict[str, Any]:
    """The relation of a line: head is Arg1 or, under other names, the first of the two."""
    kind, role, head, other, tail = found.groups()
    if (role, other) == ("Arg2", "Arg1"):
        head, tail = tail, head
    relation: dict[str, Any] = {"type": kind}
    for end, name in (("head", head), ("tail", tail)):
        entity = triggers.get(name, name)
        if entity not in entities:
            raise InputError(f"{place}: there is no {name} in the file; add it, or leave the relation out")
        relation |= {f"{end}{what}": value for what, value in entities[entity].items()}
        if entity in concepts:
            relation[f"{end}_id"] = "|".join(sorted(concepts[entity]))
    return relation


def read_pubtator(source: Source) -> Iterator[Placed]:
    """Documents of PubTator; text and type of a concept are those of its first mention; novelty is not looked at."""
    counts: Counter[str] = Counter()
    block: list[tuple[int, str]] = []
    for number, line in enumerate(chain(iter_lines(source.path, source.note), [""]), 1):
        text = PUBTATOR_TEXT.fullmatch(line)
        begins = text is not None and text[2] == "t"
        if block and (begins or not line.strip()):
            yield _pubtator_document(block, source, counts)
            block = []
        if line.strip():
            block.append((number, line))
    _note_entities(source, counts)
    if counts["unlike"]:
        source.note(
            f"{source.path}: {counted(counts['unlike'], 'mention')} with another text than title and abstract have at "
            "the place, that of the mention taken"
        )


def _pubtator_document(block: Sequence[tuple[int, str]], source: Source, counts: Counter[str]) -> Placed:
    place = f"{source.path}, line {block[0][0]}"
    name = _matched(PUBTATOR_TEXT, "id|t|title, with which a document begins", block[0][1], place)[1]
    parts = [part[3] for _, line in block if (part := PUBTATOR_TEXT.fullmatch(line))]
    whole = " ".join(parts)  # places are counted with one character between title and abstract
    mentions: dict[str, dict[str, Any]] = {}
    waiting: list[tuple[str, list[str]]] = []
    for number, line in block:
        at = f"{source.path}, line {number}"
        cells = line.split("\t")
        text = PUBTATOR_TEXT.fullmatch(line)
        if not text and len(cells) < 4:
            raise _no_pubtator(at)
        if (text[1] if text else cells[0]) != name:
            raise InputError(f"{at}: is of another document than {name!r}; put a blank line between documents")
        if text:
            continue
        if len(cells) >= 5 and PUBTATOR_PLACE.fullmatch(cells[1]) and PUBTATOR_PLACE.fullmatch(cells[2]):
            _add_mention(cells, mentions, at)
            counts["unlike"] += whole[int(cells[1]) : int(cells[2])] != cells[3]
        elif len(cells) in {4, 5, 6} and not cells[1].isdecimal() and all(cells[1:4]):
            waiting.append((at, cells))
        else:
            raise _no_pubtator(at)
    relations: Relations = []
    for at, cells in waiting:
        relation: dict[str, Any] = {"type": cells[1]}
        for end, concept in (("head", cells[2]), ("tail", cells[3])):
            found = mentions.get(concept, {"": concept, "_type": ""})
            relation |= {f"{end}{what}": value for what, value in found.items() if what != "whole"}
            relation[f"{end}_id"] = concept
        _count_unlisted(relation, source, counts, at)
        relations.append(relation)
    return Placed(place, name, relations)


def _no_pubtator(place: str) -> InputError:
    return InputError(
        f"{place}: is no mention (id, start, end, text, type, concept) and no relation (id, type, concept, concept), "
        "with tabs between; correct it"
    )


def _add_mention(cells: Sequence[str], mentions: dict[str, dict[str, Any]], place: str) -> None:
    """Note the mention for its concepts; the first one of a concept stays, and one of it alone goes before others."""
    start, end = int(cells[1]), int(cells[2])
    if start >= end or not cells[4]:
        raise InputError(f"{place}: the mention has no {'type' if start < end else 'character'}; correct it")
    given = cells[5] if len(cells) > 5 else ""
    for concept in {given, *re.split(r"[,;|]", given)}.difference(NO_CONCEPT):
        one = {"": cells[3], "_type": cells[4], "_span": [start, end], "whole": concept == given}
        known = mentions.get(concept)
        if known is None or (not one["whole"], start) < (not known["whole"], known["_span"][0]):
            mentions[concept] = one
