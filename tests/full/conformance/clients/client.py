import json
import os
from datetime import datetime, timezone

from audit_client import Client as AuditClient
from audit_client.api.audit_events import (
    export_organization_audit_events,
    list_organization_audit_events,
)
from audit_client.models.export_organization_audit_events_format import (
    ExportOrganizationAuditEventsFormat,
)
from audit_client.models.list_organization_audit_events_path_params import (
    ListOrganizationAuditEventsPathParams,
)
from audit_client.models.organization_audit_event_list import OrganizationAuditEventList
from identity_client import Client as IdentityClient
from identity_client.api.api_keys import create_user_api_key, list_user_api_keys, rotate_user_api_key
from identity_client.api.invites import create_invite
from identity_client.api.members import get_member, remove_member
from identity_client.api.organizations import create_organization
from identity_client.api.service_accounts import create_service_account
from identity_client.models.api_key_list import APIKeyList
from identity_client.models.create_api_key_request import CreateAPIKeyRequest
from identity_client.models.created_api_key import CreatedAPIKey
from identity_client.models.create_invite_request import CreateInviteRequest
from identity_client.models.create_organization_request import CreateOrganizationRequest
from identity_client.models.create_service_account_request import CreateServiceAccountRequest
from identity_client.models.create_service_account_request_role import CreateServiceAccountRequestRole
from identity_client.models.former_member import FormerMember
from identity_client.models.invite import Invite
from identity_client.models.member import Member
from identity_client.models.organization import Organization
from identity_client.models.service_account import ServiceAccount
from registry_client import AuthenticatedClient
from registry_client.api.apply import apply
from registry_client.api.revisions import list_revisions, restore_revision
from registry_client.api.services import get_service, put_service
from registry_client.models.applied import Applied
from registry_client.models.config_document import ConfigDocument
from registry_client.models.config_document_services import ConfigDocumentServices
from registry_client.models.error_response import ErrorResponse
from registry_client.models.error_details import ErrorDetails
from registry_client.models.method import Method
from registry_client.models.method_config import MethodConfig
from registry_client.models.method_map import MethodMap
from registry_client.models.preview import Preview
from registry_client.models.rate_limit_policy import RateLimitPolicy
from registry_client.models.revision_list import RevisionList
from registry_client.models.route_config import RouteConfig
from registry_client.models.scope_config import ScopeConfig
from registry_client.models.service import Service
from registry_client.models.service_config import ServiceConfig
from registry_client.models.service_config_rate_limits import ServiceConfigRateLimits
from registry_client.models.written_service import WrittenService
from registry_client.types import Unset

registry = AuthenticatedClient(base_url=os.environ["REGISTRY_URL"], token=os.environ["ADMIN_TOKEN"])
identity = IdentityClient(base_url=os.environ["IDENTITY_URL"])
audit = AuditClient(base_url=os.environ["AUDIT_URL"])


def document(name: str, config: ServiceConfig) -> ConfigDocument:
    services = ConfigDocumentServices()
    services[name] = config
    return ConfigDocument(services=services)


def details(response: object) -> ErrorDetails:
    assert isinstance(response, ErrorResponse) and response.error.details is not None
    return response.error.details


policies = ServiceConfigRateLimits()
policies["burst"] = RateLimitPolicy(requests=10, window_seconds=60)
widgets = ServiceConfig(
    url="http://widgets:8080",
    rate_limits=policies,
    organization=ScopeConfig(
        route_prefix="/org",
        routes=[RouteConfig(path="/widgets/{widget_id}", methods=MethodMap(get=MethodConfig(rate_limit="burst")))],
    ),
)

plan = apply.sync(client=registry, body=document("widgets", widgets), dry_run=True)
assert isinstance(plan, Preview)
applied = apply.sync(client=registry, body=document("widgets", widgets))
assert isinstance(applied, Applied)
conflicts = details(apply.sync(client=registry, body=document("other", widgets))).conflicts
assert not isinstance(conflicts, Unset)
service = get_service.sync("widgets", client=registry)
assert isinstance(service, Service)
assert not isinstance(service.organization, Unset) and not isinstance(service.rate_limits, Unset)
changed = ServiceConfig(
    url="http://widgets:8081",
    user=ScopeConfig(routes=[RouteConfig(path="/w", methods=[Method.GET], rate_limit=False)]),
)
put = put_service.sync("widgets", client=registry, body=changed, if_match='"1"')
assert isinstance(put, WrittenService)
assert isinstance(restore_revision.sync("widgets", 1, client=registry), WrittenService)
history = list_revisions.sync("widgets", client=registry)
assert isinstance(history, RevisionList)
missing = get_service.sync("none", client=registry)
assert isinstance(missing, ErrorResponse)
wrong = ServiceConfig(url="nowhere", user=ScopeConfig(routes=[]))
fields = details(apply.sync(client=registry, body=document("wrong", wrong))).fields
assert not isinstance(fields, Unset)

