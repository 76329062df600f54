import { type Static, Type } from "@sinclair/typebox";
import {
  MethodName,
  PolicyName,
  RateLimitPolicy,
  RoutePath,
  ScopeName,
  ServiceName,
  StoredRoute,
  StoredServiceConfig,
} from "../../domain/routes/index.ts";
import { mapOf, nullable, REQUEST_ID_EXAMPLE, timeField } from "../../domain/schemas/index.ts";
import { RevisionNumber } from "./services.ts";

export const RevisionAction = Type.Union(
  [Type.Literal("apply"), Type.Literal("put"), Type.Literal("delete"), Type.Literal("restore")],
  { title: "RevisionAction", description: "The write that appended the revision." },
);
export type RevisionAction = Static<typeof RevisionAction>;

/** An entry of a service's history (Gateway specification, Revision record; contract 3). */
export const Revision = Type.Object(
  {
    service: ServiceName,
    revision: RevisionNumber,
    action: RevisionAction,
    restored_from: nullable(RevisionNumber, {
      description: "The revision whose config a restore copied; null for other writes.",
    }),
    config: nullable(StoredServiceConfig, {
      description: "null: the service was deleted.",
      examples: undefined,
    }),
    request_id: Type.String({
      description: "The request that wrote it.",
      examples: [REQUEST_ID_EXAMPLE],
    }),
    created_at: timeField("When it was written."),
  },
  { title: "Revision", description: "An entry of a service's history." },
);
export type Revision = Static<typeof Revision>;

export const Revisions = Type.Object(
  { revisions: Type.Array(Revision, { description: "The revisions, newest first." }) },
  { title: "Revisions", description: "The history of a service, newest first." },
);

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

export const Diff = Type.Object(
  { changes: Type.Array(Change, { description: "The differences." }) },
  { title: "Diff", description: "What turns one revision into another." },
);
