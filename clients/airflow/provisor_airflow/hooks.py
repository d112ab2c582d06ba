"""The connection type `provisor`, and the calls that operators, sensors and triggers make over it."""
from __future__ import annotations

import ssl
import urllib.parse
from typing import Any, Mapping

from provisor_airflow.airflow_api import BaseHook
from provisor_airflow.http_client import Client, ProvisorError, ProvisorRefused, Reply


class ProvisorHook(BaseHook):
    """
    Calls of a provisor service.

    The connection has the host, its port, the scheme as `schema` (https, unless it says http), and the token as
    password. The host may be a whole address with scheme and path, too. Extra, all of it optional:

    - `ca`: a file of certificates (PEM), in place of those of the machine
    - `verify`: false accepts any certificate; for trials only
    - `timeout_s`: for connecting and for each wait for bytes (30)

    :param provisor_conn_id: the connection
    """

    conn_name_attr = "provisor_conn_id"
    default_conn_name = "provisor_default"
    conn_type = "provisor"
    hook_name = "provisor"

    def __init__(self, provisor_conn_id: str = default_conn_name, **client_options: Any) -> None:
        super().__init__()
        self.provisor_conn_id = provisor_conn_id
        self._client_options = client_options
        self._client: Client | None = None

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        return {
            "hidden_fields": ["login"],
            "relabeling": {"schema": "Scheme", "password": "Token"},
            "placeholders": {"host": "provisor.example", "schema": "https", "port": "443", "extra": '{"ca": "/etc/ssl/company.pem"}'},
        }

    def get_conn(self) -> Client:
        if self._client is None:
            self._client = self.client_of(self.get_connection(self.provisor_conn_id))
        return self._client

    def client_of(self, connection: Any) -> Client:
        """A client by what a connection says."""
        extra = connection.extra_dejson or {}
        options = {"timeout_s": _seconds(extra.get("timeout_s", 30)), **self._client_options}
        return Client(address_of(connection), connection.password, context=self._tls(extra), **options)

    def _tls(self, extra: Mapping[str, Any]) -> ssl.SSLContext:
        verify, ca = extra.get("verify", True), extra.get("ca")
        if isinstance(verify, str) and verify.lower() not in ("true", "false"):
            verify, ca = True, ca or verify
        try:
            context = ssl.create_default_context(cafile=ca or None)
        except (OSError, ssl.SSLError) as error:
            raise ProvisorRefused("the certificates in %s cannot be read: %s" % (ca, error)) from None
        if str(verify).lower() == "false":
            self.log.warning("connection %s: certificates are not verified (verify is false)", self.provisor_conn_id)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    # --- calls ---

    def ask_advice(self, request: Mapping[str, Any], *, key: str | None = None, dry_run: bool = False) -> dict[str, Any]:
        """The reply of POST /v1/advice."""
        return self.get_conn().post("/v1/advice" + ("?dry_run=true" if dry_run else ""), dict(request), key).body

    def start_operation(self, path: str, request: Mapping[str, Any] | None = None, *, key: str | None = None) -> str:
        """Start a refit, a simulation or another long-running operation, and return its id.

        :param path: of the call, such as `/v1/applications/nightly-etl/refit` or `/v1/simulations`
        :param request: the body of the call, if it takes one
        :param key: the Idempotency-Key: a call with the same key gets the same operation
        """
        reply = self.get_conn().post(path, dict(request or {}), key)
        if reply.status != 202 or not isinstance(reply.body, dict) or "id" not in reply.body:
            raise ProvisorRefused("%s starts no operation: it answers %d" % (path, reply.status), reply.status)
        return str(reply.body["id"])

    def get_operation(self, operation_id: str) -> Reply:
        """An operation without its request and result: both may be large."""
        fields = "id,kind,application,status,progress,finished_at,error"
        return self.get_conn().get("/v1/operations/" + urllib.parse.quote(operation_id, safe=""), fields=fields)

    def test_connection(self) -> tuple[bool, str]:
        """What the button of the connection's form shows."""
        try:
            self.get_conn().get("/v1/applications", limit="1")
        except ProvisorError as error:
            return False, str(error)
        return True, "the service takes this token"


def address_of(connection: Any) -> str:
    """http(s)://host[:port][/path] of a connection."""
    host = (connection.host or "").strip()
    if not host:
        raise ProvisorRefused("the connection has no host")
    if "://" not in host:
        host = "%s://%s" % ((connection.schema or "https").strip(), host)
    parts = urllib.parse.urlsplit(host)
    if connection.port and ":" not in parts.netloc.rpartition("]")[2]:
        parts = parts._replace(netloc="%s:%d" % (parts.netloc, int(connection.port)))
    return urllib.parse.urlunsplit(parts)


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
        if not 0 < seconds <= 3600:
            raise ValueError
    except (TypeError, ValueError):
        raise ProvisorRefused("timeout_s of the connection must be a number of seconds, at most 3600") from None
    return seconds
