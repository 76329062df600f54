import {
  Applied,
  CurrentOperator,
  changeNoteHeaders,
  Deleted,
  Diff,
  DryRun,
  type DryRunService,
  Gateways,
  type GivenNote,
  ListedOperators,
  Lookup,
  markDryRun,
  Projections,
  type RecordedChange,
  RecordedChanges,
  type Revision,
  Revisions,
  Roles,
  revisionTag,
  Service,
  Services,
  WrittenService,
} from "@ostiary/lib/contracts/registry-api";
import { type MarkedChange, markChanges } from "@ostiary/lib/domain/routes";
import { Type } from "@sinclair/typebox";
import { pathTo, type Registry } from "./console-registry.ts";

/** The maximum time that a write waits until gateways serve the change. */
export const WAIT_MS = 10_000;

/** The changes that a document would make. Marks show which changes open a route or break callers. */
export interface Review {
  services: DryRunService[];
  /** The ETag of the state that the document was compared with, for If-Match. Null if the response had none. */
  tag: string | null;
}

export const readOperator = (registry: Registry) => registry.call(CurrentOperator, pathTo("operator"));

export const listOperators = (registry: Registry) => registry.call(ListedOperators, pathTo("operators"));

export const listServices = (registry: Registry) => registry.call(Services, pathTo("services"));

export const readService = (registry: Registry, name: string) =>
  registry.call(Service, pathTo("services", name));

export async function listRevisions(registry: Registry, service: string): Promise<Revision[]> {
  return (await registry.call(Revisions, pathTo("services", service, "revisions"))).revisions;
}

/** The filters of the writes of all services. Empty filters filter nothing. */
export interface ChangeFilter {
  service: string;
  operator: string;
}
export const EVERYTHING: ChangeFilter = { service: "", operator: "" };

const PAGE_CHANGES = 100;

interface ReadChanges {
  items: RecordedChange[];
  has_more: boolean;
}

/** Returns the value of `starting_after` for the page that follows a change. */
export const cursorOf = ({ service, revision }: RecordedChange) => `${service}:${revision}`;

/** Reads the page of changes that follows `last`. */
export async function listChanges(
  registry: Registry,
  { service, operator }: ChangeFilter,
  last: RecordedChange | undefined,
): Promise<ReadChanges> {
  const query = {
    limit: String(PAGE_CHANGES),
    ...(service !== "" && { service }),
    ...(operator !== "" && { operator }),
    ...(last !== undefined && { starting_after: cursorOf(last) }),
  };
  const { changes, has_more } = await registry.call(RecordedChanges, pathTo("changes"), { query });
  return { items: changes, has_more };
}

/** Reads at most `pages` pages of changes that follow `last`. */
export async function readOlder(
  registry: Registry,
  last: RecordedChange | undefined,
  pages: number,
): Promise<ReadChanges> {
  const read: ReadChanges[] = [];
  while (read.length < pages && read.at(-1)?.has_more !== false) {
    read.push(await listChanges(registry, EVERYTHING, read.at(-1)?.items.at(-1) ?? last));
  }
  return { items: read.flatMap(({ items }) => items), has_more: read.at(-1)?.has_more === true };
}

/** Returns the deletion of each service whose newest change is a deletion, newest first. */
export function deletionsIn(changes: readonly RecordedChange[]): RecordedChange[] {
  const newest = new Map<string, RecordedChange>();
  for (const change of changes) {
    const known = newest.get(change.service);
    if (known === undefined || known.revision < change.revision) newest.set(change.service, change);
  }
  return [...newest.values()].filter(({ action }) => action === "delete");
}

export async function compareRevisions(
  registry: Registry,
  service: string,
  from: number,
  to: number,
): Promise<MarkedChange[]> {
  const path = pathTo("services", service, "revisions", from, "diff", to);
  const { changes } = await registry.call(Diff, path);
  return markChanges(changes);
}

/** Makes a dry run of a document. The registry reads JSON as YAML, so the content type is always YAML. */
export async function reviewDocument(registry: Registry, document: string): Promise<Review> {
  const { value, etag } = await registry.callTagged(DryRun, pathTo("apply"), {
    method: "POST",
    query: { dry_run: "true" },
    headers: YAML,
    body: document,
  });
  return { services: markDryRun(value.results), tag: etag };
}

export interface Write {
  /** Whether the registry responds only after gateways serve the change. */
  wait: boolean;
  note: GivenNote;
}

export function applyDocument(
  registry: Registry,
  document: string,
  { tag, wait, note }: Write & Pick<Review, "tag">,
): Promise<Applied> {
  return registry.call(Applied, pathTo("apply"), {
    method: "POST",
    ...waiting(wait),
    headers: { ...YAML, ...changeNoteHeaders(note), ...(tag !== null && { "If-Match": tag }) },
    body: document,
  });
}

/** Deletes the service if `revision` is still the current one. */
export function deleteService(registry: Registry, name: string, revision: number, { wait, note }: Write) {
  return registry.call(Type.Union([Type.Null(), Deleted]), pathTo("services", name), {
    method: "DELETE",
    ...waiting(wait),
    headers: { ...changeNoteHeaders(note), "If-Match": revisionTag(revision) },
  });
}

/** Restores `revision` if `newest` is still the newest revision. */
export function restoreRevision(
  registry: Registry,
  name: string,
  { revision, newest, wait, note }: Write & { revision: number; newest: number },
): Promise<WrittenService> {
  return registry.call(WrittenService, pathTo("services", name, "revisions", revision, "restore"), {
    method: "POST",
    ...waiting(wait),
    headers: { ...changeNoteHeaders(note), "If-Match": revisionTag(newest) },
  });
}

export interface LookupRequest {
  method: string;
  path: string;
  /** The role of the calling member. If role and labels are empty, the registry looks up only the route. */
  role: string;
  labels: string;
}

export function lookUp(registry: Registry, { method, path, role, labels }: LookupRequest): Promise<Lookup> {
  const query = { method, path, ...(role !== "" && { role }), ...(labels !== "" && { labels }) };
  return registry.call(Lookup, pathTo("routes"), { query });
}

export const listRoles = (registry: Registry) => registry.call(Roles, pathTo("roles"));

export const listGateways = (registry: Registry) => registry.call(Gateways, pathTo("gateways"));

export const listProjections = (registry: Registry) => registry.call(Projections, pathTo("projections"));

const YAML = { "Content-Type": "application/yaml" };

function waiting(wait: boolean) {
  return wait ? { query: { wait_ms: String(WAIT_MS) } } : {};
}
