"""The folder db/migrations is the list of migrations: what is built in is all of it, without a gap."""
import re
import subprocess
import sys

import pytest

import house

EMBED = house.SERVICE / "store" / "sql" / "embed_migrations.py"


def embed(folder, out, *further):
    return subprocess.run([sys.executable, EMBED, out / "m.c", out / "m.d", folder, *further], text=True, stderr=subprocess.PIPE)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "migrations"
    made.mkdir()
    (made / "0001_first.sql").write_text("SELECT 1;")
    (made / "0002_second.sql").write_text("SELECT 2;")
    return made


def test_every_migration_of_the_folder_is_built_in(tmp_path):
    folder = house.ROOT / "db" / "migrations"
    names = sorted(p.name for p in folder.iterdir())
    assert embed(folder, tmp_path).returncode == 0
    text = (tmp_path / "m.c").read_text()
    assert len(names) >= 17 and all('"%s"' % name[5:-4] in text for name in names)
    assert all(str(folder / name) in (tmp_path / "m.d").read_text().split() for name in ["", *names])


@pytest.mark.parametrize("name", ["0004_gap.sql", "0002_twice.sql", "0003_Name.sql", "0003_notes.txt"])
def test_a_gap_or_another_file_is_refused(folder, tmp_path, name):
    assert embed(folder, tmp_path).returncode == 0
    (folder / name).write_text("SELECT 3;")
    assert embed(folder, tmp_path).returncode != 0


INDEX = "CREATE INDEX CONCURRENTLY IF NOT EXISTS run_x ON provisor.run (team_id, state) WHERE state <> 'a\"b';"


def test_how_a_migration_is_applied_stands_in_its_head(folder, tmp_path):
    (folder / "0003_third.sql").write_text("-- Why.\n-- provisor: no transaction\n%s\n" % INDEX)
    (folder / "0004_fourth.sql").write_text("-- provisor: oldest program 0003\nSELECT 4;")
    assert embed(folder, tmp_path).returncode == 0
    text = (tmp_path / "m.c").read_text()
    assert '"run_x", "run",' in text and r"(team_id, state) WHERE state <> 'a\"b'" in text and "sql_3, 0, &index_3}" in text
    assert "sql_4, 3, NULL}" in text and "sql_1, 0, NULL}" in text


def test_a_further_folder_follows_the_first(folder, tmp_path):
    further = tmp_path / "further"
    further.mkdir()
    (further / "0001_later.sql").write_text("SELECT 5;")
    assert embed(folder, tmp_path, further).returncode == 0
    assert '{3, "later"' in (tmp_path / "m.c").read_text()


@pytest.mark.parametrize("text, says", [
    ("-- provisor: at leisure\nSELECT 3;", "at leisure"),
    ("-- provisor: oldest program 0004\nSELECT 3;", "lacks this migration"),
    ("-- provisor: no transaction\nCREATE INDEX i ON provisor.run (id);", "CREATE INDEX CONCURRENTLY"),
    ("-- provisor: no transaction\n%s\nSELECT 3;" % INDEX, "CREATE INDEX CONCURRENTLY"),
    ("-- provisor: no transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS i ON provisor.run (%s);" % ("id, " * 700), "2000"),
])
def test_a_head_that_cannot_be_followed_is_refused(folder, tmp_path, text, says):
    (folder / "0003_third.sql").write_text(text)
    refused = embed(folder, tmp_path)
    assert refused.returncode != 0 and says in refused.stderr, refused.stderr


def test_indexes_of_tables_that_exist_are_made_beside_the_work(tmp_path):
    """From the migration on that made it possible: an index made inside a transaction stops all writers of its table."""
    paths = sorted((house.ROOT / "db" / "migrations").iterdir())
    names = [path.name.partition("_")[2] for path in paths]
    for path in paths[names.index("oldest_program.sql"):]:
        text = re.sub(r"(?m)--.*$", "", path.read_text())
        made = set(re.findall(r"CREATE TABLE (provisor\.\w+)", text))
        indexed = set(re.findall(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)[\w\s]*?ON (?:ONLY )?(provisor\.\w+)", text))
        assert indexed <= made, path.name
