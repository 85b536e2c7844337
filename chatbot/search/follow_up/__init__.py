"""A follow-up as the standalone question it means: by rules, or by the user's own chat model."""
