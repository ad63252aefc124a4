"""Errors that keep a backup from being made or restored, each a sentence for the operator."""

from app.domain.shared.problems import DomainError


class BackupError(DomainError):
    code = "backup"


class DatabaseInDoubt(BackupError):
    """The database may hold part of a backup."""
