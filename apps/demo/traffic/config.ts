import { integer, isOrigin, textOr } from "@ostiary/lib/runtime/config";
import { Type } from "@sinclair/typebox";

/** The environment variables of the traffic generator. */
export const trafficVariables = Type.Object({
  GATEWAY_URL: origin("http://127.0.0.1:5001", "Address of the gateway, or of the proxy in front of it."),
  IDENTITY_PROVIDER_URL: origin("http://127.0.0.1:4001", "Address of the toy identity provider."),
  TRAFFIC_RATE: integer(20, 1, 2_000, "Requests per second."),
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
