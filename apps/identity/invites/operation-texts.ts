import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    createInvite: [
      "Create an invite",
      "The response contains the token. The list of invites contains it too while the invite is active.",
    ],
    listInvites: ["List an organization's invites", "The invites in every state, oldest first."],
    revokeInvite: [
      "Revoke an invite",
      "Changes nothing if the invite is already redeemed, revoked or expired.",
    ],
    previewInvite: [
      "Preview an invite",
      "Shows the organization and the role of an invite in any state, and changes nothing. `member_id` is set for a person who is already a member.",
    ],
    redeemInvite: [
      "Redeem an invite",
      "201 for a new member with the invite's role. 200 for a person who is already a member, which also counts as a use. 409 with field `status` for an invite that is redeemed, revoked or expired.",
    ],
  },
  ["Invites"],
);
