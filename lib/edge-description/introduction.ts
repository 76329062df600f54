/** The introduction of the edge description. It applies to all operations. */
export const introduction = `The operations that clients may call through the gateway, from the routes that are published now.

Each operation names its credentials. A person sends a token of the identity provider (\`Authorization: Bearer …\`) or a
user API key; a member sends a member API key or a session. Keys and sessions go into \`X-API-Key\`, which takes
precedence. The credential decides whose data an operation reads or changes.

Errors of the gateway have a \`code\` for programs, a \`message\` for people, \`details\` and a \`request_id\`. A wrong
credential gets 401, and a missing label 403. After a 429, wait for \`Retry-After\` seconds. After a 502, the service may
have done its work, so retry only requests that are safe to send twice. Errors of services are forwarded unchanged.`;
