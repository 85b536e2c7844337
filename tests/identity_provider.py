"""A real HTTP server that stands in for an OpenID Connect provider: discovery, keys, authorisation,
tokens; knows nothing of the product.
"""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

__all__ = ["IdentityProvider"]

CLIENT, CLIENT_SECRET = "finpolicy-test", "client-secret-not-to-be-logged"


class IdentityProvider:
    """On 127.0.0.1, with a key made now. people: who can be chosen on its page. changes: claims that its
    tokens carry instead of the right ones; forged: sign them with a key that it does not publish. requests:
    the paths that were asked for."""

    def __init__(self, people: Sequence[str]) -> None:
        self.people, self.changes, self.forged = tuple(people), dict[str, object](), False
        self.refused_prompts, self.out = frozenset[str](), list[str]()
        self.requests: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.key, self.other_key = (
            rsa.generate_private_key(public_exponent=65_537, key_size=2_048) for _ in range(2)
        )
        provider = self

        class Handler(_Handler):
            owner = provider

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def secrets_toml(self, redirect: str) -> str:
        """What .streamlit/secrets.toml says to use it. redirect: the server's own address."""
        lines = {
            "redirect_uri": f"{redirect}/oauth2callback",
            "cookie_secret": secrets.token_hex(32),
            "client_id": CLIENT,
            "client_secret": CLIENT_SECRET,
            "server_metadata_url": f"{self.url}/.well-known/openid-configuration",
        }
        return "\n".join(["[auth]", *(f'{name} = "{value}"' for name, value in lines.items())]) + "\n"

    def token(self, person: str, nonce: str) -> str:
        """A signed ID token."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": f"id-of-{person}",
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": nonce,
            "name": person,
        }
        signed = f"{_part({'alg': 'RS256', 'kid': 'one', 'typ': 'JWT'})}.{_part(claims | self.changes)}"
        key = self.other_key if self.forged else self.key
        return f"{signed}.{_encoded(key.sign(signed.encode(), PKCS1v15(), SHA256()))}"

    def __enter__(self) -> IdentityProvider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: IdentityProvider

    def do_GET(self) -> None:
        parts, url = urlsplit(self.path), self.owner.url
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.owner.requests.append(parts.path)
        if parts.path == "/.well-known/openid-configuration":
            self._send_json(
                {
                    "issuer": url,
                    "authorization_endpoint": f"{url}/authorize",
                    "token_endpoint": f"{url}/token",
                    "jwks_uri": f"{url}/keys",
                    "end_session_endpoint": f"{url}/out",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                    "code_challenge_methods_supported": ["S256"],
                }
            )
        elif parts.path == "/keys":
            numbers = self.owner.key.public_key().public_numbers()
            key = {
                "kty": "RSA",
                "use": "sig",
                "alg": "RS256",
                "kid": "one",
                "n": _number(numbers.n),
                "e": _number(numbers.e),
            }
            self._send_json({"keys": [key]})
        elif parts.path == "/authorize" and given.get("prompt") in self.owner.refused_prompts:
            refusal = {
                "error": "invalid_request",
                "error_description": f"Unsupported prompt {given['prompt']}",
                "state": given["state"],
            }
            self._lead(given["redirect_uri"], refusal)
        elif parts.path == "/out":
            self.owner.out.append(given["post_logout_redirect_uri"])
            self._lead(given["post_logout_redirect_uri"], {})
        elif parts.path == "/authorize":
            links = "".join(
                f'<p><a href="/chosen?{urlencode(given | {"person": person})}">{person}</a></p>'
                for person in self.owner.people
            )
            self._send(
                f"<!doctype html><title>Who are you?</title><h1>Who are you?</h1>{links}".encode(),
                "text/html",
            )
        elif parts.path == "/chosen":
            code = secrets.token_urlsafe(8)
            self.owner.codes[code] = given
            self._lead(given["redirect_uri"], {"code": code, "state": given["state"]})
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        asked = self.owner.codes.pop(parse_qs(body).get("code", [""])[0], None)
        self.owner.requests.append(self.path)
        if asked is None:
            self.send_error(400)
            return
        token = self.owner.token(asked["person"], asked.get("nonce", ""))
        self._send_json(
            {
                "access_token": secrets.token_urlsafe(8),
                "token_type": "Bearer",
                "expires_in": 600,
                "id_token": token,
            }
        )

    def _lead(self, address: str, given: Mapping[str, str]) -> None:
        self.send_response(302)
        self.send_header("Location", f"{address}?{urlencode(given)}" if given else address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the tests look at `requests`."""

    def _send_json(self, value: Mapping[str, Any]) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _part(value: Mapping[str, object]) -> str:
    return _encoded(json.dumps(value).encode())


def _number(value: int) -> str:
    return _encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))
