import { type Static, Type } from "@sinclair/typebox";
import { MethodName, ScopeName, ServiceName, StoredRoute } from "../routes/index.ts";

/** Which route serves a request (contract 3, Beyond the specification). */
export const Lookup = Type.Object(
  {
    service: ServiceName,
    scope: ScopeName,
    path: Type.String({ description: "The route's path as published." }),
    method: MethodName,
    params: Type.Record(Type.String(), Type.String(), {
      description: "The values of the path's params, as the request spells them.",
    }),
    required_labels: Type.Union([StoredRoute.properties.required_labels, Type.Null()]),
    rate_limit: Type.Union([StoredRoute.properties.rate_limit, Type.Null()], {
      description: "As published; null: the gateway's default.",
    }),
    audit: Type.Boolean({ description: "Whether requests are audited, the default worked in." }),
    upstream: Type.Union([Type.String(), Type.Null()], {
      description: "The template of the upstream path; null: the request's path.",
    }),
  },
  { title: "Lookup", description: "The route that serves a request." },
);
export type Lookup = Static<typeof Lookup>;

/** A route that comes close to a request that none serves: an entry of the 404's `details.nearest`. */
export const NearestRoute = Type.Pick(Lookup, ["service", "scope", "method", "path"], {
  title: "NearestRoute",
});
export type NearestRoute = Static<typeof NearestRoute>;
