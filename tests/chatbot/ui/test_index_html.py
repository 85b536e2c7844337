"""The page that a browser is given first: told where its server is, at the address of every page, and
allowed by the policy.
"""

from __future__ import annotations

import re
from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from chatbot.ui import browser_scripts, index_html
from chatbot.ui.index_html import ADDRESSES, PAGES, ROUTES, SCRIPTS, served_index

UI = Path(index_html.__file__).parent


def test_each_page_is_there_and_the_first_has_no_address_of_its_own() -> None:
    for file, _, _ in PAGES:
        assert (UI / file).is_file()
    assert ADDRESSES == ("documents", "key-figures", "compare", "memory", "settings")


def test_the_script_comes_before_all_others() -> None:
    html = served_index('<html><head><script type="module" src="x.js"></script></head></html>')
    addresses = html.index('content="documents key-figures compare memory settings"')
    ours, theirs = html.index("BACKEND_BASE_URL"), html.index("x.js")
    assert addresses < ours < theirs


def test_each_script_is_a_file_that_the_policy_knows() -> None:
    files = [path.read_text("utf-8") for path in (UI / "static").glob("*.js")]
    assert len(files) > 5
    known = {*browser_scripts.SCRIPTS, *SCRIPTS}
    assert known.issuperset(files)


def test_each_address_gives_the_page_and_the_policy_knows_its_scripts() -> None:
    server = Starlette(routes=list(ROUTES))
    with TestClient(server) as client:
        for page in ADDRESSES:
            answer = client.get(f"/{page}")
            assert answer.status_code == 200
            headers = answer.headers
            assert headers["cache-control"] == "no-cache"
            assert headers["content-type"].startswith("text/html")
            scripts = re.findall(r"<script>(.*?)</script>", answer.text, re.S)
            assert tuple(scripts) == SCRIPTS
        elsewhere = client.get("/elsewhere")
        assert elsewhere.status_code == 404
