"""Google's tokeninfo: whose a token is.

POST /tokeninfo    access_token=TOKEN, as a form
"""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.routing import BaseRoute

from services.emulator.errors import ApiError
from services.emulator.identity import LIFETIME_SECONDS
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, route


def routes(platform: Platform) -> list[BaseRoute]:
    """Its one route; the token in the form is all the credentials that it needs."""

    async def tell(call: Call) -> Result:
        form = parse_qs(call.raw.decode("utf-8", "replace"))
        principal = platform.identity.principal(f"Bearer {form.get('access_token', [''])[0]}")
        if principal is None:
            raise ApiError("INVALID_ARGUMENT", "invalid_token")
        email = principal.partition(":")[2]
        return {"email": email, "email_verified": "true", "expires_in": str(LIFETIME_SECONDS)}

    return [route("POST", "/tokeninfo", tell, anonymous=True)]
