"""Alembic's entry: runs the steps on the connection that `migration` hands over."""

from alembic import context

from sweep.store.migration import is_own
from sweep.store.schema import VERSION_TABLE, metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    include_object=is_own,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
