"""Where the service is and with which token it is asked: flags, environment, profiles; login."""
import os
import stat
import time

import pytest

from conftest import PATIENCE


def test_login_tests_and_stores(service, make_cli):
    cli = make_cli()
    result = cli("login", "--url", service.base_url + "/", input=service.alpha_token + "\n")
    assert "The token works" in result.err and result.out == ""
    assert service.alpha_token not in result.err
    folder = cli.home / ".config" / "provisor"
    assert stat.S_IMODE(os.stat(folder / "credentials").st_mode) == 0o600
    assert service.alpha_token in (folder / "credentials").read_text()
    assert service.alpha_token not in (folder / "config").read_text()
    assert cli("apps").status == 0


def test_login_hides_what_is_typed(service, make_cli):
    cli = make_cli()
    shown = cli.terminal("login", "--url", service.base_url, keys=service.alpha_token.encode() + b"\n")
    assert "Token for" in shown and service.alpha_token not in shown


def test_a_wrong_token_is_not_stored(service, make_cli):
    cli = make_cli()
    result = cli("login", "--url", service.base_url, input="prv_nonsense\n", status=1)
    assert "the token is not valid" in result.err and "Nothing was stored" in result.err
    assert not (cli.home / ".config").exists()


def test_no_token_says_what_to_do(service, make_cli):
    result = make_cli(service.base_url)("apps", status=1)
    assert "provisor login" in result.err and result.out == ""


def test_an_expired_token_says_so(service, make_cli):
    token = service.command("token", "create", "--team", "alpha", "--name", "short", "--scopes", "read", "--expires-in", "1s").strip()
    time.sleep(1.2)
    result = make_cli(service.base_url, token)("apps", status=1)
    assert "expired" in result.err and "PROVISOR_TOKEN" in result.err


def test_flags_win_over_environment_over_profile(service, make_cli, tmp_path):
    cli = make_cli()
    cli("login", "--url", "http://127.0.0.1:9", "--skip-test", input="prv_a\n")
    assert "profile default" in cli("apps", "--retries", 0, status=1).err
    assert "PROVISOR_URL" in cli("apps", "--retries", 0, status=1, env={"PROVISOR_URL": "http://127.0.0.1:8"}).err
    assert "--url" in cli("apps", "--retries", 0, "--url", "http://127.0.0.1:7", status=1, env={"PROVISOR_URL": "http://127.0.0.1:8"}).err
    token = tmp_path / "token"
    token.write_text("\n  %s \n" % service.alpha_token)
    cli("apps", "--url", service.base_url, "--token-file", token, env={"PROVISOR_TOKEN": "prv_wrong"})
    cli("apps", env={"PROVISOR_URL": service.base_url, "PROVISOR_TOKEN_FILE": token})


def test_the_token_of_a_profile_is_sent_to_its_url_alone(service, make_cli):
    cli = make_cli()
    cli("login", "--url", "http://127.0.0.1:9", "--skip-test", input=service.alpha_token)
    assert "no token was given" in cli("apps", "--url", service.base_url, status=1).err


def test_profiles_stand_side_by_side(service, make_cli):
    cli = make_cli()
    cli("login", "--url", "http://127.0.0.1:9", "--skip-test", input="prv_a\n")
    cli("login", "--url", service.base_url, "--profile", "staging", input=service.alpha_token)
    cli("apps", "--profile", "staging")
    cli("apps", env={"PROVISOR_PROFILE": "staging"})
    assert "no profile [stagin]" in cli("apps", "--profile", "stagin", status=2).err


@pytest.mark.parametrize("text, said", [
    ("[default]\nulr = http://x\n", "did you mean url?"),
    ("[default]\ntimeout = soon\n", "timeout cannot be 'soon'"),
    ("[default\n", "line 1"),
    ("[default]\nurl = ftp://x\n", "is not the URL of a service"),
    ("[default]\nurl = http://user:secret@x\n", "must not hold a user or a password")])
def test_a_configuration_that_is_wrong(make_cli, text, said):
    cli = make_cli()
    (cli.home / "config").write_text(text)
    result = cli("apps", "--config", cli.home / "config", status=2)
    assert said in result.err and "secret" not in result.err.replace("a password", "")


