/** The addresses and files of a running platform that the tour uses. */
export interface TourPlaces {
  gatewayUrl: string;
  registryUrl: string;
  identityProviderUrl: string;
  sampleServiceUrl: string;
  /** The absolute path of the file that contains the admin token. */
  adminTokenFile: string;
}

/** One step of the tour: its heading, and shell commands to paste unchanged. */
export interface TourStep {
  shows: string;
  commands: string;
}

/**
 * Returns the steps of the tour, as commands for POSIX shells with curl and sed.
 *
 * People paste the commands into an interactive shell. An interactive zsh has no comments, expands unquoted `?`, `[`
 * and `=`, and reserves `status` and `path`. Both bash and zsh expand an unquoted `!` from the history.
 */
export function tourSteps(places: TourPlaces): TourStep[] {
  return [
    variablesStep(places),
    ...JOINING,
    ...CALLING,
    ...OWN_ORGANIZATION,
    ...publishingSteps(places.sampleServiceUrl),
  ];
}

function variablesStep(places: TourPlaces): TourStep {
  return {
    shows: "Where things are, a helper that picks a field out of a response, and how responses are shown.",
    commands: `GATEWAY=${quoted(places.gatewayUrl)}
REGISTRY=${quoted(places.registryUrl)}
IDP=${quoted(places.identityProviderUrl)}
ADMIN=$(cat ${quoted(places.adminTokenFile)})
field() { sed -n "s/.*\\"$1\\":\\"\\{0,1\\}\\([^\\",}]*\\).*/\\1/p"; }
SHOW='\\nHTTP %{http_code}\\n'`,
  };
}

/** A person signs in and opens a session in a new organization. */
const JOINING: readonly TourStep[] = [
  {
    shows: "A token from the demo identity provider; the first call creates the person.",
    commands: `TOKEN=$(curl -s "$IDP/token?subject=alice")
curl -s -w "$SHOW" "$GATEWAY/user" -H "Authorization: Bearer $TOKEN"`,
  },
  {
    shows: "Alice creates an organization and opens a session in it.",
    commands: `ORG=$(curl -s "$GATEWAY/user/organizations" -H "Authorization: Bearer $TOKEN" -d '{"name":"Acme"}' | field id)
SESSION=$(curl -s -X POST "$GATEWAY/user/organizations/$ORG/session" -H "Authorization: Bearer $TOKEN" | field token)
echo "organization $ORG, session $(echo "$SESSION" | cut -c1-14)..."`,
  },
];

/** Calls that the gateway passes on, and calls that the gateway refuses. */
const CALLING: readonly TourStep[] = [
  {
    shows: "The sample service echoes what reached it: the id of the owner in the path, no credential.",
    commands: `curl -s -w "$SHOW" "$GATEWAY/demo/things/42?color=red" -H "X-API-Key: $SESSION"`,
  },
  {
    shows: "A service account with a smaller role is refused where the route wants a label: 403.",
    commands: `ACCOUNT=$(curl -s "$GATEWAY/org/service-accounts" -H "X-API-Key: $SESSION" -d '{"name":"Robot","role":"viewer"}' | field id)
KEY=$(curl -s -X POST "$GATEWAY/org/service-accounts/$ACCOUNT/api-keys" -H "X-API-Key: $SESSION" | field key)
curl -s -w "$SHOW" -X PUT "$GATEWAY/demo/things/42" -H "X-API-Key: $KEY" -d 'paint it black'`,
  },
  {
    shows: "The fourth call within ten seconds is one too many: 429.",
    commands: `for call in 1 2 3 4; do curl -s -o /dev/null -D - "$GATEWAY/demo/burst" -H "X-API-Key: $KEY" | grep -iE '^(http|x-ratelimit|retry-after)'; done`,
  },
  {
    shows: "The key is rotated: the new key is valid at once, the old key for one more minute.",
    commands: `KEYS="$GATEWAY/org/service-accounts/$ACCOUNT/api-keys"
OLD=$(curl -s "$KEYS" -H "X-API-Key: $SESSION" | field id)
NEW=$(curl -s "$KEYS/$OLD/rotate" -H "X-API-Key: $SESSION" -d '{"overlap_seconds":60}' | field key)
for key in "$KEY" "$NEW"; do curl -s -o /dev/null -w "$SHOW" "$GATEWAY/demo/things/42" -H "X-API-Key: $key"; done
curl -s -w "$SHOW" "$KEYS?expires_within_seconds=60" -H "X-API-Key: $SESSION"`,
  },
  {
    shows: "A bad key: 401.",
    commands: `curl -s -w "$SHOW" "$GATEWAY/demo/things/42" -H "X-API-Key: not-a-key"`,
  },
  {
    shows: "A path that nobody published: 404.",
    commands: `curl -s -w "$SHOW" "$GATEWAY/nowhere"`,
  },
];

/** The organization's own data, and a stream. */
const OWN_ORGANIZATION: readonly TourStep[] = [
  {
    shows: "The organization changes its name, then reads in its own audit log what just happened.",
    commands: `curl -s -w "$SHOW" -X PATCH "$GATEWAY/org" -H "X-API-Key: $SESSION" -d '{"name":"Acme & Daughters"}'
sleep 1
curl -s -w "$SHOW" "$GATEWAY/org/audit-events?limit=5" -H "X-API-Key: $SESSION"`,
  },
  {
    shows: "Server-sent events arrive one by one.",
    commands: `curl -sN "$GATEWAY/demo/events" -H "X-API-Key: $SESSION"`,
  },
];

/** Returns the steps in which an operator publishes a route and restores an earlier revision. */
function publishingSteps(sampleServiceUrl: string): TourStep[] {
  return [
    {
      shows: "The operator publishes a route; the gateway serves it a moment later.",
      commands: `REVISION=$(curl -s "$REGISTRY/apply" -H "Authorization: Bearer $ADMIN" -H "Content-Type: application/yaml" --data-binary '
services:
  tour:
    url: ${sampleServiceUrl}
    public: { routes: [{ path: /tour/one, methods: [GET] }] }
' | field revision)
curl -s -w "$SHOW" "$REGISTRY/apply" -H "Authorization: Bearer $ADMIN" -H "Content-Type: application/yaml" --data-binary '
services:
  tour:
    url: ${sampleServiceUrl}
    public: { routes: [{ path: /tour/one, methods: [GET] }, { path: /tour/two, methods: [GET] }] }
'
sleep 1
curl -s -w "$SHOW" "$GATEWAY/tour/two"`,
    },
    {
      shows: "The previous revision is restored; the route is gone.",
      commands: `curl -s -w "$SHOW" -X POST "$REGISTRY/services/tour/revisions/$REVISION/restore" -H "Authorization: Bearer $ADMIN"
sleep 1
curl -s -w "$SHOW" "$GATEWAY/tour/two"`,
    },
  ];
}

/** Returns the text of the tour: the commands of each step, after an `echo` of its heading. */
export function tourText(places: TourPlaces): string {
  const steps = tourSteps(places).map(
    ({ shows, commands }) => `echo ${quoted(`== ${shows}`)}\n${commands}\n`,
  );
  return steps.join("\n");
}

/** Quotes `text` as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
