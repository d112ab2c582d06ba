"""PostgreSQL for tests: one server a process of tests, and a database of its own for each service.

Making a server and migrating its schema takes seconds, a copy of a migrated database a tenth of one. So a
server is migrated once, all processes of a run (tests/check.py) start copies of its files, and each copy serves
as the template of its process's databases; a test that kills or restarts its server gets a copy of the files
instead, with a server of its own.
"""
import contextlib
import fcntl
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PRIVATE_POSTGRES = ROOT / "ops" / "private-postgres"

# What a crash would lose, nobody looks for: every test that crashes PostgreSQL has a durable server of its own.
NOT_DURABLE = ("fsync", "full_page_writes", "synchronous_commit")


def run(*words, **kwargs):
    result = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
    if result.returncode != 0:
        raise RuntimeError("%s: status %d: %s" % (" ".join(map(str, words)), result.returncode,
                                                  (result.stdout + result.stderr)[-3000:]))
    return result.stdout


class Server:
    """A private PostgreSQL in a directory, and the connection strings of its two roles."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def start(self):
        run(PRIVATE_POSTGRES, "start", "--data-dir", self.directory)
        self.service_url = (self.directory / "database_url").read_text().strip()
        self.owner_url = (self.directory / "database_owner_url").read_text().strip()

    def stop(self):
        run(PRIVATE_POSTGRES, "stop", "--data-dir", self.directory)

    def psql(self, database, *words):
        """What psql prints as the superuser."""
        return run(PRIVATE_POSTGRES, "psql", "--data-dir", self.directory, "-d", database, *words)


class Database:
    """One database of a server: name, connection strings, and a superuser's psql. shared: the server has others."""

    def __init__(self, server, name="provisor", shared=False):
        self.server, self.name, self.shared = server, name, shared

    def url_of(self, url):
        return re.sub(r"@/provisor\?", "@/%s?" % self.name, url)

    @property
    def service_url(self):
        return self.url_of(self.server.service_url)

    @property
    def owner_url(self):
        return self.url_of(self.server.owner_url)

    def psql(self, *words):
        return self.server.psql(self.name, *words)


def new_database(directory):
    """The database of a server of its own in that directory, created unless it is there; nobody has migrated it yet."""
    server = Server(directory)
    server.start()
    return Database(server)


# Names the folder in which the processes of a run share the files of a migrated server; not set: each makes its own. No
# setting of provisord's.
TEMPLATE_FOLDER = "TEST_DATABASE_TEMPLATE"


@contextlib.contextmanager
def alone_in(folder):
    """No other process is in this part for the same folder."""
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Template:
    """A migrated server, started, and its files as they were when it had just been migrated.

    migrate  called with the environment in which `provisord migrate` finds the database
    """

    def __init__(self, migrate):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="provisor-template-"))
        self.numbers = itertools.count(1)
        os.chmod(self.scratch, 0o755)  # PostgreSQL runs as another user when this is root
        self.server = Server(self.scratch / "server")
        folder = pathlib.Path(os.environ.get(TEMPLATE_FOLDER) or self.scratch)
        self.files = folder / "files"
        try:
            with alone_in(folder):
                if not self.files.is_dir():
                    self.make_files(migrate)
            run("cp", "-a", self.files, self.server.directory)
            self.server.start()
            for name in NOT_DURABLE:
                self.server.psql("postgres", "-qc", "ALTER SYSTEM SET %s = off" % name)
            self.server.psql("postgres", "-qc", "SELECT pg_reload_conf()")
        except BaseException:
            self.close()
            raise

    def make_files(self, migrate):
        first = Server(self.scratch / "first")
        try:
            first.start()
            first.psql("postgres", "-qc", "ALTER SYSTEM SET max_connections = 400")  # from the next start on
            migrate({"PROVISOR_DATABASE_URL": first.service_url, "PROVISOR_DATABASE_OWNER_URL": first.owner_url})
        finally:
            first.stop()
        begun = self.files.with_name("files.begun")  # what a process that was killed left of them is none
        shutil.rmtree(begun, ignore_errors=True)
        shutil.move(first.directory, begun)
        begun.rename(self.files)

    def database(self):
        """A new database of the one server. What a database is granted is not copied from its template."""
        name = "test_%d" % next(self.numbers)
        self.server.psql("postgres", "-q", "-v", "ON_ERROR_STOP=1",
                         "-c", "CREATE DATABASE %s TEMPLATE provisor OWNER provisor_owner" % name,
                         "-c", "REVOKE ALL ON DATABASE %s FROM PUBLIC" % name,
                         "-c", "GRANT CONNECT ON DATABASE %s TO provisor_service" % name)
        return Database(self.server, name, shared=True)

    def drop(self, database):
        self.server.psql("postgres", "-qc", "DROP DATABASE IF EXISTS %s WITH (FORCE)" % database.name)

    def own_server(self, directory):
        """The database of a new, durable server in that directory (which must not exist), not shared with anybody."""
        run("cp", "-a", self.files, directory)
        return new_database(directory)

    def close(self):
        try:
            self.server.stop()
        finally:
            shutil.rmtree(self.scratch, ignore_errors=True)
