"""Moves a store between files of this machine and servers, and compares both afterwards."""
