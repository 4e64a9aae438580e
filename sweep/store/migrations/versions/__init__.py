"""Revisions: one file each; its name starts with r and the revision's number."""
