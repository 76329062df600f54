import { systemErrorCode } from "../../domain/errors/index.ts";
import { StoreUnavailable } from "./errors.ts";

type Variables = "DATABASE" | "COUNTER_STORE" | "ROUTE_STORE";
type Refusals = readonly (readonly [words: RegExp, sentence: string])[];

const REFUSALS: Readonly<Record<Exclude<Variables, "DATABASE">, Refusals>> = {
  COUNTER_STORE: [
    [
      /^NOAUTH/m,
      "The counter store asks for a password, but COUNTER_STORE_URL has none: write redis://user:password@host:port.",
    ],
    [
      /^WRONGPASS/m,
      "The counter store does not accept the user and password of COUNTER_STORE_URL: correct them.",
    ],
    [
      /^NOPERM/m,
      "The user of COUNTER_STORE_URL may not use the commands or keys of the counters: extend the ACL of the user.",
    ],
    [
      /DB index/,
      "The counter store has no database with the number in COUNTER_STORE_URL: end the URL with the number of an existing database, such as /0.",
    ],
    [
      /cluster support disabled/,
      "COUNTER_STORE_URL begins with redis+cluster://, but the server is not a cluster: write redis://.",
    ],
  ],
  ROUTE_STORE: [
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
  ],
};

/**
 * Returns the sentence for a server that will never accept this URL (OP-14), or undefined for a cause that can pass.
 */
export function counterStoreRefusal(error: unknown): string | undefined {
  return refusalOf("COUNTER_STORE", "the counter store", error);
}

/** Returns the error of a start (OP-14). `refused` means that the server will never accept this URL. */
export function routeStoreBootFailure(error: unknown): { failure: StoreUnavailable; refused: boolean } {
  const sentence = refusalOf("ROUTE_STORE", "the route store", error);
  const message =
    sentence ?? "The route store (ROUTE_STORE_URL) cannot be reached: start etcd, or correct the URL.";
  return {
    failure: new StoreUnavailable("route_store", error, { message }),
    refused: sentence !== undefined,
  };
}

function refusalOf(store: keyof typeof REFUSALS, server: string, error: unknown): string | undefined {
  const words = wordsOf(error);
  return REFUSALS[store].find(([pattern]) => pattern.test(words))?.[1] ?? tlsRefusal(store, server, words);
}

const CAUSES_MAX = 8;

/** Returns the codes and messages of an error and of its causes, one on each line. Some errors have no code. */
function wordsOf(error: unknown): string {
  const words: string[] = [];
  let next = error;
  for (let depth = 0; depth < CAUSES_MAX && next instanceof Error; depth++) {
    words.push(systemErrorCode(next) ?? "", next.message);
    // ioredis wraps the error of a cluster's node.
    next = "lastNodeError" in next ? next.lastNodeError : next.cause;
  }
  return words.join("\n");
}

/** Returns the sentence about `server` if its TLS handshake failed. */
export function tlsRefusal(variables: Variables, server: string, words: string): string | undefined {
  return TLS_REFUSALS.find(([pattern]) => pattern.test(words))?.[1]
    .replace("{server}", () => server)
    .replaceAll("{store}", variables);
}

const TLS_REFUSALS: Refusals = [
  [
    /CERT_HAS_EXPIRED|certificate has expired/,
    "The TLS certificate of {server} ({store}_URL) has expired: renew the certificate.",
  ],
  [
    /CERT_NOT_YET_VALID|certificate is not yet valid/,
    "The TLS certificate of {server} ({store}_URL) is not valid yet: check the clocks of both machines.",
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/,
    "The TLS certificate of {server} does not name the host in {store}_URL: correct the host, or issue a certificate for that host.",
  ],
  [
    /SELF_SIGNED_CERT|self[- ]signed certificate|UNABLE_TO_(VERIFY|GET)|unable to (verify|get)|INVALID_CA|CERT_SIGNATURE_FAILURE|certificate signature failure/,
    "The TLS certificate of {server} ({store}_URL) is not signed by a trusted CA: set {store}_CA_FILE to the file of its CA.",
  ],
  [
    /ALERT_(CERTIFICATE|BAD_CERT|UNKNOWN_CA|HANDSHAKE_FAILURE|UNSUPPORTED_CERT|ACCESS_DENIED)|tlsv1 alert|CERTIFICATE_REQUIRED|ALERT_DECRYPT_ERROR/,
    "The client's TLS certificate was refused by {server} ({store}_URL): set {store}_CERT_FILE and {store}_KEY_FILE to a certificate that the server trusts.",
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|INVALID_COMMAND|UNEXPECTED_MESSAGE|UNKNOWN_PROTOCOL/,
    "{store}_URL requires TLS, but {server} does not speak TLS: correct the URL, or turn TLS on at the server.",
  ],
];
