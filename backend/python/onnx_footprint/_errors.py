"""What is raised when there is no report."""

from __future__ import annotations

from ._core import Failure, ReportDiagnostic


class FootprintError(Exception):
    """The analysis ended without a report; `diagnostics` say why, `to_json()` in the command's
    words."""

    def __init__(self, message: str, diagnostics: list[ReportDiagnostic], document: str) -> None:
        super().__init__(message, diagnostics, document)
        self.message = message
        self.diagnostics = diagnostics
        self._document = document

    def __str__(self) -> str:
        return self.message

    def to_json(self) -> str:
        """The document that the command prints in a report's place."""
        return self._document


class ModelError(FootprintError):
    """The model is wrong: the command's exit code 2."""


class UsageError(FootprintError):
    """An option, a binding or a file's access is wrong: the command's exit code 3."""


def error_of(failure: Failure, model: str) -> FootprintError:
    """The exception that tells of a failure."""
    lines = [f"{d.place}: {d.message}" if d.place else d.message
             for d in failure.diagnostics if d.severity == "error"]
    kind = ModelError if failure.exit_code == 2 else UsageError
    shown = model.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    name = "" if model == "-" else f"{shown}: "
    return kind(name + "\n".join(lines), failure.diagnostics, failure.to_json(model))
