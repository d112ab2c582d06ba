#!/usr/bin/python3
"""The manual page of provisord, from what the program says of itself.

    man.py PROVISORD OUTPUT

Commands are those of `provisord help`, settings those of `provisord settings --markdown`: nothing is listed here.
"""
import re
import subprocess
import sys

FILES = [
    ("/etc/provisor/environment", "settings of the service, one PROVISOR_NAME=VALUE a line"),
    ("/etc/provisor/database_url", "connection string of the role provisor_service; readable by root alone. The unit starts nothing without it"),
    ("/etc/provisor/database_owner_url", "connection string of the role provisor_owner, for migrations; readable by root alone"),
]
STATUS = [("0", "done"), ("1", "could not be done"), ("2", "wrong words or settings; nothing was tried")]


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def prose(text):
    """Words in backquotes are in bold."""
    parts = text.split("`")
    return "".join(escape(p) if i % 2 == 0 else "\\fB%s\\fR" % escape(p) for i, p in enumerate(parts))


def commands(text):
    """[(forms, help)] of `provisord help`: forms are indented by two blanks, the help of a command by six."""
    found, forms = [], []
    for line in text.split("\nSettings,")[0].splitlines():
        if line.startswith("      "):
            found.append((forms, line.strip()))
            forms = []
        elif line.startswith("  "):
            forms.append(line.strip())
    return found


def settings(text):
    """[(section, [(name, default, range, help)])] of the tables."""
    found = []
    for line in text.splitlines():
        row = re.match(r"\| `(\w+)` \| (.*?) \| (.*?) \| (.*) \|$", line)
        if line.startswith("## "):
            found.append((line[3:], []))
        elif row:
            found[-1][1].append(row.groups())
    return found


def entry(head, text):
    return ".TP\n.B %s\n%s" % (escape(head), prose(text))


def page(ask):
    version = ask("version").split()[1].rstrip(",")
    lines = [
        '.TH PROVISORD 8 "" "provisor %s" "System administration"' % version,
        ".SH NAME", "provisord \\- provisioning advice for data\\-parallel jobs: the service",
        ".SH SYNOPSIS", ".B provisord\n.I COMMAND\n.RI [ ARGUMENT ...]",
        ".SH DESCRIPTION",
        prose("provisord answers, over HTTP and from the history of real runs, how many executors a Spark job needs to meet its "
              "deadline. It keeps the history in PostgreSQL. Under systemd the unit provisord.service runs `provisord serve`; the "
              "other commands are for whoever operates it."),
        ".SH COMMANDS"]
    for forms, text in commands(ask("help")):
        lines += [entry(forms[0], text) if len(forms) == 1 else
                  "\n".join([".TP\n.B %s" % escape(forms[0]), *(".TQ\n.B %s" % escape(f) for f in forms[1:]), prose(text)])]
    lines += [".SH SETTINGS", prose(
        "A setting `name` is a line name=value of the file that `--config=FILE` or PROVISOR_CONFIG names, the variable PROVISOR_NAME of the "
        "environment, or `--name=value` of the command line; later ones win. Of a secret one, PROVISOR_NAME_FILE may name a file that holds it.")]
    for title, rows in settings(ask("settings", "--markdown")):
        lines.append(".SS %s" % escape(title))
        for name, default, allowed, text in rows:
            lines.append(".TP\n.BR %s \" (%s%s)\"\n%s" % (escape(name), escape(allowed), (", default " + escape(default.strip("`"))) if default else "",
                                                         prose(text)))
    lines.append(".SH FILES")
    lines += [entry(*row) for row in FILES]
    lines.append(".SH EXIT STATUS")
    lines += [entry(*row) for row in STATUS]
    lines += [".SH SEE ALSO", ".BR provisor (1)", ".PP",
              "A running service shows its documentation under /docs/; the package provisor\\-doc has the same pages as files."]
    return "\n".join(lines) + "\n"


def main():
    program, out = sys.argv[1:3]
    text = page(lambda *words: subprocess.run([program, *words], check=True, text=True, stdout=subprocess.PIPE).stdout)
    with open(out, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
