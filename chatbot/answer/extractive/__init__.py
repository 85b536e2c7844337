"""From a page to what is quoted of it, verbatim: cuts, scores and picks; rewrites nothing."""
