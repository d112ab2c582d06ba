"""Where the service is and which token it is asked with: the same for this package and the command line client."""
import os

import pytest

import provisor
from provisor.settings import read_settings

TOKEN, OTHER = "prv_one", "prv_two"


@pytest.fixture
def home(tmp_path):
    (tmp_path / ".config" / "provisor").mkdir(parents=True)
    return tmp_path


def write(home, config=None, credentials=None, mode=0o600):
    folder = home / ".config" / "provisor"
    if config is not None:
        (folder / "config").write_text(config)
    if credentials is not None:
        (folder / "credentials").write_text(credentials)
        os.chmod(folder / "credentials", mode)


def read(home, url=None, token=None, profile=None, **environ):
    made = read_settings(url, token, profile, environ={"HOME": str(home), **environ})
    return made._replace(token=made.token and made.token.reveal())


def test_what_login_stored_is_used_without_arguments(service, make_cli, monkeypatch, tmp_path):
    cli = make_cli()
    (tmp_path / "token").write_text(service.alpha_token + "\n")
    cli("login", "--url", service.base_url, "--token-file", tmp_path / "token")
    cli("login", "--url", service.base_url + "/", "--token-file", tmp_path / "token", "--profile", "second")
    monkeypatch.setenv("HOME", str(cli.home))
    for client in (provisor.Client(), provisor.Client(profile="second")):
        with client:
            assert client.url == service.base_url and client.usage().reply.status == 200
    monkeypatch.setenv("PROVISOR_PROFILE", "second")
    with provisor.Client() as client:
        assert client.usage()
    with pytest.raises(provisor.ConfigurationError, match=r"has no profile \[third\]"):
        provisor.Client(profile="third")


def test_nothing_is_configured(home):
    assert read(home) == ("http://127.0.0.1:8080", None, None, 60.0, 4)


def test_the_first_that_has_a_value(home):
    write(home, "[default]\nurl = https://file.example/\nca_file = /f.pem\ntimeout = 1m30s\nretries = 2\n",
          "[default]\nurl = https://file.example\ntoken = %s\n" % TOKEN)
    assert read(home) == ("https://file.example", TOKEN, "/f.pem", 90.0, 2)
    assert read(home, PROVISOR_URL="https://env.example//", PROVISOR_CA_FILE="/e.pem")[:3] == ("https://env.example", None, "/e.pem")
    assert read(home, url="https://arg.example", PROVISOR_URL="https://env.example", PROVISOR_TOKEN=OTHER)[:2] == ("https://arg.example", OTHER)
    assert read(home, token=" %s\n" % OTHER)[:2] == ("https://file.example", OTHER)
    (home / "t").write_text("  %s  rest\n" % OTHER)
    assert read(home, PROVISOR_TOKEN_FILE=str(home / "t")).token == OTHER
    assert read(home, PROVISOR_TOKEN_FILE=str(home / "t"), PROVISOR_TOKEN=TOKEN).token == TOKEN


def test_a_stored_token_goes_only_where_it_was_stored_for(home):
    write(home, "[default]\nurl = https://b.example\n", "[default]\nurl = https://a.example\ntoken = %s\n" % TOKEN)
    assert read(home).token is None
    assert read(home, url="https://a.example/").token == TOKEN
    (home / "t").write_text(OTHER)
    write(home, "[default]\nurl = https://b.example\ntoken_file = %s\n" % (home / "t"))
    assert read(home).token == OTHER and read(home, url="https://a.example").token == TOKEN
    assert read(home, url="https://c.example").token is None


def test_the_same_as_the_command_line_client(make_cli, home):
    """The same files, the same values of the environment: both take the same URL or refuse."""
    cases = [
        ("[default]\nurl = http://127.0.0.1:1\n", {}), ("url = http://127.0.0.1:1\n", {}), ("[default\n", {}), ("[default]\nurl\n", {}),
        ("[default]\nurl: http://127.0.0.1:1 ; a comment\n; another\n# a third\n", {}), ("[default]\nurl = http://127.0.0.1:1/;x\n", {}),
        ("[default]\nuri = http://127.0.0.1:1\n", {}), ("[other]\nuri = x\n[default]\nurl = http://127.0.0.1:1\n", {}),
        ("[default]\ntimeout = 0\n", {}), ("[default]\ntimeout = 1h30m\n", {}), ("[default]\ntimeout = 3 parsecs\n", {}), ("[default]\nretries = many\n", {}),
        ("[default]\nretries = 3\n", {}), ("\ufeff[default]\nurl = http://127.0.0.1:1\n", {}), ("[default]\nurl = http://127.0.0.1:2\nurl = http://127.0.0.1:1\n", {}),
        ("[default]\nurl = ftp://127.0.0.1:1\n", {}), ("[default]\nurl = http://user@127.0.0.1:1\n", {}), ("", {"PROVISOR_URL": "http://127.0.0.1:1/?x"}),
        ("", {"PROVISOR_PROFILE": "a/b"}), ("", {"PROVISOR_PROFILE": "none"}), ("", {"PROVISOR_TOKEN_FILE": "/no/such/file"}),
    ]
    for config, environ in cases:
        write(home, config)
        cli = make_cli(HOME=str(home), **environ)
        theirs = cli("apps", "--timeout", "1s", "--retries", "0", status=None)
        try:
            ours = read(home, **environ).url
        except provisor.ConfigurationError:
            ours = None
        assert (ours is None) == (theirs.status == 2), (config, environ, ours, theirs)
        if ours is not None:
            assert ours.rpartition(":")[2] in theirs.err, (config, ours, theirs)


def test_faults_say_where_and_quote_no_token(home):
    write(home, "[default]\nurl = https://a.example\n", "[default]\nurl = https://a.example\ntoken = %s\n" % TOKEN, mode=0o644)
    with pytest.raises(provisor.ConfigurationError, match="credentials can be read by others: chmod 600 "):
        read(home)
    write(home, credentials="[default]\n%s\n" % TOKEN)
    with pytest.raises(provisor.ConfigurationError, match="credentials: line 2 cannot be understood") as raised:
        read(home)
    assert TOKEN not in str(raised.value)
    write(home, credentials="")
    for url in ("provisor.example", "http://", "https://a.example/?x=1", "https://a b", "http://a.example:99999", "http://[::1"):
        with pytest.raises(provisor.ConfigurationError, match="the argument url"):
            read(home, url=url)
    with pytest.raises(provisor.ConfigurationError) as raised:
        read(home, url="https://user:secret@a.example")
    assert "secret" not in str(raised.value)
    for settings in ({"timeout": 0}, {"retries": -1}, {"user_agent": "a\r\nb"}):
        with pytest.raises(provisor.ConfigurationError):
            provisor.Client("http://a.example", "x", **settings)
