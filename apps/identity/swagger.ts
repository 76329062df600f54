import {
  ERRORS_INTRODUCTION,
  INTERNAL_CREDENTIAL,
  LISTS_INTRODUCTION,
  type SwaggerOptions,
} from "@ostiary/lib/runtime/http";

type Text = Omit<SwaggerOptions, "body_bytes_max">;

/** The head of the document of the public port. */
export const publicText = {
  title: "Ostiary identity",
  description: `The directory of people, organizations, members, invites, service accounts, API keys and sessions.

A person belongs to organizations by memberships. A membership has a role, and the role grants the labels that routes
ask for. Service accounts are members that are no people. An organization begins with a person who creates it, and grows
by invites, which others redeem, or by members that are added.

## Credentials

This port takes none: it is reached by the gateway, which proves the caller and writes the caller's ids into the path.
Customers call the routes that are published (\`/user\`, \`/org\`, \`/member\`), with a token of the identity provider, an
API key or a session. An API key is shown once, when it is created, and is kept as a hash.

${ERRORS_INTRODUCTION}

What exists, but not in this organization, is 404 like what does not exist.

${LISTS_INTRODUCTION}

## Limits

A body has at most 64 KiB. Names have 1 to 128 characters and are trimmed. Rate limits are the gateway's.

## Doing it twice

A create that is repeated creates another one: there are no keys of idempotency. After a 503 on a write it is not known
whether it happened: look before you repeat it. Redeeming an invite again answers with the membership that there is.`,
  tags: [
    { name: "Users", description: "People in the directory." },
    { name: "Organizations", description: "The isolation boundary." },
    { name: "Members", description: "Memberships in an organization." },
    { name: "Invites", description: "Tokens to join an organization." },
    { name: "Service accounts", description: "Non-human members of one organization." },
    { name: "API keys", description: "Keys of people, members and service accounts." },
    { name: "Sessions", description: "One-hour credentials of a member." },
    { name: "Roles", description: "What the deployment's roles file says." },
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  sample_origin: "${IDENTITY_URL}",
} satisfies Text;

/** The head of the document of the internal port. */
export const internalText = {
  title: "Ostiary identity, internal",
  description: `What services of the platform ask of identity: whom a credential stands for, and what has happened to
organizations and members.

## Credentials

\`X-Platform-Internal-Token\` with the value of \`INTERNAL_AUTH_TOKEN\`, where one is configured. This port is not for the
public.

${ERRORS_INTRODUCTION}

## The lifecycle feed

A consumer keeps the last id that it has worked through, and passes it as \`starting_after\`. So it receives every event
once, causes before effects, also when writers are many. With \`has_more\` false it asks again a while later. Events are
safe to work through twice where the consumer keeps their ids.

## Limits

A page of the feed has at most 500 events. There is no rate limit.`,
  tags: [{ name: "Internal", description: "For services of the platform." }],
  credential: INTERNAL_CREDENTIAL,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  sample_origin: "${IDENTITY_INTERNAL_URL}",
} satisfies Text;
