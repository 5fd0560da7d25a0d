"""What calls cost, by the price table of registry/models.yaml. Unknown is None, never 0."""

from models.call import Answer, Request
from models.roster import Price, PriceTier

_PER = 1_000_000  # prices are USD per million tokens
_FRAME = 64  # tokens that a chat template and a schema's wrapping add a message, at most


def cost_usd(price: Price | None, answer: Answer, *, batch: bool = False) -> float | None:
    """Return what an answer cost; None where the price or the tokens are not known."""
    if price is None or answer.input_tokens is None or answer.output_tokens is None:
        return None
    rates = _rates(price, answer.input_tokens)
    cached = min(answer.cached_tokens or 0, answer.input_tokens)
    written = min(answer.written_tokens or 0, answer.input_tokens - cached)
    thought = min(answer.reasoning_tokens or 0, answer.output_tokens)
    cached_rate = rates.input if rates.cached_input is None else rates.cached_input
    written_rate = rates.input if price.cache_write is None else price.cache_write
    thought_rate = rates.output if price.reasoning is None else price.reasoning
    total = (
        (answer.input_tokens - cached - written) * rates.input
        + cached * cached_rate
        + written * written_rate
        + (answer.output_tokens - thought) * rates.output
        + thought * thought_rate
    )
    return total * (price.batch if batch else 1.0) / _PER + price.call


def worst_usd(price: Price | None, request: Request) -> float | None:
    """Return the most that a call can cost: every byte of the prompt a token, the whole limit used.

    A token of a byte-level vocabulary holds at least one byte, so no provider counts more.
    """
    if price is None:
        return None
    prompt = prompt_bytes(request)
    rates = _rates(price, prompt)
    dearest_in = max(rates.input, price.cache_write or 0.0)
    dearest_out = max(rates.output, price.reasoning or 0.0)
    return (prompt * dearest_in + request.max_tokens * dearest_out) / _PER + price.call


def prompt_bytes(request: Request) -> int:
    """Return the bytes of a request's texts with what a chat template may add."""
    texts = sum(len(message.content.encode()) + _FRAME for message in request.messages)
    return texts + len((request.schema or "").encode())


def _rates(price: Price, prompt_tokens: int) -> PriceTier:
    """Return what holds for a prompt of this length."""
    base = PriceTier(0, price.input, price.output, price.cached_input)
    reached = [tier for tier in price.tiers if prompt_tokens > tier.above]
    return max(reached, key=lambda tier: tier.above, default=base)
