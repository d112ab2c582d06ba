"""Where the service is and with which token it is asked: flags, environment, profiles; login."""
import os
import stat
import time

import pytest


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
    ("[default]\nurl = http://user:secret@x\n", "holds a user or a password")])
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
