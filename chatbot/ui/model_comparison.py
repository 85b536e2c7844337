"""Draws several models side by side on one question: their answers, and what the checks make of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.asking.named_models import OWN_WORDS
from chatbot.asking.question import Ask
from chatbot.asking.side_by_side import MOST_MODELS, ComparedModel, compared_models
from chatbot.comparison.model_answers import ComparedAnswer, ComparedFigure, compared_figures, holding_line
from chatbot.errors import ProjectError
from chatbot.mark_lines import mark_lines
from chatbot.models.addresses import endpoint_url
from chatbot.records import FIGURE_VERDICTS, PageRef
from chatbot.ui import session
from chatbot.ui.answer_text import answer_html
from chatbot.ui.safe_text import notice_html, page_text, plain_html, quiet_html, table_html
from chatbot.usage_text import usage_text
from chatbot.user_settings import reworded, user_rule, without_keys

__all__ = ["draw_model_comparison", "offered_models"]

POLL_SECONDS = 0.5
QUESTION, MODELS, DOCUMENTS, RUN = "models-question", "models-chosen", "models-documents", "models-run"
WHAT = (
    "Ask two to four models the same question about the same pages. See how much of each answer is "
    "confirmed. Nothing is saved."
)
HOW = "Type another model's name to add it, or PROVIDER:MODEL, such as ollama:qwen3."


class _Run:
    """Answers that come in from a thread, so that the page may be left meanwhile."""

    def __init__(self, context: AppContext, ask: Ask, models: Sequence[ComparedModel]) -> None:
        self.question, self.begun = ask.question, time.monotonic()
        self.names = [model.name for model in models]
        self.answers: dict[str, ComparedAnswer] = {}
        self.titles = context.chatbot.titles()
        self.is_over = False
        self._stopped = threading.Event()
        arguments = (context, ask, list(models))
        threading.Thread(target=self._run, args=arguments, name="models", daemon=True).start()

    def stop(self) -> None:
        """Ends it with what has come."""
        self._stopped.set()

    def _run(self, context: AppContext, ask: Ask, models: list[ComparedModel]) -> None:
        try:
            for compared in context.chatbot.side_by_side.answers(ask, models, self._stopped.is_set):
                self.answers[compared.name] = compared
        finally:
            self.is_over = True


def draw_model_comparison(names: Sequence[str], context: AppContext) -> None:
    """Draws the form and the answers. names: of the documents."""
    st.html(quiet_html(WHAT))
    offered = offered_models(context)
    typed = [name for name in st.session_state.get(MODELS, []) if name not in offered]
    allowed = context.settings.allows_user_models
    st.text_input("Question", key=QUESTION, placeholder="What was total revenue?", persist_state="session")
    titles = context.chatbot.titles()
    left, right = st.columns(2)
    left.multiselect(
        "Models",
        [*offered, *typed],
        default=offered[:MOST_MODELS],
        key=MODELS,
        format_func=_shown_name,
        max_selections=MOST_MODELS,
        accept_new_options=allowed,
        placeholder="Choose two to four",
        help=HOW if allowed else None,
        wrap=True,
        persist_state="session",
    )
    right.multiselect(
        "Documents",
        list(names),
        key=DOCUMENTS,
        format_func=lambda name: titles.get(name, name),
        placeholder="All documents",
        wrap=True,
        persist_state="session",
    )
    if hosts := _hosts(context):
        st.html(quiet_html(f"The question and excerpts of the documents go to {' and to '.join(hosts)}."))
    st.button("Ask all", type="primary", key="ask-models", on_click=_ask, args=(context,))
    problem: ProjectError | None = st.session_state.get("models-problem")
    if problem is not None:
        st.html(notice_html(reworded(problem.message), reworded(problem.hint)))
    run: _Run | None = st.session_state.get(RUN)
    if run is not None:
        every = None if run.is_over else POLL_SECONDS
        st.fragment(_draw_run, run_every=every)(run, was_over=run.is_over)


def offered_models(context: AppContext) -> list[str]:
    """Returns the names of the models that can be chosen at once, the user's own first, OWN_WORDS last."""
    mine = session.settings(context)
    names = [mine.chat_model]
    if mine.base_url == context.settings.base_url:
        names.append(context.settings.chat_model)
    if context.settings.allows_user_models:
        for program in context.local_models.programs():
            names += [f"{program.provider.id}:{model.name}" for model in program.models[:MOST_MODELS]]
    own = {f"{mine.provider}:{mine.chat_model}"}
    return [name for name in dict.fromkeys(names) if name and name not in own] + [OWN_WORDS]


def _hosts(context: AppContext) -> list[str]:
    """Who would get the question, of the models that are chosen."""
    try:
        models = compared_models(st.session_state.get(MODELS, []), session.settings(context))
    except ProjectError:
        return []
    return list(dict.fromkeys(model.host for model in models if model.host))


