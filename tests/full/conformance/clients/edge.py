import json
import os
from io import BytesIO

from edge_client import AuthenticatedClient, Client
from edge_client.api.audit_events import list_organization_audit_events
from edge_client.api.demo import burst, get_thing, put_thing
from edge_client.api.members import get_member
from edge_client.api.organizations import create_organization, update_organization
from edge_client.api.service_accounts import create_service_account
from edge_client.api.api_keys import create_service_account_api_key
from edge_client.api.sessions import mint_session
from edge_client.api.users import get_user
from edge_client.models import (
    ErrorResponse,
    IdentityCreateOrganizationRequest,
    IdentityCreateServiceAccountRequest,
    IdentityCreateServiceAccountRequestRole,
    IdentityUpdateOrganizationRequest,
)
from edge_client.types import File

URL = os.environ["API_URL"]
person = AuthenticatedClient(base_url=URL, token=os.environ["TOKEN"])


def with_key(key):
    return AuthenticatedClient(base_url=URL, token=key, prefix="", auth_header_name="X-API-Key")


user = get_user.sync(client=person)
organization = create_organization.sync(client=person, body=IdentityCreateOrganizationRequest(name="Acme"))
session = mint_session.sync(organization.id, client=person)
member = with_key(session.token)
thing = get_thing.sync("42", client=member, color="red")
account = create_service_account.sync(
    client=member,
    body=IdentityCreateServiceAccountRequest(
        name="Robot", role=IdentityCreateServiceAccountRequestRole.VIEWER
    ),
)
robot = with_key(create_service_account_api_key.sync(account.id, client=member).key)
refused = put_thing.sync("42", client=robot, body=File(payload=BytesIO(b"paint it black")))
bursts = [burst.sync_detailed(client=robot).status_code.value for _ in range(4)]
stranger = get_thing.sync("42", client=with_key("not-a-key"))
renamed = update_organization.sync(
    client=member, body=IdentityUpdateOrganizationRequest(name="Acme & Daughters")
)
log = list_organization_audit_events.sync(client=member, limit=5)
missing = get_member.sync("01KA4YB0Q9X3M5N7P8R2S6T1VW", client=member)
assert isinstance(refused, ErrorResponse) and isinstance(stranger, ErrorResponse) and isinstance(missing, ErrorResponse)

print(
    json.dumps(
        {
            "user": user.status.value,
            "organization": organization.name,
            "echoed": thing.path.replace(organization.id, "ID"),
            "labels": refused.error.details.required_labels,
            "bursts": bursts,
            "stranger": stranger.error.code,
            "renamed": renamed.name,
            "newest": {"route": log.audit_events[0].route, "method": log.audit_events[0].method},
            "missing": missing.error.details.resource,
        }
    )
)
