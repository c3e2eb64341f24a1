"""Read refusals: complete problem documents."""

from django.http import HttpResponse


def problem(response: HttpResponse) -> tuple[int, str]:
    """Return status and code of a refusal."""
    document = response.json()
    assert response["Content-Type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code", "request_id"} <= document.keys()
    assert document["status"] == response.status_code
    return document["status"], document["code"]


def field_errors(response: HttpResponse) -> set[tuple[str, str]]:
    """Return field and code of every field error of a refusal."""
    errors = {(error["field"], error["code"]) for error in response.json()["errors"]}
    is_size_alone = {code for _, code in errors} == {"too_large"}
    assert problem(response) == (422, "too_large" if is_size_alone else "validation_failed")
    return errors
