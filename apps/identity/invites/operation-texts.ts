import { describeOperations } from "@ostiary/lib/openapi";

/** The summary and the description of each operation. */
export const operations = describeOperations(
  {
    createInvite: [
      "Create an invite",
      "The token is in the answer, and in the list of invites while the invite is active.",
    ],
    listInvites: ["List an organization's invites", "Oldest first, in every state."],
    revokeInvite: [
      "Revoke an invite",
      "Changes nothing if the invite is redeemed, revoked or expired already.",
    ],
    redeemInvite: [
      "Redeem an invite",
      "201 for a new member with the invite's role. 200 for a person who is a member already, which counts as a use too. 409 with field `status` for an invite that is redeemed, revoked or expired.",
    ],
  },
  ["Invites"],
);
