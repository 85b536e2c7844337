"""Questions to page-cited answers over the documents that were added, and all that is remembered."""
