"""Signature Version 4 of AWS, checked as S3 checks it ("Authenticating Requests: Using the Authorization Header")."""
import hashlib
import hmac
import urllib.parse


def encode(text, safe=""):
    return urllib.parse.quote(text, safe="-_.~" + safe)


def canonical_query(query):
    pairs = [part.partition("=") for part in query.split("&") if part]
    return "&".join(sorted("%s=%s" % (encode(urllib.parse.unquote(name)), encode(urllib.parse.unquote(value)))
                           for name, _, value in pairs))


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret, date, scope, canonical):
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = digest(key, part)
    to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    return digest(key, to_sign).hex()


def fault(method, path, query, headers, key_id, secret, region):
    """Why S3 would refuse the request; None: it would not."""
    words = headers.get("Authorization", "").split(" ", 1)
    if words[0] != "AWS4-HMAC-SHA256":
        return "no signature"
    parts = dict(part.strip().split("=", 1) for part in words[1].split(","))
    credential, _, scope = parts["Credential"].partition("/")
    if credential != key_id:
        return "another key: " + credential
    if scope.split("/")[1:] != [region, "s3", "aws4_request"]:
        return "another scope: " + scope
    signed = parts["SignedHeaders"].split(";")
    must = {"host"} | {name.lower() for name in headers.keys() if name.lower().startswith("x-amz-")}
    if not must <= set(signed) or signed != sorted(signed):
        return "headers not signed: %s" % (must - set(signed))
    canonical = "\n".join([
        method, encode(urllib.parse.unquote(path), "/"), canonical_query(query),
        *("%s:%s" % (name, " ".join(headers[name].split())) for name in signed), "",
        ";".join(signed), headers["x-amz-content-sha256"]])
    if signature(secret, headers["x-amz-date"], scope, canonical) != parts["Signature"]:
        return "another signature"
    return None
