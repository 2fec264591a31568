"""A split without the errors that the audit finds: held-out rows that other rows give away are taken out and listed.

A row *gives away* another one where the audit says so: the reverse edge, a declared super-relation, and, if asked for,
a relation found to be alike or any other relation of the same pair. Rows go in this order, each for the first reason:

1. loops, out of every part;
2. repeats: of each triple one row stays, in the first of training, inference, test and validation that has it;
3. what an edge of training gives away, then what an edge of inference does: of rows of inference only those whose
   reverse training has and, if asked for, that are alike or of the same pair, since the audit counts no others;
4. rows of test and validation with an entity or relation that nothing is left of in training and inference, and, if
   asked for, those that follow from edges there by a transitive relation;
5. between test and validation, as long as there are any, the rows given away by one that nothing gives away; then, of
   rows that give each other away, those of validation.

A row goes for one that stays, in steps 3 and 5 (see `_remove_between`), and none goes because it gives another one
away: a held-out row tells nothing about training that a model has not learnt there. One pass is enough: step 4 depends
on training and inference alone, which stay as step 3 leaves them, and where relations that are alike are asked for, so
is whatever joins the same pair, so that no pair of nodes is in two parts in the end, whatever is alike then.

Training loses nothing but loops and repeats. A negative goes if a positive row of any part, also one that went, is or
implies the same triple.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from openbiolink.audit import audit_files
from openbiolink.audit.context import PARTS, Context, count_rows
from openbiolink.audit.leaks import list_transitive
from openbiolink.audit.read import AuditFiles, read_parts
from openbiolink.audit.relations import compare_relations
from openbiolink.croissant import MANIFEST_FILE
from openbiolink.dataset import ignore
from openbiolink.engines import open_engine
from openbiolink.errors import InputError
from openbiolink.files import refuse_target, write_json
from openbiolink.places import is_remote, written_folder
from openbiolink.progress import silent
from openbiolink.schema import FILE_NAME as SCHEMA_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from openbiolink.audit.finding import Audit
    from openbiolink.engines import Engine
    from openbiolink.files import Note
    from openbiolink.progress import Progress
    from openbiolink.schema import Schema

FORMAT = "openbiolink-cleaned/1"
REMOVED_FILE, AUDIT_FILE = "removed.tsv", "audit.json"
TRAIN, INFERENCE, TEST, VALID = range(4)  # places: the row of the first part stays
PLACE = "CASE part WHEN 'train' THEN 0 WHEN 'inference' THEN 1 WHEN 'test' THEN 2 WHEN 'valid' THEN 3 END"
PART = "CASE place WHEN 0 THEN 'train' WHEN 1 THEN 'inference' WHEN 2 THEN 'test' WHEN 3 THEN 'valid' END"
NAMED = "JOIN node head ON head.id = h JOIN relation ON relation.id = r JOIN node tail ON tail.id = t"
ALIKE = "('inverse_relation', 'near_duplicate_relation', 'contained_relation')"
HELD_OUT_ONLY = "('super_relation', 'contained_relation')"  # kinds that the audit counts in held-out rows alone


def fix_split(
    files: AuditFiles,
    out: Path,
    *,
    schema: Schema,
    schema_file: Path | None = None,
    engine_name: str = "embedded",
    threshold: float = 0.8,
    warnings: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
    note: Note = ignore,
) -> Audit:
    """Write a split without the errors of an audit into a folder, and audit that.

    The folder holds `train.tsv` and so on (head, relation, tail), `train_negatives.tsv` and so on where there are any,
    `removed.tsv` (part, head, relation, tail, 1 or for a negative 0, reason), `audit.json` of what stayed,
    `manifest.json` and a copy of the file that adds to the schema. Every row of the input is in one of them, as often
    as it was there.

    Args:
        files: the split.
        out: the folder to create.
        schema: knows what a relation implies.
        schema_file: what adds to the packaged schema, if anything does.
        engine_name: `embedded` or `spark`.
        threshold: as `openbiolink.audit.audit_files` takes it.
        warnings: whether relations that are alike, other relations of the same pair, and what follows from declared
            hierarchies count as errors here.
        overwrite: whether `out` may be there, if it was written by this function.
        progress: told of the steps.
        note: told what is odd about the input.

    Raises:
        InputError: the input is damaged, no row would be left, or `out` holds input or files of others.
    """
    check_target(files, out, overwrite=overwrite)
    with written_folder(out, owned=_is_own, replace=overwrite) as folder:
        with open_engine(engine_name) as engine:
            progress("clean", 0, 1)
            read_parts(engine, files, schema=schema, note=note)
            _keep_best(engine)
            names = engine.rows("SELECT id, name FROM relation ORDER BY id")
            transitive = tuple(number for number, name in names if schema.relation(name).transitive)
            settings = Context(threshold=threshold, test_rows=0, transitive=transitive)
            if count_rows(engine, "fact"):
                _remove_leaks(engine, settings, warnings=warnings, unseen_by_design=files.unseen_by_design)
            progress("clean", 1, 1)
            cleaned = _write(engine, files, folder)
        if schema_file is not None:
            (folder / SCHEMA_FILE).write_bytes(schema_file.read_bytes())
        audit = audit_files(
            cleaned, schema=schema, engine_name=engine_name, threshold=threshold, progress=progress, note=ignore
        )
        write_json(folder / AUDIT_FILE, audit.to_dict())
    return audit


def _is_own(name: str) -> bool:
    parts = {f"{part}{kind}.tsv" for part in PARTS for kind in ("", "_negatives")}
    return name in parts | {REMOVED_FILE, AUDIT_FILE, MANIFEST_FILE, SCHEMA_FILE}


def check_target(files: AuditFiles, out: Path, *, overwrite: bool) -> None:
    """Refuse a folder that `fix_split` could not write, to be said before long work.

    Raises:
        InputError: it holds input or files of others, is a file, or is there and not to be replaced.
    """
    for _, _, _, path in files.named():
        if is_remote(path) == is_remote(out) and path.resolve().is_relative_to(out.resolve()):
            raise InputError(f"{out}: holds {path.name}, which is to be read; choose another folder")
    refuse_target(out, owned=_is_own, replace=overwrite)


def _keep_best(engine: Engine) -> None:
    """Take out loops and repeats of what `row` holds.

    Makes `given` (part, positive, h, r, t, n): distinct rows and how often they stand there; `best` (h, r, t, x, y,
    place): the positive triples without loops, their smaller and larger end, and the first place that has
    them; `fact`: those of them that stay; and `gone` (h, r, t, reason): those that do not.
    """
    engine.make("given", "SELECT part, positive, h, r, t, count(*) AS n FROM row GROUP BY part, positive, h, r, t")
    engine.make(
        "best",
        f"""SELECT h, r, t, least(h, t) AS x, greatest(h, t) AS y, CAST(min({PLACE}) AS INTEGER) AS place
            FROM given WHERE positive AND h <> t GROUP BY h, r, t""",
    )
    engine.make("fact", "SELECT * FROM best")
    none = ", ".join(f"CAST(0 AS INTEGER) AS {name}" for name in ("h", "r", "t"))
    engine.make("gone", f"SELECT {none}, CAST('' AS STRING) AS reason WHERE 1 = 0")


def _remove_leaks(engine: Engine, settings: Context, *, warnings: bool, unseen_by_design: bool) -> None:
    """Take out of `fact` what the other rows there give away, and what the context lacks."""
    engine.make("link", "SELECT 'reversed' AS kind, id AS special, id AS general, true AS flipped FROM relation")
    engine.append(
        "link", "SELECT 'super_relation' AS kind, special, general, flipped FROM implies WHERE special <> general"
    )
    if warnings:
        _restate(engine)
        compare_relations(engine, settings)
        engine.append("link", f"SELECT kind, special, general, flipped FROM copying WHERE kind IN {ALIKE}")
    _list_clues(engine, any_relation=warnings)
    for place in (TRAIN, INFERENCE):
        _remove_beside(engine, place)
    _remove_unseen(engine, entities=not unseen_by_design)
    if warnings:
        _restate(engine)
        list_transitive(engine, settings.transitive)
        _remove(engine, "SELECT h, r, t, 'transitive' AS reason FROM affected_transitive")
    _list_clues(engine, any_relation=warnings)
    _remove_between(engine)


def _restate(engine: Engine) -> None:
    """Make the tables `known` and `triple` of the audit anew, of what is in `fact`."""
    engine.make("known", "SELECT h, r, t FROM fact")
    engine.make("triple", f"SELECT {PART} AS part, h, r, t, 1 AS n FROM fact")


def _list_clues(engine: Engine, *, any_relation: bool) -> None:
    """Make `spot` and `clue` of `fact` and `link`.

    spot(n, h, r, t, x, y, place): the rows between whose ends rows of two parts stand, numbered.
    clue(n, place, other, other_place, kind): row n, which may go, is given away by row `other` of another part. A row
    of training never may, and one of inference only for one of training, by a kind that the audit counts there.
    """
    engine.make("crossed", "SELECT x, y FROM fact GROUP BY x, y HAVING min(place) < max(place)")
    engine.make(
        "spot",
        """SELECT row_number() OVER (ORDER BY h, r, t) AS n, h, r, t, x, y, place
           FROM fact SEMI JOIN crossed USING (x, y)""",
    )
    engine.make(
        "clue",
        f"""SELECT own.n, own.place, other.n AS other, other.place AS other_place,
                coalesce(min(kind), 'same_pair') AS kind
            FROM spot own JOIN spot other ON own.x = other.x AND own.y = other.y AND own.place <> other.place
                AND (own.place > {INFERENCE} OR own.place > other.place)
            LEFT JOIN link ON special = other.r AND general = own.r AND flipped = (own.h <> other.h)
                AND (own.place > {INFERENCE} OR kind NOT IN {HELD_OUT_ONLY})
            WHERE kind IS NOT NULL {"OR own.r <> other.r" if any_relation else ""}
            GROUP BY own.n, own.place, other.n, other.place""",
    )


def _remove_beside(engine: Engine, place: int) -> None:
    """Take out the rows that one of this place gives away."""
    _remove_spots(engine, f"SELECT n, other, kind FROM clue WHERE other_place = {place}")


def _remove_between(engine: Engine) -> None:
    """Take out rows of test and validation until none gives away one of the other part; each goes for one that stays.

    In each step those go that a row gives away that nothing gives away, for nothing ever takes that one out. Where
    there is no such row, whatever gives a row away is given away itself: the rows go in pairs that give each other
    away, or round in circles. Then all rows of validation that are given away go at once, and with them all that
    gives away a row of test; so those rows of test, for which they go, stay.
    """
    while count_rows(engine, "clue"):
        engine.make(
            "sure", "SELECT n, other, kind FROM clue ANTI JOIN (SELECT n AS other FROM clue) shown USING (other)"
        )
        mutual = f"clue WHERE place = {VALID}"
        _remove_spots(engine, f"SELECT n, other, kind FROM {'sure' if count_rows(engine, 'sure') else mutual}")


def _remove_spots(engine: Engine, hits: str) -> None:
    """Take out the rows that a query (n, other, kind) names, with the kind, part and relation of the other row."""
    engine.make(
        "hit",
        f"""SELECT hit.n, min(kind || ':' || {PART} || ':' || relation.name) AS reason
            FROM ({hits}) hit JOIN spot ON spot.n = other JOIN relation ON relation.id = spot.r GROUP BY hit.n""",
    )
    _remove(engine, "SELECT h, r, t, reason FROM hit JOIN spot ON spot.n = hit.n")
    engine.make(
        "clue",
        """SELECT * FROM clue ANTI JOIN (SELECT n FROM hit) own USING (n)
           ANTI JOIN (SELECT n AS other FROM hit) given USING (other)""",
    )


def _remove_unseen(engine: Engine, *, entities: bool) -> None:
    """Take out the rows of test and validation with a relation, or an entity, that the context lacks."""
    learnt = f"fact WHERE place <= {INFERENCE}"
    engine.make("seen", f"SELECT h AS id FROM {learnt} UNION SELECT t AS id FROM {learnt}")
    ends = [f"WHEN {end}.id IS NULL THEN 'unseen_entity:' || {end}_name" for end in ("start", "finish") if entities]
    _remove(
        engine,
        f"""SELECT h, r, t, reason FROM (
                SELECT held.h, held.r, held.t,
                    CASE {" ".join(ends)} WHEN learnt.id IS NULL THEN 'unseen_relation:' || name END AS reason
                FROM (SELECT h, r, t, head.name AS start_name, tail.name AS finish_name, relation.name AS name
                      FROM fact {NAMED} WHERE place > {INFERENCE}) held
                LEFT JOIN seen start ON start.id = held.h LEFT JOIN seen finish ON finish.id = held.t
                LEFT JOIN (SELECT DISTINCT r AS id FROM {learnt}) learnt ON learnt.id = held.r
            ) named WHERE reason IS NOT NULL""",
    )


def _remove(engine: Engine, hits: str) -> None:
    """Move triples from `fact` to `gone`, by a query (h, r, t, reason)."""
    engine.make("leaving", hits)
    engine.append("gone", "SELECT h, r, t, reason FROM leaving")
    engine.make("fact", "SELECT * FROM fact ANTI JOIN (SELECT h, r, t FROM leaving) leaving USING (h, r, t)")


def _list_rows(engine: Engine) -> None:
    """Make `stays` (part, positive, h, r, t, n) and `goes` (part, positive, h, r, t, n, reason) of what was given."""
    engine.make("stays", f"SELECT {PART} AS part, true AS positive, h, r, t, 1 AS n FROM fact")
    engine.make("goes", "SELECT part, positive, h, r, t, n, 'loop' AS reason FROM given WHERE positive AND h = t")
    engine.append(
        "goes",
        f"""SELECT part, positive, h, r, t, n - kept AS n, reason FROM (
                SELECT given.part, given.positive, given.h, given.r, given.t, given.n, 'duplicate:' || {PART} AS reason,
                    CASE WHEN given.part = {PART} THEN 1 ELSE 0 END AS kept
                FROM given JOIN best ON best.h = given.h AND best.r = given.r AND best.t = given.t WHERE given.positive
            ) repeated WHERE n > kept""",
    )
    engine.append(
        "goes",
        f"""SELECT {PART} AS part, true AS positive, best.h, best.r, best.t, 1 AS n, gone.reason
            FROM gone JOIN best ON best.h = gone.h AND best.r = gone.r AND best.t = gone.t""",
    )
    engine.make("denied", "SELECT part, h, r, t, n FROM given WHERE NOT positive")
    engine.make(
        "contradicted",
        """SELECT DISTINCT denied.h, denied.r, denied.t FROM denied JOIN implies ON general = denied.r
           JOIN given ON given.positive AND given.r = special
               AND given.h = CASE WHEN flipped THEN denied.t ELSE denied.h END
               AND given.t = CASE WHEN flipped THEN denied.h ELSE denied.t END""",
    )
    engine.append(
        "goes",
        """SELECT part, false AS positive, h, r, t, n, 'negative_collision' AS reason
           FROM denied SEMI JOIN contradicted USING (h, r, t)""",
    )
    engine.append(
        "stays",
        "SELECT part, false AS positive, h, r, t, n FROM denied ANTI JOIN contradicted USING (h, r, t)",
    )


def _write(engine: Engine, files: AuditFiles, folder: Path) -> AuditFiles:
    """Write all rows and a manifest into a folder, and return the parts that are there now."""
    if not count_rows(engine, "fact"):
        raise InputError(f"{files.positive['train'][0]}: no row of this split would be left; mend its parts first")
    _list_rows(engine)
    most = engine.rows("SELECT max(n) FROM given")[0][0]
    engine.put("copy", {"number": np.arange(most, dtype=np.int64)})  # a row joined with it stands there n times
    kinds = [(part, positive, rest) for positive, rest in ((True, ""), (False, "_negatives")) for part in PARTS]
    there = set(engine.rows("SELECT DISTINCT part, positive FROM given"))
    there |= {(part, positive) for _, part, positive, _ in files.named()}
    paths = {(part, sign): folder / f"{part}{rest}.tsv" for part, sign, rest in kinds if (part, sign) in there}
    rows = {
        path.name: engine.write(
            f"""SELECT head.name AS head, relation.name AS relation, tail.name AS tail
                FROM stays JOIN copy ON number < n {NAMED}
                WHERE part = '{part}' AND positive = {str(positive).lower()} ORDER BY h, r, t""",
            path,
        )
        for (part, positive), path in paths.items()
    }
    rows[REMOVED_FILE] = engine.write(
        f"""SELECT part, head.name AS head, relation.name AS relation, tail.name AS tail,
                CASE WHEN positive THEN '1' ELSE '0' END AS value, reason
            FROM goes JOIN copy ON number < n {NAMED} ORDER BY part, h, r, t, value, reason""",
        folder / REMOVED_FILE,
    )
    _write_manifest(engine, files, rows, folder / MANIFEST_FILE)
    return AuditFiles(
        positive={part: (path,) for (part, positive), path in paths.items() if positive},
        negative={part: (path,) for (part, positive), path in paths.items() if not positive},
        scheme=files.scheme,
        unseen_by_design=files.unseen_by_design,
        directed=files.directed,
    )


def _write_manifest(engine: Engine, files: AuditFiles, rows: dict[str, int], path: Path) -> None:
    removed = engine.rows("""
        SELECT positive, kind, sum(n) FROM (SELECT positive, split_part(reason, ':', 1) AS kind, n FROM goes) listed
        GROUP BY positive, kind ORDER BY positive, kind
    """)
    by_sign = {
        name: {kind: int(number) for sign, kind, number in removed if sign == positive}
        for name, positive in (("positive", True), ("negative", False))
    }
    document = {
        "format": FORMAT,
        "version": version("openbiolink"),
        "scheme": files.scheme,
        "unseen_by_design": files.unseen_by_design,
        "directed": files.directed,
        "rows": rows,
        "removed": by_sign,
    }
    write_json(path, document)
