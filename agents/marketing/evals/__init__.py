"""What `adk eval` loads: the agent as it is deployed."""

from agents.marketing.evals import agent

__all__ = ["agent"]
