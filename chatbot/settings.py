"""Reads all settings from the environment, once. No other module reads it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from chatbot.errors import SettingsError
from chatbot.models.providers import PROVIDERS, provider_named
from ingestion.ocr.scan_languages import ENGLISH, ScanLanguages

__all__ = [
    "ENVIRONMENT",
    "MOST_PAGES",
    "MULTILINGUAL",
    "PROGRAM",
    "ROOT",
    "STRATEGIES",
    "Settings",
    "base_path",
    "default_home",
    "is_installed",
    "load_settings",
]

ROOT = Path(__file__).resolve().parent.parent
# The way this process was started, and the next command can be.
PROGRAM = "finpolicy" if Path(*sys.argv[:1]).stem == "finpolicy" else "python -m chatbot"

# The only name of an embedding model that is not an endpoint's.
MULTILINGUAL = "multilingual"
# Local models on a processor took 82 to 366 s to their first word, but far less than a minute between words.
FIRST_WORD_SHARE = 5
# The pages an answer is made from. A prompt has room for this many.
MOST_PAGES = 16
# Settings of earlier versions, with those that took their place.
RETIRED = {"FINPOLICY_PROMPT_PAGES": "FINPOLICY_PAGES"}

log = logging.getLogger(__name__)
# The least size of a prompt: rules, example, question and four short excerpts.
LEAST_CONTEXT = 1_500
# How the pieces of a long query are combined; see chatbot/search/fusion.py.
STRATEGIES = ("average", "weighted", "per_chunk", "rrf", "union", "intersection")
REASONING = ("none", "minimal", "low", "medium", "high")
# On, off or, by default, as the case requires: pictures of pages go to models that are known to see, and who
# may choose their own model endpoint depends on who can open the pages.
SWITCH = ("0", "1")
# Of any number.
MOST = 1e9


def is_installed(root: Path = ROOT) -> bool:
    """Tells whether an installer put the packages into this folder, so that it is not a checkout."""
    return any(root.glob("finpolicy-*.dist-info"))


def default_home(root: Path = ROOT) -> Path:
    """Returns the default home: a checkout itself; for an installed copy the user's data folder."""
    if not is_installed(root):
        return root
    from platformdirs import user_data_path

    return user_data_path("finpolicy", appauthor=False)


def _cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    base = environment.get("XDG_CACHE_HOME") or str(
        Path(environment.get("HOME", "~")).expanduser() / ".cache"
    )
    return Path(base) / "finpolicy"


