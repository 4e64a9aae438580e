"""Migrations: the steps from each revision of the schema to the next, run by alembic."""
