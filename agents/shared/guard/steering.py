"""Text that would steer later answers: it redefines a term, or it is an instruction.

Memory may say what somebody wants to see; what a word means is the semantic layer's to say, and
how an answer comes about is the code's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.shared.guard.found import Found

_RULES = {
    "redefinition": re.compile(
        r"\b(?:means?|stands? for|refers? to|is defined as|(?:is|are) the same as|equals?|"
        r"is (?:now )?called|is another (?:word|name) for|bedeutet|heißt|steht für|signifie|"
        r"veut dire|désigne)\b"
        r"|\bwhen(?:ever)? (?:i|we|they|she|he|someone) (?:says?|writes?|asks? for)\b"
        r".*\b(?:mean|means|read|use|take)\b"
        r"|\b(?:treat|count|read|interpret|understand|define|consider|regard|map|alias)\b"
        r".{1,60}?\b(?:as|to|to be|to mean)\b"
        r"|\b(?:no longer|not) (?:includes?|covers?|part of|counts? as)\b"
        r"|\b(?:includes?|covers?) (?:only|just|also)\b|\S\s?(?::=|==?|≡)\s?\S",
        re.I,
    ),
    "instruction": re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass|skip|drop)\b.{0,40}\b(?:instructions?|rules?|"
        r"prompts?|checks?|findings?|data|guard|filters?|above|before|previous|limits?)\b"
        r"|\b(?:you are|act as|pretend|from now on|system prompt|developer mode|jailbreak)\b"
        r"|\balways (?:say|claim|state|tell|report|answer|reply|respond)(?: \w+){0,3}? "
        r"(?:that|with|yes|no)\b"
        r"|\bnever (?:mention|reveal|tell|admit|say|disclose)\b"
        r"|\b(?:add|subtract|multiply|divide|double|halve|inflate|increase|reduce|scale)\b"
        r".{0,40}\b(?:numbers?|figures?|values?|results?|amounts?|spend|sales|stock|by)\b"
        r"|\b(?:call|run|execute|invoke|use) the (?:tool|function|sql|query)\b"
        r"|\b(?:ignoriere|ignorez|oublie[rz]?)\b",
        re.I,
    ),
}


def find(text: str) -> Iterator[Found]:
    """Every redefinition and instruction in a text."""
    for rule, pattern in _RULES.items():
        for hit in pattern.finditer(text):
            yield Found("steering", rule, hit.start(), hit.end())
