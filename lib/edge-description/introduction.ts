/** The part of the edge description that applies to all operations. */
export const introduction = `The operations that clients may call through the gateway, from the routes that are published now.

Each operation names its credentials. A person sends a token of the identity provider (\`Authorization: Bearer …\`) or a
user API key; a member sends a member API key or a session. Keys and sessions go into \`X-API-Key\`, which takes
precedence. The credential decides whose data an operation is about.

Errors of the gateway have a \`code\` for programs, a \`message\` for people, \`details\` and a \`request_id\`. A wrong
credential is 401, a missing label 403, and too many requests 429: wait for \`Retry-After\` seconds. Errors of the service
behind an operation pass unchanged. After a 502 the service may have acted: repeat only what is safe to do twice.
`;
