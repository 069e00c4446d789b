"""The schema read back from the bindings' JavaScript, on a small sample of it.

The whole is compared by `python -m infra.schema.rebuild --check`, which downloads the bindings.
"""

from __future__ import annotations

import io
import json
import tarfile

from infra.schema import rebuild


def entry(name: str, value: str, *, block: bool, kind: str, storage: str) -> str:
    flag = "true" if block else "false"
    return (
        f"            {name}: {{\n                value: {value},\n"
        f"                isBlock: {flag},\n"
        f'                type: "{kind}",\n                storageClassType: "{storage}",\n'
        "            },\n"
    )


def comment(name: str, flags: str, body: str) -> str:
    computed, optional, required = (str(letter in flags).lower() for letter in "cor")
    return (
        f"    // {name} - computed: {computed}, optional: {optional}, required: {required}\n"
        f"    {body}\n    get x() {{\n        return 1;\n    }}\n"
    )


RULE = (
    "function widgetRuleToHclTerraform(struct) {\n    const attrs = {\n"
    + entry("age", "cdktn.numberToHclTerraform(a)", block=False, kind="simple", storage="number")
    + "    };\n}\n"
    "class WidgetRuleOutputReference extends cdktn.ComplexObject {\n"
    + comment("age", "r", "_age;")
    + "}\n"
)
BARE = (
    "function widgetBareToHclTerraform(struct) {\n    const attrs = {\n"
    + entry("note", "cdktn.stringToHclTerraform(a)", block=False, kind="simple", storage="string")
    + "    };\n}\n"
)
RESOURCE = (
    "class Widget extends cdktn.TerraformResource {\n"
    "    constructor() { super({ terraformResourceType: 'google_widget' }); }\n"
    + comment("name", "r", "_name;")
    + comment("id", "co", "_id;")
    + comment("size", "c", "get size() { return this.getNumberAttribute('size'); }")
    + comment("tags", "c", "_tags = new cdktn.StringMap(this, 'tags');")
    + comment("rule", "r", "_rule = new WidgetRuleOutputReference(this, 'rule');")
    + "    synthesizeHclAttributes() {\n        const attrs = {\n"
    + entry("name", "cdktn.stringToHclTerraform(a)", block=False, kind="simple", storage="string")
    + entry("id", "cdktn.stringToHclTerraform(a)", block=False, kind="simple", storage="string")
    + entry("ports", "cdktn.listMapperHcl(x)(a)", block=False, kind="list", storage="numberList")
    + entry("rule", "widgetRuleToHclTerraform(a)", block=True, kind="list", storage="RuleList")
    + entry(
        "bare",
        "cdktn.listMapperHcl(widgetBareToHclTerraform, true)(a)",
        block=True,
        kind="set",
        storage="BareList",
    )
    + "        };\n    }\n}\n"
)
PROVIDER = (
    "class GoogleProvider extends cdktn.TerraformProvider {\n"
    "    constructor() { super({ providerVersion: '9.9.9' }); }\n"
    "    synthesizeHclAttributes() {\n        const attrs = {\n"
    + entry(
        "project", "cdktn.stringToHclTerraform(a)", block=False, kind="simple", storage="string"
    )
    + "        };\n    }\n}\n"
)


def bindings(files: dict[str, str]) -> tarfile.TarFile:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for folder, text in files.items():
            info = tarfile.TarInfo(f"package/lib/{folder}/index.js")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    raw.seek(0)
    return tarfile.open(fileobj=raw)


def test_every_rule_on_a_sample() -> None:
    archive = bindings({"widget": RULE + BARE + RESOURCE, "provider": PROVIDER})
    with archive:
        schema = rebuild.build(archive, ["google_widget", "google_gone"])
    assert schema["provider_version"] == "9.9.9"
    assert schema["missing"] == ["google_gone"]
    assert schema["provider"]["block"]["attributes"] == {
        "project": {"type": "string", "optional": True}
    }
    assert schema["resource_schemas"]["google_widget"]["block"] == {
        "attributes": {
            "name": {"type": "string", "required": True},
            "id": {"type": "string", "optional": True, "computed": True},
            "ports": {"type": ["list", "number"], "optional": True},
            "size": {"type": "number", "computed": True},
            "tags": {"type": ["map", "string"], "computed": True},
        },
        "block_types": {
            # Written without a list mapper: there is at most one.
            "rule": {
                "nesting_mode": "list",
                "min_items": 1,
                "max_items": 1,
                "block": {"attributes": {"age": {"type": "number", "required": True}}},
            },
            # No class stands for it, so nothing says that its argument is required.
            "bare": {
                "nesting_mode": "set",
                "block": {"attributes": {"note": {"type": "string", "optional": True}}},
            },
        },
    }


def test_the_committed_file_is_in_the_form_that_is_written() -> None:
    text = rebuild.FILE.read_text()
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True)
    assert json.loads(text)["missing"] == []
