"""What `adk eval` loads: the agent as it is deployed."""

from agents.router.evals import agent

__all__ = ["agent"]
