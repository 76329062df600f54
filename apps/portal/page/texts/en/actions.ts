import type { ActionText, ActionTexts } from "../../audit/action-text.ts";

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
function actionText(sentence: string): ActionText {
  const [first = "", ...rest] = sentence.replace(/\.$/, "").split(" ");
  const verb = first.toLowerCase();
  const past = REGULAR.has(first) ? verb.replace(/e?$/, "ed") : IRREGULAR.get(first);
  if (past === undefined) return [sentence, sentence];
  return [[past, ...rest].join(" "), `tried to ${[verb, ...rest].join(" ")}`];
}

/** The English words for audited actions. */
export const actions: ActionTexts = {
  known: {
    "DELETE /member": actionText("Leave the organization"),
    "DELETE /member/api-keys/{key_id}": actionText("Revoke an API key"),
    "DELETE /org": actionText("Delete the organization"),
    "DELETE /org/audit-streams/{stream_id}": actionText("Delete a stream"),
    "DELETE /org/invites/{invite_id}": actionText("Revoke an invitation"),
    "DELETE /org/members/{member_id}": actionText("Remove a member"),
    "DELETE /org/service-accounts/{service_account_id}": actionText("Remove a service account"),
    "DELETE /org/service-accounts/{service_account_id}/api-keys/{key_id}": actionText(
      "Revoke a key of a service account",
    ),
    "DELETE /user": actionText("Delete the account"),
    "DELETE /user/api-keys/{key_id}": actionText("Revoke a personal API key"),
    "PATCH /member": actionText("Change their own membership"),
    "PATCH /org": actionText("Rename the organization"),
    "PATCH /org/audit-streams/{stream_id}": actionText("Change a stream"),
    "PATCH /org/members/{member_id}": actionText("Change a member"),
    "PATCH /org/service-accounts/{service_account_id}": actionText("Rename a service account"),
    "PATCH /user": actionText("Change the display name"),
    "POST /member/api-keys": actionText("Create an API key"),
    "POST /member/api-keys/{key_id}/rotate": actionText("Rotate an API key"),
    "POST /org/audit-streams": actionText("Create a stream"),
    "POST /org/audit-streams/{stream_id}/rotate-secret": actionText("Replace the secret of a stream"),
    "POST /org/audit-streams/{stream_id}/test": actionText("Test a stream"),
    "POST /org/invites": actionText("Create an invitation"),
    "POST /org/members": actionText("Add a member"),
    "POST /org/service-accounts": actionText("Create a service account"),
    "POST /org/service-accounts/{service_account_id}/api-keys": actionText(
      "Create a key of a service account",
    ),
    "POST /org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate": actionText(
      "Rotate a key of a service account",
    ),
    "POST /user/api-keys": actionText("Create a personal API key"),
    "POST /user/api-keys/{key_id}/rotate": actionText("Rotate a personal API key"),
    "POST /user/invites/redeem": actionText("Join by an invitation"),
    "POST /user/organizations": actionText("Create the organization"),
    "POST /user/organizations/{organization_id}/session": actionText("Open the organization"),
  },
  ofSummary: actionText,
};
