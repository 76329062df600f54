import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { OstiaryError } from "./client-errors.ts";

/** The headers of a request, as `fetch` or Node have them. */
export type WebhookHeaders =
  | Iterable<[name: string, value: string]>
  | Readonly<Record<string, string | string[] | undefined>>;

/**
 * Verifies a call of an audit stream by Standard Webhooks, and returns its parsed body.
 *
 * @param secret the stream's secret, `whsec_…`, or several while a secret is replaced
 * @param body the body as it arrived, before any parser
 * @throws OstiaryError with the code `WEBHOOK_REFUSED` if no secret signed the call in the last five minutes
 * @throws TypeError if a secret is not the secret of a stream
 */
export function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
): unknown {
  const given = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const signed = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)]));
  let cause: unknown;
  const secrets = typeof secret === "string" ? [secret] : secret;
  for (const webhook of secrets.map(webhookOf)) {
    try {
      return webhook.verify(textOf(body), signed);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      cause = error;
    }
  }
  throw refused(cause);
}

/** The form of a secret. An empty one would accept what anybody signs. */
const SECRET = /^(whsec_)?([A-Za-z0-9+/]{4})+([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function webhookOf(secret: string): Webhook {
  if (!SECRET.test(secret)) throw new TypeError("secret must be whsec_ followed by base64.");
  return new Webhook(secret);
}

function refused(cause: unknown): OstiaryError {
  const message = "The webhook has no valid signature of the last five minutes.";
  return new OstiaryError({ code: "WEBHOOK_REFUSED", message, cause });
}

/** Decodes a body. Bytes that are not UTF-8 would verify as the text that replaces them. */
function textOf(body: string | Uint8Array): string {
  if (typeof body === "string") return body;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw refused(cause);
  }
}
