"""The folder db/migrations is the list of migrations: what is built in is all of it, without a gap."""
import subprocess
import sys

import pytest

import house

EMBED = house.SERVICE / "store" / "sql" / "embed_migrations.py"


def embed(folder, out):
    return subprocess.run([sys.executable, EMBED, out / "m.c", out / "m.d", folder], text=True, stderr=subprocess.PIPE)


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
