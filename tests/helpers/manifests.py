"""Manifests of Kubernetes against closed schemas: a key that is not known is an error.

The API server takes unknown keys of custom resources, and forgets them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

CRDS = "operator/deployment/helm/dask-kubernetes-operator/crds"  # resolved, as they are installed
ANY = "x-kubernetes-preserve-unknown-fields"
# of each object; what they may hold is no part of a definition
OBJECT = {"apiVersion": {}, "kind": {}, "metadata": {"type": "object"}}

Schema = dict[str, Any]
Manifest = dict[str, Any]


def documents(path: Path) -> list[Manifest]:
    """The objects of a file."""
    return list(yaml.safe_load_all(path.read_text()))


def errors(manifest: Manifest) -> list[str]:
    """What is wrong with a manifest, of a kind of Kubernetes or of Dask's operator."""
    kind = manifest["apiVersion"], manifest["kind"]
    if kind in custom_kinds():
        return [*_errors_by(custom_kinds()[kind], manifest), *_errors_of_pods(manifest)]
    try:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{error.json_path}: {error.message}"]
    return []


def _errors_by(schema: Schema, manifest: Manifest) -> list[str]:
    found = jsonschema.Draft7Validator(schema).iter_errors(manifest)
    return [f"{error.json_path}: {error.message}" for error in found]


def _errors_of_pods(manifest: Manifest) -> list[str]:
    """Hold its pods against today's Kubernetes, too: the operator's schema is of an older one."""
    return [error for spec in pod_specs(manifest) for error in errors(as_pod(spec))]


def as_pod(spec: Manifest) -> Manifest:
    """The pod that such a specification makes."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}


def pod_specs(value: object) -> Iterator[Manifest]:
    """All specifications of pods in it."""
    if isinstance(value, Mapping):
        if "containers" in value:
            yield dict(value)
        for each in value.values():
            yield from pod_specs(each)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from pod_specs(each)


@cache
def custom_kinds() -> dict[tuple[str, str], Schema]:
    """The closed schema of each kind of Dask's operator, by its group with version, and name."""
    found = {}
    for file in resources.files("dask_kubernetes").joinpath(CRDS).iterdir():
        spec = yaml.load(file.read_bytes(), yaml.CSafeLoader)["spec"]
        for version in spec["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            schema["properties"] |= OBJECT
            name = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            found[name] = closed(schema)
    return found


def closed(schema: Schema) -> Schema:
    """The schema as JSON's, in which an object has no keys but those that are named."""
    new = {key: _closed_part(key, value) for key, value in schema.items()}
    if schema.get("nullable") and "type" in schema:
        new["type"] = [schema["type"], "null"]
    if "properties" in schema and not schema.get(ANY) and "additionalProperties" not in schema:
        new["additionalProperties"] = False
    return new


def _closed_part(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: closed(each) for name, each in value.items()}
    if key in ("items", "additionalProperties") and isinstance(value, dict):
        return closed(value)
    if key in ("anyOf", "allOf", "oneOf"):
        return value  # of numbers and texts: they have no keys
    return value
