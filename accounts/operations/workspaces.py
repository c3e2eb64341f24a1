import uuid

from django.utils import timezone

from accounts.models import ApiKey, Workspace
from accounts.rules import WORKSPACE
from commerce.tenancy.scope import workspace_scope

from .keys import OPERATOR, IssuedKey, issue_key


def bootstrap_workspace(*, name: str) -> tuple[Workspace, IssuedKey]:
    """Create a workspace with a key for it. Raises `ValidationFailed`."""
    name = WORKSPACE.check({"name": name})["name"]
    # Chosen here, because the policies let a workspace be inserted only within its own scope.
    workspace_id = uuid.uuid4()
    with workspace_scope(workspace_id):
        workspace = Workspace.objects.create(id=workspace_id, name=name)
        issued = issue_key(
            issuer=OPERATOR,
            workspace_id=workspace_id,
            account_id=None,
            kind=ApiKey.Kind.WORKSPACE,
            name="bootstrap",
            now=timezone.now(),
        )
    return workspace, issued
