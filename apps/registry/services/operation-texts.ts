import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  listServices: [
    "List the current services",
    "All current services in stored form, without deleted ones. `unreadable` names services that a newer version of Ostiary wrote in a form that this version does not understand; gateways of the newer version serve them. `invalid=true` lists only services that an earlier version accepted and today's rules would refuse, with the reasons. Gateways serve such services as far as possible, but an operator cannot apply or restore such a service unchanged.",
  ],
  getService: ["Get a service", "The current config in stored form. The ETag is the revision, for If-Match."],
  putService: [
    "Create or replace a service",
    "Makes the same checks as `POST /apply`. A deleted service becomes current again.",
  ],
  deleteService: [
    "Delete a service",
    "Unpublishes the service's routes and keeps its history, so that a revision can be restored.",
  ],
});

export const SERVICE_BODY = "The service, as in a configuration document.";
