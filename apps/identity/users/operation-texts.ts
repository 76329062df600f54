import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listUsers: [
      "List all people",
      "Lists everyone in the directory, oldest first. Only the staff catalog publishes this operation.",
    ],
    getUser: ["Read a person", "The person's global name and status."],
    updateUser: [
      "Change a person's name",
      "An organization shows this name unless the member has a name for that organization.",
    ],
    updateUserStatus: [
      "Suspend or re-enable a person",
      "Only the staff catalog publishes this operation. No credential of a suspended person is admitted, in any realm.",
    ],
    linkSubject: [
      "Link a further subject to a person",
      "Only the staff catalog publishes this operation. From now on tokens with this issuer and subject stand for the person, also if the person is suspended. A person has at most 10 subjects. 409 with field `subject` if the subject stands for a person already, this one included; `value` is the id of that person. The first validation of a token links its subject to a new person, so link subjects before people sign in with them.",
    ],
    deleteUser: [
      "Delete an account",
      "Ends every membership and deletes the person's keys and links to identity providers. 409 while an organization would be left without a member or a holder of creator_role; `details.organizations` lists at most 100 of them as {id, name}.",
    ],
    listMemberships: [
      "List a person's memberships",
      "The organizations where the person is an active member, oldest membership first.",
    ],
  },
  ["Users"],
);
