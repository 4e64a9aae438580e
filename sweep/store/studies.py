"""Changes of a study as a whole: its creation, its spec, and its end."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, update

from sweep.clock import utc_now
from sweep.errors import TransitionError
from sweep.records import NewStudy, Study
from sweep.store import reads, rows, schema


def create(connection: Connection, new: NewStudy) -> Study:
    """The study of that name: created now, or the one that has the name already."""
    now = utc_now()
    values = {
        "name": new.name,
        "spec": rows.to_json(new.spec),
        "spec_hash": new.spec_hash,
        "space_version": 1,
        "metric": new.metric,
        "direction": new.direction,
        "seed": new.seed,
        "versions": rows.to_json(new.versions),
        "git_commit": new.git_commit,
        "created_at": now,
    }
    is_new = rows.insert_new(connection, schema.studies, values)
    study = reads.study(connection, new.name)
    if is_new:
        _add_space(connection, study.id, 1, new.spec, new.spec_hash)
    return study


def set_spec(
    connection: Connection,
    study_id: int,
    spec: Mapping[str, Any],
    spec_hash: str,
    space_version: int,
) -> Study:
    """The study has the spec; a space version that is one higher is kept beside the old ones.

    Raises TransitionError for any other space version.
    """
    current = reads.study_of(connection, study_id).space_version
    if space_version not in (current, current + 1):
        raise TransitionError(f"space version {space_version} cannot follow version {current}")
    values = {"spec": rows.to_json(spec), "spec_hash": spec_hash}
    _add_space(connection, study_id, space_version, spec, spec_hash)
    spaces = schema.spaces
    connection.execute(
        update(spaces)
        .where(spaces.c.study_id == study_id, spaces.c.version == space_version)
        .values(**values)
    )
    connection.execute(
        update(schema.studies)
        .where(schema.studies.c.id == study_id)
        .values(**values, space_version=space_version)
    )
    return reads.study_of(connection, study_id)


def remove(connection: Connection, study_id: int) -> None:
    """Nothing of the study is stored any more: every row of it has gone with it."""
    connection.execute(delete(schema.studies).where(schema.studies.c.id == study_id))


def _add_space(
    connection: Connection, study_id: int, version: int, spec: Mapping[str, Any], spec_hash: str
) -> None:
    values = {
        "study_id": study_id,
        "version": version,
        "spec": rows.to_json(spec),
        "spec_hash": spec_hash,
        "created_at": utc_now(),
    }
    rows.insert_new(connection, schema.spaces, values)
