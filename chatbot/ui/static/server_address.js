// Streamlit's script looks for its server below the address that is open, and only then above it: two
// requests in vain, each logged as an error, wherever a page other than the first is opened by its address.
// This tells it; what stands before the page's own name may be a proxy's.
{
  const pages = document.querySelector('meta[name="finpolicy-pages"]').content.split(' ');
  const [, above, page] = location.pathname.match(/^(.*)\/([^/]+)\/?$/) || [];
  if (pages.includes(page))
    window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: location.origin + above };
}
