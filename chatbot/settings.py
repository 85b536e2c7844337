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

# Environment name -> (field, what it does). A test keeps the table in docs/deploy.md in step with this one.
ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    "FINPOLICY_HOME": (
        "home",
        (
            "Folder of `chroma_db/` and `documents/`. If unset, they are next to `app.py`, or for an "
            "installed copy in your data folder (on Linux `~/.local/share/finpolicy`)."
        ),
    ),
    "FINPOLICY_DATABASE_URL": (
        "database",
        (
            "[Postgres](#postgres) that servers share, such as `postgresql://user:password@host:5432/name`, "
            "for the catalogue, its words, conversations, memories, users' settings, keys and news. If "
            "unset, they are files in `chroma_db/`."
        ),
    ),
    "FINPOLICY_CHAT_MODEL": (
        "chat_model",
        (
            "Name of the chat model at its endpoint. If unset, answers are extractive and nothing leaves the "
            "machine."
        ),
    ),
    "FINPOLICY_PROVIDER": (
        "provider",
        (
            "Provider of the chat model: `openai`, `anthropic`, `azure`, `deepseek`, `openrouter`, "
            "`ollama`, `lmstudio`, `vllm` or `llamacpp`. It sets the address and the client. If unset, "
            "the address decides."
        ),
    ),
    "FINPOLICY_EMBEDDING_MODEL": (
        "embedding_model",
        (
            "Embedding model of an OpenAI-compatible endpoint, or `multilingual`, an embedded one for "
            "other languages. If unset, the embedded MiniLM is used."
        ),
    ),
    "FINPOLICY_EMBEDDING_DIMENSION": (
        "embedding_dimension",
        "Dimension to request from that embedding model; 0 uses its default.",
    ),
    "OPENAI_API_KEY": ("api_key", "Key for OPENAI_BASE_URL. A key by itself sends nothing."),
    "OPENAI_BASE_URL": (
        "base_url",
        (
            "Endpoint of both models. If unset, that of FINPOLICY_PROVIDER for the chat model, otherwise "
            "OpenAI's."
        ),
    ),
    "ANTHROPIC_API_KEY": ("anthropic_key", "Key for FINPOLICY_PROVIDER=anthropic."),
    "AZURE_OPENAI_API_KEY": ("azure_key", "Key for FINPOLICY_PROVIDER=azure."),
    "DEEPSEEK_API_KEY": ("deepseek_key", "Key for FINPOLICY_PROVIDER=deepseek."),
    "OPENROUTER_API_KEY": ("openrouter_key", "Key for FINPOLICY_PROVIDER=openrouter."),
    "FINPOLICY_USER_MODELS": (
        "user_models",
        (
            "`1` lets each user choose a chat model and endpoint, `0` lets no one. If unset, users can "
            "choose if only this machine can open the pages."
        ),
    ),
    "FINPOLICY_OFFLINE": ("offline", "`1` blocks every connection to a model endpoint."),
    "FINPOLICY_TIMEOUT": (
        "timeout",
        (
            "Seconds to wait between two words of a model's answer, including thinking. Also for "
            "connecting, and for whole answers (vectors)."
        ),
    ),
    "FINPOLICY_FIRST_WORD_TIMEOUT": (
        "first_word_timeout",
        (
            "Seconds to wait for the first word. A model on this machine may read the prompt for "
            "minutes. 0 means five times FINPOLICY_TIMEOUT."
        ),
    ),
    "FINPOLICY_ANSWER_TIMEOUT": ("answer_timeout", "Seconds to wait for a chat model's whole answer."),
    "FINPOLICY_CONTEXT_TOKENS": (
        "context_tokens",
        (
            "Context length: tokens in a prompt, 1,500 or more. Less if the endpoint reports a shorter "
            "one. Excerpts are cut to fit, the question never is."
        ),
    ),
    "FINPOLICY_PAGES": (
        "pages",
        (
            "Pages found for an answer, 1 to 16, and as many for each side of a comparison. A chat model "
            "that can call tools looks further by itself."
        ),
    ),
    "FINPOLICY_ANSWER_TOKENS": ("answer_tokens", "Maximum tokens in an answer."),
    "FINPOLICY_TEMPERATURE": (
        "temperature",
        "Temperature of the chat model, 0 to 2. Not sent if the endpoint rejects it.",
    ),
    "FINPOLICY_PRICE_IN": (
        "price_in",
        "Price of 1M prompt tokens in US$. With 0, no cost is shown.",
    ),
    "FINPOLICY_PRICE_OUT": ("price_out", "Price of 1M answer tokens in US$, including thinking."),
    "FINPOLICY_REASONING": (
        "reasoning",
        (
            "How long a thinking model thinks: `none`, `minimal`, `low`, `medium` or `high`. If unset, "
            "the endpoint decides."
        ),
    ),
    "FINPOLICY_RERANK": (
        "rerank",
        (
            "`1` lets the chat model rank the first ten pages, with one more short call. Skipped if the "
            "search has doubts or the model is slow."
        ),
    ),
    "FINPOLICY_REWRITE": (
        "rewrite",
        ("`1` lets the chat model complete follow-up questions before the search, with one more short call."),
    ),
    "FINPOLICY_VERIFY": (
        "verify",
        (
            "`0` or `off` leaves a model's answers to what the program alone can prove. Otherwise a second "
            "call reads each statement back against its pages."
        ),
    ),
    "FINPOLICY_VERIFY_MODEL": (
        "verify_model",
        (
            "Model that reads answers back, as `provider:model`, or a name at the chat model's endpoint. "
            "Another family of models catches more. If unset, the one that wrote the answer."
        ),
    ),
    "FINPOLICY_VERIFY_TIMEOUT": ("verify_timeout", "Maximum seconds to read an answer back."),
    "FINPOLICY_VERIFY_TOKENS": (
        "verify_tokens",
        "Maximum tokens of prompts to read one answer back. Pages beyond that are not compared.",
    ),
    "FINPOLICY_STRATEGY": (
        "strategy",
        (
            "How the pieces of a question that is longer than the embedder reads are combined: "
            "`average`, `weighted`, `per_chunk`, `rrf`, `union` or `intersection`."
        ),
    ),
    "FINPOLICY_WINDOW": (
        "window",
        (
            "Latest exchanges of a conversation that are used to understand follow-ups and shown when it "
            "opens."
        ),
    ),
    "FINPOLICY_PROMPT_EXCHANGES": (
        "prompt_exchanges",
        "How many of these are sent in full, if they fit.",
    ),
    "FINPOLICY_COMPRESSION": (
        "compression",
        (
            "`1` sends the whole conversation, shortened when it is long. Otherwise the last exchanges are "
            "sent, and older ones recalled one by one."
        ),
    ),
    "FINPOLICY_COMPRESSION_TOKENS": (
        "compression_tokens",
        (
            "Length in tokens above which earlier parts of a conversation are shortened, or less if "
            "FINPOLICY_CONTEXT_TOKENS has less room next to pages and answer."
        ),
    ),
    "FINPOLICY_COMPRESSION_RATIO": (
        "compression_ratio",
        (
            "Share of the tokens of such a conversation to keep, 0 to 1, as far as "
            "FINPOLICY_CONTEXT_TOKENS has room next to excerpts."
        ),
    ),
    "FINPOLICY_COMPRESSION_GAMMA": (
        "compression_gamma",
        "How unevenly sentences are cut: 0 cuts all parts alike, more cuts the unimportant ones.",
    ),
    "FINPOLICY_COMPRESSION_RHO": (
        "compression_rho",
        "Share of what is cut that is whole messages, 0 to 1. The rest is single sentences.",
    ),
    "FINPOLICY_SEED_SCORING": (
        "seed_scoring",
        (
            "`1` keeps what was said for its financial words, brevity, age and form, not for how it fits "
            "the question."
        ),
    ),
    "FINPOLICY_SUMMARY": (
        "summary",
        ("`0` turns off summaries of earlier exchanges, which take one short call for every five exchanges."),
    ),
    "FINPOLICY_KEEP_SESSIONS": (
        "keep_sessions",
        (
            "`1` keeps the conversations of [the browser extension](api.md#the-browser-extension). "
            "Otherwise they are in memory, and end an hour after their last question."
        ),
    ),
    "FINPOLICY_RETENTION_DAYS": (
        "retention_days",
        "Days after which an unused conversation is erased. 0 keeps it forever.",
    ),
    "MEMORY_DATABASE_URL": (
        "signals_database",
        (
            "Postgres with pgvector for news (`make setup-signals`, extra `signals`). If unset, "
            "FINPOLICY_DATABASE_URL, and without that the file of all memories."
        ),
    ),
    "MEMORY_SIMILARITY_THRESHOLD": (
        "signals_threshold",
        (
            "Minimum similarity (cosine) of a signal. 0 means the default of the embedder: 0.37 "
            "embedded, 0.82 multilingual, 0.40 others."
        ),
    ),
    "MEMORY_MIN_CONFIDENCE": ("signals_confidence", "Minimum confidence of a signal, 0 to 1."),
    "MEMORY_LOOKBACK_HOURS": ("signals_hours", "Maximum age of recalled news, in hours."),
    "MEMORY_ASSETS": (
        "signals_assets",
        "Recalls only news about one of these assets, such as `BTC ETH`. If unset, about any.",
    ),
    "MEMORY_RETENTION_DAYS": (
        "signals_days",
        "Days after which news is erased with its signals. 0 keeps it forever.",
    ),
    "MEMORY_MAX_NOTES": ("signals_notes", "Maximum number of signals for one question."),
    "MEMORY_JSONL_PATH": (
        "cases_file",
        (
            "File of rated answers for all users, as JSON lines. New ratings are added to it, or only shared "
            "ones where others can open the pages; what others add is read at once. If unset, none."
        ),
    ),
    "MEMORY_KEY_FIELD": (
        "cases_key_field",
        "Field of the question in files of rated answers. If unset, `question`.",
    ),
    "MEMORY_VALUE_FIELD": ("cases_value_field", "Field of the answer in such files. If unset, `plan`."),
    "MEMORY_TOP_K": (
        "cases_most",
        "Maximum number of rated answers for one question. At most four helpful and two unhelpful are sent.",
    ),
    "FINPOLICY_MAX_UPLOAD_MB": ("max_upload_mb", "Maximum size of a file, in MiB."),
    "FINPOLICY_MAX_PAGES": ("max_pages", "Maximum number of pages of a file. 0 means no limit."),
    "FINPOLICY_SESSION_UPLOADS_MB": (
        "session_uploads_mb",
        ("Total size of files waiting to be added from one open page, in MiB. A closed page has none."),
    ),
    "FINPOLICY_SERVER_UPLOADS_MB": (
        "server_uploads_mb",
        "Total size of files waiting to be added from all open pages, in MiB.",
    ),
    "FINPOLICY_FEEDS": (
        "feeds",
        "RSS or Atom feeds that the server reads for news, separated by spaces.",
    ),
    "FINPOLICY_FEED_SECONDS": ("feed_seconds", "Maximum seconds to read what a feed sends."),
    "FINPOLICY_FEED_MINUTES": ("feed_minutes", "Minutes between two visits to the feeds, 1 or more."),
    "FINPOLICY_TELEGRAM_SECRET": (
        "telegram_secret",
        "Secret token of the Telegram webhook at `/api/v1/telegram`. If unset, it is off.",
    ),
    "FINPOLICY_API_RATE": (
        "api_rate",
        "Maximum requests per minute for each API caller. 0 means no limit.",
    ),
    "FINPOLICY_WAITING_QUESTIONS": (
        "waiting_questions",
        "Maximum questions of one user or API key that are not answered yet. 0 means no limit.",
    ),
    "FINPOLICY_CORS_ORIGINS": (
        "cors_origins",
        (
            "Origins of web pages that may call the API, separated by commas, such as "
            "`https://intranet.example.org`. If unset, none may."
        ),
    ),
    "FINPOLICY_PUBLIC_URL": (
        "public_url",
        (
            "Address of this server in links to pages, such as `https://policy.example.org`. If unset, the "
            "one that was called."
        ),
    ),
    "FINPOLICY_FETCH_PAGES": (
        "fetch_pages",
        "`1` fetches the web page that a call names as `current_url`. `0` reads only pages that are sent.",
    ),
    "FINPOLICY_WEB_SEARCH": (
        "web_search",
        "`1` lets `/get_adv_response/` search the web with the search tool of OpenAI or Anthropic.",
    ),
    "FINPOLICY_CHROMA_URL": (
        "chroma_url",
        (
            "[Chroma server](#chroma-server) for the vectors, such as `http://chroma:8000`. If unset, they "
            "are in `chroma_db/vectors/`."
        ),
    ),
    "FINPOLICY_CHROMA_TOKEN": ("chroma_token", "Token for FINPOLICY_CHROMA_URL, if it wants one."),
    "FINPOLICY_FILES": (
        "files",
        (
            "[Object store](#object-store) for the kept copies, such as `s3://bucket/prefix`, "
            "`gs://bucket/prefix` or `az://container/prefix`, or a folder that all servers and workers see, "
            "such as `/srv/share/documents`. If unset, they are in `documents/`. Keys of a store are the "
            "usual ones, such as `AWS_ACCESS_KEY_ID`."
        ),
    ),
    "AWS_ENDPOINT_URL": (
        "files_endpoint",
        "Address of an object store that speaks S3 and is not Amazon's, for FINPOLICY_FILES.",
    ),
    "FINPOLICY_WORKERS": (
        "workers",
        "Number of reading processes and embedding threads. 0 means one per core.",
    ),
    "FINPOLICY_SERVER_ADDS": (
        "server_adds",
        (
            "`0` leaves the reading of documents to [workers](#workers). Only with FINPOLICY_DATABASE_URL, "
            "where a server also works by default."
        ),
    ),
    "FINPOLICY_MODEL_CACHE": (
        "model_cache",
        "Folder for the embedded model's graph. If unset, your cache folder.",
    ),
}

