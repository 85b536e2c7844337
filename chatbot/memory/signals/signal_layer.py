"""Turns news signals into notes, never without their source.

They come from the database, or from local templates if it has none or cannot be asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from chatbot.errors import StoreError
from chatbot.memory.layers import LayerOpening
from chatbot.memory.signals.records import RecalledEvent, SignalOptions, SignalsError
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.templates import TEMPLATES, Template, match_templates, templates_in
from chatbot.memory.signals.writing_scripts import script_of
from chatbot.records import Note, Notice, Recall
from chatbot.settings import Settings
from ingestion.invisible_characters import one_line

__all__ = ["NOT_ADVICE", "SignalLayer", "open_layer", "options_in"]

NOT_ADVICE = "machine-made, not advice"
# What a note may take of a signal's summary.
MOST_CHARACTERS = 400
LONGEST_LINK = 120
PAUSED = "The signal database failed three times in a row and is paused."
# Kinds of failure that are no fault of the database's: its owner has to act, and asking again costs nothing.
HARMLESS = frozenset({"vector", "embedder"})


def open_layer(opening: LayerOpening) -> SignalLayer:
    """The layer over the signals of a store; opens no database."""
    signals = Signals(opening.embedder, options_in(opening.settings), database=opening.database)
    return SignalLayer(signals, options_of=lambda owner: options_in(opening.settings_of(owner)))


def options_in(settings: Settings) -> SignalOptions:
    """What settings say of signals."""
    return SignalOptions(
        settings.signals_database or settings.database,
        settings.signals_threshold,
        settings.signals_confidence,
        settings.signals_hours,
        settings.signals_notes,
        days=settings.signals_days,
        templates=settings.home / "memories",
        assets=tuple(settings.signals_assets.replace(",", " ").upper().split()),
    )


class SignalLayer:
    """Recalls signals of news like the question.

    While no news was imported it costs nothing: no connection and no server.
    """

    name = "signals"

    def __init__(self, signals: Signals, *, options_of: Callable[[str], SignalOptions] | None = None) -> None:
        """options_of: what holds for an owner, default the store's own for all."""
        self.signals = signals
        self.options_of = options_of or (lambda owner: signals.options)

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall. If the database fails, local templates stand in and a notice says so.

        Raises nothing.
        """
        options, breaker = self.options_of(recall.owner), self.signals.breaker
        options = replace(options, most_notes=min(n, options.most_notes))
        if options.most_notes < 1 or self.signals.off:
            return []
        if not breaker.allows():
            return self._without(recall, options, PAUSED, "")
        at = datetime.fromtimestamp(recall.now or time.time(), UTC)
        try:
            found = self.signals.find(
                recall.question, recall.vector, options.most_notes, as_of=at, options=options
            )
        except StoreError as error:
            kind = error.kind if isinstance(error, SignalsError) else "other"
            if kind == "off":
                return []
            if kind not in HARMLESS:
                breaker.failed()
            return self._without(recall, options, error.message, error.hint)
        breaker.succeeded()
        if found:
            in_chinese = script_of(recall.question) == "CJK"
            return [self._note(event, in_chinese=in_chinese) for event in found]
        return self.templates(recall, options, "no recent signal is similar to the question")

    def _without(self, recall: Recall, options: SignalOptions, problem: str, hint: str) -> list[Note]:
        notes = self.templates(recall, options, "the signal database is not available")
        instead = "local templates are used" if notes else "no local template fits the question"
        recall.tell(Notice(f"Answered without news signals: {problem.rstrip('.')}; {instead}.", hint))
        return notes

    def templates(self, recall: Recall, options: SignalOptions, why: str) -> list[Note]:
        """The local templates that fit a question. why: they stand in, for their source."""
        matched = match_templates(
            recall.question, templates_in(*filter(None, (TEMPLATES, options.templates)))
        )
        sure = [template for template in matched if template.base_confidence >= options.confidence]
        return [self._template_note(template, why) for template in sure[: options.most_notes]]

    def _template_note(self, template: Template, why: str) -> Note:
        name = f"template {template.id}"
        confidence = f"{template.base_confidence:.2f}"
        source = f"undated local {name}, because {why}; confidence {confidence}; {NOT_ADVICE}"
        text = f"{template.title}: {template.action}{_named(template.assets)}. {template.summary}"
        return Note(self.name, one_line(source), one_line(text[:MOST_CHARACTERS]), one_line(name))

    def _note(self, found: RecalledEvent, *, in_chinese: bool) -> Note:
        reading = found.reading
        how = f"similarity {found.similarity:.2f}"
        if found.by == "keywords":
            script = script_of(found.text).capitalize()
            how = f"matched by keywords ({found.similarity:.0%} of the question's)"
            if script not in {"", "Latin"}:
                how += f", as the embedding model does not read {script} script"
        parts = [
            f"news, {found.source}",
            f"{found.at:%Y-%m-%d %H:%M} UTC",
            found.link[:LONGEST_LINK],
            f"confidence {reading.confidence:.2f} by {re.sub('^rules-.*', 'rules', reading.analyser)}",
            how,
            NOT_ADVICE,
        ]
        source = "; ".join(map(one_line, filter(None, parts)))
        summary = (in_chinese and reading.summary_cn) or reading.summary
        text = f"{reading.action.capitalize()}{_named(reading.assets)}: {summary}"
        return Note(self.name, source, one_line(text[:MOST_CHARACTERS]), one_line(found.source))


def _named(assets: Sequence[str]) -> str:
    return f" {', '.join(assets)}" if assets else ""