def _variable(
    name: str,
    default: Any,
    *,
    least: float = 0,
    most: float = MOST,
    choices: tuple[str, ...] = (),
    secret: bool = False,
) -> Any:
    """Declares a field that an environment variable sets.

    default: of the field, or a function that returns it.
    least, most: of a number; both ends are allowed. choices: of a word, beside "".
    secret: never shown: a key, or an address that may contain a password.
    """
    given = {"name": name, "least": least, "most": most, "choices": choices}
    if callable(default):
        return field(default_factory=default, metadata=given)
    return field(default=default, metadata=given, repr=not secret)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the environment; docs/deploy.md says what each does. Sizes in MiB, times in seconds.

    Two fields are not from the environment:
    open_to_others: whether people elsewhere can open the pages; set by the server that opens them.
    endpoint_rule: what must not be contacted besides cloud metadata. "" forbids nothing (the operator chose
        the endpoint), "user" forbids http except to this machine, "public" also forbids addresses outside the
        internet, "web" those alone.
    """

    home: Path = _variable("FINPOLICY_HOME", default_home)
    database: str = _variable("FINPOLICY_DATABASE_URL", "", secret=True)
    chat_model: str = _variable("FINPOLICY_CHAT_MODEL", "")
    embedding_model: str = _variable("FINPOLICY_EMBEDDING_MODEL", "")
    embedding_dimension: int = _variable("FINPOLICY_EMBEDDING_DIMENSION", 0)
    provider: str = _variable("FINPOLICY_PROVIDER", "", choices=tuple(PROVIDERS))
    api_key: str = _variable("OPENAI_API_KEY", "", secret=True)
    base_url: str = _variable("OPENAI_BASE_URL", "")
    anthropic_key: str = _variable("ANTHROPIC_API_KEY", "", secret=True)
    azure_key: str = _variable("AZURE_OPENAI_API_KEY", "", secret=True)
    deepseek_key: str = _variable("DEEPSEEK_API_KEY", "", secret=True)
    openrouter_key: str = _variable("OPENROUTER_API_KEY", "", secret=True)
    offline: bool = _variable("FINPOLICY_OFFLINE", False)
    timeout: float = _variable("FINPOLICY_TIMEOUT", 60.0)
    first_word_timeout: float = _variable("FINPOLICY_FIRST_WORD_TIMEOUT", 0.0)
    answer_timeout: float = _variable("FINPOLICY_ANSWER_TIMEOUT", 600.0)
    context_tokens: int = _variable("FINPOLICY_CONTEXT_TOKENS", 12_000, least=LEAST_CONTEXT)
    pages: int = _variable("FINPOLICY_PAGES", 3, least=1, most=MOST_PAGES)
    answer_tokens: int = _variable("FINPOLICY_ANSWER_TOKENS", 1_000)
    temperature: float = _variable("FINPOLICY_TEMPERATURE", 0.0, most=2)
    price_in: float = _variable("FINPOLICY_PRICE_IN", 0.0)
    price_out: float = _variable("FINPOLICY_PRICE_OUT", 0.0)
    reasoning: str = _variable("FINPOLICY_REASONING", "", choices=REASONING)
    rerank: bool = _variable("FINPOLICY_RERANK", False)
    rewrite: bool = _variable("FINPOLICY_REWRITE", False)
    pictures: str = _variable("FINPOLICY_PICTURES", "", choices=SWITCH)
    verify: bool = _variable("FINPOLICY_VERIFY", True)
    verify_model: str = _variable("FINPOLICY_VERIFY_MODEL", "")
    verify_timeout: float = _variable("FINPOLICY_VERIFY_TIMEOUT", 60.0)
    verify_tokens: int = _variable("FINPOLICY_VERIFY_TOKENS", 100_000)
    strategy: str = _variable("FINPOLICY_STRATEGY", "average", choices=STRATEGIES)
    window: int = _variable("FINPOLICY_WINDOW", 10)
    prompt_exchanges: int = _variable("FINPOLICY_PROMPT_EXCHANGES", 5)
    compression: bool = _variable("FINPOLICY_COMPRESSION", False)
    compression_tokens: int = _variable("FINPOLICY_COMPRESSION_TOKENS", 20_000)
    compression_ratio: float = _variable("FINPOLICY_COMPRESSION_RATIO", 0.5, most=1)
    compression_gamma: float = _variable("FINPOLICY_COMPRESSION_GAMMA", 1.0)
    compression_rho: float = _variable("FINPOLICY_COMPRESSION_RHO", 0.5, most=1)
    seed_scoring: bool = _variable("FINPOLICY_SEED_SCORING", False)
    summary: bool = _variable("FINPOLICY_SUMMARY", True)
    keep_sessions: bool = _variable("FINPOLICY_KEEP_SESSIONS", False)
    retention_days: float = _variable("FINPOLICY_RETENTION_DAYS", 0.0)
    signals_database: str = _variable("MEMORY_DATABASE_URL", "", secret=True)
    signals_threshold: float = _variable("MEMORY_SIMILARITY_THRESHOLD", 0.0, most=1)
    signals_confidence: float = _variable("MEMORY_MIN_CONFIDENCE", 0.6, most=1)
    signals_hours: int = _variable("MEMORY_LOOKBACK_HOURS", 168)
    signals_notes: int = _variable("MEMORY_MAX_NOTES", 3)
    signals_assets: str = _variable("MEMORY_ASSETS", "")
    signals_days: float = _variable("MEMORY_RETENTION_DAYS", 0.0)
    feeds: str = _variable("FINPOLICY_FEEDS", "")
    feed_minutes: float = _variable("FINPOLICY_FEED_MINUTES", 15.0)
    feed_seconds: float = _variable("FINPOLICY_FEED_SECONDS", 10.0)
    telegram_secret: str = _variable("FINPOLICY_TELEGRAM_SECRET", "", secret=True)
    cases_file: Path | None = _variable("MEMORY_JSONL_PATH", None)
    cases_key_field: str = _variable("MEMORY_KEY_FIELD", "question")
    cases_value_field: str = _variable("MEMORY_VALUE_FIELD", "plan")
    cases_most: int = _variable("MEMORY_TOP_K", 8)
    max_upload_mb: int = _variable("FINPOLICY_MAX_UPLOAD_MB", 200)
    max_pages: int = _variable("FINPOLICY_MAX_PAGES", 5_000)
    ocr_languages: str = _variable("FINPOLICY_OCR_LANGUAGES", ENGLISH.codes)
    tessdata: Path | None = _variable("FINPOLICY_TESSDATA", None)
    session_uploads_mb: int = _variable("FINPOLICY_SESSION_UPLOADS_MB", 500)
    server_uploads_mb: int = _variable("FINPOLICY_SERVER_UPLOADS_MB", 1_500)
    api_rate: int = _variable("FINPOLICY_API_RATE", 600)
    waiting_questions: int = _variable("FINPOLICY_WAITING_QUESTIONS", 32)
    cors_origins: str = _variable("FINPOLICY_CORS_ORIGINS", "")
    public_url: str = _variable("FINPOLICY_PUBLIC_URL", "")
    fetch_pages: bool = _variable("FINPOLICY_FETCH_PAGES", False)
    web_search: bool = _variable("FINPOLICY_WEB_SEARCH", False)
    chroma_url: str = _variable("FINPOLICY_CHROMA_URL", "")
    chroma_token: str = _variable("FINPOLICY_CHROMA_TOKEN", "", secret=True)
    files: str = _variable("FINPOLICY_FILES", "")
    files_endpoint: str = _variable("AWS_ENDPOINT_URL", "")
    workers: int = _variable("FINPOLICY_WORKERS", 0)
    server_adds: bool = _variable("FINPOLICY_SERVER_ADDS", True)
    model_cache: Path = _variable("FINPOLICY_MODEL_CACHE", _cache_folder)
    soffice: str = _variable("FINPOLICY_SOFFICE", "")
    user_models: str = _variable("FINPOLICY_USER_MODELS", "", choices=SWITCH)
    open_to_others: bool = False
    endpoint_rule: str = ""

    @property
    def store(self) -> Path:
        """The folder of vectors, catalogue, keyword index and conversations."""
        return self.home / "chroma_db"

    @property
    def documents(self) -> Path:
        """The folder of the kept copies, each named <sha256>.pdf, where they are in no object store."""
        return Path(self.files) if self.files and not self.objects else self.home / "documents"

    @property
    def objects(self) -> str:
        """The address of the object store that has the kept copies; "" if they are in a folder."""
        return "" if Path(self.files).is_absolute() else self.files

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of web pages that may call the API."""
        return tuple(origin.strip().rstrip("/") for origin in self.cors_origins.split(",") if origin.strip())

    @property
    def embeds_here(self) -> bool:
        """Whether an embedded model makes the vectors, so that no text leaves the machine for them."""
        return self.embedding_model in ("", MULTILINGUAL)

    @property
    def allows_user_models(self) -> bool:
        """Whether users may choose their own endpoints.

        If others can open the pages, they could make this machine connect to what only it can reach. In that
        case the operator must allow it.
        """
        return self.user_models == "1" or (self.user_models == "" and not self.open_to_others)

    @property
    def scan_languages(self) -> ScanLanguages:
        """The languages in which scans are read, and the folder of further data."""
        return ScanLanguages(self.ocr_languages.replace(" ", ""), str(self.tessdata or ""))

    @property
    def first_word_seconds(self) -> float:
        """How long the first word of a chat model's answer may take."""
        return self.first_word_timeout or FIRST_WORD_SHARE * self.timeout

    def hurried(self, seconds: float) -> Settings:
        """These settings for a short call beside an answer, which waits no longer than that for any word."""
        return replace(
            self, timeout=min(self.timeout, seconds), first_word_timeout=min(self.first_word_seconds, seconds)
        )

    @property
    def threads(self) -> int:
        """The number of reading processes and embedding threads, at least 1."""
        return self.workers or len(os.sched_getaffinity(0))


