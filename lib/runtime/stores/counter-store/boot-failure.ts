import { tlsFault } from "../tls-fault.ts";

/**
 * What an operator is told when the server of `COUNTER_STORE_URL` answers and will never serve under this URL;
 * undefined for what may pass by itself, such as a server that is down.
 */
export function refusalOf(error: unknown): string | undefined {
  const reply = replyOf(error);
  if (reply !== undefined) return REFUSALS.find(([said]) => said.test(reply))?.[1];
  return tlsFault(codeOf(error), "the counter store", { url: "COUNTER_STORE_URL", prefix: "COUNTER_STORE" });
}

const REFUSALS: [said: RegExp, sentence: string][] = [
  [
    /^NOAUTH/,
    "The counter store asks for a password, and COUNTER_STORE_URL has none: write redis://user:password@host:port.",
  ],
  [
    /^WRONGPASS/,
    "The counter store does not accept the user and password of COUNTER_STORE_URL: correct them.",
  ],
  [/^NOPERM/, "The counter store lets the user of COUNTER_STORE_URL do less than counting needs."],
  [
    /DB index/,
    "COUNTER_STORE_URL names a database that the counter store does not have: end it with a number that it has, such as /0.",
  ],
  [
    /cluster support disabled/,
    "COUNTER_STORE_URL begins with redis+cluster://, and the server is no cluster: write redis://.",
  ],
];

/** The server's own words, which ioredis wraps when it asks the nodes of a cluster. */
function replyOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "ReplyError") return error.message;
  return "lastNodeError" in error ? replyOf(error.lastNodeError) : undefined;
}

/** Of a connection that failed, or of a cluster's last one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("lastNodeError" in error) return codeOf(error.lastNodeError);
  return "code" in error ? String(error.code) : "";
}
