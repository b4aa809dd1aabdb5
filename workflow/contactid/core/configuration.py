"""Check the configuration against its closed schema and say what is wrong in one line."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError, validators

from contactid.core.errors import ContactIdError

# keys that Snakemake itself puts into its configuration
_SNAKEMAKE_KEYS = {"pathvars"}
# of many European languages, and of spreadsheets there
_COMMA = "Numbers have a decimal point: 0.05, not 0,05"


def _is_finite(_: Any, content: Any) -> bool:
    # Python counts booleans as integers
    if isinstance(content, bool) or not isinstance(content, int | float):
        return False
    # YAML writes infinity and not-a-number as numbers
    return abs(content) <= sys.float_info.max


_Validator = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", _is_finite),
)


def check_configuration(config: Mapping[str, Any], schema_path: str | Path) -> None:
    """Raise :class:`ContactIdError` for the first problem: key, what is wrong, what is allowed."""
    content = {key: value for key, value in config.items() if key not in _SNAKEMAKE_KEYS}
    check(content, schema_path, "configuration", example="; see config/default.yaml")


def check(content: Any, schema_path: str | Path, name: str, example: str = "") -> None:
    """The same for any nested content of a name; numbers are finite. ``example`` ends the remedy
    for a missing key.
    """
    errors = list(_Validator(read_schema(schema_path)).iter_errors(content))
    # a validator's order is that of the schema; by path, the same content gives the same line
    errors.sort(key=lambda error: list(map(str, error.path)))
    if errors:
        raise _explain(errors[0], name, example)


def read_schema(path: str | Path) -> dict[str, Any]:
    """A schema in full, as JSON Schema has it.

    Every block of ``properties`` is a closed object, and has all of them unless it says what is
    ``required``. References are filled in; what stands beside one counts more.
    """
    schema = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return _filled_in(schema, schema.pop("$defs", {}))


def _filled_in(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_filled_in(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        node = {**definitions[node["$ref"].removeprefix("#/$defs/")], **node}
    if "properties" in node:
        node = {
            "type": "object",
            "additionalProperties": False,
            "required": list(node["properties"]),
            **node,
        }
    return {key: _filled_in(value, definitions) for key, value in node.items() if key != "$ref"}


def restore_numbers(block: Any) -> Any:
    """The same nested block with numbers and booleans in place of their texts.

    Snakemake hands over whatever stands inside a ``--config key={...}`` as text. No text of a
    study's block looks like a number, so nothing else is touched.
    """
    if isinstance(block, dict):
        return {key: restore_numbers(value) for key, value in block.items()}
    if isinstance(block, list):
        return [restore_numbers(value) for value in block]
    if not isinstance(block, str):
        return block
    if block in ("true", "false"):
        return block == "true"
    for parse in (int, float):
        with suppress(ValueError):
            return parse(block)
    return block


def _explain(error: ValidationError, name: str, example: str) -> ContactIdError:
    schema: Any = error.schema
    allowed: Any = error.validator_value
    instance: Any = error.instance
    where = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties":
        properties = list(schema.get("properties", {}))
        # of several always the same one
        unknown = min(set(instance) - set(properties), key=str)
        path = f"{where}.{unknown}" if error.absolute_path else unknown
        # YAML reads {a: 0,05} as two entries, the second of which has a number as its key
        remedy = _COMMA if isinstance(unknown, int) else _suggest(unknown, properties)
        return ContactIdError(f"{name}: unknown key {path}", remedy)
    if error.validator == "required":
        missing = ", ".join(sorted(set(allowed) - set(instance)))
        return ContactIdError(f"{name}: {where} lacks {missing}", f"Add it{example}")
    remedy = _described(schema)
    if isinstance(instance, str) and re.fullmatch(r"[-+]?\d+,\d+", instance):
        remedy = _COMMA
    elif error.validator == "enum":
        near = difflib.get_close_matches(str(instance), map(str, allowed), n=1)
        if near:
            remedy = f"Did you mean {near[0]}"
    return ContactIdError(f"{name}: {where} is {instance!r}, but {_rule(error)}", remedy)


def _described(schema: Any) -> str:
    """What the schema says of a value."""
    description = schema.get("description", "") if isinstance(schema, Mapping) else ""
    return description.rstrip(".") or "See the schema"


def _rule(error: ValidationError) -> str:
    value = error.validator_value
    choices = ", ".join(map(str, value)) if isinstance(value, Iterable) else value
    rules = {
        "minimum": f"must be at least {value}",
        "exclusiveMinimum": f"must be greater than {value}",
        "maximum": f"must be at most {value}",
        "exclusiveMaximum": f"must be less than {value}",
        "type": f"must be of type {value}",
        "enum": f"must be one of {choices}",
        "minItems": "must not be empty" if value == 1 else f"must have at least {value} entries",
        "maxItems": f"must have at most {value} entries",
        "pattern": "must be a name of letters, digits and underscores",
    }
    return rules.get(str(error.validator), error.message)


def _suggest(unknown: str, keys: list[str]) -> str:
    near = difflib.get_close_matches(str(unknown), keys, n=1)
    return f"Did you mean {near[0]}" if near else f"Known keys are {', '.join(keys)}"
