import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listOrganizations: [
      "List all organizations",
      "Lists every organization of the deployment, oldest first. Only the staff catalog publishes this operation.",
    ],
    createOrganizationForPerson: [
      "Create an organization for a person",
      "Only the staff catalog publishes this operation. The person becomes the first member of the organization with the roles file's creator_role. The organization does not count towards the person's limit.",
    ],
    createOrganization: [
      "Create an organization",
      "The person becomes the first member with the roles file's creator_role. 409 with field `organizations` for a person who has reached the limit.",
    ],
    getOrganization: ["Read an organization", "The organization's name, plan and times."],
    updateOrganization: ["Rename an organization", "Two organizations may have the same name."],
    changePlan: [
      "Change an organization's plan",
      "Only the staff catalog publishes this operation. Limits of routes follow the plan as soon as gateways validate a credential again.",
    ],
    deleteOrganization: [
      "Delete an organization",
      "A deletion is final. It includes the organization's members, service accounts, invites and keys.",
    ],
  },
  ["Organizations"],
);