user = os.environ["USER_ID"]
organization = create_organization.sync(user, client=identity, body=CreateOrganizationRequest(name="Engines 🚪"))
assert isinstance(organization, Organization)
invite = create_invite.sync(organization.id, client=identity, body=CreateInviteRequest(max_uses=None))
assert isinstance(invite, Invite)
# the body is optional
create_user_api_key.sync(user, client=identity)
script = create_user_api_key.sync(
    user, client=identity, body=CreateAPIKeyRequest(name="Deploy script", expires_in_seconds=7 * 86_400)
)
assert isinstance(script, CreatedAPIKey)
# the body is optional
rotated = rotate_user_api_key.sync(user, script.id, client=identity)
assert isinstance(rotated, CreatedAPIKey) and rotated.last_used_at is None
assert isinstance(rotated.expires_at, datetime)
ending = list_user_api_keys.sync(user, client=identity, unused_for_seconds=0, expires_within_seconds=8 * 86_400)
assert isinstance(ending, APIKeyList)
keys = list_user_api_keys.sync(user, client=identity)
page = list_user_api_keys.sync(user, client=identity, limit=1)
assert isinstance(keys, APIKeyList) and isinstance(page, APIKeyList)
account = create_service_account.sync(
    organization.id,
    client=identity,
    body=CreateServiceAccountRequest(name="Nightly", role=CreateServiceAccountRequestRole.VIEWER),
)
assert isinstance(account, ServiceAccount)
member = get_member.sync(organization.id, account.member_id, client=identity)
assert isinstance(member, Member) and isinstance(member.created_at, datetime)
remove_member.sync_detailed(organization.id, account.member_id, client=identity)
removed = get_member.sync(organization.id, account.member_id, client=identity)
assert isinstance(removed, FormerMember)

logged = os.environ["LOGGED_ORGANIZATION"]
since = datetime.fromtimestamp(0, timezone.utc)
newest = list_organization_audit_events.sync(logged, client=audit, limit=2, occurred_after=since)
assert isinstance(newest, OrganizationAuditEventList)
path_params = ListOrganizationAuditEventsPathParams()
path_params["params[widget_id]"] = "one"
exported = export_organization_audit_events.sync(
    logged, client=audit, format_=ExportOrganizationAuditEventsFormat.CSV
)
assert isinstance(exported, str)
found = list_organization_audit_events.sync(logged, client=audit, path_params=path_params)
assert isinstance(found, OrganizationAuditEventList)

print(
    json.dumps(
        {
            "planned": {"status": plan.results[0].status.value, "changes": len(plan.results[0].changes)},
            "applied": {"service": applied.results[0].service, "revision": applied.results[0].revision},
            "conflict_owner": conflicts[0].owner,
            "read": {
                "url": service.url,
                "methods": [method.value for method in service.organization.routes[0].methods],
                "requests": service.rate_limits["burst"].requests,
            },
            "revisions": [revision.action.value for revision in history.revisions],
            "missing": {"code": missing.error.code, "resource": details(missing).resource},
            "refused": fields[0].path,
            "organization": organization.name,
            "invite": {
                "max_uses": invite.max_uses,
                "use_count": invite.use_count,
                "days": round((invite.expires_at - invite.created_at).total_seconds() / 86_400),
            },
            "keys": [key.name for key in keys.keys],
            "rotated": {
                "name": rotated.name,
                "days": round((rotated.expires_at - rotated.created_at).total_seconds() / 86_400),
                "ending": [key.id for key in ending.keys] == [rotated.id],
            },
            "has_more": page.has_more,
            "member_status": member.status.value,
            "removed_status": removed.status.value,
            "events": [event.request_id for event in newest.audit_events],
            "exported": exported.count("\n"),
            "found": {"request_id": found.audit_events[0].request_id, "status": found.audit_events[0].status},
            "outcome": {
                "outcome": newest.audit_events[0].outcome.value,
                "status": newest.audit_events[0].status,
            },
        }
    )
)
