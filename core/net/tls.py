"""One TLS context for all connections: whom we trust."""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

# Where systems keep their bundle when OpenSSL's own default is empty, as in portable builds of
# Python: Alpine and Fedora, newer Fedora, older Fedora, Debian, SUSE.
_BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)


def trust_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """A client context that trusts what the system trusts. Blocks for tens of milliseconds.

    `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's store, as in OpenSSL. Else macOS and
    Windows verify with their own service (truststore), and elsewhere the system's bundle is
    loaded once: truststore would load it again, on the event loop, for each connection.
    Without any store certifi's is used.
    """
    file, folder = _existing(environ, "SSL_CERT_FILE"), _existing(environ, "SSL_CERT_DIR")
    if file or folder:
        try:
            return ssl.create_default_context(cafile=file, capath=folder)
        except (ssl.SSLError, OSError) as error:
            logger.warning("SSL_CERT_FILE or SSL_CERT_DIR cannot be used: %s", error)
    if sys.platform in ("darwin", "win32"):
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.create_default_context()
    if not _trusts_somebody(context):
        for bundle in _BUNDLES:
            if Path(bundle).is_file():
                context.load_verify_locations(cafile=bundle)
                return context
        import certifi

        context.load_verify_locations(cafile=certifi.where())
    return context


def _existing(environ: Mapping[str, str], name: str) -> str | None:
    value = environ.get(name)
    if value and not Path(value).exists():
        logger.warning("%s names %s, which does not exist", name, value)
        return None
    return value or None


def _trusts_somebody(context: ssl.SSLContext) -> bool:
    if context.cert_store_stats()["x509_ca"]:
        return True
    # A folder of hashed certificates is read on demand, and so is empty until then.
    folder = ssl.get_default_verify_paths().capath
    return bool(folder and any(Path(folder).glob("*.0")))
