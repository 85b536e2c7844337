"""The scripts of our own: to where a page is to be seen, and what answers point at, open and copy."""

from __future__ import annotations

import streamlit as st

__all__ = ["SCRIPTS", "add_scripts", "keep_place", "scroll_to_answer", "scroll_to_end", "scroll_to_mark"]

# All are constant, so that the server's policy can allow them by their hashes and no others.
TO_END = """{
const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
if (page) page.scrollTo(0, page.scrollHeight);
}"""
# Waits at most four seconds for the image; a mark that is in sight already is left where it is.
TO_MARK = """{
const look = (tries) => {
  const place = document.querySelector('[role="dialog"] [data-mark]');
  const image = document.querySelector('[role="dialog"] .st-key-page-image img');
  if (!place || !image || !image.complete || !image.naturalHeight) { if (tries) setTimeout(look, 50, tries - 1); return; }
  const box = image.getBoundingClientRect();
  const top = box.top + Number(place.dataset.mark) * box.height;
  let scroller = image.parentElement;
  while (scroller && !(scroller.scrollHeight > scroller.clientHeight && /auto|scroll/.test(getComputedStyle(scroller).overflowY)))
    scroller = scroller.parentElement;
  if (scroller && top > innerHeight * 0.8) scroller.scrollBy(0, top - innerHeight * 0.45);
};
look(80);
}"""
# When "Show earlier" is pressed, where the first exchange stands is noted; while what comes above it is drawn, it is held there, until the page was still for a
# while or after ten seconds, and not against who scrolls meanwhile.
TO_PLACE = """{
const named = (number) => document.querySelector(`[data-exchange="${number}"]`);
if (!window.finpolicyPlace) {
  window.finpolicyPlace = {};
  document.addEventListener('click', (event) => {
    const first = event.target.closest('.st-key-earlier') && document.querySelector('[data-exchange]');
    if (first) window.finpolicyPlace = {number: first.dataset.exchange, top: first.getBoundingClientRect().top};
  }, true);
}
const kept = window.finpolicyPlace, page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
window.finpolicyPlace = {};
let free = false;
for (const moved of ['wheel', 'touchmove', 'keydown', 'pointerdown']) document.addEventListener(moved, () => { free = true; }, {once: true, passive: true});
const last = performance.now() + 10000;
let still = performance.now() + 1500;
const hold = () => {
  const there = named(kept.number), now = performance.now();
  const by = there ? there.getBoundingClientRect().top - kept.top : 0;
  if (Math.abs(by) > 1) page.scrollTo({top: page.scrollTop + by, behavior: 'instant'});
  if (Math.abs(by) > 1 || !document.querySelector('[data-test-script-state="notRunning"]')) still = Math.max(still, now + 800);
  if (!free && now < Math.min(still, last)) requestAnimationFrame(hold);
};
if (kept.number && page) hold();
}"""
# Once an answer is there whole, its question to the top where the answer reaches below the page; not against who scrolls meanwhile.
TO_ANSWER = """{
const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
let left = 5, free = false;
for (const moved of ['wheel', 'touchmove', 'pointerdown']) document.addEventListener(moved, () => { free = true; }, {once: true, passive: true});
const look = () => {
  const asked = [...document.querySelectorAll('.question')].pop();
  if (free || !page || !asked) return;
  const by = asked.getBoundingClientRect().top - page.getBoundingClientRect().top - 100;
  if (by > 1) page.scrollBy({top: by, behavior: 'instant'});
  if (--left) setTimeout(look, 120);
};
look();
}"""
# Once for each page that is loaded. What carries data-tip is explained while it is pointed at or has the focus; what carries data-press presses the
# button of that key, and gets the focus back when the panel that it opened is closed; what carries data-copy puts that text on the clipboard; what
# carries data-stop tells that address to stop; a page of a strip goes into the field that opens it, again where the field was just being drawn anew;
# a file to take away opens no tab. A question that is changed has the focus at once, is asked by Enter and left by Escape, as the question's own
# field is. Where the list covers the page, it closes once something is chosen in it. A paste that a field does not take, for it is too long, is told, and so
# is why the server did not take a file: Streamlit shows the number of the status alone.
# "/" goes to the question, and so does the focus when the page is there, but on screens that are touched, where it would bring up a keyboard. Escape
# closes a panel from wherever the focus is. A field that stays locked though nothing runs any more is freed by another run of the page: Streamlit
# 1.67 misses the end of the run that answered where a part of the page is drawn just then.
HANDS = """{
if (!window.finpolicyHands) {
  window.finpolicyHands = true;
  const tip = document.createElement('div');
  tip.className = 'tip'; tip.id = 'finpolicy-tip'; tip.setAttribute('role', 'tooltip'); tip.hidden = true;
  document.body.append(tip);
  let shown = null;
  const hide = () => { tip.hidden = true; if (shown) shown.removeAttribute('aria-describedby'); shown = null; };
  const show = (event) => {
    const of = event.target.closest ? event.target.closest('[data-tip]') : null;
    if (of === shown) return;
    hide();
    if (!of) return;
    shown = of; tip.textContent = of.dataset.tip; tip.hidden = false;
    if (of.tagName === 'BUTTON') of.setAttribute('aria-describedby', tip.id);
    const box = of.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, innerWidth - own.width - 8));
    const above = box.top - own.height - 6;
    tip.style.left = left + 'px'; tip.style.top = (above < 8 ? box.bottom + 6 : above) + 'px';
  };
  document.addEventListener('mouseover', show);
  document.addEventListener('focusin', show);
  document.addEventListener('scroll', hide, true);
  const warning = document.createElement('div');
  warning.className = 'tip'; warning.setAttribute('role', 'alert'); warning.hidden = true;
  document.body.append(warning);
  const warn = (text, field, time) => {
    warning.textContent = text; warning.hidden = false;
    const box = field.getBoundingClientRect();
    warning.style.left = Math.max(8, box.left) + 'px'; warning.style.top = Math.max(8, box.top - warning.offsetHeight - 6) + 'px';
    setTimeout(() => { warning.hidden = true; }, time);
  };
  document.addEventListener('paste', (event) => {
    const field = event.target, text = event.clipboardData ? event.clipboardData.getData('text') : '';
    if (!text.trim() || !field.matches || !field.matches('input, textarea')) return;
    const was = field.value;
    setTimeout(() => {
      if (!field.isConnected || field.value !== was) return;
      warn('That is too long for this field: nothing was pasted.', field, 5000);
    }, 200);
  }, true);
  const open = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (method.toUpperCase() === 'PUT' && String(url).includes('/_stcore/upload_file/')) this.addEventListener('load', () => {
      const field = document.querySelector('[data-testid="stFileUploader"], [data-testid="stChatInput"]');
      if (this.status >= 400 && field) warn(this.responseText, field, 15000);
    });
    return open.call(this, method, url, ...rest);
  };
  const opened = () => document.querySelector('[role="dialog"]');
  let opener = null, wasOpen = false;
  const look = () => {
    const panel = opened(), from = opener;
    if (panel && !wasOpen) setTimeout(() => { if (panel.isConnected && document.activeElement === document.body) panel.focus(); }, 250);
    if (!panel && wasOpen && from) {
      opener = null;
      setTimeout(() => { if (from.isConnected && (document.activeElement === document.body || !document.activeElement)) from.focus(); }, 50);
    }
    wasOpen = !!panel;
  };
  new MutationObserver(look).observe(document.body, {childList: true});
  let stuck = 0;
  setInterval(() => {
    const box = document.querySelector('[data-testid="stChatInput"] textarea'), wake = document.querySelector('.st-key-wake button');
    const rests = document.querySelector('[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]');
    stuck = box && box.disabled && rests && wake ? stuck + 1 : 0;
    if (stuck > 2) { stuck = 0; wake.click(); }
  }, 500);
  let free = !matchMedia('(hover: hover)').matches;
  for (const begun of ['keydown', 'pointerdown']) document.addEventListener(begun, () => { free = true; }, {once: true, capture: true});
  const begin = (tries) => {
    const box = document.querySelector('[data-testid="stChatInput"] textarea');
    if (free || !tries || document.activeElement !== document.body) return;
    if (box && !box.disabled) box.focus({preventScroll: true}); else setTimeout(begin, 100, tries - 1);
  };
  begin(100);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
    const panel = opened();
    if (event.key === 'Escape' && panel && !panel.contains(document.activeElement) && document.activeElement === document.body) {
      const close = panel.querySelector('button[aria-label="Close"]');
      if (close) close.click();
    }
    const typing = event.target.closest && event.target.closest('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('[role="dialog"]')) return;
    const box = document.querySelector('[data-testid="stChatInput"] textarea');
    if (box) { event.preventDefault(); box.focus(); }
  });
  const back = (number, tries) => {
    const pencil = document.querySelector(`.st-key-pencil-${number} button`);
    if (pencil) pencil.focus(); else if (tries) setTimeout(back, 50, number, tries - 1);
  };
  const edited = (tries) => {
    const field = document.querySelector('[class*="st-key-edit-text-"] textarea');
    if (field) { field.focus(); field.setSelectionRange(field.value.length, field.value.length); } else if (tries) setTimeout(edited, 50, tries - 1);
  };
  document.addEventListener('click', (event) => {
    const at = event.target.closest ? (what) => event.target.closest(what) : () => null;
    if (at('[class*="st-key-pencil-"] button')) setTimeout(edited, 50, 60);
    const listed = ':is([data-testid="stSidebarNavLink"], [class*="st-key-go-"] button, .st-key-new button, .st-key-new-private button)';
    const chosen = at('[data-testid="stSidebar"] ' + listed);
    if (chosen && innerWidth < 768) {
      const close = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
      if (close) setTimeout(() => close.click(), 50);
    }
  });
  document.addEventListener('keydown', (event) => {
    const form = event.target.closest ? event.target.closest('[class*="st-key-edit-text-"]') : null;
    if (!form || event.isComposing || !event.isTrusted) return;
    if (event.key === 'Escape') {
      const leave = document.querySelector('[class*="st-key-edit-leave-"] button'), number = (form.className.match(/st-key-edit-text-(\\d+)/) || [])[1];
      if (leave) { leave.click(); setTimeout(back, 100, number, 40); }
    } else if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault(); event.stopPropagation();
      const sent = {key: 'Enter', code: 'Enter', keyCode: 13, which: 13, ctrlKey: true, bubbles: true, cancelable: true};
      event.target.dispatchEvent(new KeyboardEvent('keydown', sent));
    }
  }, true);
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* not allowed, or no secure address: the old way */ }
    const area = document.createElement('textarea');
    area.value = text; document.body.append(area); area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  };
  document.addEventListener('click', (event) => {
    // By its place: what was pressed may have been drawn anew before it was let go.
    const pressed = document.elementFromPoint(event.clientX, event.clientY);
    const cell = pressed ? pressed.closest('.strip [data-page]') : null;
    const put = (tries) => {
      const field = document.querySelector('.st-key-report-open input');
      if (!tries || (field && field.value) || !document.querySelector('.strip [data-page]')) return;
      if (field) {
        field.focus();
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, cell.dataset.page);
        field.dispatchEvent(new Event('input', {bubbles: true}));
        setTimeout(() => field.blur(), 30);
      }
      setTimeout(put, 830, tries - 1);
    };
    if (cell) put(5);
  });
  document.addEventListener('click', (event) => {
    const link = event.target.closest ? event.target.closest('a[href*="download/"]') : null;
    if (link) link.target = '_self';
  }, true);
  document.addEventListener('click', async (event) => {
    const by = event.target.closest ? event.target.closest('[data-press], [class*="st-key-cite-"] button, [class*="st-key-near-"] button') : null;
    if (by && event.isTrusted) opener = by;
    const at = event.target.closest ? event.target.closest('[data-press], [data-copy], [data-stop]') : null;
    if (!at) return;
    hide();
    if (at.dataset.press) {
      const button = document.querySelector('.st-key-' + CSS.escape(at.dataset.press) + ' button');
      if (button) button.click();
      return;
    }
    if (at.dataset.stop) {
      at.disabled = true;
      await fetch(at.dataset.stop, {method: 'POST'});
      return;
    }
    const said = at.textContent, done = await copy(at.dataset.copy);
    at.textContent = done ? 'Copied' : 'Could not copy';
    setTimeout(() => { at.textContent = said; }, 1600);
  });
}
}"""
SCRIPTS = (TO_END, TO_MARK, TO_PLACE, TO_ANSWER, HANDS)


