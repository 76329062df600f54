import { StoreUnavailable } from "../errors.ts";
import { tlsError } from "../tls-error.ts";

/** Returns the error of a start (OP-14). `refused` means that the server will never accept this URL. */
export function routeStoreBootFailure(error: unknown): { failure: StoreUnavailable; refused: boolean } {
  const said = messageOf(error);
  const sentence =
    REFUSALS.find(([words]) => words.test(said))?.[1] ?? tlsError(said, "the route store", "ROUTE_STORE");
  const failure = new StoreUnavailable("route_store", error, {
    message:
      sentence ?? "The route store (ROUTE_STORE_URL) cannot be reached: start etcd, or correct the URL.",
  });
  return { failure, refused: sentence !== undefined };
}

/** etcd's errors have no code, so a pattern for their text selects the sentence. */
const REFUSALS: [words: RegExp, sentence: string][] = [
  [
    /user name is empty/,
    "The route store asks for a user and a password, but ROUTE_STORE_URL has none: write http://user:password@host:port.",
  ],
  [
    /authentication failed, invalid user/,
    "The route store does not accept the user and password of ROUTE_STORE_URL: correct them.",
  ],
  [
    /authentication is not enabled/,
    "The route store has no authentication, but ROUTE_STORE_URL has a user: remove the user, or turn authentication on.",
  ],
  [
    /permission denied/,
    "The route store denies the user of ROUTE_STORE_URL a key: grant its role readwrite on the prefix edge/gateway/.",
  ],
];

const CAUSES_MAX = 8;

/** Returns the messages of an error and of its causes, one on each line. */
function messageOf(error: unknown): string {
  const messages: string[] = [];
  let next = error;
  while (next instanceof Error && messages.length < CAUSES_MAX) {
    messages.push(next.message);
    next = next.cause;
  }
  return messages.join("\n");
}
