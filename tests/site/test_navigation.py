"""The navigation of the documentation site can be taken in at a glance."""
import yaml

from conftest import ROOT

ENTRIES_MAX = 8


def groups(entries, name):
    """(name of the group, its entries) of the whole tree."""
    yield name, entries
    for entry in entries:
        if isinstance(entry, dict):
            for title, inner in entry.items():
                if isinstance(inner, list):
                    yield from groups(inner, title)


def test_no_group_has_more_entries_than_one_sees_at_once():
    nav = yaml.safe_load((ROOT / "docs" / "site" / "mkdocs.yml").read_text())["nav"]
    sizes = {name: len(entries) for name, entries in groups(nav, "top")}
    assert len(sizes) > 8 and {name: size for name, size in sizes.items() if size > ENTRIES_MAX} == {}
