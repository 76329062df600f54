import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { atTestEnd } from "../../support/at-test-end.ts";
import { waitFor } from "../../support/index.ts";
import { type AuditService, type AuditServiceOptions, intent, logOf, requestId } from "./bed.ts";
import { exportProof } from "./proof-bed.ts";
import {
  type DeliveredBody,
  ProvingReceiver,
  START,
  startReceiver,
  startStreamingAudit,
  type TestReceiver,
} from "./streams-bed.ts";

/** The secret of every operator's stream. */
export const SECRET = `whsec_${randomBytes(32).toString("base64")}`;

/** Returns the environment variables that set up the operator's stream, with this URL. */
export function operatorVariables(url: string): Record<string, string> {
  return { AUDIT_OPERATOR_STREAM_URL: url, AUDIT_OPERATOR_STREAM_SECRET: SECRET };
}

export function newReceiver(): TestReceiver {
  const receiver = startReceiver();
  atTestEnd(() => receiver.stop());
  return receiver;
}

export async function startWith(receiver: TestReceiver, { env = {}, ...options }: AuditServiceOptions = {}) {
  const variables = { ...operatorVariables(receiver.url), ...env };
  const audit = await startStreamingAudit([receiver.port], { ...options, env: variables });
  atTestEnd(() => audit.stop());
  return audit;
}

/** The id of an organization. Its events only show that the operator's stream delivers. */
const SET_UP = "set-up";

/** Writes events of {@link SET_UP} until the receiver gets a call. */
export async function isSetUp(audit: AuditService, receiver: TestReceiver): Promise<void> {
  await waitFor(async () => {
    await audit.put(requestId(), intent({ organization_id: SET_UP }));
    return receiver.calls.length > 0;
  });
}

type Part = Pick<DeliveredBody["data"], "organization_id" | "after" | "entries">;

/** Returns the parts of each delivery in the format `ostiary`, of all organizations but {@link SET_UP}. */
export function deliveriesTo({ calls }: TestReceiver): Part[][] {
  return calls.map(({ body }) => {
    const { organizations }: { organizations: Part[] } = JSON.parse(body).data;
    return organizations.filter(({ organization_id }) => organization_id !== SET_UP);
  });
}

/** Returns the parts of one organization in all deliveries. */
export function partsOf(receiver: TestReceiver, id: string): Part[] {
  return deliveriesTo(receiver)
    .flat()
    .filter(({ organization_id }) => organization_id === id);
}

/** Verifies an organization's chain in all deliveries, from its first entry on. Throws if an entry is missing. */
export function provenOf(receiver: TestReceiver, id: string): ProvingReceiver {
  const proving = new ProvingReceiver(START);
  for (const data of partsOf(receiver, id)) proving.take({ data });
  return proving;
}

/** Waits until the receiver has the whole log of each organization, once, and verifies the logs. */
export async function complete(
  audit: AuditService,
  receiver: TestReceiver,
  organizations: readonly string[],
): Promise<void> {
  // The service limits concurrent exports, so request one export at a time.
  for (const id of organizations) {
    const { position, chain } = (await exportProof(audit, logOf(id))).end.head;
    const isComplete = () => (partsOf(receiver, id).at(-1)?.entries.at(-1)?.position ?? 0) >= position;
    await waitFor(isComplete, { what: `the log of ${id}` });
    expect(provenOf(receiver, id)).toMatchObject({ position, chain, duplicates: 0 });
  }
}
