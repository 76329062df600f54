import type { Deed, DeedTexts } from "../../audit/deed.ts";

/** The past tense of the verbs with which the summaries of operations begin. */
const PAST: Readonly<Record<string, string>> = {
  Add: "added",
  Approve: "approved",
  Build: "built",
  Call: "called",
  Cancel: "canceled",
  Change: "changed",
  Close: "closed",
  Confirm: "confirmed",
  Copy: "copied",
  Create: "created",
  Delete: "deleted",
  Disable: "disabled",
  Download: "downloaded",
  Edit: "edited",
  Enable: "enabled",
  Export: "exported",
  Get: "got",
  Import: "imported",
  Invite: "invited",
  Leave: "left",
  List: "listed",
  Make: "made",
  Move: "moved",
  Open: "opened",
  Order: "ordered",
  Pay: "paid",
  Publish: "published",
  Put: "put",
  Read: "read",
  Remove: "removed",
  Rename: "renamed",
  Replace: "replaced",
  Reset: "reset",
  Restore: "restored",
  Revoke: "revoked",
  Rotate: "rotated",
  Run: "ran",
  Save: "saved",
  Send: "sent",
  Set: "set",
  Show: "showed",
  Start: "started",
  Stop: "stopped",
  Submit: "submitted",
  Test: "tested",
  Update: "updated",
  Upload: "uploaded",
  Write: "wrote",
};

const regular = (done: string, verb: string): Deed => [done, `tried to ${verb}`];

/** The English words for audited actions. */
export const deeds: DeedTexts = {
  known: {
    "DELETE /member": regular("left the organization", "leave the organization"),
    "DELETE /member/api-keys/{key_id}": regular("revoked an API key", "revoke an API key"),
    "DELETE /org": regular("deleted the organization", "delete the organization"),
    "DELETE /org/audit-streams/{stream_id}": regular("deleted a stream", "delete a stream"),
    "DELETE /org/invites/{invite_id}": regular("revoked an invitation", "revoke an invitation"),
    "DELETE /org/members/{member_id}": regular("removed a member", "remove a member"),
    "DELETE /org/service-accounts/{service_account_id}": regular(
      "removed a service account",
      "remove a service account",
    ),
    "DELETE /org/service-accounts/{service_account_id}/api-keys/{key_id}": regular(
      "revoked a key of a service account",
      "revoke a key of a service account",
    ),
    "DELETE /user": regular("deleted the account", "delete the account"),
    "DELETE /user/api-keys/{key_id}": regular("revoked a personal API key", "revoke a personal API key"),
    "PATCH /member": regular("changed their own membership", "change their own membership"),
    "PATCH /org": regular("renamed the organization", "rename the organization"),
    "PATCH /org/audit-streams/{stream_id}": regular("changed a stream", "change a stream"),
    "PATCH /org/members/{member_id}": regular("changed a member", "change a member"),
    "PATCH /org/service-accounts/{service_account_id}": regular(
      "renamed a service account",
      "rename a service account",
    ),
    "PATCH /user": regular("changed the display name", "change the display name"),
    "POST /member/api-keys": regular("created an API key", "create an API key"),
    "POST /member/api-keys/{key_id}/rotate": regular("rotated an API key", "rotate an API key"),
    "POST /org/audit-streams": regular("created a stream", "create a stream"),
    "POST /org/audit-streams/{stream_id}/rotate-secret": regular(
      "replaced the secret of a stream",
      "replace the secret of a stream",
    ),
    "POST /org/audit-streams/{stream_id}/test": regular("tested a stream", "test a stream"),
    "POST /org/invites": regular("created an invitation", "create an invitation"),
    "POST /org/members": regular("added a member", "add a member"),
    "POST /org/service-accounts": regular("created a service account", "create a service account"),
    "POST /org/service-accounts/{service_account_id}/api-keys": regular(
      "created a key of a service account",
      "create a key of a service account",
    ),
    "POST /org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate": regular(
      "rotated a key of a service account",
      "rotate a key of a service account",
    ),
    "POST /user/api-keys": regular("created a personal API key", "create a personal API key"),
    "POST /user/api-keys/{key_id}/rotate": regular("rotated a personal API key", "rotate a personal API key"),
    "POST /user/invites/redeem": regular("joined by an invitation", "join by an invitation"),
    "POST /user/organizations": regular("created the organization", "create the organization"),
    "POST /user/organizations/{organization_id}/session": regular(
      "opened the organization",
      "open the organization",
    ),
  },
  ofSummary(summary) {
    const [first = "", ...rest] = summary.replace(/\.$/, "").split(" ");
    const past = Object.hasOwn(PAST, first) ? PAST[first] : undefined;
    if (past === undefined) return [summary, summary];
    return regular([past, ...rest].join(" "), [first.toLowerCase(), ...rest].join(" "));
  },
};
