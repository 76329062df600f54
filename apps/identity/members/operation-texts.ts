import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listMembers: [
      "List an organization's members",
      "Active and suspended members, oldest first; removed members are never listed.",
    ],
    addMember: [
      "Add a member",
      "Adds the person with this subject of an identity provider. The member is active at once. An unknown subject becomes a new person. 409 with field `idp` for a person who is already a member.",
    ],
    getMember: ["Read a member", "A removed member is shown with its last name and the status `removed`."],
    updateMember: [
      "Change a member",
      "Suspends or re-enables the member, or changes its role or name. The last holder of creator_role must keep it (422).",
    ],
    removeMember: [
      "Remove a member",
      "Final: the member's keys are revoked and its sessions end. The last member, and the last holder of creator_role, cannot be removed (422).",
    ],
    getMemberSelf: ["Read a member by its id alone", "404 for a removed member."],
    updateMemberSelf: [
      "Change a member by its id alone",
      "Changes the member's status and name. Only the path that names the organization can change the role.",
    ],
    removeMemberSelf: [
      "Leave an organization",
      "The same as the removal by the path that names the organization. The last member, and the last holder of creator_role, cannot leave (422).",
    ],
    getUserOfMember: [
      "Find the person of a member",
      "Only the staff catalog publishes this operation. Removed members still have a person; service accounts and deleted accounts have none (404).",
    ],
  },
  ["Members"],
);
