"""The column "may use" of docs/code-map.md, from the rules in house.py.

    python3 tests/house/code_map.py     writes the column; test_documents.py compares it
"""
import re
import sys

import house

MAP = house.ROOT / "docs" / "code-map.md"
ROW = re.compile(r"^(\| `(service|clients)/([\w/]+)` \|.*\| )([^|]*) \|$", re.M)
LIBRARIES = {"gsl/": "GSL", "jansson.h": "jansson", "csv.h": "libcsv", "libpq": "libpq", "microhttpd.h": "libmicrohttpd", "sodium.h": "libsodium",
             "archive": "libarchive", "zip.h": "libzip", "zlib.h": "zlib", "zstd": "zstd", "lz4": "lz4", "snappy": "snappy", "xxhash.h": "xxhash",
             "curl/": "libcurl", "expat.h": "expat", "ini.h": "inih", "yaml.h": "libyaml"}


def may_use(top, room):
    """Rooms, single headers of other rooms, libraries."""
    inward, single, foreign = house.CLI_ROOMS[room] if top == "clients" else house.ROOMS[room]
    if top == "clients":
        inward = inward | house.CLI_SHARED
    libraries = {name for header in foreign for start, name in LIBRARIES.items() if header.startswith(start)}
    return ", ".join(sorted(inward) + ["`%s%s`" % ("clients/" if header.startswith("cli/") else "", header) for header in sorted(single)] + sorted(libraries, key=str.lower)) or "libc"


def written(text):
    return ROW.sub(lambda row: "%s%s |" % (row[1], may_use(row[2], row[3])), text)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    MAP.write_text(written(MAP.read_text()))