# Fields that are paths, though they have no default.
PATHS, PATH = frozenset({"cases_file"}), Path()
# The only name of an embedding model that is not an endpoint's.
MULTILINGUAL = "multilingual"
# Never shown: a key, and addresses that may contain a password.
SECRET = frozenset(
    {
        "api_key",
        "anthropic_key",
        "azure_key",
        "deepseek_key",
        "openrouter_key",
        "database",
        "signals_database",
        "telegram_secret",
        "chroma_token",
    }
)
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
REASONING = ("", "none", "minimal", "low", "medium", "high")
# Who may choose their own model endpoint, as FINPOLICY_USER_MODELS says. By default it depends on who can
# open the pages.
USER_MODELS = ("", "0", "1")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the environment; see ENVIRONMENT for their meaning. Sizes in MiB, times in seconds.

    Two fields are not from the environment:
    open_to_others: whether people elsewhere can open the pages, as the user interface that opens them knows.
    endpoint_rule: what must not be contacted besides cloud metadata. "" forbids nothing (the operator chose
        the endpoint), "user" forbids http except to this machine, "public" also forbids addresses outside the
        internet, "web" those alone.
    """

    home: Path = field(default_factory=lambda: default_home())
    database: str = ""
    chat_model: str = ""
    embedding_model: str = ""
    embedding_dimension: int = 0
    provider: str = ""
    api_key: str = ""
    base_url: str = ""
    anthropic_key: str = ""
    azure_key: str = ""
    deepseek_key: str = ""
    openrouter_key: str = ""
    offline: bool = False
    timeout: float = 60.0
    first_word_timeout: float = 0.0
    answer_timeout: float = 600.0
    context_tokens: int = 12_000
    pages: int = 3
    answer_tokens: int = 1_000
    temperature: float = 0.0
    price_in: float = 0.0
    price_out: float = 0.0
    reasoning: str = ""
    rerank: bool = False
    rewrite: bool = False
    verify: bool = True
    verify_model: str = ""
    verify_timeout: float = 60.0
    verify_tokens: int = 100_000
    strategy: str = "average"
    window: int = 10
    prompt_exchanges: int = 5
    compression: bool = False
    compression_tokens: int = 20_000
    compression_ratio: float = 0.5
    compression_gamma: float = 1.0
    compression_rho: float = 0.5
    seed_scoring: bool = False
    summary: bool = True
    keep_sessions: bool = False
    retention_days: float = 0.0
    signals_database: str = ""
    signals_threshold: float = 0.0
    signals_confidence: float = 0.6
    signals_hours: int = 168
    signals_notes: int = 3
    signals_assets: str = ""
    signals_days: float = 0.0
    feeds: str = ""
    feed_minutes: float = 15.0
    feed_seconds: float = 10.0
    telegram_secret: str = ""
    cases_file: Path | None = None
    cases_key_field: str = "question"
    cases_value_field: str = "plan"
    cases_most: int = 8
    max_upload_mb: int = 200
    max_pages: int = 5_000
    session_uploads_mb: int = 500
    server_uploads_mb: int = 1_500
    api_rate: int = 600
    waiting_questions: int = 32
    cors_origins: str = ""
    public_url: str = ""
    fetch_pages: bool = False
    web_search: bool = False
    chroma_url: str = ""
    chroma_token: str = ""
    files: str = ""
    files_endpoint: str = ""
    workers: int = 0
    server_adds: bool = True
    model_cache: Path = field(default_factory=lambda: _cache_folder(os.environ))
    user_models: str = ""
    open_to_others: bool = False
    endpoint_rule: str = ""

    def __repr__(self) -> str:
        shown = (
            f"{f.name}={'***' if f.name in SECRET and getattr(self, f.name) else repr(getattr(self, f.name))}"
            for f in fields(self)
        )
        return f"Settings({', '.join(shown)})"

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


def base_path() -> str:
    """Returns the path below which Streamlit's own variable would have everything served, "" for none."""
    return os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "")


