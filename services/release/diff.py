"""What an environment serves, against what this checkout declares and what is on record."""

from __future__ import annotations

from dataclasses import dataclass

from services.release import journal
from services.release.deploy import Wanted, plan_only
from services.release.live import read_engines
from services.release.plan import Change, changes_of
from services.release.site import Site


@dataclass(frozen=True)
class Differences:
    """By agent: how live differs from the checkout, and from its last successful deployment."""

    desired: dict[str, tuple[Change, ...]]
    recorded: dict[str, tuple[Change, ...]]

    @property
    def empty(self) -> bool:
        """Whether nothing differs."""
        return not any([*self.desired.values(), *self.recorded.values()])


def differences(site: Site, wanted: Wanted) -> Differences:
    """Compares; nothing is written. Raises as `plan_only` does."""
    plan = plan_only(site, wanted)
    desired = {agent.agent: agent.changes for agent in plan.agents}
    live = read_engines(site.transport, site.descriptor, desired)
    recorded: dict[str, tuple[Change, ...]] = {}
    for deployment in journal.history(site.control):
        for name, record in deployment.agents.items():
            if deployment.status != "succeeded" or name in recorded or name not in live:
                continue
            if record.wanted is not None:
                recorded[name] = changes_of(live[name], record.wanted)
    return Differences(desired, recorded)
