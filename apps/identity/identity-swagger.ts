import { ERRORS_INTRODUCTION, LISTS_INTRODUCTION } from "@ostiary/lib/openapi";
import { INTERNAL_CREDENTIAL, type SwaggerOptions } from "@ostiary/lib/runtime/http";

type Text = Omit<SwaggerOptions, "bodyBytesMax">;

/** The title, the text and the tags of the public port's OpenAPI description. */
export const publicText = {
  title: "Ostiary identity",
  description: `The directory of people, organizations, members, invites, service accounts, API keys and sessions.
A person belongs to organizations through memberships. A membership has a role, and the role grants the labels that
routes require. A service account is a member that is not a person.

This port takes no credentials, because the gateway calls it. Customers call routes below \`/user\`, \`/org\` and \`/member\`.
${ERRORS_INTRODUCTION}
${LISTS_INTRODUCTION}
A repeated create makes a second resource. After a 503 a write may have happened: read before you repeat it.`,
  tags: [
    { name: "Users", description: "People in the directory." },
    { name: "Organizations", description: "Owners of data that no other organization can reach." },
    { name: "Members", description: "Memberships in an organization." },
    { name: "Invites", description: "Tokens to join an organization." },
    { name: "Service accounts", description: "Non-human members of one organization." },
    { name: "API keys", description: "Keys of people, members and service accounts." },
    { name: "Sessions", description: "One-hour credentials of a member." },
    { name: "Roles", description: "The roles of the deployment's roles file." },
  ],
  sampleOrigin: { variable: "IDENTITY_URL" },
} satisfies Text;

/** The title, the text and the tags of the internal port's OpenAPI description. */
export const internalText = {
  title: "Ostiary identity, internal",
  description: `The endpoints that the platform's services call: they look up the holder of a credential, and read changes of
organizations and members. Each request needs \`X-Platform-Internal-Token\` with the value of \`INTERNAL_AUTH_TOKEN\`, if
one is configured.
${ERRORS_INTRODUCTION}

A reader of the lifecycle feed keeps the last id that it has processed and passes it as \`starting_after\`. So it gets
every event once, causes before effects. A page has at most 500 events.`,
  tags: [{ name: "Internal", description: "The endpoints that the platform's own services call." }],
  credential: INTERNAL_CREDENTIAL,
  sampleOrigin: { variable: "IDENTITY_INTERNAL_URL" },
} satisfies Text;
