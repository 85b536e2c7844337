"""The tables of conversations: what was said, every answer in full, what memories stand on; knows no conversation."""

from __future__ import annotations

from chatbot.memory.database import Tables

__all__ = ["TABLES"]

TABLES = Tables(
    "conversations",
    (
        """
create table conversation (id text primary key, owner text not null, begun_at real not null, changed_at real not null, title text,
    deleted_at real, compresses integer not null default 1, recalls_others integer not null default 0,
    off text not null default '') without rowid;
create index conversation_of on conversation(owner, changed_at);
create table exchange (conversation text not null references conversation(id) on delete cascade, number integer not null, user text not null,
    assistant text not null, at real not null, state text not null default 'complete', cited text,
    full_tokens integer, kept_tokens integer, chunks integer, primary key (conversation, number)) without rowid;
create table detail (conversation text not null, number integer not null, answer blob, fingerprint text, vector blob,
    primary key (conversation, number), foreign key (conversation, number) references exchange(conversation, number) on delete cascade) without rowid;
create table source (sha256 text not null, conversation text not null, number integer not null, primary key (sha256, conversation, number),
    foreign key (conversation, number) references exchange(conversation, number) on delete cascade) without rowid;
create table summary (conversation text not null references conversation(id) on delete cascade, first integer not null, last integer not null,
    text text not null, model text not null, primary key (conversation, last)) without rowid;
""",
    ),
)
