"""Errors of providers in the shapes in which they send them, for the stand-in."""

from __future__ import annotations

from dataclasses import dataclass

from tests.provider import Refuse

__all__ = ["ERRORS", "ProviderError"]


@dataclass(frozen=True)
class ProviderError:
    """An error of a provider. kind: what it comes to, see ModelError. said: what the message has. fix: what
    the hint has."""

    provider: str
    refusal: Refuse
    kind: str
    said: str
    fix: str


def _openai(status: int, message: str, code: str | None, *, type_: str = "invalid_request_error") -> Refuse:
    body = {"error": {"message": message, "type": type_, "param": None, "code": code}}
    return Refuse(status, body=body)


def _anthropic(status: int, kind: str, message: str) -> Refuse:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"}
    return Refuse(status, body=body)


_AZURE_FILTER = {
    "error": {
        "message": (
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
        ),
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
}
_OPENROUTER_CONTEXT = {
    "error": {
        "message": "Provider returned error",
        "code": 400,
        "metadata": {
            "raw": '{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}',
            "provider_name": "Someone",
        },
    }
}
_LLAMACPP_CONTEXT = {
    "error": {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 9_001,
        "n_ctx": 4_096,
    }
}
_VLLM_CONTEXT = {
    "object": "error",
    "message": (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the "
        "messages. Please reduce the length of the messages."
    ),
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}

ERRORS: tuple[ProviderError, ...] = (
    # --- OpenAI
    ProviderError(
        "openai",
        _openai(400, "This model's maximum context length is 128000 tokens.", "context_length_exceeded"),
        "length",
        "The prompt is too long",
        "FINPOLICY_CONTEXT_TOKENS",
    ),
    ProviderError(
        "openai",
        _openai(404, "The model `gpt-9` does not exist or you do not have access to it.", "model_not_found"),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    ProviderError(
        "openai",
        _openai(429, "You exceeded your current quota.", "insufficient_quota", type_="insufficient_quota"),
        "credit",
        "no longer answers for this account",
        "no credit left",
    ),
    ProviderError(
        "openai",
        _openai(401, "Incorrect API key provided: sk-abc***xyz.", "invalid_api_key"),
        "key",
        "refused the key",
        "OPENAI_API_KEY",
    ),
    # --- Azure
    ProviderError("azure", Refuse(400, body=_AZURE_FILTER), "", "content filter", "Rephrase"),
    ProviderError(
        "azure",
        Refuse(
            404,
            body={
                "error": {
                    "code": "DeploymentNotFound",
                    "message": "The API deployment for this resource does not exist.",
                }
            },
        ),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    ProviderError(
        "azure",
        Refuse(404, body={"error": {"code": "404", "message": "Resource not found"}}),
        "path",
        "not at this address",
        "OPENAI_BASE_URL",
    ),
    # --- Anthropic
    ProviderError(
        "anthropic",
        _anthropic(400, "invalid_request_error", "prompt is too long: 210034 tokens > 200000 maximum"),
        "length",
        "The prompt is too long",
        "FINPOLICY_CONTEXT_TOKENS",
    ),
    ProviderError(
        "anthropic",
        _anthropic(404, "not_found_error", "model: claude-nothing"),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    ProviderError(
        "anthropic",
        _anthropic(
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
        ),
        "credit",
        "no longer answers for this account",
        "no credit left",
    ),
    ProviderError(
        "anthropic",
        _anthropic(401, "authentication_error", "invalid x-api-key"),
        "key",
        "refused the key",
        "ANTHROPIC_API_KEY",
    ),
    # --- DeepSeek
    ProviderError(
        "deepseek",
        Refuse(402, body={"error": {"message": "Insufficient Balance", "type": "unknown_error"}}),
        "credit",
        "no longer answers for this account",
        "no credit left",
    ),
    ProviderError(
        "deepseek",
        _openai(400, "Model Not Exist", "invalid_request_error"),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    # --- OpenRouter
    ProviderError(
        "openrouter",
        Refuse(400, body=_OPENROUTER_CONTEXT),
        "length",
        "The prompt is too long",
        "FINPOLICY_CONTEXT_TOKENS",
    ),
    ProviderError(
        "openrouter",
        Refuse(402, body={"error": {"message": "Insufficient credits. Add more.", "code": 402}}),
        "credit",
        "no longer answers for this account",
        "no credit left",
    ),
    ProviderError(
        "openrouter",
        Refuse(400, body={"error": {"message": "x/y is not a valid model ID", "code": 400}}),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    # --- Ollama
    ProviderError(
        "ollama",
        Refuse(404, body={"error": 'model "qwen9" not found, try pulling it first'}),
        "model",
        "does not know the model",
        "ollama pull",
    ),
    ProviderError("ollama", Refuse(404, body="404 page not found"), "path", "not at this address", "/v1"),
    # --- LM Studio
    ProviderError(
        "lmstudio",
        Refuse(404, body={"error": "Model not found. No models loaded. Load one first."}),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    ProviderError(
        "lmstudio",
        Refuse(200, body={"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        "path",
        "not at this address",
        "/v1",
    ),
    # --- vLLM
    ProviderError(
        "vllm",
        Refuse(400, body=_VLLM_CONTEXT),
        "length",
        "The prompt is too long",
        "FINPOLICY_CONTEXT_TOKENS",
    ),
    ProviderError(
        "vllm",
        Refuse(
            404,
            body={"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError"},
        ),
        "model",
        "does not know the model",
        "FINPOLICY_CHAT_MODEL",
    ),
    # --- llama.cpp
    ProviderError(
        "llamacpp",
        Refuse(400, body=_LLAMACPP_CONTEXT),
        "length",
        "The prompt is too long",
        "FINPOLICY_CONTEXT_TOKENS",
    ),
    # --- any: the words alone
    ProviderError("vllm", Refuse(400, body="no words that say more"), "", "no words that say more", ""),
)
