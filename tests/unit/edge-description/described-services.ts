import { type OpenApiDocument, operationsIn } from "../../support/http/openapi.ts";
import { edgeDocument } from "./build.ts";

export const url = "http://widgets:8080";
export const ok = { 200: { description: "Fine." } };
export const described = (paths: object, more: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "Widgets", version: "1" },
  paths,
  ...more,
});
export const WIDGET = { type: "object", properties: { name: { type: "string" } } };
export const json = (schema: object, more: object = {}) => ({ "application/json": { schema, ...more } });

/** Returns the edge description of one organization route. `document` is the description of its service. */
export function merged(route: { path: string; upstream?: string; methods?: string[] }, document: object) {
  const routes = [{ methods: ["GET"], ...route }];
  return edgeDocument({ widgets: { url, organization: { routes } } }, { widgets: document });
}

export function onlyOperation(document: OpenApiDocument) {
  const [operation] = operationsIn(document);
  if (operation === undefined) throw new Error("The edge description has no operation.");
  return operation;
}

/** Returns the description of `GET /w`, whose response has a body with this schema. */
export const responding = (schema: object, more: object = {}) =>
  described({ "/w": { get: { responses: { 200: { description: "Fine.", content: json(schema) } } } } }, more);