# Environment name -> field.
ENVIRONMENT: Mapping[str, str] = {one.metadata["name"]: one.name for one in fields(Settings) if one.metadata}


def base_path() -> str:
    """Returns the path below which Streamlit's own variable would have everything served, "" for none."""
    return os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "")


def load_settings(environment: Mapping[str, str] | None = None, *, home: Path | None = None) -> Settings:
    """Reads the settings from `environment` (default: that of the process, and below it the home's `.env`).

    home: in place of the one that the process's environment names.

    Raises SettingsError, which names the variable and what it takes, or the line of the file.
    """
    given = _of_this_process(home) if environment is None else environment
    values: dict[str, Any] = {"model_cache": _cache_folder(given)}
    for one in fields(Settings):
        text = given.get(one.metadata.get("name", ""), "").strip()
        if text:
            values[one.name] = _parse(text, str(one.type), **one.metadata)
    settings = Settings(**values)
    for name in filter(given.get, RETIRED):
        log.warning("%s has no effect any more. Set %s.", name, RETIRED[name])
    if not 1 <= settings.prompt_exchanges <= settings.window:
        raise SettingsError(
            f"FINPOLICY_PROMPT_EXCHANGES is {settings.prompt_exchanges}, of a window of {settings.window}.",
            hint="Set it from 1 to FINPOLICY_WINDOW.",
        )
    return settings


