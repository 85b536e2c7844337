"""Pages read from their images, and how sure a text is to be language."""
