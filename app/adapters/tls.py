"""Certificates of servers, read by connecting to them as a browser does."""

from __future__ import annotations

import socket
from datetime import UTC, datetime

from app.domain.alerts.safeguards import NoSecureConnection

TIMEOUT = 5.0  # Seconds to connect to each address of the host, and for the handshake; resolving it has no limit.


class TlsCertificates:
    """Reads certificates, verified by the authorities that the machine trusts (`SSL_CERT_FILE` names others)."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout

    def valid_until(self, host: str, port: int) -> datetime:
        import ssl  # Only where it is used: it takes a while, and memory of every process.

        try:
            with (
                socket.create_connection((host, port), self._timeout) as plain,
                ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure,
            ):
                certificate = secure.getpeercert() or {}
        except ssl.SSLCertVerificationError as error:
            raise NoSecureConnection(f"the certificate is refused: {error.verify_message.rstrip('.')}") from error
        except ssl.SSLError as error:
            raise NoSecureConnection(f"it does not speak TLS ({error.reason or type(error).__name__})") from error
        except (OSError, ValueError) as error:  # ValueError: a name that cannot be one of a host.
            raise NoSecureConnection(_reason(error)) from error
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return (getattr(error, "strerror", None) or type(error).__name__).rstrip(".")
