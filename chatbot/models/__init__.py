"""Chat models and embedders: the embedded ones, and any endpoint that speaks OpenAI's protocol."""