def add_scripts() -> None:
    """Let what answers show be pointed at, pressed and copied; to be drawn on every page."""
    st.html(f"<span data-scroll></span><script>{HANDS}</script>", unsafe_allow_javascript=True)


def scroll_to_end(what: str) -> None:
    """Scroll once for each `what`, of letters, digits and "-", from where Streamlit follows the answer as it grows."""
    st.html(f'<span data-scroll="{what}"></span><script>{TO_END}</script>', unsafe_allow_javascript=True)


def keep_place(first: int) -> None:
    """Stay where one is as `first` becomes a lower number: that of the first exchange that is shown, each marked by data-exchange."""
    st.html(f'<span data-scroll="from-{first}"></span><script>{TO_PLACE}</script>', unsafe_allow_javascript=True)


def scroll_to_answer(number: int) -> None:
    """Bring the last question and its answer, which is whole now, into sight. number: of the question, unique in this process."""
    st.html(f'<span data-scroll="answered-{number}"></span><script>{TO_ANSWER}</script>', unsafe_allow_javascript=True)


def scroll_to_mark(top: float) -> None:
    """Bring the mark into sight. top: where on the image it begins, a share of its height."""
    st.html(f'<span data-mark="{top:.4f}" data-scroll></span><script>{TO_MARK}</script>', unsafe_allow_javascript=True)
