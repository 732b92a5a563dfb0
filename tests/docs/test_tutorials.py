"""Every tutorial does what it says: its files, commands and Python run in their order, in a folder of their own."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

from granum.caches import own_folder
from granum.pool import store
from tests.docs.pages import FENCE, blocks, commands, run_page

matplotlib.use("Agg")
TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(page for page in TUTORIALS.glob("*.md") if page.name != "index.md")
LONG = {"calibration", "sweep", "digging-machine"}  # more than 15 s


@pytest.mark.parametrize("page", [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in LONG else []) for p in PAGES])
def test_a_tutorial_does_what_it_says(page, tmp_path, monkeypatch):
    here = tmp_path / "page"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(store, "cache_root", lambda: own_folder(tmp_path / "cache"))  # no run is there from before
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_tutorial_has_something_to_do_and_all_of_its_pictures(page):
    assert any(commands(block) if block.language == "console" else True for block in blocks(page))
    text = FENCE.sub("", page.read_text())
    shown = [part.split(")")[0] for part in text.split("](pictures/")[1:]]
    assert shown
    for name in shown:
        picture = TUTORIALS / "pictures" / name
        assert picture.is_file()
        assert picture.stat().st_size <= 60_000


def test_the_index_leads_to_all_tutorials():
    index = (TUTORIALS / "index.md").read_text()
    assert [page.stem for page in PAGES if page.stem not in index] == []
