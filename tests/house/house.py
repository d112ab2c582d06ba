"""What may depend on what, and how to read it from the tree. The rules are data; the tests apply
them to the tree and, to prove that they can fail, to small trees that break them."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVICE = ROOT / "service"

C_BASIC = {"assert.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdarg.h", "stdbool.h",
           "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h"}
POSIX = {"arpa/inet.h", "ctype.h", "dirent.h", "fcntl.h", "grp.h", "netdb.h",
         "netinet/in.h", "netinet/tcp.h", "poll.h", "pthread.h",
         "signal.h", "stdatomic.h", "sys/epoll.h", "sys/eventfd.h", "sys/mman.h", "sys/resource.h", "sys/socket.h",
         "sys/stat.h", "sys/time.h", "sys/types.h", "sys/uio.h", "sys/un.h", "sys/wait.h", "time.h", "unistd.h"}

CORE = C_BASIC | {"gsl/*"}

# room: (rooms it may include besides itself, single headers of further rooms, foreign headers). A room that is allowed
# is allowed with the rooms inside it; a file belongs to the innermost room that has a row.
ROOMS = {
    "base": (set(), set(), C_BASIC | {"stdatomic.h"}),
    "base/json": ({"base"}, set(), C_BASIC | {"ctype.h", "emmintrin.h", "immintrin.h"}),
    # The core, room by room: what computes may include what it is computed from, never the reverse.
    "core/numerics": ({"base"}, set(), CORE),
    "core/cluster": ({"base"}, {"core/history/run.h"}, CORE),
    "core/history": ({"base", "core/numerics"}, set(), CORE),
    "core/joblog": ({"base", "core/history", "core/joblog/mapreduce", "core/joblog/spark"}, set(), CORE),
    "core/joblog/common": ({"base", "core/history"}, set(), CORE),
    "core/joblog/mapreduce": ({"base", "core/history", "core/joblog/common"}, set(), CORE),
    "core/joblog/spark": ({"base", "core/history", "core/joblog/common", "core/spark"}, set(), CORE),
    "core/control": ({"base", "core/deadline", "core/history", "core/sim"}, set(), CORE),
    "core/deadline": ({"base", "core/history"}, set(), CORE),
    "core/scaling/model": ({"base", "core/numerics"}, set(), CORE),
    "core/scaling/laws": ({"base", "core/numerics", "core/scaling/model"}, set(), CORE),
    "core/scaling/selection": ({"base", "core/history", "core/scaling/laws", "core/scaling/model"}, set(), CORE),
    "core/scaling/uncertainty": ({"base", "core/numerics", "core/scaling/model", "core/scaling/selection"}, set(), CORE),
    "core/scaling/experiments": ({"base", "core/history", "core/scaling/model"}, set(), CORE),
    "core/scaling/drift": ({"base", "core/numerics", "core/scaling/laws", "core/scaling/model"}, set(), CORE),
    "core/scaling/history": ({"base", "core/history", "core/scaling/drift", "core/scaling/laws", "core/scaling/model", "core/scaling/selection"}, set(), CORE),
    "core/diagnosis": ({"base", "core/history", "core/numerics", "core/scaling/laws", "core/scaling/model", "core/spark"}, set(), CORE),
    "core/autoscaling": ({"base", "core/deadline", "core/history", "core/spark"}, set(), CORE),
    "core/advice": ({"base", "core/autoscaling", "core/cluster", "core/deadline", "core/diagnosis", "core/geo", "core/history", "core/numerics", "core/scaling/drift",
                     "core/scaling/history", "core/scaling/model", "core/scaling/selection", "core/spark"}, set(), CORE),
    "core/geo": ({"base", "core/history"}, set(), CORE),
    "core/geo/planners": ({"base", "core/geo"}, set(), CORE),
    "core/scheduling/comparison": ({"base", "core/numerics", "core/sim"}, set(), CORE),
    "core/scheduling/speculation": ({"base", "core/numerics", "core/sim"}, set(), CORE),
    "core/scheduling/network": ({"base", "core/sim"}, set(), CORE),
    "core/scheduling/slots": ({"base", "core/numerics", "core/scheduling/comparison", "core/scheduling/network", "core/scheduling/speculation", "core/sim"}, set(), CORE),
    "core/scheduling/tasks": ({"base", "core/numerics", "core/scheduling/comparison", "core/sim"}, set(), CORE),
    "core/spark": ({"base", "core/history"}, set(), CORE),
    "core/stragglers": ({"base", "core/diagnosis", "core/history", "core/numerics", "core/scheduling/speculation", "core/spark"}, set(), CORE),
    "core/webhooks": ({"base"}, {"core/history/run.h"}, CORE),
    # The lines and the JSON scanner of the log readers read traces as well.
    "core/workload": ({"base", "core/history", "core/joblog/common", "core/numerics", "core/scheduling/slots", "core/scheduling/tasks", "core/sim"}, set(), CORE),
    "core/sim": ({"base", "core/numerics"}, set(), CORE),
    "core/geosim": ({"base", "core/geo", "core/sim"}, set(), CORE),
    "compression": ({"base"}, set(), C_BASIC | {"lz4.h", "lz4frame.h", "snappy-c.h", "xxhash.h", "zlib.h", "zstd.h", "zstd_errors.h"}),
    # What requests hold of the process, and whose share it is.
    "resources": ({"base", "config", "metrics"}, set(), C_BASIC | POSIX),
    # From the bytes of a log, or a path, to a run.
    "ingest": ({"base", "config", "core", "compression", "resources"}, set(),
               C_BASIC | POSIX | {"archive.h", "archive_entry.h", "sodium.h", "zip.h"}),
    # What the process counts; known to whoever counts.
    "metrics": ({"base"}, set(), C_BASIC | POSIX),
    "log": ({"base", "threads"}, set(), C_BASIC | POSIX),
    "sample": ({"base"}, set(), C_BASIC | POSIX),
    "config": ({"base"}, set(), C_BASIC | POSIX),
    # Logs as files: what lies under a path, and what is said of each on its way; the command line client's, too.
    "logfiles": ({"base"}, {"threads/clock.h"}, C_BASIC | POSIX),
    "threads": ({"base"}, set(), C_BASIC | POSIX | {"sodium.h"}),
    "codec": ({"base", "core"}, set(), C_BASIC | {"csv.h", "ctype.h"}),
    # Waits on the database are bounded by the monotonic clock.
    "store": ({"base", "core", "log"}, {"threads/clock.h", "threads/cond.h"}, C_BASIC | POSIX | {"libpq-fe.h", "libpq-events.h", "sodium.h"}),
    "http": ({"base", "config", "log", "metrics", "resources", "threads"}, set(),
             C_BASIC | POSIX | {"malloc.h", "microhttpd.h", "sodium.h", "zlib.h"}),
    "api": ({"base", "codec", "config", "core", "compression", "dispatch", "http", "ingest", "log", "metrics", "operation", "resources", "store", "threads"}, set(),
            C_BASIC | POSIX | {"sodium.h"}),
    # Long work and the threads that do it; what it does is the api's to know.
    "operation": ({"base", "codec", "config", "core", "log", "metrics", "resources", "store", "threads"}, set(), C_BASIC | POSIX),
    # What the service does by itself, on a thread beside the server.
    "maintenance": ({"base", "config", "core", "log", "metrics", "store", "threads"}, set(), C_BASIC | POSIX),
    # Events to endpoints: what is sent where, signed how, without a database.
    "dispatch": ({"base", "metrics", "threads"}, {"core/webhooks/webhook.h"}, C_BASIC | POSIX | {"curl/curl.h", "sodium.h"}),
    # The thread that asks the database what is to be sent, and writes down what became of it.
    "webhooks": ({"base", "config", "dispatch", "log", "metrics", "store", "threads"}, set(), C_BASIC | POSIX | {"sodium.h"}),
    # Logs on disk into the history: what an upload does, without HTTP.
    "import": ({"api", "base", "codec", "config", "core", "ingest", "logfiles", "operation", "store", "threads"}, set(), C_BASIC | POSIX),
    # The subcommands wire the rooms together; provisord.c only chooses one.
    "command": ({"api", "base", "codec", "config", "core", "compression", "http", "import", "ingest", "logfiles", "maintenance", "log", "metrics", "operation", "resources", "sample", "store", "threads", "dispatch", "webhooks"}, set(),
                C_BASIC | POSIX | {"malloc.h", "sodium.h", "zlib.h", "zstd.h"}),
    "": ({"base", "codec", "command", "config", "log"}, set(), C_BASIC | POSIX | {"gsl/gsl_errno.h", "sodium.h"}),
}

# The command line client: rooms by their folder under clients/cli, whose headers are included as "cli/<room>/<file>.h".
# Of the service it knows what computes nothing and serves nobody.
CLIENTS = ROOT / "clients"
CLI_SHARED = {"base", "logfiles", "threads"}
CLI_POSIX = C_BASIC | POSIX | {"limits.h", "locale.h"}
CLI_ROOMS = {
    "cli": ({"cli/arguments", "cli/commands"}, set(), CLI_POSIX),
    "cli/http": (set(), {"cli/failure.h"}, CLI_POSIX | {"curl/curl.h"}),
    "cli/arguments": (set(), {"cli/failure.h"}, CLI_POSIX | {"getopt.h"}),
    "cli/terminal": (set(), set(), CLI_POSIX | {"sys/ioctl.h", "termios.h", "wchar.h"}),
    "cli/input": (set(), {"cli/failure.h"}, CLI_POSIX | {"jansson.h", "yaml.h"}),
    "cli/settings": ({"cli/arguments"}, {"cli/failure.h"}, CLI_POSIX | {"ini.h", "sys/file.h"}),
    "cli/output": ({"cli/arguments", "cli/terminal"}, {"cli/failure.h"}, CLI_POSIX | {"jansson.h", "yaml.h"}),
    "cli/remote": ({"cli/arguments", "cli/http", "cli/input", "cli/output", "cli/settings"}, {"cli/failure.h"}, CLI_POSIX | {"curl/curl.h", "jansson.h"}),
    "cli/sources": ({"cli/http"}, {"cli/failure.h"}, CLI_POSIX | {"curl/curl.h", "expat.h", "ini.h", "jansson.h"}),
    "cli/ingest": ({"cli/http", "cli/output", "cli/remote", "cli/settings", "cli/sources", "cli/terminal"}, {"cli/failure.h"},
                   CLI_POSIX | {"jansson.h", "sys/file.h", "sys/inotify.h"}),
    "cli/commands": ({"cli/arguments", "cli/ingest", "cli/input", "cli/output", "cli/remote", "cli/settings", "cli/sources", "cli/terminal"}, {"cli/failure.h"},
                     CLI_POSIX | {"jansson.h", "termios.h"}),
    # A program of its own, which applies quota loops.
    "actuator": ({"cli/arguments", "cli/http", "cli/input", "cli/remote", "cli/output", "cli/settings"}, {"cli/failure.h"}, CLI_POSIX | {"jansson.h", "sys/file.h"}),
}

# What the core may never reach, whatever library it came from: clocks, environment, files, threads,
# hidden randomness, the process.
FORBIDDEN = re.compile(
    r"^(time|clock|clock_gettime|gettimeofday|nanosleep|localtime.*|gmtime.*|getenv|secure_getenv|setenv|setlocale"
    r"|fopen|fdopen|freopen|open|openat|read|write|socket|connect|printf|fprintf|vprintf|vfprintf|puts|fputs|putchar"
    r"|fwrite|fread|perror|rand|srand|random|srandom|drand48|getrandom|arc4random.*|pthread_.*|thrd_.*|mtx_.*"
    r"|fork|exec.*|system|exit|_exit|signal|sigaction)$")

# Of the compiler's own library: what the processor can do, counting bits where it cannot, and division of 128 bits.
COMPILER_SYMBOLS = {"__cpu_model", "__popcountdi2", "__udivti3"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def tracked(*patterns):
    """Files of the project: what git knows, or everything there is outside a checkout."""
    try:
        out = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                              "--", *patterns],
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        return sorted(ROOT / p for p in out.split("\0") if p and (ROOT / p).is_file())
    except (OSError, subprocess.CalledProcessError):
        return sorted(p for p in ROOT.rglob("*") if p.is_file() and ".git" not in p.parts
                      and (not patterns or any(p.match(x) for x in patterns)))


def sources(service=SERVICE):
    return sorted(p for p in service.rglob("*") if p.suffix in (".c", ".h"))


def room_of(path, service, rooms=None):
    """The innermost room of the table that holds the file; a room without a row is named by its folder."""
    parts = path.relative_to(service).parts[:-1]
    for n in range(len(parts), 0, -1):
        if "/".join(parts[:n]) in (rooms or ROOMS):
            return "/".join(parts[:n])
    return "/".join(parts[:2] if parts[:1] == ("core",) else parts[:1])


def allowed_room(room, allowed):
    return any(room == a or room.startswith(a + "/") for a in allowed)


def allowed_foreign(header, allowed):
    return any(header == a or a.endswith("/*") and header.startswith(a[:-1]) for a in allowed)


def include_faults(service=SERVICE, rooms=None):
    """Every include that points outwards or reaches for a library of another room."""
    rooms = rooms or ROOMS
    faults = []
    for path in sources(service):
        room = room_of(path, service, rooms)
        if room not in rooms:
            faults.append("%s: room %s has no row in tests/house/house.py" % (path.relative_to(service), room))
            continue
        inward, single, foreign = rooms[room]
        for own, system in INCLUDE.findall(path.read_text()):
            what = "%s includes %s" % (path.relative_to(service), own or system)
            if system:
                # _GNU_SOURCE stays in the file that needs it; foreign headers in the room that owns them.
                if not allowed_foreign(system, foreign):
                    faults.append(what)
            elif not (service / own).is_file():
                # made by the build: lies in the folder of the room that owns it
                if not (path.parent / own).is_file() and "/" in own and \
                        not allowed_room(room_of(service / own, service, rooms), inward | {room}):
                    faults.append(what)
            else:
                other = room_of(service / own, service, rooms)
                if other != room and not allowed_room(other, inward) and own not in single:
                    faults.append(what)
    return faults


def client_include_faults():
    """The same of the command line client."""
    faults = []
    for path in sources(CLIENTS):
        room = "/".join(path.relative_to(CLIENTS).parts[:-1])
        if room not in CLI_ROOMS:
            faults.append("%s: room %s has no row in tests/house/house.py" % (path.relative_to(CLIENTS), room))
            continue
        inward, single, foreign = CLI_ROOMS[room]
        for own, system in INCLUDE.findall(path.read_text()):
            other = "/".join(pathlib.PurePath(own).parts[:-1])
            shared = own and not own.startswith("cli/") and (other in CLI_SHARED or own in single) and (SERVICE / own).is_file()
            if system and not allowed_foreign(system, foreign) or \
                    own and not shared and other != room and other not in inward and own not in single:
                faults.append("%s includes %s" % (path.relative_to(CLIENTS), own or system))
    return faults


def module_of(path):
    """What is one module to its readers: x.c, x.h, and x_internal.h, which the files of x share."""
    return re.sub(r"(_internal)?\.[ch]$", "", path)


def include_cycles(service=SERVICE):
    """Modules that include each other, directly or around several corners: strongly connected, in sets."""
    edges = {}
    for path in sources(service):
        name = module_of(str(path.relative_to(service)))
        edges.setdefault(name, set()).update(
            module_of(own) for own, _ in INCLUDE.findall(path.read_text()) if own and (service / own).is_file())
        edges[name].discard(name)
    # A module that includes only what can be taken away, or that nobody left includes, is in no cycle.
    left = set(edges)
    while True:
        included = {other for name in left for other in edges[name]}
        free = {name for name in left if not edges[name] & left or name not in included}
        if not free:
            break
        left -= free

    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for other in edges[todo.pop()] & left - seen:
                seen.add(other)
                todo.append(other)
        return seen

    within = {name: reach(name) for name in left}
    return sorted({tuple(sorted(o for o in within[name] if name in within[o])) for name in left if name in within[name]})


def long_files(service=SERVICE, most=600):
    """Outliers in size, longest first: worth a look whether they hold several ideas."""
    sizes = [(len(p.read_text().splitlines()), str(p.relative_to(service))) for p in sources(service)]
    return ["%d lines: %s" % s for s in sorted(sizes, reverse=True) if s[0] > most]


def guard_faults(service=SERVICE):
    """Include guards are the path in capitals."""
    faults = []
    for path in sources(service):
        if path.suffix == ".h":
            want = re.sub(r"[^A-Z0-9]", "_", str(path.relative_to(service)).upper())
            text = path.read_text()
            if not re.search(r"^#ifndef %s\n#define %s\n" % (want, want), text, re.M):
                faults.append("%s: wants the guard %s" % (path.relative_to(service), want))
    return faults


def own_header_faults(service=SERVICE):
    """x.c includes its own x.h before anything else, so that x.h cannot lean on its neighbours."""
    faults = []
    for path in sources(service):
        own = path.with_suffix(".h")
        if path.suffix == ".c" and own.is_file():
            includes = [a or b for a, b in INCLUDE.findall(path.read_text())]
            if not includes or includes[0] != str(own.relative_to(service)):
                faults.append("%s: the first include is not %s" % (path.relative_to(service), own.relative_to(service)))
    return faults


def symbols(archive, *options):
    out = subprocess.run(["nm", "--format=posix", *options, str(archive)], check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {line.split()[0].split("@")[0] for line in out.splitlines()
            if line.strip() and not line.endswith(":") and len(line.split()) > 1}


def library_symbols(*names):
    """What the shared libraries of these names define."""
    found = set()
    for name in names:
        path = subprocess.run(["gcc", "-print-file-name=" + name], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        found |= symbols(path, "-D", "--defined-only")
    return found


def core_symbol_faults(core, base):
    """Symbols that the core archive needs and that neither it, base, libc, libm, GSL nor the compiler define, and
    those that a pure computation has no use for. base is held to the same list."""
    known = library_symbols("libc.so.6", "libm.so.6", "libgsl.so") | COMPILER_SYMBOLS | {"_GLOBAL_OFFSET_TABLE_"}
    faults = []
    defined = symbols(base, "--defined-only")
    for archive in (base, core):
        needed = symbols(archive, "-u")
        defined |= symbols(archive, "--defined-only")
        faults += ["%s needs %s" % (archive.name, s) for s in sorted(needed - defined - known)]
        faults += ["%s reaches for %s" % (archive.name, s) for s in sorted(needed) if FORBIDDEN.match(s)]
    return faults


def doubled_symbols(archives):
    """Functions and objects that two files define: the linker would silently take either."""
    seen, doubled = {}, []
    for archive in archives:
        out = subprocess.run(["nm", "--format=posix", "--defined-only", "--extern-only", str(archive)], check=True,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in out.splitlines():
            words = line.split()
            if len(words) > 1 and words[1] in "TDBRG":
                if words[0] in seen:
                    doubled.append("%s is defined in %s and %s" % (words[0], seen[words[0]], archive.name))
                seen[words[0]] = archive.name
    return doubled
