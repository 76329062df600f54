import { type Static, type TSchema, Type } from "@sinclair/typebox";
import {
  MethodName,
  RateLimitPolicy,
  ScopeName,
  ServiceName,
  StoredRoute,
  StoredServiceConfig,
} from "../routes/index.ts";
import { RevisionNumber } from "./services.ts";

const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const RevisionAction = Type.Union(
  [Type.Literal("apply"), Type.Literal("put"), Type.Literal("delete"), Type.Literal("restore")],
  { description: "The write that appended the revision." },
);
export type RevisionAction = Static<typeof RevisionAction>;

/** An entry of a service's history (Gateway specification, Revision record; contract 3). */
export const Revision = Type.Object(
  {
    service: ServiceName,
    revision: RevisionNumber,
    action: RevisionAction,
    restored_from: nullable(RevisionNumber, "The revision whose config a restore copied."),
    config: nullable(StoredServiceConfig, "null: the service was deleted."),
    request_id: Type.String({ description: "The request that wrote it." }),
    created_at: Type.String({ description: "RFC 3339, UTC.", examples: ["2026-01-31T12:00:00.500Z"] }),
  },
  { title: "Revision", description: "An entry of a service's history." },
);
export type Revision = Static<typeof Revision>;

export const Revisions = Type.Object(
  { revisions: Type.Array(Revision) },
  { title: "Revisions", description: "The history of a service, newest first." },
);

const RouteSettings = Type.Partial(
  Type.Pick(StoredRoute, ["upstream", "required_labels", "rate_limit", "audit"]),
  { additionalProperties: false, title: "RouteSettings", description: "What the route sets for the method." },
);
const ServiceSettings = Type.Object(
  {
    url: Type.Optional(Type.String()),
    rate_limits: Type.Optional(Type.Record(Type.String(), RateLimitPolicy)),
  },
  {
    additionalProperties: false,
    title: "ServiceSettings",
    description: "A setting of the service itself: its url, or one policy.",
  },
);
const Side = Type.Union([RouteSettings, ServiceSettings, Type.Null()]);

/**
 * One difference between two configs: a route of one method or, with `scope`, `method` and `path` null, the
 * url or one policy of the service (contract 3, Beyond the specification).
 */
export const Change = Type.Object(
  {
    action: Type.Union([Type.Literal("added"), Type.Literal("removed"), Type.Literal("changed")]),
    scope: Type.Union([ScopeName, Type.Null()]),
    method: Type.Union([MethodName, Type.Null()]),
    path: Type.Union([Type.String(), Type.Null()]),
    before: Side,
    after: Side,
  },
  { title: "Change", description: "One difference: of a route's method, or of the service itself." },
);
export type Change = Static<typeof Change>;

export const Diff = Type.Object(
  { changes: Type.Array(Change) },
  { title: "Diff", description: "What turns one revision into another." },
);
