"""Makes audit files and verifies them.

An audit file holds one answer with everything it rests on. It can be checked later without being trusted.
"""
