"""Explains failures of an object store: what it did, and what to do about it."""

from __future__ import annotations

import re

from chatbot.errors import StoreError
from ingestion.invisible_characters import one_line

__all__ = ["explain_objects"]

MOST_CHARACTERS = 200
KEYS = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the keys of your provider."
# What a failure says, what happened, the fix, and whether it passes by itself. The first that fits counts.
SIGNS = (
    (
        "NoSuchBucket|ContainerNotFound|bucket does not exist",
        "does not exist",
        "Create the bucket, or check FINPOLICY_FILES.",
        False,
    ),
    ("169\\.254\\.169\\.254|NoCredentials|no credentials", "was given no keys", KEYS, False),
    (
        "InvalidAccessKeyId|SignatureDoesNotMatch|401 |Unauthenticated|ExpiredToken|invalid_grant",
        "refused the keys",
        KEYS,
        False,
    ),
    (
        "AccessDenied|403 Forbidden|Permission",
        "does not allow that",
        "Allow these keys to read, write, list and delete there.",
        False,
    ),
    (
        "507 |StorageFull|QuotaExceeded|No space left",
        "is full",
        "Free space there. Nothing stored is lost.",
        True,
    ),
    (
        "[Cc]ertificate",
        "has a certificate that this machine does not trust",
        "Check AWS_ENDPOINT_URL.",
        False,
    ),
    (
        "builder error",
        "is not asked over plain http",
        "Use https, or allow it by AWS_ALLOW_HTTP=true in a network of your own.",
        False,
    ),
    ("timed out|TimedOut|timeout: true", "did not answer in time", "Check what keeps it busy.", True),
    (
        "error sending request|dns error|Connect|503 |502 |500 |SlowDown",
        "cannot be reached",
        "Start it, or check AWS_ENDPOINT_URL and FINPOLICY_FILES.",
        True,
    ),
)


def explain_objects(error: Exception, shown: str) -> Exception:
    """Returns FileNotFoundError for a missing object, StoreError for all else.

    shown: the store's address, for display.
    """
    text = f"{type(error).__name__} {error}"
    for sign, happened, fix, passes in SIGNS:
        if re.search(sign, text):
            return StoreError(f"The object store {shown} {happened}.", hint=fix, retryable=passes)
    if isinstance(error, FileNotFoundError):
        return error
    said = one_line(str(error).partition("\n")[0], MOST_CHARACTERS)
    return StoreError(f"The object store {shown} failed: {said}", hint="See its log.", retryable=True)
