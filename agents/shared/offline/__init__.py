"""A deterministic model without a network: rules that read, choose and write.

It stands in for a language model in the three steps where an agent asks one. It knows no answers:
what it reads it takes from the user's words, and what it writes from what was found.
"""
