"""Keeps the names of documents that an imported archive has and whose files are not here yet."""

from __future__ import annotations

from chatbot.store.database import Stored
from chatbot.store.digests import digests_in
from chatbot.store.jobs import UNREAD_ROWS

__all__ = ["EVERY_NAME", "REMEMBERED_SCHEMA", "RememberedDocuments"]

REMEMBERED_SCHEMA = """
create table remembered (sha256 text not null, name text not null, title text, added_at real not null,
removed_at real, primary key (sha256, name)) without rowid;
"""
# Every name of every file, whether the file is here or not. One that was removed or replaced says when.
EVERY_NAME = f"""
select sha256, name, max(title) as title, min(added_at) as added_at,
    case when count(*) = count(removed_at) then max(removed_at) end as removed_at
from (
    select v.sha256, d.name, t.title, v.added_at, d.removed_at
        from document d join version v on v.id = d.active_version or (v.coming = 1 and v.document = d.id)
        left join found_title t on t.version = v.id where v.state != 'reading'
    union all select v.sha256, d.name, t.title, v.added_at, d.replaced_at
        from document d join version v on v.id = d.previous_version
        left join found_title t on t.version = v.id
    union all select digest, name, null, added_at, null from job where {UNREAD_ROWS}
    union all select sha256, name, title, added_at, removed_at from remembered
) as every group by sha256, name"""


class RememberedDocuments(Stored):
    """The names that wait for their files, by SHA-256."""

    def remembered(self) -> set[str]:
        """Returns the SHA-256 of every file that waits."""
        return digests_in(self.read("select distinct sha256 from remembered"))

    def remembered_names(self, digest: str) -> list[tuple[str, float | None]]:
        """Returns (name, when it was removed or replaced, None for neither) of one file."""
        names = "select name, removed_at from remembered where sha256 = ? order by removed_at is not null"
        return [(name, removed_at) for name, removed_at in self.read(names, (digest,))]

    def forget_removed(self, before: float) -> None:
        """Forgets what was removed or replaced before that time, in seconds since the epoch."""
        old = "from remembered where removed_at < ?"
        if self.read(f"select 1 {old} limit 1", (before,)):
            with self.write() as connection:
                connection.execute(f"delete {old}", (before,))
