// Brings the mark on an open page into sight. Waits at most four seconds for the page's image; a mark that is
// in sight already is left where it is.
{
  const look = (tries) => {
    const place = document.querySelector('.st-key-pane [data-mark]');
    const image = document.querySelector('.st-key-pane .st-key-page-image img');
    if (!place || !image || !image.complete || !image.naturalHeight) {
      if (tries) setTimeout(look, 50, tries - 1);
      return;
    }
    const box = image.getBoundingClientRect();
    const top = box.top + Number(place.dataset.mark) * box.height;
    let scroller = image.parentElement;
    while (
      scroller &&
      !(
        scroller.scrollHeight > scroller.clientHeight &&
        /auto|scroll/.test(getComputedStyle(scroller).overflowY)
      )
    )
      scroller = scroller.parentElement;
    if (scroller && top > innerHeight * 0.8) scroller.scrollBy(0, top - innerHeight * 0.45);
  };
  look(80);
}
