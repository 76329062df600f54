import type { Deed, DeedTexts } from "../../audit/deed.ts";

/** The regular verbs with which the summaries of operations begin. */
const REGULAR = new Set(
  `Add Approve Call Cancel Change Close Confirm Create Delete Disable Download Edit Enable Export
   Import Invite Join List Move Open Order Publish Remove Rename Replace Restore Revoke Rotate Save
   Show Start Test Update Upload`.split(/\s+/),
);

/** The past tense of the other verbs. */
const IRREGULAR = new Map([
  ["Build", "built"],
  ["Copy", "copied"],
  ["Get", "got"],
  ["Leave", "left"],
  ["Make", "made"],
  ["Pay", "paid"],
  ["Put", "put"],
  ["Read", "read"],
  ["Reset", "reset"],
  ["Run", "ran"],
  ["Send", "sent"],
  ["Set", "set"],
  ["Stop", "stopped"],
  ["Submit", "submitted"],
  ["Write", "wrote"],
]);

/** Makes an action of a sentence such as "Create a widget". An unknown verb stays as it is. */
function deedOf(sentence: string): Deed {
  const [first = "", ...rest] = sentence.replace(/\.$/, "").split(" ");
  const verb = first.toLowerCase();
  const past = REGULAR.has(first) ? verb.replace(/e?$/, "ed") : IRREGULAR.get(first);
  if (past === undefined) return [sentence, sentence];
  return [[past, ...rest].join(" "), `tried to ${[verb, ...rest].join(" ")}`];
}

/** The English words for audited actions. */
export const deeds: DeedTexts = {
  known: {
    "DELETE /member": deedOf("Leave the organization"),
    "DELETE /member/api-keys/{key_id}": deedOf("Revoke an API key"),
    "DELETE /org": deedOf("Delete the organization"),
    "DELETE /org/audit-streams/{stream_id}": deedOf("Delete a stream"),
    "DELETE /org/invites/{invite_id}": deedOf("Revoke an invitation"),
    "DELETE /org/members/{member_id}": deedOf("Remove a member"),
    "DELETE /org/service-accounts/{service_account_id}": deedOf("Remove a service account"),
    "DELETE /org/service-accounts/{service_account_id}/api-keys/{key_id}": deedOf(
      "Revoke a key of a service account",
    ),
    "DELETE /user": deedOf("Delete the account"),
    "DELETE /user/api-keys/{key_id}": deedOf("Revoke a personal API key"),
    "PATCH /member": deedOf("Change their own membership"),
    "PATCH /org": deedOf("Rename the organization"),
    "PATCH /org/audit-streams/{stream_id}": deedOf("Change a stream"),
    "PATCH /org/members/{member_id}": deedOf("Change a member"),
    "PATCH /org/service-accounts/{service_account_id}": deedOf("Rename a service account"),
    "PATCH /user": deedOf("Change the display name"),
    "POST /member/api-keys": deedOf("Create an API key"),
    "POST /member/api-keys/{key_id}/rotate": deedOf("Rotate an API key"),
    "POST /org/audit-streams": deedOf("Create a stream"),
    "POST /org/audit-streams/{stream_id}/rotate-secret": deedOf("Replace the secret of a stream"),
    "POST /org/audit-streams/{stream_id}/test": deedOf("Test a stream"),
    "POST /org/invites": deedOf("Create an invitation"),
    "POST /org/members": deedOf("Add a member"),
    "POST /org/service-accounts": deedOf("Create a service account"),
    "POST /org/service-accounts/{service_account_id}/api-keys": deedOf("Create a key of a service account"),
    "POST /org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate": deedOf(
      "Rotate a key of a service account",
    ),
    "POST /user/api-keys": deedOf("Create a personal API key"),
    "POST /user/api-keys/{key_id}/rotate": deedOf("Rotate a personal API key"),
    "POST /user/invites/redeem": deedOf("Join by an invitation"),
    "POST /user/organizations": deedOf("Create the organization"),
    "POST /user/organizations/{organization_id}/session": deedOf("Open the organization"),
  },
  ofSummary: deedOf,
};