def is_installed(root: Path = ROOT) -> bool:
    """Tells whether an installer put the packages into this folder, so that it is not a checkout."""
    return any(root.glob("finpolicy-*.dist-info"))


def default_home(root: Path = ROOT) -> Path:
    """Returns the default home: a checkout itself; for an installed copy the user's data folder."""
    if not is_installed(root):
        return root
    from platformdirs import user_data_path

    return user_data_path("finpolicy", appauthor=False)


def _warn_of_retired(given: Mapping[str, str]) -> None:
    for name in filter(given.get, RETIRED):
        log.warning("%s has no effect any more. Set %s.", name, RETIRED[name])


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads the settings from `environment` (default: that of the process, and below it the home's `.env`).

    Raises SettingsError, which names the variable and what it takes, or the line of the file.
    """
    given = _of_this_process() if environment is None else environment
    values: dict[str, Any] = {"model_cache": _cache_folder(given)}
    defaults = Settings()
    for name, (called, _) in ENVIRONMENT.items():
        text = given.get(name, "").strip()
        if text:
            values[called] = _parse(name, text, PATH if called in PATHS else getattr(defaults, called))
    settings = Settings(**values)
    _warn_of_retired(given)
    if not 1 <= settings.pages <= MOST_PAGES:
        raise SettingsError(
            f"FINPOLICY_PAGES is {settings.pages}.", hint=f"Set it to a number from 1 to {MOST_PAGES}."
        )
    if settings.context_tokens < LEAST_CONTEXT:
        raise SettingsError(
            f"FINPOLICY_CONTEXT_TOKENS is {settings.context_tokens}.",
            hint=f"Set it to {LEAST_CONTEXT} or more.",
        )
    if settings.compression_ratio > 1:
        raise SettingsError(
            f"FINPOLICY_COMPRESSION_RATIO is {settings.compression_ratio}.",
            hint="Set it to a share from 0 to 1.",
        )
    if settings.temperature > 2:
        raise SettingsError(
            f"FINPOLICY_TEMPERATURE is {settings.temperature}.", hint="Set it to a number from 0 to 2."
        )
    for name, word, known in (
        ("FINPOLICY_REASONING", settings.reasoning, REASONING),
        ("FINPOLICY_STRATEGY", settings.strategy, STRATEGIES),
        ("FINPOLICY_PROVIDER", settings.provider, PROVIDERS),
        ("FINPOLICY_USER_MODELS", settings.user_models, USER_MODELS),
    ):
        if word and word not in known:
            choices = ", ".join(filter(None, known))
            raise SettingsError(f"{name} is {word!r}.", hint=f"Set it to one of {choices}, or unset it.")
    for name, share in (
        ("FINPOLICY_COMPRESSION_RHO", settings.compression_rho),
        ("MEMORY_MIN_CONFIDENCE", settings.signals_confidence),
        ("MEMORY_SIMILARITY_THRESHOLD", settings.signals_threshold),
    ):
        if share > 1:
            raise SettingsError(f"{name} is {share}.", hint="Set it to a number from 0 to 1.")
    if not 1 <= settings.prompt_exchanges <= settings.window:
        raise SettingsError(
            f"FINPOLICY_PROMPT_EXCHANGES is {settings.prompt_exchanges}, of a window of {settings.window}.",
            hint="Set it from 1 to FINPOLICY_WINDOW.",
        )
    return settings


def _of_this_process() -> dict[str, str]:
    """Returns the environment, and what it leaves unset of the `.env` in the home.

    No other folder's file is read: one that was downloaded must not say where keys and texts go.
    """
    home = os.environ.get("FINPOLICY_HOME", "").strip()
    folder = Path(home).expanduser() if home else default_home()
    return _of_file(folder / ".env") | dict(os.environ)


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


def _parse(name: str, text: str, default: object) -> object:
    if name == "FINPOLICY_PROVIDER":
        return provider_named(text)
    if isinstance(default, bool):
        if text.lower() not in {"0", "1", "true", "false", "yes", "no", "on", "off"}:
            raise SettingsError(f"{name} is {text!r}.", hint="Set it to 1 or 0.")
        return text.lower() in {"1", "true", "yes", "on"}
    if isinstance(default, Path):
        return Path(text).expanduser().resolve()
    if isinstance(default, int | float):
        try:
            value = type(default)(text)
        except ValueError as error:
            raise SettingsError(f"{name} is {text!r}.", hint="Set it to a number.") from error
        if not 0 <= value < 1e9:
            raise SettingsError(f"{name} is {text!r}.", hint="Set it to a number from 0 to 999,999,999.")
        return value
    return text


def _cache_folder(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME") or str(
        Path(environment.get("HOME", "~")).expanduser() / ".cache"
    )
    return Path(base) / "finpolicy"
