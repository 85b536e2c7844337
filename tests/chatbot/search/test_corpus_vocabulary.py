"""Which documents are about whom a question names."""

from contextlib import closing
from pathlib import Path

from chatbot.search.corpus_vocabulary import is_about, named_documents
from chatbot.search.question_terms import understand
from chatbot.store.library import Library
from tests.chatbot.store.libraries import add_pages, open_library

QUESTION = "What is the deficit of Valmora?"


def version_of(library: Library, name: str) -> int:
    (version,) = library.scope([name])
    return version


def test_a_document_is_about_whom_any_of_its_names_calls(tmp_path: Path) -> None:
    deficit, debt = ["The deficit is 3 per cent of output."], ["The debt is 60 per cent of output."]
    with closing(open_library(tmp_path / "home")) as library:
        for name in ("Valmora_2024.pdf", "scan-17.pdf"):
            add_pages(library, tmp_path / "deficit.pdf", deficit, name)
        add_pages(library, tmp_path / "Plan.pdf", debt)
        scan = version_of(library, "scan-17.pdf")
        found = named_documents(library, understand(QUESTION, QUESTION), ["scan-17.pdf", "Plan.pdf"])
        assert found == {"Valmora": frozenset({scan})}
        assert is_about(library, scan, "Valmora")
        assert not is_about(library, version_of(library, "Plan.pdf"), "Valmora")
