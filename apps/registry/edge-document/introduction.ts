/** What the document says of all operations together. */
export const introduction = `What clients may call through the gateway, made from the routes that are published now.

## Credentials

Each operation names the credentials that it takes. A person is proved by a token of the identity provider
(\`Authorization: Bearer …\`) or by a user API key; a member of an organization by a member API key or by a
session. Keys and sessions travel in \`X-API-Key\`, and where that header is present it is the credential that
counts. Whose data an operation is about follows from the credential: paths never name the caller.

A missing, bad or wrong kind of credential is 401. Operations of an organization or a member may need a label:
one that the role of the member does not grant is 403, with the labels in \`details.required_labels\`.

## Errors

Errors of the gateway have one form. \`code\` is for programs, \`message\` for people, \`details\` says more of some
codes, and \`request_id\` names the request, as does the header \`X-Request-ID\` of every answer. Errors of the service
behind an operation are passed on as they are.

## Limits

A limited operation answers with \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Past
its limit the answer is 429: wait as many seconds as \`Retry-After\` says. Many bad credentials from one address
are 429 as well.

## When to try again

502 and 503 say that a part of the platform can not be reached; 429 that there were too many requests. After a 502 the service
may have acted: repeat what is safe to do twice, look before you repeat anything else.
`;
