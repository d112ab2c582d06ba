"""docs/pictures.py draws what the service answers: two well-formed pictures that hold every run."""
import subprocess
import xml.etree.ElementTree

from conftest import ROOT
from test_history_models import SHAPES, fill

SVG = "{http://www.w3.org/2000/svg}"


def draw(service, client, name, folder, *more):
    token = folder / "token"
    token.write_text(client.token + "\n")
    return subprocess.run(["/usr/bin/python3", "-B", ROOT / "docs" / "pictures.py", service.base_url, token, name,
                           folder / "out", *more], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def parse(folder, which):
    return xml.etree.ElementTree.parse(folder / "out" / which).getroot()


def test_pictures_hold_the_runs_and_the_surface(service, client, name, tmp_path):
    fill(client, name, noise=0.05)
    result = draw(service, client, name, tmp_path, "--model", "ernest")
    assert result.returncode == 0, result.stdout
    fit = parse(tmp_path, "fit.svg")
    points = [c for c in fit.iter(SVG + "circle") if c.get("r") == "4"]
    assert len(points) == 2 * len(SHAPES), "each run as a duration and as a residual"
    surface = parse(tmp_path, "speedup.svg")
    words = [t.text for t in surface.iter(SVG + "text")]
    assert "executors" in words and "problem size" in words and any("ernest" in w for w in words)
    assert list(surface.iter(SVG + "circle")), "the ridge of a law that has one"


def test_a_kind_that_predicts_from_tables_is_drawn_too(service, client, name, tmp_path):
    fill(client, name, of=lambda n, m: 9 + 4 * n / m + 0.3 * m, noise=0.08)
    candidates = client.get("/v1/applications/%s/models" % name, 200).json()["candidates"]
    with_tables = [c["model"] for c in candidates if c["fit"] and c.get("tables")]
    assert "combined" in with_tables
    for kind in with_tables:
        result = draw(service, client, name, tmp_path, "--model", kind)
        assert result.returncode == 0, "%s: %s" % (kind, result.stdout)
        points = [c for c in parse(tmp_path, "fit.svg").iter(SVG + "circle") if c.get("r") == "4"]
        assert len(points) == 2 * len(SHAPES), kind


def test_without_a_model_nothing_is_drawn(service, client, name, tmp_path):
    fill(client, name, shapes=[(8, 1), (8, 2)])
    result = draw(service, client, name, tmp_path)
    assert result.returncode != 0 and "leave-one-out" in result.stdout
    assert not (tmp_path / "out").exists()
