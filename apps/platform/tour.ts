/** Where the parts of a running platform are. */
export interface TourPlaces {
  gateway_url: string;
  registry_url: string;
  identity_provider_url: string;
  sample_service_url: string;
  /** A file that holds the admin token, as a path that works where the tour is pasted. */
  admin_token_file: string;
}

/** One stop of the tour: what it shows, and shell commands to paste as they are. */
export interface TourStep {
  name: string;
  shows: string;
  commands: string;
}

/** The whole way of a request, in commands for any POSIX shell with curl and sed. */
export function tourSteps(places: TourPlaces): TourStep[] {
  return [
    {
      name: "setup",
      shows: "Where things are, and a helper that picks a field out of an answer.",
      commands: `GATEWAY=${places.gateway_url}
REGISTRY=${places.registry_url}
IDP=${places.identity_provider_url}
field() { sed -n "s/.*\\"$1\\":\\"\\{0,1\\}\\([^\\",}]*\\).*/\\1/p"; }`,
    },
    {
      name: "user",
      shows: "A token from the demo identity provider; the first call creates the person.",
      commands: `TOKEN=$(curl -s "$IDP/token?subject=alice")
curl -s "$GATEWAY/user" -H "Authorization: Bearer $TOKEN"`,
    },
    {
      name: "organization",
      shows: "She founds an organization and opens a session in it.",
      commands: `ORG=$(curl -s "$GATEWAY/user/organizations" -H "Authorization: Bearer $TOKEN" -d '{"name":"Acme"}' | field id)
SESSION=$(curl -s -X POST "$GATEWAY/user/organizations/$ORG/session" -H "Authorization: Bearer $TOKEN" | field token)
echo "organization $ORG, session $(echo "$SESSION" | cut -c1-14)..."`,
    },
    {
      name: "rewrite",
      shows: "The sample service echoes what reached it: the owner's id in the path, no credential.",
      commands: `curl -s "$GATEWAY/demo/things/42?color=red" -H "X-API-Key: $SESSION"`,
    },
    {
      name: "forbidden",
      shows: "A service account with a smaller role is refused where the route wants a label: 403.",
      commands: `ACCOUNT=$(curl -s "$GATEWAY/org/service-accounts" -H "X-API-Key: $SESSION" -d '{"name":"Robot","role":"viewer"}' | field id)
KEY=$(curl -s -X POST "$GATEWAY/org/service-accounts/$ACCOUNT/api-keys" -H "X-API-Key: $SESSION" | field key)
curl -s -X PUT "$GATEWAY/demo/things/42" -H "X-API-Key: $KEY" -d 'paint it black'`,
    },
    {
      name: "limited",
      shows: "The fourth call within ten seconds is one too many: 429.",
      commands: `for call in 1 2 3 4; do curl -s -o /dev/null -D - "$GATEWAY/demo/burst" -H "X-API-Key: $KEY" | grep -iE '^(http|x-ratelimit|retry-after)'; done`,
    },
    {
      name: "unauthorized",
      shows: "A bad key: 401.",
      commands: `curl -s "$GATEWAY/demo/things/42" -H "X-API-Key: not-a-key"`,
    },
    {
      name: "unknown",
      shows: "A path that nobody published: 404.",
      commands: `curl -s "$GATEWAY/nowhere"`,
    },
    {
      name: "audit",
      shows: "The organization changes its name, then reads in its own audit log what just happened.",
      commands: `curl -s -X PATCH "$GATEWAY/org" -H "X-API-Key: $SESSION" -d '{"name":"Acme & Daughters"}'; echo
curl -s "$GATEWAY/org/audit-events?limit=5" -H "X-API-Key: $SESSION"`,
    },
    {
      name: "events",
      shows: "Server-sent events arrive one by one.",
      commands: `curl -sN "$GATEWAY/demo/events" -H "X-API-Key: $SESSION"`,
    },
    {
      name: "publish",
      shows: "The operator publishes a route; the next request is served.",
      commands: `ADMIN=$(cat "${places.admin_token_file}")
REVISION=$(curl -s "$REGISTRY/apply" -H "Authorization: Bearer $ADMIN" -H "Content-Type: application/yaml" --data-binary '
services:
  tour:
    url: ${places.sample_service_url}
    public: { routes: [{ path: /tour/one, methods: [GET] }] }
' | field revision)
curl -s "$REGISTRY/apply" -H "Authorization: Bearer $ADMIN" -H "Content-Type: application/yaml" --data-binary '
services:
  tour:
    url: ${places.sample_service_url}
    public: { routes: [{ path: /tour/one, methods: [GET] }, { path: /tour/two, methods: [GET] }] }
'; echo
curl -s "$GATEWAY/tour/two"`,
    },
    {
      name: "restore",
      shows: "The previous revision is restored; the route is gone.",
      commands: `curl -s -X POST "$REGISTRY/services/tour/revisions/$REVISION/restore" -H "Authorization: Bearer $ADMIN"; echo
curl -s "$GATEWAY/tour/two"`,
    },
  ];
}

/** The tour as it is printed: each step's purpose as a comment above its commands. */
export function tourText(places: TourPlaces): string {
  const steps = tourSteps(places).map(({ shows, commands }) => `# ${shows}\n${commands}; echo\n`);
  return steps.join("\n");
}
