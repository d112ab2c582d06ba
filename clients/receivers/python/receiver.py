#!/usr/bin/env python3
"""Receives webhooks of provisor (Standard Webhooks), and prints each event once.

WEBHOOK_SECRET  secrets (whsec_...) or public keys (whpk_...), several with spaces between: during a rotation
                both count. Public keys need the package `cryptography`.
PORT            on the loopback address, 8080 by default: a proxy with TLS stands before it

Exit status 2: one of these is missing or wrong, which one line on standard error says.

verify() is what to take into a program of your own; handle() is where that program does its work.
"""
import base64
import collections
import hashlib
import hmac
import http.server
import json
import os
import re
import sys
import threading
import time

TOLERANCE_S = 300
BODY_BYTES_MAX = 65536


class Refused(Exception):
    """The sender does not have the secret, or the delivery is an old one."""


def read_keys(text):
    """(scheme, key) of each secret or public key."""
    keys = []
    for word in text.split():
        prefix, _, encoded = word.partition("_")
        if prefix not in ("whsec", "whpk"):
            raise ValueError("a secret begins with whsec_, a public key with whpk_")
        try:
            raw = base64.b64decode(encoded, validate=True)
        except ValueError:
            raise ValueError("what follows %s_ is not base64" % prefix) from None
        if prefix == "whpk":
            if len(raw) != 32:
                raise ValueError("a public key has 32 bytes, not %d" % len(raw))
            try:
                from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            except ImportError:
                raise ValueError("public keys need the package cryptography") from None
            keys.append(("v1a", Ed25519PublicKey.from_public_bytes(raw)))
        elif len(raw) >= 24:
            keys.append(("v1", raw))
        else:
            raise ValueError("the secret is shorter than 24 bytes")
    if not keys:
        raise ValueError("there is no secret")
    return keys


def is_signed(scheme, key, content, signature):
    if scheme == "v1":
        return hmac.compare_digest(hmac.new(key, content, hashlib.sha256).digest(), signature)
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, content)
        return True
    except InvalidSignature:
        return False


def verify(keys, webhook_id, timestamp, signatures, body, now):
    """Return where one of the signatures is by one of the keys; raise Refused elsewhere. body: the bytes as they came."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", webhook_id) or not re.fullmatch(r"[1-9][0-9]{0,11}", timestamp, re.ASCII):
        raise Refused("webhook-id or webhook-timestamp is missing or malformed")
    if abs(now - int(timestamp)) > TOLERANCE_S:
        raise Refused("webhook-timestamp differs from this clock by more than five minutes")
    content = b"%s.%s.%s" % (webhook_id.encode(), timestamp.encode(), body)
    for word in signatures.split(" "):
        scheme, _, encoded = word.partition(",")
        try:
            signature = base64.b64decode(encoded, validate=True)
        except ValueError:
            continue
        for key_scheme, key in keys:
            if scheme == key_scheme and is_signed(scheme, key, content, signature):
                return
    raise Refused("no signature is by a key of this receiver")


class Seen:
    """Ids of what has been handled, the latest of them. A delivery can be repeated as long as the service keeps it, seven
    days by default: a program of your own keeps the ids that long, where it keeps its work and in one transaction with it."""

    def __init__(self, most=100000):
        self.ids, self.most, self.lock = collections.OrderedDict(), most, threading.Lock()

    def once(self, webhook_id, work):
        """Whether work() was done now. Where it raises, the id is not kept, and the next attempt counts."""
        with self.lock:
            if webhook_id in self.ids:
                return False
            work()
            self.ids[webhook_id] = True
            if len(self.ids) > self.most:
                self.ids.popitem(last=False)
            return True


def handle(webhook_id, body):
    event = json.loads(body)
    print("handled %s %s" % (webhook_id, event.get("type", "text")), flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length, re.ASCII) or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            return self.answer(411 if not length else 413)
        body = self.rfile.read(int(length))
        webhook_id = self.headers.get("webhook-id", "")
        try:
            verify(self.server.keys, webhook_id, self.headers.get("webhook-timestamp", ""), self.headers.get("webhook-signature", ""), body, time.time())
        except Refused as why:
            self.log_message("refused: %s", why)
            return self.answer(401)
        try:
            if not self.server.seen.once(webhook_id, lambda: handle(webhook_id, body)):
                print("again %s" % webhook_id, flush=True)
        except Exception as why:  # the service tries again
            self.log_message("not handled: %r", why)
            return self.answer(500)
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()


def configured(name, default, read):
    """What a variable of the environment says. One that is wrong ends the program; what it holds may be a secret, and is not shown."""
    try:
        return read(os.environ.get(name, default))
    except ValueError as why:
        print("receiver.py: %s: %s" % (name, why), file=sys.stderr)
        sys.exit(2)


def read_port(text):
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII) or int(text) > 65535:
        raise ValueError("a port is a number up to 65535")
    return int(text)


def main():
    keys, port = configured("WEBHOOK_SECRET", "", read_keys), configured("PORT", "8080", read_port)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    server.keys, server.seen = keys, Seen()
    print("listening on %d" % server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
