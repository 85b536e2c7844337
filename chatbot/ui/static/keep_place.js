// When "Show earlier" is pressed, where the first exchange stands is noted; while what comes above it is
// drawn, it is held there, until the page was still for a while or after ten seconds, and not against who
// scrolls meanwhile.
{
  const named = (number) => document.querySelector(`[data-exchange="${number}"]`);
  if (!window.finpolicyPlace) {
    window.finpolicyPlace = {};
    document.addEventListener(
      'click',
      (event) => {
        const first = event.target.closest('.st-key-earlier') && document.querySelector('[data-exchange]');
        if (first)
          window.finpolicyPlace = { number: first.dataset.exchange, top: first.getBoundingClientRect().top };
      },
      true,
    );
  }
  const kept = window.finpolicyPlace;
  const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
  window.finpolicyPlace = {};
  let free = false;
  for (const moved of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
    document.addEventListener(
      moved,
      () => {
        free = true;
      },
      { once: true, passive: true },
    );
  const last = performance.now() + 10000;
  let still = performance.now() + 1500;
  const hold = () => {
    const there = named(kept.number);
    const now = performance.now();
    const by = there ? there.getBoundingClientRect().top - kept.top : 0;
    if (Math.abs(by) > 1) page.scrollTo({ top: page.scrollTop + by, behavior: 'instant' });
    if (Math.abs(by) > 1 || !document.querySelector('[data-test-script-state="notRunning"]'))
      still = Math.max(still, now + 800);
    if (!free && now < Math.min(still, last)) requestAnimationFrame(hold);
  };
  if (kept.number && page) hold();
}
