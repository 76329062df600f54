import { createHmac } from "node:crypto";
import { secretBytes } from "./secrets.ts";

/** A body to deliver, and the id of the message for its receiver. */
export interface Message {
  id: string;
  body: Buffer;
}

/** Returns the headers of Standard Webhooks: one signature for each secret (AU-96). */
export function signedHeaders(
  { id, body }: Message,
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = secrets.map((secret) => {
    const hmac = createHmac("sha256", secretBytes(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
