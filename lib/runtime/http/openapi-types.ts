import { KindGuard, type TSchema } from "@sinclair/typebox";
import { isRecord } from "../../domain/json/index.ts";

/** JSON Schema or OpenAPI text whose keywords are looked at one by one. */
export type JsonObject = Record<string, unknown>;

/** Whether a route was given a schema there. */
export function isSchema(value: unknown): value is TSchema {
  return KindGuard.IsSchema(value);
}

/** The same keys with other values; none where there is no object. */
export function mapValues(values: unknown, map: (value: unknown, key: string) => unknown): JsonObject {
  if (!isRecord(values)) return {};
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}
