"""Where the service is and with which token it is asked: arguments, else the environment, else the chosen profile of
the configuration file, else the default. The files are those of the command line client (`provisor login`), and mean
the same here: docs/cli.md, "Where a value comes from".

A token that is stored is for one URL, the one it was stored with, and goes to no other.
"""
from __future__ import annotations

import math
import os
import re
import stat
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from .errors import ConfigurationError
from .secret import Secret

DEFAULT_URL = "http://127.0.0.1:8080"
TOKEN_MAX = 511
TIMEOUT_S, RETRIES = 60.0, 4
_KEYS = ("url", "token_file", "ca_file", "timeout", "retries", "tolerance", "on_unavailable")
_UNITS = {"": 1.0, "ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0, "d": 86400.0}


class Settings(NamedTuple):
    url: str  # without a slash at its end
    token: Optional[Secret]
    ca_file: Optional[str]
    timeout_s: float
    retries: int


def _trimmed(url: str) -> str:
    return url.rstrip("/")


# --- files --------------------------------------------------------------------------------------------


def _files(environ: Mapping[str, str]) -> Tuple[str, str]:
    """(configuration, credentials beside it)"""
    config, base = environ.get("PROVISOR_CLIENT_CONFIG"), environ.get("XDG_CONFIG_HOME", "")
    if not config and base.startswith("/"):
        config = base + "/provisor/config"
    config = config or environ.get("HOME", "") + "/.config/provisor/config"
    folder, _, name = config.rpartition("/")
    if name == "credentials":
        raise ConfigurationError("the configuration file cannot be named credentials: that is the file for tokens beside it")
    return config, (folder + "/" if "/" in config else "") + "credentials"


def _read(path: str, private: bool) -> str:
    """The text of the file; nothing where there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise ConfigurationError("%s is not a regular file" % path)
            if private and os.name == "posix" and about.st_mode & 0o077:
                raise ConfigurationError("%s can be read by others: chmod 600 %s" % (path, path))
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigurationError("%s cannot be read: %s" % (path, error.strerror)) from None


def _section(path: str, section: str, private: bool) -> Optional[Dict[str, str]]:
    """Keys of that section as inih, which the command line client has, reads them; None: there is no such section.
    No message holds a value, which may be a token."""
    inside, found, key = False, None, ""
    for number, raw in enumerate(_read(path, private).splitlines(), 1):
        line = raw.strip().lstrip("\ufeff")
        if not line or line[0] in ";#":
            continue
        if key and raw[:1] in (" ", "\t"):  # goes on with the value of the line before
            value = line
        elif line[0] == "[":
            end = line.find("]")
            if end < 0:
                raise ConfigurationError("%s: line %d cannot be understood" % (path, number))
            inside, key = line[1:end] == section, ""
            continue
        else:
            match = re.search(r"[=:]", line)
            if match is None:
                raise ConfigurationError("%s: line %d cannot be understood" % (path, number))
            key, value = line[:match.start()].rstrip(), line[match.end():].strip()
        value = re.split(r"(?:^|\s);", value)[0].rstrip()
        if inside:
            found = found if found is not None else {}
            found[key] = value
    return found


def seconds(text: str) -> Optional[float]:
    """"1h30m", "90s", "1.5h", "90"; None: no duration."""
    if re.fullmatch(r"[0-9][0-9.]*(?:[eE][0-9]+)?", text):
        parts: List[Tuple[str, str]] = [(text, "")]
    else:
        parts = re.findall(r"([0-9][0-9.]*)([a-z]+)", text)
        if "".join(a + b for a, b in parts) != text:
            return None
    try:
        total = sum(float(number) * _UNITS[unit] for number, unit in parts)
    except (ValueError, KeyError):
        return None
    return total if parts and 0 < total <= 1e9 else None


def _retries(text: str) -> Optional[int]:
    try:
        value = float(text) if text[:1].isdigit() else math.nan
    except ValueError:
        return None
    return min(1000, int(value)) if math.isfinite(value) else None


# --- token --------------------------------------------------------------------------------------------


def _checked(token: str, where: str) -> Secret:
    if not 0 < len(token) <= TOKEN_MAX or not all("!" <= c <= "~" for c in token):
        raise ConfigurationError("%s holds no token" % where)
    return Secret(token)


def _token_of_file(path: str) -> Secret:
    try:
        with open(path, "rb") as file:
            words = file.read(2 * TOKEN_MAX).decode("latin-1").split()
    except OSError as error:
        raise ConfigurationError("the token cannot be read from %s: %s" % (path, error.strerror)) from None
    return _checked(words[0] if words else "", path)


# --- all ----------------------------------------------------------------------------------------------


def check_url(url: str, where: str) -> str:
    """The URL without a slash at its end; ConfigurationError where it cannot be one of a service. It is not quoted where
    it may hold a password."""
    match = re.fullmatch(r"https?://([^/?#\s]+)(/[^?#\s]*)?", url)
    if match is None or not url.isascii() or not url.isprintable():
        raise ConfigurationError("%s is not the URL of a service: it reads https://provisor.example or %s" % (where, DEFAULT_URL))
    if "@" in match[1]:
        raise ConfigurationError("the URL (%s) holds a user or a password, which it may not" % where)
    place = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?", match[1])
    if place is None or int(place[2] or 1) > 65535:
        raise ConfigurationError("%s is not the URL of a service: its host or port is wrong" % where)
    return _trimmed(url)


class _Profile(NamedTuple):
    config: Dict[str, str]
    credentials: Dict[str, str]


def _profile(name: Optional[str], environ: Mapping[str, str]) -> _Profile:
    """The two files' keys. A profile that was asked for has to be there."""
    chosen = name or environ.get("PROVISOR_PROFILE")
    if chosen and not re.fullmatch(r"[A-Za-z0-9._-]{1,63}", chosen):
        raise ConfigurationError("the name of a profile is at most 63 letters, digits, '.', '_' and '-'")
    config_file, credentials_file = _files(environ)
    config = _section(config_file, chosen or "default", False)
    credentials = _section(credentials_file, chosen or "default", True)
    if chosen and config is None and credentials is None:
        raise ConfigurationError("%s has no profile [%s]; `provisor login --profile %s` makes it" % (config_file, chosen, chosen))
    for key, value in (config or {}).items():
        if key not in _KEYS:
            raise ConfigurationError("%s: there is no setting '%s'" % (config_file, key[:100]))
        if (key == "timeout" and seconds(value) is None) or (key == "retries" and _retries(value) is None):
            raise ConfigurationError("%s: %s cannot be '%s'" % (config_file, key, value[:100]))
    return _Profile(config or {}, credentials or {})


def read_settings(url: Optional[str] = None, token: Optional[str] = None, profile: Optional[str] = None, ca_file: Optional[str] = None,
                  timeout_s: Optional[float] = None, retries: Optional[int] = None,
                  environ: Optional[Mapping[str, str]] = None) -> Settings:
    """What the arguments leave out, from the environment and the files."""
    environ = os.environ if environ is None else environ
    config, credentials = _profile(profile, environ)
    places = (("the argument url", url), ("PROVISOR_URL", environ.get("PROVISOR_URL")), ("the profile", config.get("url")))
    where, given = next(((where, text) for where, text in places if text), ("the default", DEFAULT_URL))
    chosen = check_url(_trimmed(given or ""), where)
    profile_url = _trimmed(config.get("url") or DEFAULT_URL)
    token_url = _trimmed(credentials.get("url") or profile_url)
    token_file = environ.get("PROVISOR_TOKEN_FILE") or (config.get("token_file") if profile_url == chosen else None)
    found: Optional[Secret] = None
    if token is not None:
        found = _checked(token.strip(), "the argument token")
    elif environ.get("PROVISOR_TOKEN"):
        found = _checked((environ["PROVISOR_TOKEN"].split() or [""])[0], "PROVISOR_TOKEN")
    elif token_file:
        found = _token_of_file(token_file)
    elif credentials.get("token") and token_url == chosen:
        found = _checked(credentials["token"], "the file of credentials")
    return Settings(
        chosen,
        found,
        ca_file or environ.get("PROVISOR_CA_FILE") or config.get("ca_file") or None,
        timeout_s if timeout_s is not None else seconds(config.get("timeout", "")) or TIMEOUT_S,
        next(n for n in (retries, _retries(config.get("retries", "")), RETRIES) if n is not None),
    )
