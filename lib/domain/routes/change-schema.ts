/** The schema of a difference between two configs of a service (RG-65, RG-66). */
import { type Static, Type } from "@sinclair/typebox";
import { mapOf, nullable } from "../schemas/index.ts";
import {
  MethodName,
  PolicyName,
  RateLimitPolicy,
  RoutePath,
  RouteTest,
  ScopeName,
  StoredRoute,
  StoredServiceConfig,
} from "./service-schema.ts";

const NULL_OF_SERVICE = " Null for a change of the service's own settings.";

/**
 * One side of a change: the settings of one method of a route, or one setting of the service itself: its url,
 * openapi, timeout_ms, max_body_bytes, one policy or one test.
 */
const Settings = Type.Partial(
  Type.Object({
    ...Type.Pick(StoredRoute, [
      "upstream",
      "timeout_ms",
      "max_body_bytes",
      "required_labels",
      "rate_limit",
      "audit",
    ]).properties,
    ...Type.Pick(StoredServiceConfig, ["url", "openapi"]).properties,
    rate_limits: mapOf(PolicyName, RateLimitPolicy, { description: "The policy, under its name." }),
    test: RouteTest,
  }),
  {
    additionalProperties: false,
    title: "Settings",
    description:
      "The settings of one method of a route. For a change of the service itself: its url, openapi, timeout_ms, max_body_bytes, one policy or one test.",
  },
);

/**
 * A difference between two configs: one method of a route, or one setting of the service. For settings of the service,
 * `scope`, `method` and `path` are null (RG-66).
 */
export const Change = Type.Object(
  {
    action: Type.Union([Type.Literal("added"), Type.Literal("removed"), Type.Literal("changed")], {
      description: "The kind of change.",
    }),
    scope: nullable(ScopeName, { description: `The route's scope.${NULL_OF_SERVICE}` }),
    method: nullable(MethodName, { description: `The route's method.${NULL_OF_SERVICE}` }),
    path: nullable(RoutePath, { description: `The route's path.${NULL_OF_SERVICE}` }),
    before: nullable(Settings, { description: "The old settings, or null for an addition." }),
    after: nullable(Settings, { description: "The new settings, or null for a removal." }),
  },
  { title: "Change", description: "One change of a route's method, or of the service itself." },
);
export type Change = Static<typeof Change>;
