"""What has been added: the catalogue and the two indexes derived from it."""
