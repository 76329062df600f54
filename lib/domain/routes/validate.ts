/**
 * The one door through which route configuration enters (Gateway specification, Validation rules): the registry
 * checks what operators write, the gateway what it loads. Any JSON or YAML value may come in; all that is wrong
 * is answered at once, each with its path and what would be accepted.
 */

import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { FieldError } from "../errors/index.ts";
import { isRecord } from "../json/index.ts";
import { expandService } from "./expand.ts";
import { DOCUMENT_BYTES_MAX, SERVICE_CONFIG_BYTES_MAX, SERVICE_NAME_LENGTH_MAX } from "./limits.ts";
import { readService, SERVICE_TOO_LARGE } from "./read-service.ts";
import { memberPath, Report, refuseUnknown } from "./report.ts";
import { ConfigDocument, ServiceName, type StoredServiceConfig } from "./schema.ts";
import { addressOf } from "./service-url.ts";

const isServiceName = TypeCompiler.Compile(ServiceName);

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
  const report = new Report();
  const services = readDocument(input, report);
  return report.fields.length === 0 ? { ok: true, services } : { ok: false, fields: report.fields };
}

/**
 * Checks one service as written, for PUT and restore, and expands it.
 *
 * @param at the path of the service in errors; "" when the input is the body itself
 */
export function validateService(name: string, input: unknown, at = ""): ServiceResult {
  const report = new Report();
  const read = readNamedService(name, input, at, report);
  return result(read?.service, report);
}

/**
 * Checks one stored service as the gateway loads it. Old values may hold a bare `host:port`; the result always
 * has `http://host:port`.
 */
export function validateStored(name: string, value: unknown): ServiceResult {
  const report = new Report();
  checkName(name, "name", report);
  const service = readService(value, "stored", "", report);
  return result(service && expandService({ ...service, url: `http://${addressOf(service.url)}` }), report);
}

function result(service: StoredServiceConfig | undefined, report: Report): ServiceResult {
  if (service === undefined || report.fields.length > 0) return { ok: false, fields: report.fields };
  return { ok: true, service };
}

function readDocument(input: unknown, report: Report): Map<string, StoredServiceConfig> {
  const services = new Map<string, StoredServiceConfig>();
  if (!isRecord(input)) {
    report.add("", "A configuration document is an object with services, a map from names to services.");
    return services;
  }
  refuseUnknown(input, Object.keys(ConfigDocument.properties), "A configuration document", "", report);
  if (!isRecord(input.services) || Object.keys(input.services).length === 0) {
    report.add("services", "Set services: a map from names to services, with at least one.");
    return services;
  }
  let bytes = 0;
  for (const [name, value] of Object.entries(input.services)) {
    if (report.isFull) break;
    const read = readNamedService(name, value, memberPath("services", name), report);
    if (read === undefined) continue;
    services.set(name, read.service);
    bytes += read.bytes;
    if (bytes <= DOCUMENT_BYTES_MAX) continue;
    report.add(
      "services",
      `The services of a document have at most ${DOCUMENT_BYTES_MAX} bytes of JSON in expanded form: send them in parts.`,
    );
    break;
  }
  return services;
}

function readNamedService(
  name: string,
  value: unknown,
  at: string,
  report: Report,
): { service: StoredServiceConfig; bytes: number } | undefined {
  const before = report.fields.length;
  checkName(name, at === "" ? "name" : at, report);
  const written = readService(value, "written", at, report);
  if (written === undefined || report.fields.length > before) return undefined;
  const service = expandService(written);
  const bytes = Buffer.byteLength(JSON.stringify(service));
  if (bytes <= SERVICE_CONFIG_BYTES_MAX) return { service, bytes };
  report.add(at, SERVICE_TOO_LARGE);
  return undefined;
}

function checkName(name: string, at: string, report: Report): void {
  if (!isServiceName.Check(name)) {
    report.add(
      at,
      `A service's name has 1 to ${SERVICE_NAME_LENGTH_MAX} characters: letters, digits, \`.\`, \`_\` and \`-\`.`,
    );
  } else if (name === "." || name === "..") {
    report.add(at, "A service can not be named `.` or `..`: no URL could address it.");
  }
}
