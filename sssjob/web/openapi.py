"""The description of the views in OpenAPI 3.1, made from their table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sssjob import __version__
from sssjob.verbs.shapes import SHAPES, schema
from sssjob.web.parameters import Parameter
from sssjob.web.problems import MEDIA_TYPE
from sssjob.web.views import HTML, MEDIA

if TYPE_CHECKING:
    from sssjob.web.routes import View

PATH = "/openapi.json"
_KIND = re.compile(r":\w+\}")
_PROBLEM = {"$ref": "#/components/responses/Problem"}


def document(views: Sequence[View]) -> dict[str, Any]:
    """The whole description of some views."""
    paths = {}
    for view in views:
        for form in view.forms:
            path = _KIND.sub("}", view.path) + ("" if form == HTML else f".{form}")
            told = _operation(view.summary, form, view)
            if view.body:
                content: dict[str, Any] = {view.media: {"schema": view.schema or {}}}
                told["requestBody"] = {
                    "description": view.body, "required": True, "content": content
                }  # fmt: skip
            paths[path] = {view.method.lower(): told}
    paths[PATH] = {"get": _operation("This description.", "json")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "sssjob browse", "version": __version__},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": _problem(), **_answers(views)},
            "responses": {
                "Problem": {
                    "description": "What went wrong (RFC 9457).",
                    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
            },
        },
    }


def _operation(summary: str, form: str, view: View | None = None) -> dict[str, Any]:
    parameters, shape = [], ""
    if view is not None:
        shape = view.shape
        parameters = [
            *({**_parameter(each), "in": "path", "required": True} for each in view.places),
            *({**_parameter(each), "in": "query"} for each in view.parameters),
            *({**_parameter(each), "in": "header"} for each in view.headers),
        ]
    content = {"schema": {"$ref": f"#/components/schemas/{shape}"}} if shape else {}
    answer = {"description": summary, "content": {MEDIA[form]: content}}
    return {
        "summary": summary,
        "parameters": parameters,
        "responses": {"200": answer, "default": _PROBLEM},
    }


def _answers(views: Iterable[View]) -> dict[str, Any]:
    """The schemas of answers, as ``sssjob schema`` prints them."""
    return {view.shape: schema(view.shape, SHAPES[view.shape]) for view in views if view.shape}


def _parameter(row: Parameter) -> dict[str, Any]:
    schema = {"type": "array", "items": row.schema} if row.several else row.schema
    told = {"name": row.name, "description": row.meaning, "schema": schema}
    return told | ({"required": True} if row.required else {})


def _problem() -> dict[str, Any]:
    texts = {name: {"type": "string"} for name in ("type", "title", "detail", "instance")}
    return {
        "type": "object",
        "properties": {**texts, "status": {"type": "integer"}},
        "required": ["type", "title", "status", "detail"],
    }
