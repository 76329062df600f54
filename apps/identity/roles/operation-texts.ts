import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listRoles: [
      "List the roles",
      "The roles file of the deployment: the same for every organization, in one page.",
    ],
  },
  ["Roles"],
);
