"""Other languages are told from English, short questions and names among them."""

from __future__ import annotations

import pytest

from ingestion.language.language_detection import is_foreign

FOREIGN = """
Wie hoch ist das Haushaltsdefizit?
Fällt auf Altbatterien noch Einfuhrzoll an?
Quel est le taux directeur de la banque centrale ?
¿Cuál es el límite del déficit fiscal?
Qual è il tasso di inflazione previsto per il 2025?
Qual é a meta de inflação do Banco Central?
Hoe hoog is het begrotingstekort van Nederland?
Jaki jest deficyt budżetu na rok 2025?
Каков дефицит бюджета?
財政赤字はどれくらいですか
งบประมาณขาดดุลเท่าไร
ما هو العجز المالي؟
""".strip().split("\n")


@pytest.mark.parametrize("text", FOREIGN)
def test_other_languages_are_foreign(text: str) -> None:
    assert is_foreign(text)


ENGLISH = (
    "What is the deficit ceiling?|deficit ceiling|total revenue 2024, actual against budget|"
    "net income of Banco Santander|Who chairs the Banque de France and the Banca d'Italia?|"
    "What did Société Générale say of its outlook?|OMERS deficit?|2025-26?|π and Δ in the formula"
).split("|")
ENGLISH += [""]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_not_whatever_names_it_has(text: str) -> None:
    assert not is_foreign(text)
