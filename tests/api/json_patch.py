"""JSON Patch (RFC 6902): the operations add, remove, replace and test, as an API server carries them out."""
import copy


class PatchFailed(Exception):
    pass


def segments(pointer):
    if pointer and not pointer.startswith("/"):
        raise PatchFailed("%r is no JSON Pointer" % pointer)
    return [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]


def place(target, key, grows):
    """The key of a member, or the place in a list, of which `-` is the end."""
    if isinstance(target, dict):
        return key
    if not isinstance(target, list):
        raise PatchFailed("%r has no members" % (target,))
    if key == "-" and grows:
        return len(target)
    if not key.isdigit() or int(key) > len(target) - (not grows):
        raise PatchFailed("no place %r in a list of %d" % (key, len(target)))
    return int(key)


def apply(document, operations):
    """The patched copy; all of it or PatchFailed."""
    document = copy.deepcopy(document)
    for operation in operations:
        *parents, last = segments(operation["path"])
        target = document
        for key in parents:
            try:
                target = target[place(target, key, False)]
            except (KeyError, IndexError) as e:
                raise PatchFailed("%s: there is no %r" % (operation["path"], key)) from e
        at = place(target, last, operation["op"] == "add")
        there = at in target if isinstance(target, dict) else at < len(target)
        if operation["op"] == "add" and isinstance(target, list):
            target.insert(at, operation["value"])
            continue
        if operation["op"] != "add" and not there:
            raise PatchFailed("%s: it is not there" % operation["path"])
        if operation["op"] in ("add", "replace"):
            target[at] = operation["value"]
        elif operation["op"] == "remove":
            del target[at]
        elif operation["op"] != "test" or target[at] != operation["value"]:
            raise PatchFailed("%r" % operation)
    return document
