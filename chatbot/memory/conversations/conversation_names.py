"""Names conversations as their owners do: two who choose the same name get two conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatbot.memory.conversations.conversation_store import Conversations

__all__ = ["LOCAL", "NAME", "PRIVATE", "id_of", "name_of"]

# The owner of what the command line asks, and of calls from this machine that nobody signed.
LOCAL = "local"
# What a conversation may be called.
NAME = r"^[A-Za-z0-9_-]{1,64}$"
# The ids of conversations that are never written to disk begin with this.
PRIVATE = "private-"


def id_of(conversations: Conversations, owner: str, name: str) -> str:
    """Returns the id of an owner's conversation of this name, whether it has begun or not.

    Where the pages or the command line began it, its name is its id, and so it was for all in earlier
    versions. Elsewhere the id begins with the owner, whom no name can forge: it has no dot.
    """
    private = PRIVATE if name.startswith(PRIVATE) else ""
    own = f"{private}{owner}.{name}"
    whose = conversations.owner_of(name)
    if whose == owner or (owner == LOCAL and not whose and not conversations.owner_of(own)):
        return name
    return own


def name_of(conversation: str) -> str:
    """Returns the name of a conversation by its id."""
    return conversation.rpartition(".")[2]
