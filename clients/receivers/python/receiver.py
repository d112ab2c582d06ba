#!/usr/bin/env python3
"""Receives webhooks of provisor (Standard Webhooks), and prints what it was told, each event once.

WEBHOOK_SECRET  secrets (whsec_...) or public keys (whpk_...), several with spaces between: during a rotation
                both count. Public keys need the package `cryptography`.
PORT            on the loopback address, 8080 by default: a proxy with TLS stands before it

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
import threading
import time

TOLERANCE_S = 300
BODY_BYTES_MAX = 65536


class Refused(Exception):
    """The delivery is not from who has the secret, or it is an old one."""


def read_keys(text):
    """(scheme, key) of each secret or public key."""
    keys = []
    for word in text.split():
        prefix, _, encoded = word.partition("_")
        if prefix not in ("whsec", "whpk"):
            raise ValueError("a secret begins with whsec_, a public key with whpk_")
        raw = base64.b64decode(encoded, validate=True)
        if prefix == "whpk":
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

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
        raise Refused("webhook-timestamp is more than five minutes away")
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
    """Ids of what has been handled. Deliveries come at least once, perhaps hours later: a program of your own keeps
    them where it keeps its work, in one transaction with it."""

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


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    server.keys, server.seen = read_keys(os.environ.get("WEBHOOK_SECRET", "")), Seen()
    print("listening on %d" % server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
