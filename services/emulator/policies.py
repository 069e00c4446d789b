"""IAM policies by resource name, with the etag that makes a read-modify-write safe."""

from __future__ import annotations

from base64 import b64encode

from services.emulator.errors import ApiError, invalid
from services.emulator.state import Body, Store

KIND = "policy"
UNSET_ETAG = "ACAB"  # what Google answers for a policy that was never set


def read(store: Store, resource: str) -> Body:
    """The policy of a resource, such as `projects/acme-local`; an empty one if never set."""
    return store.get(KIND, resource) or {"version": 1, "etag": UNSET_ETAG}


def write(store: Store, resource: str, policy: Body) -> Body:
    """Replaces the whole policy and returns it with its new etag.

    Args:
        policy: as sent. Without an etag it replaces whatever is there, as Google's does.

    Raises:
        ApiError: ABORTED, when the etag is not that of the policy as it is; INVALID_ARGUMENT.
    """
    bindings = [_binding(binding) for binding in policy.get("bindings") or []]
    etag = policy.get("etag")
    if etag and etag != read(store, resource)["etag"]:
        raise ApiError(
            "ABORTED",
            "There were concurrent policy changes. Please retry the whole read-modify-write with "
            "exponential backoff.",
        )
    fresh = b64encode(store.next_id("policy").to_bytes(8, "big")).decode()
    kept = {key: value for key, value in policy.items() if key not in {"bindings", "etag"}}
    body: Body = {"version": 1, **kept, "etag": fresh}
    if bindings:
        body["bindings"] = bindings
    return store.put(KIND, resource, body)


def remove(store: Store, resource: str) -> None:
    """Forgets the policy; to be called when the resource is deleted."""
    store.delete(KIND, resource)


def members(store: Store, resource: str, role: str) -> list[str]:
    """Who holds a role on this very resource (inheritance is the caller's)."""
    bindings = read(store, resource).get("bindings", [])
    return [
        member for binding in bindings if binding["role"] == role for member in binding["members"]
    ]


def _binding(binding: Body) -> Body:
    if not isinstance(binding, dict) or not str(binding.get("role", "")).strip():
        raise invalid("Role is required for all bindings.")
    held = binding.get("members") or []
    for member in held:
        if not isinstance(member, str) or (":" not in member and not member.startswith("all")):
            raise invalid(
                f"Invalid member {member!r}: write user:, group: or serviceAccount: before it."
            )
    return {**binding, "members": list(dict.fromkeys(held))}
