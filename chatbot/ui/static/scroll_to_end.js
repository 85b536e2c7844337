// Shows the end of the page.
{
  const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
  if (page) page.scrollTo(0, page.scrollHeight);
}
