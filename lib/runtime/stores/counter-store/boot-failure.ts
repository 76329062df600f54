import { systemErrorCode } from "../../../domain/errors/index.ts";
import { tlsError } from "../tls-error.ts";

/** Returns the sentence for a server that will never accept this URL, or undefined for a cause that can pass. */
export function refusalOf(error: unknown): string | undefined {
  const reply = replyOf(error);
  if (reply !== undefined) return REFUSALS.find(([said]) => said.test(reply))?.[1];
  return tlsError(codeOf(error), "the counter store", "COUNTER_STORE");
}

const REFUSALS: [said: RegExp, sentence: string][] = [
  [
    /^NOAUTH/,
    "The counter store asks for a password, but COUNTER_STORE_URL has none: write redis://user:password@host:port.",
  ],
  [
    /^WRONGPASS/,
    "The counter store does not accept the user and password of COUNTER_STORE_URL: correct them.",
  ],
  [
    /^NOPERM/,
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
];

/** Returns the server's error reply, which ioredis wraps for the nodes of a cluster. */
function replyOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "ReplyError") return error.message;
  return "lastNodeError" in error ? replyOf(error.lastNodeError) : undefined;
}

function codeOf(error: unknown): string {
  if (error instanceof Error && "lastNodeError" in error) return codeOf(error.lastNodeError);
  return systemErrorCode(error) ?? "";
}
