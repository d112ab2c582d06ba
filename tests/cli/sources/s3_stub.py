"""A bucket as S3 serves it, written from its API reference (ListObjectsV2, GetObject), with faults."""
import hashlib
import itertools
import re
import urllib.parse
import xml.sax.saxutils

from origin import Answer
from sigv4 import fault

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}


def error(status, code, message="said by the test", more="", headers=None):
    body = "<?xml version=\"1.0\"?>\n<Error><Code>%s</Code><Message>%s</Message>%s</Error>" % (code, message, more)
    return Answer(status, body.encode(), {"Content-Type": "application/xml", **(headers or {})})


def etag_of(content):
    return '"%s"' % hashlib.md5(content).hexdigest()


class Bucket:
    """objects: key -> bytes. faults: key, or "" for the list -> answers, functions of (request, usual answer) or None
    for the usual one; they are used up in turn, and an iterator may be endless."""

    def __init__(self, objects=(), region="us-east-1", signed=True, name="logs", by_host=False):
        self.objects, self.region, self.signed, self.name, self.by_host = dict(objects), region, signed, name, by_host
        self.faults, self.refusals = {}, []

    def fail(self, key, *answers, forever=False):
        self.faults[key] = itertools.cycle(answers) if forever else iter(answers)

    def __call__(self, request):
        if self.signed:
            why = fault("GET", request.path, request.query, request.headers, KEY, SECRET, self.region)
            if why:
                self.refusals.append(why)
                return error(403, "SignatureDoesNotMatch", why)
        path = urllib.parse.unquote(request.path)
        if not self.by_host:
            if path.split("/")[1] != self.name:
                return error(404, "NoSuchBucket")
            path = path[1 + len(self.name):]
        elif not request.headers["Host"].startswith(self.name + "."):
            return error(404, "NoSuchBucket")
        key = path[1:]
        usual = self.get(request, key) if key else self.page(request)
        told = next(self.faults.get(key, iter(())), None)
        return told(request, usual) if callable(told) else told or usual

    def get(self, request, key):
        if key not in self.objects:
            return error(404, "NoSuchKey")
        content = self.objects[key]
        etag = etag_of(content)
        if request.headers.get("If-Match", etag) != etag:
            return error(412, "PreconditionFailed")
        head = {"ETag": etag, "Accept-Ranges": "bytes"}
        found = re.fullmatch(r"bytes=(\d+)-", request.range or "")
        if not found:
            return Answer(200, content, head)
        first = int(found[1])
        if first >= len(content):
            return error(416, "InvalidRange")
        head["Content-Range"] = "bytes %d-%d/%d" % (first, len(content) - 1, len(content))
        return Answer(206, content[first:], head)

    def page(self, request):
        asked = request.parameters
        assert asked["list-type"] == "2" and asked["encoding-type"] == "url", asked
        keys = sorted((k for k in self.objects if k.startswith(asked.get("prefix", ""))), key=str.encode)
        first = int(asked.get("continuation-token", "a/b+c=0").rpartition("=")[2])
        size = int(asked.get("max-keys", 1000))
        more = first + size < len(keys)
        contents = "".join(
            "<Contents><Key>%s</Key><LastModified>2026-01-05T10:00:00.000Z</LastModified><ETag>%s</ETag><Size>%d</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>" % (
                urllib.parse.quote_plus(key, safe="/"), xml.sax.saxutils.escape(etag_of(self.objects[key]), {'"': "&quot;"}),
                len(self.objects[key])) for key in keys[first:first + size])
        token = "<NextContinuationToken>a/b+c=%d</NextContinuationToken>" % (first + size) if more else ""
        return Answer(200, (
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<Name>logs</Name><IsTruncated>%s</IsTruncated>%s%s<EncodingType>url</EncodingType></ListBucketResult>" % (
                "true" if more else "false", contents, token)).encode(), {"Content-Type": "application/xml"})
