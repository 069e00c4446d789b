"""One trace through all agents: W3C trace context in the headers of A2A requests.

Where the platform exports traces, its tracer provider is used; else one that only makes IDs, so
that the lines of a turn can still be found by its trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry import context, propagate, trace

HEADER = "traceparent"


def begin() -> str:
    """The ID of the trace that the current turn belongs to, 32 hexadecimal characters."""
    _provide()
    span = trace.get_current_span().get_span_context()
    if not span.is_valid:
        span = trace.get_tracer("agents").start_span("turn").get_span_context()
        context.attach(trace.set_span_in_context(trace.NonRecordingSpan(span)))
    return trace.format_trace_id(span.trace_id)


def headers() -> dict[str, str]:
    """What a request carries on; nothing outside of a trace."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return {name: value for name, value in carrier.items() if name == HEADER}


def take_up(received: Mapping[str, Any]) -> None:
    """Goes on with the trace of a request, for the rest of the task that serves it."""
    value = received.get(HEADER)
    if isinstance(value, str):
        context.attach(propagate.extract({HEADER: value}))


def _provide() -> None:
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        from opentelemetry.sdk.trace import TracerProvider

        trace.set_tracer_provider(TracerProvider())
