"""The command line: arguments in, service calls, lines out; a thin shell that decides nothing itself."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import getpass
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.errors import ProjectError, QuestionError, StoreError, UsageError
from chatbot.settings import Settings, load_settings
from chatbot.store.names import known_as

if TYPE_CHECKING:
    from chatbot.records import Answer, DocumentRow, Exchange, Hit, Notice, Understanding
    from chatbot.service import Chatbot
    from chatbot.store.library import AddResult, Upload

__all__ = ["main"]

STARTED = time.perf_counter()
DONE, FAILED, USAGE, UNUSABLE = 0, 1, 2, 3
# Terminal control must not come from a document or a model: everything but line ends and tabs is made visible.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Pages that one search may be asked for; retrieval.MOST_HITS, which this module must not load before it is needed.
MOST_PAGES = 10_000
ROW_HINT = f'A line is {{"id", "query", "documents": [NAME]?, "k": 1 to {MOST_PAGES}?, "history": [{{"user", "assistant"}}]?}}.'
MODES = ("hybrid", "vector", "keyword")
STRATEGIES = ("average", "weighted", "per_chunk", "rrf", "union", "intersection")
PASSWORD_TRIES = 3
# What `list` tells of a document, beside its name.
LISTED = ["id", "title", "state", "pages", "chunks", "embedded", "ocr_pages", "failed_pages"]
LISTED += ["added_at", "removed_at", "replaced_at", "same_as", "protected", "period", "status"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 done, 1 a document or question failed, 2 usage, 3 store unusable."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options, load_settings())
        sys.stdout.flush()
        return code
    except StoreError as error:
        return _complain(error, UNUSABLE)
    except UsageError as error:
        return _complain(error, USAGE)
    except ProjectError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        print("\nStopped. What was finished is kept.", file=sys.stderr)
        return 130
    except OSError as error:  # a pipe that closed, a full disk behind standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            print(_printable(f"Error: The output cannot be written: {error.strerror}."), file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m chatbot", description="Answers questions about your PDFs, each statement with its page.")
    commands = parser.add_subparsers(dest="command", required=True)

    add = _command(commands, "add", _add, "add PDF files, or folders of them")
    add.add_argument("paths", nargs="+", metavar="PATH", type=Path)
    add.add_argument("--name", help="name to keep a single file under (default: its file name)")
    add.add_argument("--passwords", metavar="FILE.tsv", type=Path, help="lines of file name, tab, password for protected files; never stored")

    _command(commands, "list", _list, "list the documents")
    remove = _command(commands, "remove", _remove, "hide a document; it can be restored for 7 days")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("--purge", action="store_true", help="erase it now, beyond restoring")
    restore = _command(commands, "restore", _restore, "bring a removed document back")
    restore.add_argument("name", metavar="NAME")

    rebuild = _command(commands, "rebuild", _rebuild, "make the store anew from the kept copies, or from the text it holds")
    rebuild.add_argument("--passwords", metavar="FILE.tsv", type=Path, help="as for add; a protected file without one keeps the text it has")
    doctor = _command(commands, "doctor", _doctor, "finish what a stop left, then check the store; prints nothing when it is sound")
    doctor.add_argument("--repair", action="store_true", help="mend what can be mended")

    search = _command(commands, "search", _search, "find the pages for a query")
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument("-k", type=_page_count, default=3, help=f"how many pages, 1 to {MOST_PAGES} (default 3)")
    search.add_argument("--mode", choices=MODES, default="hybrid")
    search.add_argument("--strategy", choices=STRATEGIES, default="average", help="how the pieces of a long query are combined (default average)")
    search.add_argument("--raw", action="store_true", help="with --mode vector: the k nearest chunks, not pages")
    ask = _command(commands, "ask", _ask, "ask a question")
    ask.add_argument("query", nargs="?", metavar="QUESTION")
    ask.add_argument("--conversation", metavar="ID", help="remember this exchange, and use those before it")
    for command in (search, ask):
        command.add_argument("--document", action="append", default=[], metavar="NAME", help="stay in this document (may be repeated)")
        command.add_argument("--batch", action="store_true", help="read queries as JSON lines from standard input")
    _add_compress(commands)
    return parser


def _add_compress(commands: Any) -> None:
    compress = _command(commands, "compress", _compress, "cut a conversation to a share of its tokens, sentences verbatim")
    compress.add_argument("file", metavar="FILE", type=Path, help='messages as JSON lines: {"id", "role", "content"}')
    compress.add_argument("--max-tokens", type=int, default=20_000, help="up to so many tokens nothing is cut (default 20000)")
    compress.add_argument("--ratio", type=float, default=0.5, help="share of all tokens that is kept (default 0.5)")
    compress.add_argument("--keep-last", type=int, default=2, help="messages at the end that stay as they are (default 2)")
    compress.add_argument("--scoring", choices=("query", "seed"), default="query", help="by the query, or by a fixed formula (default query)")
    compress.add_argument("--rho", type=float, help="what whole chunks take of what is cut, 0 to 1 (default 1 by query, 0.5 by seed)")
    compress.add_argument("--gamma", type=float, default=1.0, help="how much more the less important loses (default 1)")
    compress.add_argument("--no-vectors", action="store_true", help="compare words only: faster, and finds a little less")
    asked = compress.add_mutually_exclusive_group()
    asked.add_argument("--query", metavar="Q", default="", help="what is to be asked of the conversation next")
    asked.add_argument("--queries", metavar="FILE", type=Path, help='queries as JSON lines, {"id", "query"}: one object printed for each')


def _page_count(text: str) -> int:
    """The argument of -k. Raises ArgumentTypeError, which argparse makes exit code 2 of."""
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not _is_page_count(count):
        raise argparse.ArgumentTypeError(f"k is {text[:20]}: ask for 1 to {MOST_PAGES} pages")
    return count


def _is_page_count(value: object) -> bool:
    return type(value) is int and 1 <= value <= MOST_PAGES  # True is an int to isinstance


def _command(commands: Any, name: str, run: Callable[..., int], text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text.capitalize() + ".")
    command.add_argument("--json", action="store_true", help="one JSON object a line on standard output")
    command.set_defaults(run=run)
    return command


@contextlib.contextmanager
def _chatbot(settings: Settings) -> Iterator[Chatbot]:
    from chatbot.service import Chatbot

    with Chatbot(settings) as chatbot:
        yield chatbot


# --- documents ------------------------------------------------------------------------------------------------------------------


def _add(options: argparse.Namespace, settings: Settings) -> int:
    uploads = _uploads(options)
    failed = False
    with _chatbot(settings) as chatbot, _progress() as progress:
        locked: set[str] = set()
        for result in chatbot.add(uploads, progress=progress, started=STARTED):
            if result.needs_password and _interactive():
                locked.add(result.document)
                continue
            failed |= result.status == "failed"
            _emit(_add_line(result), _add_text(result), as_json=options.json)
        for upload in uploads:
            name = known_as(upload.name or upload.path.name)
            if name in locked:
                locked.remove(name)
                failed |= not _add_locked(chatbot, upload, options)
        for result in chatbot.resume(progress=progress):
            print(_printable(f"Left by an earlier run: {_add_text(result)}"), file=sys.stderr)
    return FAILED if failed else DONE


def _interactive() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _add_locked(chatbot: Chatbot, upload: Upload, options: argparse.Namespace) -> bool:
    """Ask for a protected file's password by its name, a few times; False where it was not given."""
    name = upload.name or upload.path.name
    for _ in range(PASSWORD_TRIES):
        try:
            password = getpass.getpass(_printable(f"Password for {name} (Enter leaves it out): "), sys.stderr)
        except EOFError:
            password = ""
        result = next(iter(chatbot.add([dataclasses.replace(upload, password=password or None)])))
        if not (result.needs_password and password):
            break
        print("That password does not open it.", file=sys.stderr)
    _emit(_add_line(result), _add_text(result), as_json=options.json)
    return result.status != "failed"


