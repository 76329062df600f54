/**
 * The one door through which route configuration enters (Gateway specification, Validation rules): the registry
 * checks what operators write, the gateway what it loads. Any JSON or YAML value may come in; all that is wrong
 * is answered at once, each with its path and what would be accepted.
 */
import type { Static } from "@sinclair/typebox";
import { Faults, type FieldError, type FieldPath, faultsOf, fits, partsThatFit } from "../errors/index.ts";
import { isRecord } from "../json/index.ts";
import { expandService } from "./expand.ts";
import { SCOPES } from "./keywords.ts";
import { DOCUMENT_BYTES_MAX, SERVICE_CONFIG_BYTES_MAX } from "./limits.ts";
import { DOCUMENT_TOO_LARGE, NAMED_BY_DOTS, SERVICE_TOO_LARGE } from "./messages.ts";
import { checkRules } from "./rules.ts";
import { DocumentOutline, ServiceConfig, ServiceName, StoredServiceConfig } from "./schema.ts";
import { addressOf } from "./service-url.ts";

const DOT_SEGMENTS = [".", ".."];

export interface Invalid {
  readonly ok: false;
  readonly fields: FieldError[];
}

export type DocumentResult =
  | { readonly ok: true; readonly services: Map<string, StoredServiceConfig> }
  | Invalid;
export type ServiceResult = { readonly ok: true; readonly service: StoredServiceConfig } | Invalid;

/** Checks the body of apply and expands its services, in the order of the document. */
export function validateDocument(input: unknown): DocumentResult {
  const faults = faultsOf(DocumentOutline, input);
  const given = isRecord(input) && isRecord(input.services) ? input.services : {};
  const services = new Map<string, StoredServiceConfig>();
  let bytes = 0;
  for (const [name, value] of Object.entries(given)) {
    if (faults.isFull) break;
    if (DOT_SEGMENTS.includes(name)) faults.add(["services", name], NAMED_BY_DOTS);
    const written = readWritten(value, ["services", name], faults);
    if (written === undefined) continue;
    services.set(name, written.service);
    bytes += written.bytes;
    if (bytes <= DOCUMENT_BYTES_MAX) continue;
    faults.add(["services"], DOCUMENT_TOO_LARGE);
    break;
  }
  return faults.all.length === 0 ? { ok: true, services } : { ok: false, fields: faults.fields };
}

/**
 * Checks one service as written, for PUT and restore, and expands it.
 *
 * @param at the path of the service in errors; "" when the input is the body itself
 */
export function validateService(name: string, input: unknown, at = ""): ServiceResult {
  const faults = nameFaults(name, at === "" ? "name" : at);
  return result(readWritten(input, at === "" ? [] : [at], faults)?.service, faults);
}

/**
 * Checks one stored service as the gateway loads it, in steps. Old values may hold a bare `host:port`; the result
 * always has `http://host:port`, and is otherwise the value itself.
 */
export function* validateStoredInSteps(name: string, value: unknown): Generator<void, ServiceResult> {
  const faults = nameFaults(name, "name");
  const service = yield* readService(StoredServiceConfig, value, [], faults);
  return result(service && { ...service, url: `http://${addressOf(service.url)}` }, faults);
}

/** {@link validateStoredInSteps}, all at once. */
export function validateStored(name: string, value: unknown): ServiceResult {
  return lastOf(validateStoredInSteps(name, value));
}

function lastOf<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function result(service: StoredServiceConfig | undefined, faults: Faults): ServiceResult {
  if (service === undefined || faults.all.length > 0) return { ok: false, fields: faults.fields };
  return { ok: true, service };
}

function nameFaults(name: string, at: string): Faults {
  const faults = new Faults();
  for (const { message } of faultsOf(ServiceName, name).all) faults.add([at], message);
  if (DOT_SEGMENTS.includes(name)) faults.add([at], NAMED_BY_DOTS);
  return faults;
}

function readWritten(
  value: unknown,
  at: FieldPath,
  faults: Faults,
): { service: StoredServiceConfig; bytes: number } | undefined {
  const written = lastOf(readService(ServiceConfig, value, at, faults));
  if (written === undefined) return undefined;
  const service = expandService(written);
  const bytes = Buffer.byteLength(JSON.stringify(service));
  if (bytes <= SERVICE_CONFIG_BYTES_MAX) return { service, bytes };
  faults.add(at, SERVICE_TOO_LARGE);
  return undefined;
}

/** The service, where nothing is wrong with it: neither its shape nor what the rules say of the parts that have one. */
function* readService<Schema extends typeof ServiceConfig | typeof StoredServiceConfig>(
  schema: Schema,
  value: unknown,
  at: FieldPath,
  faults: Faults,
): Generator<void, Static<Schema> | undefined> {
  const whole = fits(schema, value) ? value : undefined;
  const found = whole === undefined ? faultsOf(schema, value) : new Faults();
  const parts = whole ?? partsThatFit(schema, value, found);
  yield;
  if (parts !== undefined) yield* checkRules(parts, at, found);
  const inOrder = found.all.toSorted((one, other) => placeOf(one.path) - placeOf(other.path));
  for (const { path, message } of inOrder) faults.add([...at, ...path], message);
  return found.all.length === 0 ? whole : undefined;
}

/** Orders faults by scope and route: what a route lacks stands beside what the rules say of it. */
function placeOf([scope = "", , route]: FieldPath): number {
  const scopes: FieldPath = SCOPES;
  return scopes.indexOf(scope) * 1e9 + (typeof route === "number" ? route : -1);
}
