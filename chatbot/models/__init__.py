"""Chat models and embedders: the embedded models, and any endpoint with OpenAI's protocol."""
