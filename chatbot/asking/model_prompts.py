"""Makes the prompts of one question for a chat model: at first, shorter, and with what it looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from chatbot.answer.prompt import Request, build_prompt, size_of
from chatbot.asking.model_lookups import LookupSession
from chatbot.asking.model_roles import ChatModels
from chatbot.asking.question import Ask
from chatbot.lookup.lookups import Lookups
from chatbot.models.chat import LLM
from chatbot.records import Hit, Notice, Prompt
from chatbot.tools.tool_servers import ToolServers

__all__ = ["NOT_ASKED", "ModelPrompts"]

# A model that takes this many seconds to its first word is asked for answers alone.
SLOW_SECONDS = 20.0
NOT_ASKED = "For the next ten minutes it only writes answers."
# Of the room for a prompt, what is looked up has one of so many parts.
LOOKING_PART = 3
# Of a short prompt: rules, example and question, and a source with its label.
BESIDE_SOURCES, SMALLEST_SOURCE = 400, 200


@dataclass(frozen=True)
class ModelPrompts:
    """What a chat model is sent for one question.

    request: with the pages that are sent.
    reach: the documents that the model may look into; "" if it may look into none.
    """

    model: LLM
    ask: Ask
    request: Request
    reach: str
    models: ChatModels
    lookups: Lookups
    tools: ToolServers

    @cached_property
    def first(self) -> Prompt:
        """The first prompt. Its pages leave room for what calls bring."""
        kept = self._room // LOOKING_PART if self.reach else 0
        return self._sent(self._room - kept, self.request.hits, self.reach)

    def shorter(self) -> Prompt:
        """Another prompt, as the first one was too long for the model."""
        tokens = self.models.too_long(self.ask.owner, min(self._room, size_of(self.first)))
        return self._sent(tokens, self.request.hits, self.reach)

    def settled(self, looked: Prompt) -> Prompt:
        """A prompt that has what calls brought among its sources, for a model that may call no more."""
        made = self._sent(self._room, list(looked.sources.values()), "")
        return replace(
            looked, sources={**looked.sources, **made.sources}, messages=made.messages, pictured=()
        )

    def looking(self, prompt: Prompt, stop: Callable[[], bool]) -> LookupSession | None:
        """Lets the model look further from a prompt of these; None if it may not."""
        if not self.reach:
            return None
        foreign = self.tools.offered(stop).tools if self.ask.tools and self.ask.proposes else {}
        return LookupSession(
            self.lookups, prompt, self.ask.names, self._room, stop, foreign, sees=self.model.sees
        )

    def waited(self, seconds: float) -> Sequence[Notice]:
        """The notices that follow from the seconds to the model's first word or call."""
        if seconds < SLOW_SECONDS or not self.models.found_slow(self.ask.owner):
            return ()
        return (Notice(f"The chat model took {seconds:.0f} s to start answering. {NOT_ASKED}"),)

    @cached_property
    def _room(self) -> int:
        return self.models.prompt_tokens(self.ask.owner)

    def _sent(self, tokens: int, hits: Sequence[Hit], reach: str) -> Prompt:
        hits = hits[: max(1, (tokens - BESIDE_SOURCES) // SMALLEST_SOURCE)]
        return build_prompt(replace(self.request, hits=hits, max_tokens=tokens, reach=reach))
