import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { Value } from "@sinclair/typebox/value";

/** An answer, read whole. */
export interface RegistryAnswer {
  ok: boolean;
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Whether an answer in Ostiary's envelope comes from another of its ports. The gateway alone sets CORS headers;
 * the registry names the request, and what it did not find.
 */
export function isStranger({ status, headers }: RegistryAnswer, { error }: ErrorEnvelope): boolean {
  if (isGateway(headers)) return true;
  return status === 405 || (status === 404 && error.details === null);
}

/** What it is that answered at `url` in the registry's place, and what to set. */
export function strangerText(url: string, answer: RegistryAnswer, value: unknown): string {
  const { status, headers } = answer;
  const found = foundText(answer, value);
  if (found !== null) return `${url} ${found}`;
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    return `${url} redirects to ${location.slice(0, LOCATION_LENGTH_MAX)}: set REGISTRY_URL to where the registry itself answers.`;
  }
  if (headers.get("content-type")?.startsWith("text/html")) {
    return `${url} answers with a page (status ${status}), so it is no route registry: check REGISTRY_URL.`;
  }
  return `${url} answers with status ${status} and a body that is no answer of a route registry: check REGISTRY_URL.`;
}

const LOCATION_LENGTH_MAX = 200;
const ADMIN_PORT = "set REGISTRY_URL to the registry's admin API, port 5002 unless told otherwise.";

/** What part of Ostiary it is; null when it is none. */
function foundText({ headers }: RegistryAnswer, value: unknown): string | null {
  if (!Value.Check(ErrorEnvelope, value)) return null;
  if (isGateway(headers)) return `is Ostiary's gateway, not its registry: ${ADMIN_PORT}`;
  if (!headers.has("x-request-id")) return `is a part of Ostiary, but not its registry: ${ADMIN_PORT}`;
  return "is a route registry, but has no such path: REGISTRY_URL must be its address and nothing after it.";
}

function isGateway(headers: Headers): boolean {
  return headers.has("access-control-allow-origin") || headers.has("access-control-expose-headers");
}
