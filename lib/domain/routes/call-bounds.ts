/** The timeout and the maximum body size of calls to a service (RG-167). */
import { Type } from "@sinclair/typebox";
import { intern } from "./compact.ts";
import { BODY_BYTES_MAX, TIMEOUT_MS_MAX } from "./maximum-sizes.ts";

export const TimeoutMs = Type.Integer({
  minimum: 1,
  maximum: TIMEOUT_MS_MAX,
  message: `timeout_ms must be a whole number of milliseconds from 1 to ${TIMEOUT_MS_MAX}; leave timeout_ms out for the default.`,
  description:
    "The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long.",
  examples: [120_000],
});

export const MaxBodyBytes = Type.Integer({
  minimum: 0,
  maximum: BODY_BYTES_MAX,
  message: `max_body_bytes must be a whole number of bytes from 0 to ${BODY_BYTES_MAX}; 0 means no limit. Leave max_body_bytes out for the default.`,
  description:
    "The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit.",
  examples: [104_857_600],
});

/** The fields of a service and of a route that bound the calls. The value of a route takes precedence. */
export const callBoundFields = {
  timeout_ms: Type.Optional(TimeoutMs),
  max_body_bytes: Type.Optional(MaxBodyBytes),
};

/** The configured bounds of a service or a route. */
export interface ConfiguredBounds {
  readonly timeout_ms?: number;
  readonly max_body_bytes?: number;
}

export interface CallBounds {
  /** Maximum time from the last byte sent to the service until its response begins. */
  readonly timeout_ms: number;
  /** Maximum time between two chunks of a response. */
  readonly idleTimeoutMs: number;
  /** Maximum size of a request body; 0 means no limit. */
  readonly max_body_bytes: number;
}

/** The bounds of a gateway that sets no variable. */
export const DEFAULT_CALL_BOUNDS: CallBounds = {
  timeout_ms: 30_000,
  idleTimeoutMs: 60_000,
  max_body_bytes: 10 * 1024 * 1024,
};

/** Returns the bounds that a service and its route configure together. */
export function configuredBounds(service: ConfiguredBounds, route: ConfiguredBounds): ConfiguredBounds {
  return {
    timeout_ms: route.timeout_ms ?? service.timeout_ms,
    max_body_bytes: route.max_body_bytes ?? service.max_body_bytes,
  };
}

/** Returns the bounds of a route, with the gateway's `defaults` for those that are not configured. */
export function compileBounds(
  { timeout_ms, max_body_bytes }: ConfiguredBounds,
  defaults: CallBounds,
  shared: Map<string, CallBounds>,
): CallBounds {
  if (timeout_ms === undefined && max_body_bytes === undefined) return defaults;
  return intern(shared, `${timeout_ms}/${max_body_bytes}`, () => ({
    timeout_ms: timeout_ms ?? defaults.timeout_ms,
    idleTimeoutMs: Math.max(timeout_ms ?? 0, defaults.idleTimeoutMs),
    max_body_bytes: max_body_bytes ?? defaults.max_body_bytes,
  }));
}
