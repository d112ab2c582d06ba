"""Every header of service/ compiled by itself, by ninja, so that only what changed is compiled again."""
import fcntl
import os
import pathlib
import subprocess

FLAGS = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
LIBRARIES = ["libpq", "jansson", "libmicrohttpd", "gsl"]  # may keep their headers outside /usr/include

RULES = """
ninja_required_version = 1.8
rule alone
  command = rm -f $out; gcc $flags -MD -MF $out.d -MT $out $in > $out.log 2>&1 && touch $out
  depfile = $out.d
  description = header $in
"""


def headers(folder):
    return sorted(p for p in pathlib.Path(folder).rglob("*.h"))


def write(path, text):
    """Only where it differs: what ninja has done already stays done."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def faults(folder, scratch):
    """{header: what gcc says of it} of those under folder that do not compile first in a file, with nothing before
    them, and again: the guard holds. scratch keeps what has been done."""
    folder, scratch = pathlib.Path(folder), pathlib.Path(scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    found = subprocess.run(["pkg-config", "--cflags", *LIBRARIES], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    flags = " ".join([*FLAGS, "-I", str(folder), *found])
    with open(scratch / "lock", "w") as lock:  # several processes of tests share it
        fcntl.flock(lock, fcntl.LOCK_EX)
        names = [str(p.relative_to(folder)) for p in headers(folder)]
        lines = [RULES, "flags = " + flags]
        for name in names:
            line = '#include "%s"\n' % name
            # A translation unit may not be empty.
            write(scratch / (name + ".c"), line + line + "extern int not_empty;\n")
            lines.append("build %s.ok: alone %s.c" % (name, name))
        write(scratch / "build.ninja", "\n".join(lines) + "\n")
        subprocess.run(["ninja", "-C", scratch, "-k", "0", "-j%d" % (os.cpu_count() or 2)], stdout=subprocess.DEVNULL)
        return {name: (scratch / (name + ".ok.log")).read_text() for name in names if not (scratch / (name + ".ok")).exists()}
