"""An answer of Stripe's that is an error."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    def __init__(
        self, status: int, message: str, code: str | None = None, param: str | None = None, **more: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        named = {"code": code, "param": param}
        self.error = {
            "type": "invalid_request_error",
            "message": message,
            **{name: value for name, value in named.items() if value is not None},
            **more,
        }

    @property
    def is_kept(self) -> bool:
        """Whether a repeated idempotency key gets it again. What never began is not kept: a failed validation, or a
        conflict with another request."""
        began = self.status in (402, 500) or self.error.get("code") == "payment_intent_unexpected_state"
        return began


def missing(kind: str, param: str, value: str) -> Refusal:
    return Refusal(404, f"No such {kind}: '{value}'", "resource_missing", param)
