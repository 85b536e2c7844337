"""Draws several models side by side on one question: their answers, and what the checks make of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.asking.named_models import OWN_WORDS
from chatbot.asking.question import Ask
from chatbot.asking.side_by_side import MOST_MODELS, ComparedModel, compared_models
from chatbot.comparison.model_answers import ComparedAnswer, ComparedFigure, compared_figures, holding_line
from chatbot.errors import ProjectError
from chatbot.mark_lines import mark_lines
from chatbot.models.addresses import endpoint_url
from chatbot.records import FIGURE_VERDICTS
from chatbot.ui import session
from chatbot.ui.answer_text import answer_html, citation_text
from chatbot.ui.page_parts import abreast, choose_documents, draw_button, draw_notice, draw_quiet, follow
from chatbot.ui.safe_text import plain_html, table_html
from chatbot.usage_text import usage_text
from chatbot.user_settings import reworded, user_rule, without_keys

__all__ = ["draw_model_comparison"]

QUESTION, MODELS, DOCUMENTS, RUN = "models-question", "models-chosen", "models-documents", "models-run"
WHAT = (
    "Ask two to four models the same question about the same pages. See how much of each answer is "
    "confirmed. Nothing is saved."
)
HOW = "Type another model's name to add it, or PROVIDER:MODEL, such as ollama:qwen3."


class _Run:
    """Answers that come in from a thread, so that the page may be left meanwhile."""

    def __init__(self, context: AppContext, ask: Ask, models: Sequence[ComparedModel]) -> None:
        self.begun = time.monotonic()
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
    draw_quiet(WHAT)
    offered = offered_models(context)
    typed = [name for name in st.session_state.get(MODELS, []) if name not in offered]
    allowed = context.settings.allows_user_models
    st.text_input("Question", key=QUESTION, placeholder="What was total revenue?", persist_state="session")
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
    choose_documents(right, names, DOCUMENTS, "All documents", context)
    if hosts := _hosts(context):
        draw_quiet(f"The question and excerpts of the documents go to {' and to '.join(hosts)}.")
    draw_button("Ask all", "ask-models", _ask, context, type="primary")
    problem = session.notified()
    if problem is not None:
        draw_notice(reworded(problem.message), reworded(problem.hint))
    run: _Run | None = st.session_state.get(RUN)
    if run is not None:
        follow(partial(_draw_run, run), lambda: not run.is_over)


def offered_models(context: AppContext) -> list[str]:
    """Returns the names of the models that can be chosen at once, the user's own first, OWN_WORDS last."""
    *names, own_words = _offered(context)
    if context.settings.allows_user_models:
        for program in context.local_models.programs():
            names += [f"{program.provider.id}:{model.name}" for model in program.models[:MOST_MODELS]]
    mine = session.settings(context)
    own = f"{mine.provider}:{mine.chat_model}"
    return [*(name for name in dict.fromkeys(names) if name != own), own_words]


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
    try:
        question = str(state.get(QUESTION) or "").strip()
        if not question:
            raise ProjectError("The question is empty.", hint="Ask something about the documents.")
        models = compared_models(state.get(MODELS, []), session.settings(context))
    except ProjectError as error:
        session.notify(error)
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
    mine, servers = session.settings(context), context.settings
    models = [ComparedModel(one.chat_model, one) for one in (mine, servers) if one.chat_model]
    if mine.base_url != servers.base_url:
        models = [one for one in models if one.settings is mine]
    models.append(ComparedModel(OWN_WORDS, replace(without_keys(mine), chat_model="")))
    names = [model.name for model in models]
    return {model.name: model for at, model in enumerate(models) if model.name not in names[:at]}


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


def _draw_run(run: _Run) -> None:
    if not run.is_over:
        with abreast():
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
                draw_quiet("…")
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
    draw_quiet(f"{host}, {compared.seconds:.1f} s")
    answer = compared.answer
    if answer is None:
        draw_notice(reworded(compared.problem), "")
        return
    for notice in compared.notices:
        draw_notice(reworded(notice), "")
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
    lines += [citation_text(one, titles) for one in answer.citations if one.document is not None]
    if answer.usage is not None:
        lines.append(usage_text(answer.usage))
    for line in dict.fromkeys(filter(None, lines)):
        draw_quiet(line)
