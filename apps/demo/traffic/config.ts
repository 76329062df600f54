import { integer, isOrigin, textOr } from "@ostiary/lib/runtime/config";
import { Type } from "@sinclair/typebox";

/** The variables of the traffic: where it goes, and how much of it. */
export const trafficVariables = Type.Object({
  GATEWAY_URL: origin("http://127.0.0.1:5001", "Where the gateway, or what stands before it, is reached."),
  IDENTITY_PROVIDER_URL: origin("http://127.0.0.1:4001", "Where the toy identity provider is reached."),
  TRAFFIC_RATE: integer(20, 1, 2_000, "Requests a second."),
});

function origin(fallback: string, description: string) {
  return textOr(
    fallback,
    "must be http:// or https:// with a host and a port, such as http://127.0.0.1:5001",
    {
      check: (value) => isOrigin(value) && /^https?:/.test(value),
      description,
    },
  );
}
