import type { HttpAnswer } from "@ostiary/lib/contracts/registry-api";
import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { Value } from "@sinclair/typebox/value";

/**
 * Returns whether an error in Ostiary's envelope comes from another port of Ostiary. Only the gateway sets CORS
 * headers. The 404 of a registry has details, and a registry responds to no request of this client with 405.
 */
export function isFromAnotherPort({ status, headers }: HttpAnswer, { error }: ErrorEnvelope): boolean {
  if (isGateway(headers)) return true;
  return status === 405 || (status === 404 && error.details === null);
}

/**
 * Returns a sentence that says what responded at `url` instead of a registry, and that tells the operator to check
 * REGISTRY_URL. `value` is the parsed body of the response.
 */
export function notARegistryText(url: string, response: HttpAnswer, value: unknown): string {
  const { status, headers } = response;
  if (Value.Check(ErrorEnvelope, value)) return `${url} ${otherPortText(headers)}`;
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    return `${url} redirects to ${location.slice(0, LOCATION_LENGTH_MAX)}: set REGISTRY_URL to the registry's own address.`;
  }
  if (headers.get("content-type")?.startsWith("text/html")) {
    return `${url} responds with a page (status ${status}), so it is not a route registry: check REGISTRY_URL.`;
  }
  return `${url} responds with status ${status} and a body that a route registry does not send: check REGISTRY_URL.`;
}

export function tooLongText(url: string, bytesMax: number): string {
  return `${url} responds with more than ${bytesMax / 1_048_576} MiB, so it is not a route registry: check REGISTRY_URL.`;
}

const LOCATION_LENGTH_MAX = 200;
const ADMIN_PORT = "set REGISTRY_URL to the registry's admin API, port 5002 by default.";

function otherPortText(headers: Headers): string {
  if (isGateway(headers)) return `is Ostiary's gateway, not its registry: ${ADMIN_PORT}`;
  if (!headers.has("x-request-id")) return `is a part of Ostiary, but not its registry: ${ADMIN_PORT}`;
  return "is a route registry, but does not serve this path: set REGISTRY_URL to the registry's address without a path.";
}

function isGateway(headers: Headers): boolean {
  return headers.has("access-control-allow-origin") || headers.has("access-control-expose-headers");
}