def _uploads(options: argparse.Namespace) -> list[Upload]:
    from chatbot.store.library import Upload

    passwords = _passwords(options.passwords)
    paths = [inside for path in options.paths for inside in _walk(path)]
    if options.name is not None and len(paths) != 1:
        raise UsageError(f"--name goes with one file, and there are {len(paths)}.", hint="Add the files one at a time.")
    return [Upload(path, options.name or "", passwords.get(known_as(path.name))) for path in paths]


def _walk(path: Path) -> list[Path]:
    """A file as it is; a folder's PDFs in name order. A folder without any stays as it is, to be reported like a file that cannot be read."""
    inside = sorted(found for found in path.rglob("*") if found.suffix.casefold() == ".pdf" and found.is_file()) if path.is_dir() else []
    return inside or [path]


def _passwords(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(
            f"The passwords in {path} cannot be read: {type(error).__name__}.", hint="One line a file: its name, a tab, the password."
        ) from error
    return {known_as(name): password for name, tab, password in (line.partition("\t") for line in lines) if tab}


def _add_line(result: AddResult) -> dict[str, Any]:
    return {
        "document": result.document,
        "id": result.id,
        "status": result.status,
        "pages": result.pages,
        "chunks": result.chunks,
        "ocr_pages": result.ocr_pages,
        "failed_pages": [{"page": page, "reason": reason} for page, reason in result.failed_pages],
        "seconds": result.seconds,
        "searchable_seconds": result.searchable_seconds,
        "error": result.error,
        **({"warning": result.warning} if result.warning else {}),
    }


def _add_text(result: AddResult) -> str:
    if result.error:
        return f"failed     {result.document}: {result.error}"
    parts = [f"{result.pages} pages", f"{result.chunks} chunks"]
    parts += [f"{result.ocr_pages} read by OCR"] if result.ocr_pages else []
    parts += [f"{result.seconds:.1f} s"] if result.status != "unchanged" else []
    lines = [f"{result.status:<10} {result.document}: {', '.join(parts)}"]
    lines += [f"           page {page}: {reason}" for page, reason in result.failed_pages]
    return "\n".join([*lines, *([f"           {result.warning}"] if result.warning else [])])


def _list(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.catalog import Catalog, Waiting

    path = settings.store / "catalog.sqlite3"
    rows: list[DocumentRow] = []
    waiting: list[Waiting] = []
    if path.exists():
        catalog = Catalog(path, read_only=True)  # beside a running chat too, waiting for nobody
        rows, waiting = catalog.documents(), catalog.waiting()
        catalog.close()
    for row in rows:
        line = {"document": row.name, **{field: getattr(row, field) for field in LISTED}}
        facts = f" ({', '.join(said)})" if (said := [fact for fact in (row.period, row.status) if fact]) else ""
        same = f" (the same file as {row.same_as})" if row.same_as else ""
        _emit(line, f"{row.state:<9} {row.pages:>5} pages {row.embedded:>6}/{row.chunks} vectors  {row.name}{facts}{same}", as_json=options.json)
    for taken in waiting:
        print(_printable(f"Not added yet: {taken.name}{f' ({taken.problem})' if taken.problem else ''}"), file=sys.stderr)
    copies = len(list(settings.documents.glob("*.pdf"))) if not rows and settings.documents.is_dir() else 0
    if copies > len(waiting):
        print(f"The catalogue is empty, and {copies} kept copies are there: python -m chatbot doctor", file=sys.stderr)
    elif not rows:
        print("No documents yet. Add some: python -m chatbot add FOLDER", file=sys.stderr)
    return DONE


def _remove(options: argparse.Namespace, settings: Settings) -> int:
    with _chatbot(settings) as chatbot:
        chatbot.remove(options.name, purge=options.purge)
    undo = "Erased." if options.purge else f"Removed. Undo within 7 days: python -m chatbot restore -- {shlex.quote(known_as(options.name))}"
    _emit({"document": options.name, "status": "purged" if options.purge else "removed"}, undo, as_json=options.json)
    return DONE


def _restore(options: argparse.Namespace, settings: Settings) -> int:
    with _chatbot(settings) as chatbot:
        chatbot.restore(options.name)
    _emit({"document": options.name, "status": "restored"}, "Restored.", as_json=options.json)
    return DONE


def _rebuild(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.rebuilding import rebuild

    passwords, failed = _passwords(options.passwords), False
    with _progress() as progress:
        for result in rebuild(settings, passwords, progress=progress):
            failed |= result.status == "failed"
            _emit(_add_line(result), _add_text(result), as_json=options.json)
    return FAILED if failed else DONE


def _doctor(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.doctor import examine

    found = False
    with _chatbot(settings) as chatbot, _progress() as progress:
        for finding in examine(chatbot.library, repair=options.repair, progress=progress):
            found |= not finding.mended
            line = {"document": finding.document, "problem": finding.problem, "fix": finding.fix, **({"mended": True} if finding.mended else {})}
            text = f"{'mended' if finding.mended else 'problem'}    {finding.document or 'store'}: {finding.problem}. {finding.fix}"
            _emit(line, text, as_json=options.json)
    if not found:
        print("The store is sound.", file=sys.stderr)
    return FAILED if found else DONE


# --- searching and asking -------------------------------------------------------------------------------------------------------


def _search(options: argparse.Namespace, settings: Settings) -> int:
    if options.raw and options.mode != "vector":
        raise UsageError("--raw goes with --mode vector.", hint="Add --mode vector.")
    if options.raw and options.strategy != "average":
        raise UsageError("--raw goes with --strategy average.", hint="Leave one of them out.")

    def find(chatbot: Chatbot, query: str, names: Sequence[str], k: int) -> list[Hit]:
        from chatbot.service import Find

        with _progress() as progress:
            asked = Find(query, tuple(names), options.mode, k, options.raw, options.strategy)
            return chatbot.find(asked, progress=partial(progress, "query"), tell=_note)

    def run(chatbot: Chatbot, row: dict[str, Any]) -> dict[str, Any]:
        query = chatbot.standalone(row["query"], _history(row))
        k = options.k if row["k"] is None else row["k"]
        hits = find(chatbot, query, row["documents"], k)
        return {"id": row["id"], "search_query": query, "hits": [_hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]}

    if options.batch:
        return _batch(options, settings, run)
    with _chatbot(settings) as chatbot:
        hits = find(chatbot, _query(options), options.document, options.k)
        waiting = len(chatbot.library.catalog.waiting())
    for rank, hit in enumerate(hits, 1):
        _emit(_hit_line(rank, hit), _hit_text(rank, hit), as_json=options.json)
    if waiting:
        print(f"{waiting} files are not added yet: python -m chatbot doctor", file=sys.stderr)
    if not hits:
        print("Nothing found.", file=sys.stderr)
    return DONE


def _ask(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.records import Answer, Notice
    from chatbot.service import Ask

    def answer(chatbot: Chatbot, ask: Ask) -> Answer:
        for event in chatbot.ask(ask):
            if isinstance(event, Notice):
                _note(event)
            elif isinstance(event, Answer):
                return event
        raise AssertionError("an ask ends in an answer")

    def run(chatbot: Chatbot, row: dict[str, Any]) -> dict[str, Any]:
        history = tuple(_history(row))
        return {"id": row["id"], **_answer_line(answer(chatbot, Ask(row["query"], tuple(row["documents"]), None, history)))}

    if options.batch:
        return _batch(options, settings, run)
    with _chatbot(settings) as chatbot:
        conversation = chatbot.conversations.begin("local", options.conversation) if options.conversation else None
        given = answer(chatbot, Ask(_query(options), tuple(options.document), conversation))
    _emit(_answer_line(given), _answer_text(given), as_json=options.json)
    return FAILED if given.error else DONE


def _compress(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.memory.compress_file import Asked, compress_file, result_line, result_text

    asked = Asked(options.file, options.query, options.queries, not options.no_vectors)
    given = {field: getattr(options, field) for field in ("max_tokens", "rho", "gamma", "keep_last", "scoring")}
    for number, result in compress_file(asked, {**given, "compression_ratio": options.ratio}, settings):
        _emit(result_line(number, result), result_text(result), as_json=options.json or options.queries is not None)
    return DONE


def _batch(options: argparse.Namespace, settings: Settings, run: Callable[[Chatbot, dict[str, Any]], dict[str, Any]]) -> int:
    """One output line for each line of standard input, in order; a failed one is a line with "error"."""
    failed = False
    with _chatbot(settings) as chatbot:
        for number, text in enumerate(sys.stdin.buffer, 1):
            if not text.strip():
                continue
            line: dict[str, Any] = {"id": None, "line": number}
            try:
                row = _row(text, options)
                line = {"id": row["id"]}
                if row["wrong"]:
                    raise QuestionError(f"Of the line, {' and '.join(row['wrong'])} cannot be used.", hint=ROW_HINT)
                line = run(chatbot, row)
            except ProjectError as error:
                line["error"] = str(error)
            failed |= bool(line.get("error"))
            _emit(line, "", as_json=True)
    return FAILED if failed else DONE


def _row(text: bytes, options: argparse.Namespace) -> dict[str, Any]:
    """One query of a batch; "wrong" names the parts that cannot be used. Raises QuestionError where the line is no JSON object."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuestionError("The line is not JSON.", hint=ROW_HINT) from error
    if not isinstance(row, dict):
        raise QuestionError("The line is not an object.", hint=ROW_HINT)
    documents, history = row.get("documents") or [], row.get("history") or []
    checks = {
        "id": not isinstance(row.get("id"), float),  # NaN and infinities are no JSON
        "query": isinstance(row.get("query"), str),
        "k": row.get("k") is None or _is_page_count(row["k"]),
        "documents": isinstance(documents, list) and all(isinstance(name, str) for name in documents),
        "history": isinstance(history, list) and all(_is_exchange(said) for said in history),
    }
    wrong = [name for name, right in checks.items() if not right]
    identity = row.get("id") if "id" not in wrong else str(row["id"])
    given = {"id": identity, "query": row.get("query"), "documents": documents or options.document, "history": history, "k": row.get("k")}
    return {**given, "wrong": wrong}


def _is_exchange(said: object) -> bool:
    return isinstance(said, dict) and isinstance(said.get("user"), str) and isinstance(said.get("assistant"), str)


def _history(row: dict[str, Any]) -> list[Exchange]:
    from chatbot.records import Exchange

    return [Exchange(said["user"], said["assistant"]) for said in row["history"]]


def _query(options: argparse.Namespace) -> str:
    if options.query is None:
        raise UsageError("There is no question.", hint="Give one in quotation marks, or --batch with JSON lines on standard input.")
    return str(options.query)


def _hit_line(rank: int, hit: Hit) -> dict[str, Any]:
    return {
        "rank": rank,
        "document": hit.document,
        "page": hit.page,
        "page_label": hit.page_label,
        "score": hit.score,
        "extraction_method": hit.extraction_method,
        "chunk_id": hit.chunk_id,
        "text": hit.text,
        "scores": dict(hit.scores),
        **({} if hit.chunk_match is None else {"chunk_match": hit.chunk_match}),
    }


def _hit_text(rank: int, hit: Hit) -> str:
    words = " ".join(hit.text.split())
    return f"{rank}. {hit.document}, {_page_text(hit.page, hit.page_label)} ({hit.score:.2f})\n   {words[:300]}"


def _page_text(page: int | None, label: str | None) -> str:
    return f"page {page}" + (f" (printed {label})" if label and label != str(page) else "")


def _answer_line(answer: Answer) -> dict[str, Any]:
    citations = [
        {
            field: getattr(citation, field)
            for field in ("key", "document", "page", "page_label", "quote", "verified", "reason", "confidence", "instructs")
        }
        for citation in answer.citations
    ]
    numbers = [
        {field: getattr(number, field) for field in ("text", "value", "unit", "scale", "period", "status", "citation", "formula", "reason")}
        for number in answer.numbers
    ]
    return {
        "answer": answer.text,
        "answered": answer.answered,
        "reason": answer.reason,
        "nearest": [{"document": page.document, "page": page.page, "page_label": page.page_label} for page in answer.nearest],
        "citations": citations,
        "numbers": numbers,
        "notes": [{"layer": note.layer, "source": note.source, "text": note.text} for note in answer.notes]
        + [{"layer": "notice", "source": "", "text": text} for text in answer.notices],
        "search_query": answer.search_query,
        "understanding": _understanding_line(answer.understanding),
        "superseded": list(answer.superseded),
        "model": answer.model,
        "conversation": answer.conversation,
        "seconds": answer.seconds,
        **({"error": answer.error} if answer.error else {}),
    }


def _understanding_line(understanding: Understanding | None) -> dict[str, Any] | None:
    if understanding is None:
        return None
    return {
        field: getattr(understanding, field) for field in ("subject", "form", "years", "relative_years", "names", "measures", "kinds", "compares")
    }


def _answer_text(answer: Answer) -> str:
    lines = [answer.text, ""]
    if answer.error:
        lines.insert(0, "In the documents' own words, because the chat model failed:")
    for citation in {(c.key, c.page, c.verified, c.reason, c.instructs): c for c in answer.citations}.values():
        place = f"{citation.document}, {_page_text(citation.page, citation.page_label)}" if citation.document else "no such source"
        read = "" if citation.confidence is None else f", read by OCR, confidence {citation.confidence:.0f} of 100"
        checked = "verified" if citation.verified else f"NOT VERIFIED: {citation.reason}"
        orders = ", ADDRESSES A MACHINE: quoted as data" if citation.instructs else ""
        lines.append(f"[{citation.key}] {place} - {checked}{read}{orders}")
    lines += [f"Figure {number.text}: {number.status}" for number in answer.numbers if number.status not in {"supported", "derived"}]
    lines += answer.superseded
    lines += [f"Nearest: {page.document}, {_page_text(page.page, page.page_label)}" for page in answer.nearest]
    return "\n".join(lines).rstrip()


# --- output ---------------------------------------------------------------------------------------------------------------------


def _emit(line: dict[str, Any], text: str, *, as_json: bool) -> None:
    print(json.dumps(line) if as_json else _printable(text), flush=True)


def _printable(text: str) -> str:
    return CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _note(notice: Notice) -> None:
    print(_printable(f"Note: {ProjectError(notice.text, hint=notice.hint)}"), file=sys.stderr)


def _complain(error: ProjectError, code: int) -> int:
    print(_printable(f"Error: {error}"), file=sys.stderr)
    return code


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, str, int, int], None]]:
    """Bars on a terminal, one a phase of a document; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda document, phase, done, total: None
        return
    from tqdm import tqdm

    bars: dict[tuple[str, str], Any] = {}

    def show(document: str, phase: str, done: int, total: int) -> None:
        if document == "query" and total == 1:  # done at once
            return
        bar = bars.get((document, phase))
        if bar is None:
            bar = bars[document, phase] = tqdm(
                total=total, desc=_printable(f"{phase} {document[:40]}"), unit="pages" if phase != "embedding" else "chunks", leave=False
            )
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    try:
        yield show
    finally:
        for bar in bars.values():
            bar.close()
