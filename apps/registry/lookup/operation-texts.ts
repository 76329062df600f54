import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  listRoles: ["List the roles for lookups", "The roles of the registry's ROLES_FILE, as read at its start."],
  findRoute: [
    "Find the route that serves a request",
    "Matches as the gateway does, against the current services. If no route matches, `details.nearest` lists the closest routes. With `role` or `labels`, the response tells whether a member with that role or those labels may use the route.",
  ],
});
