// Once an answer is there whole, brings its question to the top where the answer reaches below the page; not
// against who scrolls meanwhile.
{
  const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
  let left = 5;
  let free = false;
  for (const moved of ['wheel', 'touchmove', 'pointerdown'])
    document.addEventListener(
      moved,
      () => {
        free = true;
      },
      { once: true, passive: true },
    );
  const look = () => {
    const asked = [...document.querySelectorAll('.question')].pop();
    if (free || !page || !asked) return;
    const by = asked.getBoundingClientRect().top - page.getBoundingClientRect().top - 100;
    if (by > 1) page.scrollBy({ top: by, behavior: 'instant' });
    if (--left) setTimeout(look, 120);
  };
  look();
  document.dispatchEvent(new Event('finpolicy-answered'));
}
