"""Files that look like credentials stop the build, with path and line."""

from __future__ import annotations

import pytest

from infra.errors import PackageError
from services.release import leaks
from services.release.sources import SourceFile

A32, A40 = "0123456789abcdef" * 2, "aB3dE6gH9j" * 4
# Put together here, so that no scanner of repositories finds them in this file.
CREDENTIALS = {
    "PEM": "-----BEGIN " + "PRIVATE KEY-----",
    "PEM, RSA": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "PEM, encrypted": "-----BEGIN ENCRYPTED " + "PRIVATE KEY-----",
    "PEM, OpenSSH": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "service account": '{"type": ' + '"service_account", "project_id": "p"}',
    "Google API key": "KEY = 'AI" + "za" + A40[:35] + "'",
    "OAuth client secret": "GOC" + "SPX-" + A40[:28],
    "access token": "ya" + "29." + A40,
    "JWT": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + A40,
    "Databricks": "da" + "pi" + A32,
    "GitHub": "gh" + "p_" + A40[:36],
    "AWS": "AK" + "IA" + "ABCDEFGHIJKLMNOP",
    "Slack": "xo" + "xb-" + A40,
}
HARMLESS = [
    "GOOGLE_API_KEY = os.environ['GOOGLE_API_KEY']",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    '{"type": "authorized_user"}',
    "dapify the list; AIza is a prefix; ya29 too; eyJ. is how a token begins",
    "sha256:" + A32 * 2,
    "password = getpass()",
]


@pytest.mark.parametrize("name", CREDENTIALS)
def test_a_credential_stops_the_build_where_it_stands(name: str) -> None:
    text = f"first\nsecond\n# {CREDENTIALS[name]}\nlast\n"
    file = SourceFile("requirements.txt", "agents/requirements.lock", text.encode())
    with pytest.raises(PackageError) as caught:
        leaks.refuse([SourceFile("a.py", "a.py", b"x = 1\n"), file])
    assert caught.value.where == "agents/requirements.lock:3"
    # The message is printed and logged: it must not repeat what was found.
    assert CREDENTIALS[name] not in str(caught.value)


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_passes(text: str) -> None:
    leaks.refuse([SourceFile("a.py", "a.py", text.encode())])


def test_a_binary_file_is_searched_too() -> None:
    data = b"\x00\xff\n" + CREDENTIALS["PEM"].encode() + b"\x00"
    with pytest.raises(PackageError, match=r"data.bin:2"):
        leaks.refuse([SourceFile("data.bin", "data.bin", data)])
