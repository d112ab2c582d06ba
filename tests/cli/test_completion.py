"""Completion in real shells, with the scripts that the program writes."""
import subprocess

import pytest

from conftest import PROVISOR

BASH = r"""
source <(provisor completion bash)
compopt() { :; }  # wants a completion under way
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_provisor
printf '%s\n' "${COMPREPLY[@]}"
"""
ZSH = r"""
compdef() { :; }
compadd() { shift; print -l -- "$@"; }
_files() { print -l -- *; }
source <(provisor completion zsh)
words=("$@")
CURRENT=$#
_provisor
"""
FISH = r"""
provisor completion fish | source
complete -C "$argv[1]" | cut -f 1
"""


def run(shell, script, words, cli, cwd):
    path = "%s:/usr/bin:/bin" % PROVISOR.parent
    (cli.home / ("script." + shell)).write_text(script)
    line = [" ".join(words)] if shell == "fish" else words
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    result = subprocess.run(["/usr/bin/" + shell, *flags, str(cli.home / ("script." + shell)), *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, timeout=60, cwd=cwd, env={**cli.env, "PATH": path})
    assert result.stderr == "", result.stderr
    begun = words[-1]
    return [word for word in result.stdout.split("\n") if word and word.startswith(begun)]


@pytest.fixture(params=["bash", "zsh", "fish"])
def complete(request, cli, tmp_path):
    (tmp_path / "jobs.yaml").touch()
    script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[request.param]

    def of(*words, cli=cli):
        return run(request.param, script, ["provisor", *words], cli, tmp_path)
    return of


def test_commands(complete):
    found = complete("")
    assert {"apps", "runs", "login", "completion"} <= set(found) and "man" not in found
    assert complete("ru") == ["runs"]
    assert set(complete("operations", "")) >= {"show", "watch", "cancel"}
    assert complete("runs", "exp") == ["export"]


def test_options_and_their_words(complete):
    assert complete("runs", "x", "--suc") == ["--succeeded"]
    assert "--succeeded" not in complete("models", "--s")
    assert sorted(complete("runs", "x", "--succeeded", "")) == ["no", "yes"]
    assert "json" in complete("apps", "-o", "")
    assert "--url" in complete("apps", "show", "--u")
    assert "--resamples" in complete("models", "refit", "--res")


def test_the_value_of_an_option_is_no_command(complete):
    assert complete("--profile", "runs", "mod") == ["models"]
    assert "export" not in complete("--profile", "runs", "exp")


def test_names_of_applications(complete, history):
    assert complete("models", "nightly") == ["nightly-etl"]
    assert complete("runs", "export", "hour") == ["hourly-report"]
    assert complete("operations", "--application", "churn") == ["churn-training"]


def test_files(complete):
    assert complete("feasible", "job") == ["jobs.yaml"]
    assert complete("apps", "--ca-file", "job") == ["jobs.yaml"]


def test_calls_of_the_contract(complete):
    assert complete("call", "getAdv") == ["getAdvice"]
    assert complete("call", "listAdvice", "--li") == ["--list"]


def test_without_a_service_it_is_quiet(complete, make_cli):
    """No words, no waiting: the name just is not completed."""
    assert complete("models", "nightly", cli=make_cli("http://127.0.0.1:9", "prv_x")) == []