def test_credentials_that_others_can_read_are_refused(service, make_cli):
    cli = make_cli()
    cli("login", "--url", service.base_url, input=service.alpha_token)
    os.chmod(cli.home / ".config" / "provisor" / "credentials", 0o644)
    assert "chmod 600" in cli("apps", status=2).err


def test_half_a_login_brings_no_token_to_another_url(service, make_cli):
    """Each file holds the URL: a token is used only for the one that stands beside it."""
    cli = make_cli()
    cli("login", "--url", "http://127.0.0.1:9", "--skip-test", input="prv_old\n")
    folder = cli.home / ".config" / "provisor"
    cli("login", "--url", service.base_url, input=service.alpha_token)
    with_url = (folder / "credentials").read_text()
    assert "url = " + service.base_url in with_url
    # The configuration says another URL than the token was stored with.
    (folder / "config").write_text("[default]\nurl = %s\n" % service.base_url)
    (folder / "credentials").write_text(with_url.replace(service.base_url, "http://127.0.0.1:9"))
    (folder / "credentials").chmod(0o600)
    assert "no token was given" in cli("apps", status=1).err


@pytest.mark.parametrize("words, said", [
    (("--config", "credentials"), "cannot be named credentials"), (("--profile", "a ; b"), "letters, digits"), (("--profile", "a]b"), "letters, digits"),
    (("--config", "/dev/zero"), "not a regular file"), (("--config", "."), "not a regular file")])
def test_files_and_names_that_no_profile_can_have(make_cli, words, said):
    cli = make_cli()
    assert said in cli("login", "--skip-test", "--url", "http://127.0.0.1:9", *words, status=2, input="prv_x\n").err
    assert not (cli.home / "credentials").exists()


def test_logins_at_the_same_time_lose_nothing(make_cli):
    cli = make_cli()
    (cli.home / "t").write_text("prv_x")
    running = [cli.start("login", "--skip-test", "--url", "http://127.0.0.1:9", "--profile", "p%d" % i, "--token-file", cli.home / "t") for i in range(8)]
    assert [process.wait(PATIENCE) for process in running] == [0] * 8
    for name in ("config", "credentials"):
        text = (cli.home / ".config" / "provisor" / name).read_text()
        assert sorted(line for line in text.splitlines() if line.startswith("[")) == ["[p%d]" % i for i in range(8)]


def test_a_linked_configuration_stays_a_link(make_cli):
    cli = make_cli()
    (cli.home / "dotfiles").write_text("# mine\n")
    (cli.home / ".config" / "provisor").mkdir(parents=True)
    (cli.home / ".config" / "provisor" / "config").symlink_to(cli.home / "dotfiles")
    cli("login", "--skip-test", "--url", "http://127.0.0.1:9", input="prv_x\n")
    assert (cli.home / ".config" / "provisor" / "config").is_symlink()
    assert (cli.home / "dotfiles").read_text() == "# mine\n\n[default]\nurl = http://127.0.0.1:9\n"


def test_a_line_of_zeros(make_cli):
    cli = make_cli()
    (cli.home / "config").write_bytes(b"[default]\nurl = http://127.0.0.1:9\n\0\0abc\n")
    cli("login", "--skip-test", "--url", "http://127.0.0.1:8", "--config", cli.home / "config", input="prv_x\n", status=None)
    assert [p.name for p in cli.home.iterdir() if "new-" in p.name] == []


def test_numbers_without_measure(make_cli):
    """A huge count of retries is many, a huge time is refused, a tiny one is short and not endless."""
    cli = make_cli("http://127.0.0.1:9")
    began = time.monotonic()
    cli("apps", "--timeout", "0.0000001s", "--retries", 0, status=1)
    assert time.monotonic() - began < PATIENCE / 4
    assert "is not a time" in cli("apps", "--timeout", "1e11s", status=2).err
    process = cli.start("apps", "--retries", "4294967295")
    time.sleep(0.5)
    assert process.poll() is None
    process.kill()
    process.communicate()