def _of_this_process(home: Path | None) -> dict[str, str]:
    """Returns the environment, and what it leaves unset of the `.env` in the home.

    No other folder's file is read: one that was downloaded must not say where keys and texts go.
    """
    own = dict(os.environ) if home is None else {**os.environ, "FINPOLICY_HOME": str(home)}
    named = own.get("FINPOLICY_HOME", "").strip()
    folder = Path(named).expanduser() if named else default_home()
    return _of_file(folder / ".env") | own


def _of_file(path: Path) -> dict[str, str]:
    """Returns the settings in a `.env` file, none where there is no such file. Raises SettingsError."""
    if not path.is_file():
        return {}
    from dotenv.parser import parse_stream

    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = list(parse_stream(file))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {type(error).__name__}.", hint="Make it a text file that you can read."
        ) from error
    found = dict[str, str]()
    for line in lines:
        if line.error or (line.key is not None and line.value is None):
            # The line itself may hold a key.
            raise SettingsError(
                f"Line {line.original.line} of {path} cannot be read.",
                hint="Write NAME=value, or # before a remark.",
            )
        if line.key and line.key in ENVIRONMENT:
            found[line.key] = line.value or ""
    return found


def _parse(text: str, kind: str, *, name: str, least: float, most: float, choices: tuple[str, ...]) -> object:
    """Returns the value that a variable's text means. kind: of the field. Raises SettingsError."""
    if kind.startswith("Path"):
        return Path(text).expanduser().resolve()
    if kind == "bool":
        if text.lower() not in {"0", "1", "true", "false", "yes", "no", "on", "off"}:
            raise SettingsError(f"{name} is {text!r}.", hint="Set it to 1 or 0.")
        return text.lower() in {"1", "true", "yes", "on"}
    if kind == "str":
        word = provider_named(text) if name == "FINPOLICY_PROVIDER" else text
        if choices and word not in choices:
            hint = f"Set it to one of {', '.join(choices)}, or unset it."
            raise SettingsError(f"{name} is {word!r}.", hint=hint)
        return word
    try:
        value = int(text) if kind == "int" else float(text)
    except ValueError as error:
        raise SettingsError(f"{name} is {text!r}.", hint="Set it to a number.") from error
    if not 0 <= value < MOST:
        raise SettingsError(f"{name} is {text!r}.", hint="Set it to a number from 0 to 999,999,999.")
    if not least <= value <= most:
        hint = (
            f"Set it to {least} or more." if most == MOST else f"Set it to a number from {least} to {most}."
        )
        raise SettingsError(f"{name} is {value}.", hint=hint)
    return value
