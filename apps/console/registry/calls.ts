import {
  Applied,
  Deleted,
  Diff,
  Gateways,
  Lookup,
  Plan,
  Projections,
  Revision,
  revisionTag,
  Service,
  Services,
  WrittenService,
} from "@ostiary/lib/contracts/registry-api";
import { type Change, type MarkedChange, markChanges, namesPolicies } from "@ostiary/lib/domain/routes";
import { type Static, Type } from "@sinclair/typebox";
import { pathTo, type Registry } from "./client.ts";

/** How long a write waits for gateways when it is told to. */
export const WAIT_MS = 10_000;

/** An entry of a history without its config, which the list of revisions has too and may be large. */
const Entry = Type.Pick(Revision, [
  "service",
  "revision",
  "action",
  "restored_from",
  "request_id",
  "created_at",
]);
export type Entry = Static<typeof Entry>;
const Entries = Type.Object({ revisions: Type.Array(Entry) });

export type PlannedService = Omit<Plan["results"][number], "changes"> & { changes: MarkedChange[] };

/** What a document would change, with what is to be looked at twice. */
export interface Review {
  services: PlannedService[];
  /** Names what it was made from: an apply that has it writes this or nothing. */
  tag: string | null;
}

export const listServices = (registry: Registry) => registry.ask(Services, pathTo("services"));

export const readService = (registry: Registry, name: string) =>
  registry.ask(Service, pathTo("services", name));

export async function listRevisions(registry: Registry, service: string): Promise<Entry[]> {
  return (await registry.ask(Entries, pathTo("services", service, "revisions"))).revisions;
}

export async function compareRevisions(
  registry: Registry,
  service: string,
  from: number,
  to: number,
): Promise<MarkedChange[]> {
  const path = pathTo("services", service, "revisions", from, "diff", to);
  const { changes } = await registry.ask(Diff, path);
  return marked(registry, service, from, changes);
}

/** What a first revision brought, which there is none before to compare with. */
export async function readRevision(registry: Registry, service: string, revision: number) {
  return registry.ask(Revision, pathTo("services", service, "revisions", revision));
}

/** A dry run. The registry reads YAML and JSON alike, so the text goes as it is. */
export async function reviewDocument(registry: Registry, document: string): Promise<Review> {
  const { answer, etag } = await registry.askTagged(Plan, pathTo("apply"), {
    method: "POST",
    query: { dry_run: "true" },
    headers: YAML,
    body: document,
  });
  const services: PlannedService[] = [];
  for (const planned of answer.results) {
    const changes = await marked(registry, planned.service, planned.revision, planned.changes);
    services.push({ ...planned, changes });
  }
  return { services, tag: etag };
}

export interface Write {
  /** Whether the answer is to come once gateways serve it. */
  wait: boolean;
}

export function applyDocument(
  registry: Registry,
  document: string,
  { tag, wait }: Write & Pick<Review, "tag">,
): Promise<Applied> {
  return registry.ask(Applied, pathTo("apply"), {
    method: "POST",
    ...waiting(wait),
    headers: { ...YAML, ...(tag !== null && { "If-Match": tag }) },
    body: document,
  });
}

/** Deletes the service if `revision` is its current one. */
export function deleteService(registry: Registry, name: string, revision: number, { wait }: Write) {
  return registry.ask(Type.Union([Type.Null(), Deleted]), pathTo("services", name), {
    method: "DELETE",
    ...waiting(wait),
    headers: { "If-Match": revisionTag(revision) },
  });
}

/** Restores `revision` if `newest` is still the newest one. */
export function restoreRevision(
  registry: Registry,
  name: string,
  { revision, newest, wait }: Write & { revision: number; newest: number },
): Promise<WrittenService> {
  return registry.ask(WrittenService, pathTo("services", name, "revisions", revision, "restore"), {
    method: "POST",
    ...waiting(wait),
    headers: { "If-Match": revisionTag(newest) },
  });
}

export interface Question {
  method: string;
  path: string;
  /** Who asks: a member with a role, or with labels; nobody in particular when both are empty. */
  role: string;
  labels: string;
}

export function lookUp(registry: Registry, { method, path, role, labels }: Question): Promise<Lookup> {
  const query = { method, path, ...(role !== "" && { role }), ...(labels !== "" && { labels }) };
  return registry.ask(Lookup, pathTo("routes"), { query });
}

export const listGateways = (registry: Registry) => registry.ask(Gateways, pathTo("gateways"));

export const listProjections = (registry: Registry) => registry.ask(Projections, pathTo("projections"));

const YAML = { "Content-Type": "application/yaml" };

function waiting(wait: boolean) {
  return wait ? { query: { wait_ms: String(WAIT_MS) } } : {};
}

/** Marks need the policies that routes name, as they were in the revision that was compared. */
async function marked(
  registry: Registry,
  service: string,
  revision: number | null,
  changes: readonly Change[],
): Promise<MarkedChange[]> {
  if (revision === null || !namesPolicies(changes)) return markChanges(changes);
  const { config } = await readRevision(registry, service, revision);
  return markChanges(changes, config?.rate_limits);
}
