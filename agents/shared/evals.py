"""The metric of evaluations: an answer says what it must, and no figure that it must not.

A development tool, named in evals/config.json for `adk eval`; no agent imports it.
"""

from __future__ import annotations

import re
from typing import Any

from google.adk.evaluation.eval_metrics import EvalStatus
from google.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult

from agents.shared.number_check import figures


def answer_matches(
    metric: Any, actual: list[Any], expected: list[Any] | None, scenario: Any = None
) -> EvaluationResult:
    """1 for each turn whose answer holds every line that is expected, else 0.

    Where the expected lines hold no figure, the answer must hold none either: the question is to be
    declined. A turn of which nothing is expected may say anything.
    """
    del metric, scenario
    results = [_turn(had, wanted) for had, wanted in zip(actual, expected or [], strict=True)]
    score = sum(result.score or 0.0 for result in results) / max(1, len(results))
    return EvaluationResult(
        overall_score=score,
        overall_eval_status=EvalStatus.PASSED if score == 1 else EvalStatus.FAILED,
        per_invocation_results=results,
    )


def _turn(had: Any, wanted: Any) -> PerInvocationResult:
    answer, lines = _text(had), _text(wanted).splitlines()
    good = all(line in answer for line in lines)
    if lines and not figures("\n".join(lines)):
        # What is quoted is the person's own, or an example of what can be asked.
        good = good and not figures(re.sub("“[^”]*”", "", answer))
    return PerInvocationResult(
        actual_invocation=had,
        expected_invocation=wanted,
        score=1.0 if good else 0.0,
        eval_status=EvalStatus.PASSED if good else EvalStatus.FAILED,
    )


def _text(invocation: Any) -> str:
    parts = (invocation.final_response.parts if invocation.final_response else None) or []
    return "".join(part.text for part in parts if part.text)
