import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    createServiceAccount: [
      "Create a service account",
      "The service account belongs to the organization, has a role of its own and is active at once.",
    ],
    listServiceAccounts: [
      "List an organization's service accounts",
      "Active and suspended accounts, oldest first; removed accounts are never listed.",
    ],
    getServiceAccount: ["Read a service account", "404 for a removed service account."],
    updateServiceAccount: [
      "Rename a service account",
      "To change the status or the role, change the member of the service account.",
    ],
    removeServiceAccount: [
      "Remove a service account",
      "Removes the account's member and revokes the account's keys. The last member, and the last holder of creator_role, cannot be removed (422).",
    ],
  },
  ["Service accounts"],
);
