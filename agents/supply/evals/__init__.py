"""What `adk eval` loads: the agent as it is deployed."""

from agents.supply.evals import agent

__all__ = ["agent"]