def _ask(context: AppContext) -> None:
    state = st.session_state
    running: _Run | None = state.get(RUN)
    if running is not None:
        running.stop()
    state["models-problem"] = None
    try:
        question = str(state.get(QUESTION) or "").strip()
        if not question:
            raise ProjectError("The question is empty.", hint="Ask something about the documents.")
        models = compared_models(state.get(MODELS, []), session.settings(context))
    except ProjectError as error:
        state["models-problem"] = error
        state.pop(RUN, None)
        return
    owner = session.owner()
    offered = _offered(context)
    if not context.settings.allows_user_models:
        models = [model for model in models if model.name in offered]
    models = [offered.get(model.name) or _bounded(model, context) for model in models]
    state[RUN] = _Run(context, Ask(question, tuple(state.get(DOCUMENTS, [])), owner=owner), models)


def _offered(context: AppContext) -> dict[str, ComparedModel]:
    """The models that answer anyway, by name: never read as PROVIDER:MODEL, whatever a user calls theirs."""
    mine = session.settings(context)
    models = [ComparedModel(OWN_WORDS, replace(without_keys(mine), chat_model=""))]
    if mine.base_url == context.settings.base_url and context.settings.chat_model:
        models.append(ComparedModel(context.settings.chat_model, context.settings))
    if mine.chat_model:
        models.append(ComparedModel(mine.chat_model, mine))
    return {model.name: model for model in models}


def _bounded(model: ComparedModel, context: AppContext) -> ComparedModel:
    """A model that a user typed in gets no key of a server that others can open, but their own at its very
    endpoint, and reaches only what users may reach.
    """
    settings, mine = model.settings, session.settings(context)
    at_own = (settings.provider, endpoint_url(settings)) == (mine.provider, endpoint_url(mine))
    if not at_own:
        settings = replace(settings, endpoint_rule=user_rule(context.settings))
    if context.settings.open_to_others and not (at_own and mine.endpoint_rule):
        settings = without_keys(settings)
    return replace(model, settings=settings)


def _draw_run(run: _Run, *, was_over: bool) -> None:
    if run.is_over and not was_over:
        st.rerun()  # drawn once more, and polled no longer
    if not run.is_over:
        with st.container(horizontal=True, vertical_alignment="center"):
            waiting = [_shown_name(name) for name in run.names if name not in run.answers]
            seconds = time.monotonic() - run.begun
            said = f"Waiting for {', '.join(waiting)} … {seconds:.0f} s"
            st.html(f'<p class="state" role="status">{plain_html(said)}</p>')
            if st.button("Stop", key="models-stop", type="tertiary"):
                run.stop()
    answers = [run.answers[name] for name in run.names if name in run.answers]
    for column, name in zip(st.columns(len(run.names)), run.names, strict=True):
        with column, st.container(border=True):
            st.html(f'<p class="asked">{plain_html(_shown_name(name))}</p>')
            if name in run.answers:
                _draw_answer(run.answers[name], run.titles)
            else:
                st.html(quiet_html("…"))
    if len(answers) > 1:
        _draw_verdict(answers)


def _draw_verdict(answers: Sequence[ComparedAnswer]) -> None:
    """Draws how much of each answer is confirmed, and which of them state which figure."""
    rows = [
        (_shown_name(compared.name), holding_line(compared), f"{compared.seconds:.1f} s")
        for compared in sorted(answers, key=lambda answer: -answer.share_holding)
    ]
    st.html(table_html("How much of each answer is confirmed", ["Model", "Confirmed", "Time"], rows))
    figures = compared_figures(answers)
    if figures:
        names = [compared.name for compared in answers if compared.answer is not None]
        lines = [_figure_row(figure, names) for figure in figures]
        st.html(table_html("Figures in the answers", ["Figure", *map(_shown_name, names)], lines))


def _figure_row(figure: ComparedFigure, names: Sequence[str]) -> list[str]:
    return [figure.text, *(_status_text(figure.statuses.get(name)) for name in names)]


def _shown_name(name: str) -> str:
    return "The documents' own words" if name == OWN_WORDS else name


def _status_text(status: str | None) -> str:
    return "–" if status is None else FIGURE_VERDICTS.get(status, status)


def _draw_answer(compared: ComparedAnswer, titles: Mapping[str, str]) -> None:
    """Draws one answer. titles: of the documents, by name."""
    host = compared.host or "on this machine"
    st.html(quiet_html(f"{host}, {compared.seconds:.1f} s"))
    answer = compared.answer
    if answer is None:
        st.html(notice_html(reworded(compared.problem), ""))
        return
    for notice in compared.notices:
        st.html(notice_html(reworded(notice), ""))
    st.html(
        answer_html(
            answer.text,
            answer.citations,
            answer.numbers,
            statements=answer.statements,
            best_first=answer.best_first,
            by_model=answer.by_model,
            titles=titles,
        )
    )
    lines = mark_lines(answer)
    for citation in answer.citations:
        if citation.document is not None and citation.page is not None:
            page = page_text(PageRef(citation.document, citation.page, citation.page_label))
            lines.append(f"{titles.get(citation.document, citation.document)}, {page}: {citation.verdict}")
    if answer.usage is not None:
        lines.append(usage_text(answer.usage))
    for line in dict.fromkeys(filter(None, lines)):
        st.html(quiet_html(line))
