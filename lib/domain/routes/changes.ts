/** The differences between two configs of a service (contract 3, Beyond the specification). */
import { type Static, Type } from "@sinclair/typebox";
import { mapOf, nullable } from "../schemas/index.ts";
import {
  MethodName,
  PolicyName,
  RateLimitPolicy,
  RoutePath,
  ScopeName,
  StoredRoute,
  StoredServiceConfig,
} from "./schema.ts";

const NULL_OF_SERVICE = " Null for the url, openapi or a policy of the service.";

/** One side of a change: what a route sets for one method, or the url, openapi or one policy of the service. */
const Settings = Type.Partial(
  Type.Object({
    ...Type.Pick(StoredRoute, ["upstream", "required_labels", "rate_limit", "audit"]).properties,
    ...Type.Pick(StoredServiceConfig, ["url", "openapi"]).properties,
    rate_limits: mapOf(PolicyName, RateLimitPolicy, { description: "The policy by its name." }),
  }),
  {
    additionalProperties: false,
    title: "Settings",
    description:
      "What the route sets for the method or, of the service itself, its url, openapi or one policy.",
  },
);

/**
 * One difference between two configs: a route of one method or, with `scope`, `method` and `path` null, the
 * url, openapi or one policy of the service (contract 3, Beyond the specification).
 */
export const Change = Type.Object(
  {
    action: Type.Union([Type.Literal("added"), Type.Literal("removed"), Type.Literal("changed")], {
      description: "What became of it.",
    }),
    scope: nullable(ScopeName, { description: `The route's scope.${NULL_OF_SERVICE}` }),
    method: nullable(MethodName, { description: `The route's method.${NULL_OF_SERVICE}` }),
    path: nullable(RoutePath, { description: `The route's path.${NULL_OF_SERVICE}` }),
    before: nullable(Settings, { description: "What was set; null for what was added." }),
    after: nullable(Settings, { description: "What is set now; null for what was removed." }),
  },
  { title: "Change", description: "One difference: of a route's method, or of the service itself." },
);
export type Change = Static<typeof Change>;
