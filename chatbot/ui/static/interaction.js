// What the pages do when they are pointed at, pressed, typed and pasted into; once for each page that is
// loaded.
if (!window.finpolicyInteraction) {
  window.finpolicyInteraction = true;

  // What carries data-tip is explained while it is pointed at or has the focus.
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.id = 'finpolicy-tip';
  tip.setAttribute('role', 'tooltip');
  tip.hidden = true;
  document.body.append(tip);
  let shown = null;
  const hide = () => {
    tip.hidden = true;
    if (shown) shown.removeAttribute('aria-describedby');
    shown = null;
  };
  // Above or below what is explained, beside it, or beside the menu or list that it is in: where it covers
  // least of what one reads or presses there.
  const place = (of) => {
    const box = of.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const within = (at, size, whole) => Math.max(8, Math.min(at, whole - size - 8));
    const left = within(box.left, own.width, innerWidth);
    const middle = within(box.top + (box.height - own.height) / 2, own.height, innerHeight);
    const around = (of.closest('[role="dialog"], [data-testid="stSidebar"]') || of).getBoundingClientRect();
    const places = [
      [left, box.top - own.height - 6],
      [left, box.bottom + 6],
      [box.right + 10, middle],
      [box.left - own.width - 10, middle],
      [around.right + 10, middle],
      [around.left - own.width - 10, middle],
    ].filter(
      ([x, y]) => x >= 0 && y >= 0 && x + own.width <= innerWidth && y + own.height <= innerHeight,
    );
    const menu = of.closest('[role="dialog"]') || document;
    const others = [
      ...menu.querySelectorAll(
        'label p, input, textarea, button, h1, h2, h3, .choice, [role="combobox"]',
      ),
    ].filter((one) => !one.contains(of) && !of.contains(one) && one.checkVisibility());
    const covered = ([x, y]) =>
      others.reduce((sum, one) => {
        const at = one.getBoundingClientRect();
        const wide = Math.min(at.right, x + own.width) - Math.max(at.left, x);
        const high = Math.min(at.bottom, y + own.height) - Math.max(at.top, y);
        return sum + (wide > 0 && high > 0 ? wide * high : 0);
      }, 0);
    const best = places.sort((one, other) => covered(one) - covered(other))[0] || [left, box.bottom + 6];
    tip.style.left = best[0] + 'px';
    tip.style.top = best[1] + 'px';
  };
  const tell = (of, text) => {
    shown = of;
    tip.textContent = text;
    tip.hidden = false;
    place(of);
  };
  const show = (event) => {
    const of = event.target.closest ? event.target.closest('[data-tip]') : null;
    if (of === shown) return;
    hide();
    if (!of) return;
    tell(of, of.dataset.tip);
    if (of.tagName === 'BUTTON') of.setAttribute('aria-describedby', tip.id);
  };
  // Streamlit's own explanations, which style.css hides, are shown in the same way.
  let theirs = null;
  const showTheirs = () => {
    const content = document.querySelector('[data-testid="stTooltipContent"]');
    if (content === theirs) return;
    theirs = content;
    const of = content && document.querySelector(`[aria-describedby~="${content.parentElement.id}"]`);
    if (of) tell(of, content.textContent);
    else if (shown && !shown.dataset.tip) hide();
  };
  document.addEventListener('mouseover', show);
  document.addEventListener('focusin', show);
  document.addEventListener('scroll', hide, true);

  // A paste that a field does not take, for it is too long, is told, and so is why the server did not take a
  // file: Streamlit shows the number of the status alone.
  const warning = document.createElement('div');
  warning.className = 'tip';
  warning.setAttribute('role', 'alert');
  warning.hidden = true;
  document.body.append(warning);
  const warn = (text, field, time) => {
    warning.textContent = text;
    warning.hidden = false;
    const box = field.getBoundingClientRect();
    warning.style.left = Math.max(8, box.left) + 'px';
    warning.style.top = Math.max(8, box.top - warning.offsetHeight - 6) + 'px';
    setTimeout(() => {
      warning.hidden = true;
    }, time);
  };
  document.addEventListener(
    'paste',
    (event) => {
      const field = event.target;
      const text = event.clipboardData ? event.clipboardData.getData('text') : '';
      if (!text.trim() || !field.matches || !field.matches('input, textarea')) return;
      const was = field.value;
      setTimeout(() => {
        if (!field.isConnected || field.value !== was) return;
        warn('That is too long for this field: nothing was pasted.', field, 5000);
      }, 200);
    },
    true,
  );
  // A file that the field itself refuses is named with what to do, as its chip may go the next moment.
  const refused = new Set();
  const nameRefused = () => {
    for (const chip of document.querySelectorAll('[data-testid="stFileChip"][aria-invalid="true"]')) {
      const name = (chip.getAttribute('aria-label') || '').replace(/, [^,]*$/, '');
      const why = chip.textContent;
      const large = /smaller|size|exceed/i.test(why);
      if (refused.has(chip) || !(large || /not allowed/i.test(why))) continue;
      refused.add(chip);
      const field = chip.closest('[data-testid="stFileUploader"], [data-testid="stChatInput"]') || chip;
      const said = large
        ? ' is too large. Split it or make it smaller, then add it.'
        : ' is of no kind that is read.';
      warn(name + said, field, 15000);
    }
  };
  const open = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (method.toUpperCase() === 'PUT' && String(url).includes('/_stcore/upload_file/'))
      this.addEventListener('load', () => {
        const field = document.querySelector('[data-testid="stFileUploader"], [data-testid="stChatInput"]');
        if (this.status >= 400 && field) warn(this.responseText, field, 15000);
      });
    return open.call(this, method, url, ...rest);
  };

  // A panel that opens has the focus, a page beside the text only if it was opened by keyboard; what opened
  // it gets the focus back when the panel is closed. A page beside the text is named for those who hear it.
  const opened = () => document.querySelector('[role="dialog"]:not(.st-key-pane), .st-key-pane');
  let opener = null;
  let byKey = false;
  let wasOpen = false;
  const look = () => {
    const panel = opened();
    const from = opener;
    const pane = document.querySelector('.st-key-pane');
    if (pane && pane.getAttribute('role') !== 'dialog') {
      pane.setAttribute('role', 'dialog');
      pane.setAttribute('aria-label', 'A page of a document');
      pane.tabIndex = -1;
    }
    if (panel && !wasOpen)
      setTimeout(() => {
        const free = document.activeElement === document.body || (pane && byKey);
        if (panel.isConnected && free) panel.focus();
      }, 250);
    if (!panel && wasOpen && from) {
      opener = null;
      setTimeout(() => {
        if (from.isConnected && (document.activeElement === document.body || !document.activeElement))
          from.focus();
      }, 50);
    }
    wasOpen = !!panel;
  };
  let looking = 0;
  const lookSoon = () => {
    looking = looking || requestAnimationFrame(() => {
      looking = 0;
      showTheirs();
      look();
      nameRefused();
    });
  };
  new MutationObserver(lookSoon).observe(document.body, { childList: true, subtree: true });

  // A field that stays locked though nothing runs any more is freed by another run of the page: Streamlit
  // 1.67 misses the end of the run that answered where a part of the page is drawn just then.
  let stuck = 0;
  setInterval(() => {
    const box = document.querySelector('[data-testid="stChatInput"] textarea');
    const wake = document.querySelector('.st-key-wake button');
    const rests = document.querySelector(
      '[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]',
    );
    stuck = box && box.disabled && rests && wake ? stuck + 1 : 0;
    if (stuck > 2) {
      stuck = 0;
      wake.click();
    }
  }, 500);

  // One line says that a server does not answer, in place of Streamlit's own dialog.
  const connection = document.createElement('p');
  connection.className = 'connection';
  connection.setAttribute('role', 'status');
  connection.hidden = true;
  document.body.append(connection);
  let away = 0;
  setInterval(() => {
    const app = document.querySelector('[data-test-connection-state]');
    const there = !app || app.dataset.testConnectionState === 'CONNECTED';
    away = there ? 0 : away + 1;
    connection.textContent = away > 2 ? 'Connection lost. Trying again…' : '';
    connection.hidden = away <= 2;
    for (const dialog of document.querySelectorAll('[data-testid="stDialog"]'))
      if (dialog.textContent.includes('Streamlit server')) dialog.style.display = 'none';
  }, 500);

  // The question has the focus when the page is there, but on screens that are touched, where it would bring
  // up a keyboard.
  let free = !matchMedia('(hover: hover)').matches;
  for (const begun of ['keydown', 'pointerdown'])
    document.addEventListener(
      begun,
      () => {
        free = true;
      },
      { once: true, capture: true },
    );
  const begin = (tries) => {
    const box = document.querySelector('[data-testid="stChatInput"] textarea');
    if (free || !tries || document.activeElement !== document.body) return;
    if (box && !box.disabled) box.focus({ preventScroll: true });
    else setTimeout(begin, 100, tries - 1);
  };
  begin(100);

  // The first page that the last answer cites; once it is open, its own keys go on to the next.
  const openLast = () => {
    const cited = [...document.querySelectorAll('.cites')].pop();
    const button = cited && cited.querySelector('button');
    if (button) button.click();
  };
  // Where there is room, an open page gives way to that of the answer that has come.
  document.addEventListener('finpolicy-answered', () => {
    if (innerWidth >= 1200 && document.querySelector('.st-key-pane')) openLast();
  });

  // A sheet follows the finger on its handle, and closes if that was tapped or pulled down far enough.
  let pulled = null;
  document.addEventListener('pointerdown', (event) => {
    const handle = event.target.closest ? event.target.closest('.handle') : null;
    if (!handle) return;
    pulled = { from: event.clientY, by: 0, pane: handle.closest('.st-key-pane') };
    handle.setPointerCapture(event.pointerId);
  });
  document.addEventListener('pointermove', (event) => {
    if (!pulled) return;
    pulled.by = Math.max(0, event.clientY - pulled.from);
    pulled.pane.style.transform = `translateY(${pulled.by}px)`;
  });
  for (const end of ['pointerup', 'pointercancel'])
    document.addEventListener(end, () => {
      if (!pulled) return;
      pulled.pane.style.transform = '';
      const close = document.querySelector('.st-key-pane-close button');
      if (close && (pulled.by > 90 || pulled.by < 5)) close.click();
      pulled = null;
    });

  // Escape closes a panel from wherever the focus is, "j" opens what the last answer cites, and "/" goes to
  // the question.
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
    const panel = opened();
    const typing = event.target.closest && event.target.closest('input, textarea, select, [contenteditable]');
    const beside = panel && panel.classList.contains('st-key-pane');
    const free = beside ? !typing || !event.target.value : document.activeElement === document.body;
    if (event.key === 'Escape' && panel && free && !event.defaultPrevented) {
      const close = panel.querySelector('button[aria-label="Close"], .st-key-pane-close button');
      if (close) close.click();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || (panel && !beside)) return;
    if (event.key === 'j' && !panel) openLast();
    if (event.key !== '/') return;
    const box = document.querySelector('[data-testid="stChatInput"] textarea');
    if (box) {
      event.preventDefault();
      box.focus();
    }
  });

  // A question that is changed has the focus at once. Where the list covers the page, it closes once
  // something is chosen in it.
  const back = (number, tries) => {
    const pencil = document.querySelector(`.st-key-pencil-${number} button`);
    if (pencil) pencil.focus();
    else if (tries) setTimeout(back, 50, number, tries - 1);
  };
  const edited = (tries) => {
    const field = document.querySelector('[class*="st-key-edit-text-"] textarea');
    if (field) {
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    } else if (tries) setTimeout(edited, 50, tries - 1);
  };
  document.addEventListener('click', (event) => {
    const at = event.target.closest ? (what) => event.target.closest(what) : () => null;
    if (at('[class*="st-key-pencil-"] button')) setTimeout(edited, 50, 60);
    const listed =
      ':is([data-testid="stSidebarNavLink"], [class*="st-key-go-"] button, ' +
      '.st-key-new button, .st-key-new-private button)';
    const chosen = at('[data-testid="stSidebar"] ' + listed);
    if (chosen && innerWidth < 768) {
      const close = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
      if (close) setTimeout(() => close.click(), 50);
    }
  });

  // On a narrow page the line that says what is searched opens the field for it.
  const toScope = (tries) => {
    const field = document.querySelector('[data-testid="stSidebar"] .st-key-scope input');
    const shown = field && field.getBoundingClientRect().left >= 0;
    if (shown) field.focus();
    else if (tries) setTimeout(toScope, 100, tries - 1);
  };
  document.addEventListener('click', (event) => {
    if (!event.target.closest || !event.target.closest('[data-scope]')) return;
    const expand = document.querySelector('[data-testid="stExpandSidebarButton"]');
    if (expand) expand.click();
    toScope(20);
  });

  // A question that is changed is asked by Enter and left by Escape, as the question's own field is.
  document.addEventListener(
    'keydown',
    (event) => {
      const form = event.target.closest ? event.target.closest('[class*="st-key-edit-text-"]') : null;
      if (!form || event.isComposing || !event.isTrusted) return;
      if (event.key === 'Escape') {
        const leave = document.querySelector('[class*="st-key-edit-leave-"] button');
        const number = (form.className.match(/st-key-edit-text-(\d+)/) || [])[1];
        if (leave) {
          leave.click();
          setTimeout(back, 100, number, 40);
        }
      } else if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        event.stopPropagation();
        const sent = {
          key: 'Enter',
          code: 'Enter',
          keyCode: 13,
          which: 13,
          ctrlKey: true,
          bubbles: true,
          cancelable: true,
        };
        event.target.dispatchEvent(new KeyboardEvent('keydown', sent));
      }
    },
    true,
  );

  // A page of a strip goes into the field that opens it, again where the field was just being drawn anew.
  document.addEventListener('click', (event) => {
    // By its place: what was pressed may have been drawn anew before it was let go.
    const pressed = document.elementFromPoint(event.clientX, event.clientY);
    const cell = pressed ? pressed.closest('.strip [data-page]') : null;
    const put = (tries) => {
      const field = document.querySelector('.st-key-report-open input');
      if (!tries || (field && field.value) || !document.querySelector('.strip [data-page]')) return;
      if (field) {
        field.focus();
        const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
        set.call(field, cell.dataset.page);
        field.dispatchEvent(new Event('input', { bubbles: true }));
        setTimeout(() => field.blur(), 30);
      }
      setTimeout(put, 830, tries - 1);
    };
    if (cell) put(5);
  });

  // What carries data-open opens a page of a document: its key goes into the field of the pane, numbered so
  // that it can be pressed again.
  let presses = 0;
  document.addEventListener('click', (event) => {
    const by = event.target.closest ? event.target.closest('[data-open]') : null;
    const field = document.querySelector('.st-key-page-to-open input');
    if (!by || !field) return;
    if (event.isTrusted) {
      opener = by;
      byKey = event.detail === 0;
    }
    hide();
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    set.call(field, `${by.dataset.open} ${++presses}`);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    const enter = { key: 'Enter', code: 'Enter', keyCode: 13, which: 13, bubbles: true };
    setTimeout(() => field.dispatchEvent(new KeyboardEvent('keydown', enter)), 30);
  });

  // A file to take away opens no tab.
  document.addEventListener(
    'click',
    (event) => {
      const link = event.target.closest ? event.target.closest('a[href*="download/"]') : null;
      if (link) link.target = '_self';
    },
    true,
  );

  // What carries data-copy puts that text on the clipboard; what carries data-stop tells that address to
  // stop.
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed, or no secure address: the old way.
    }
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  };
  document.addEventListener('click', async (event) => {
    const at = event.target.closest ? event.target.closest('[data-copy], [data-stop]') : null;
    if (!at) return;
    hide();
    if (at.dataset.stop) {
      at.disabled = true;
      await fetch(at.dataset.stop, { method: 'POST' });
      return;
    }
    const said = at.textContent;
    const done = await copy(at.dataset.copy);
    at.textContent = done ? 'Copied' : 'Could not copy';
    setTimeout(() => {
      at.textContent = said;
    }, 1600);
  });
}
