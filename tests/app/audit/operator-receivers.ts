import { expect } from "bun:test";
import { atTestEnd } from "../../support/at-test-end.ts";
import { waitFor } from "../../support/index.ts";
import { type AuditService, type AuditServiceOptions, intent, requestId } from "./audit-service.ts";
import { newSecret, OrganizationReceivers, operatorVariables, SET_UP } from "./operator-bed.ts";
import { exportProof } from "./proof-bed.ts";
import { startReceiver, startStreamingAudit, type TestReceiver } from "./streams-bed.ts";

export const SECRET = newSecret();

export function newReceiver(): TestReceiver {
  const receiver = startReceiver();
  atTestEnd(() => receiver.stop());
  return receiver;
}

export async function startWith(receiver: TestReceiver, { env = {}, ...options }: AuditServiceOptions = {}) {
  const variables = { ...operatorVariables(receiver.url, SECRET), ...env };
  const audit = await startStreamingAudit([receiver.port], { ...options, env: variables });
  atTestEnd(() => audit.stop());
  return audit;
}

/** Waits until the receiver has the whole log of each organization. Returns the verified deliveries. */
export async function complete(
  audit: AuditService,
  receiver: TestReceiver,
  organizations: readonly string[],
) {
  const heads: { id: string; position: number; chain: string }[] = [];
  // The service limits concurrent exports, so request one export at a time.
  for (const id of organizations) {
    const { position, chain } = (await exportProof(audit, `/organizations/${id}/audit-events`)).end.head;
    heads.push({ id, position, chain });
  }
  await waitFor(() => {
    const bodies = OrganizationReceivers.bodiesOf(receiver);
    return heads.every(({ id, position }) =>
      bodies.some((body) =>
        partsOf(body, id).some(({ entries }) => (entries.at(-1)?.position ?? 0) >= position),
      ),
    );
  });
  const got = OrganizationReceivers.of(receiver);
  for (const head of heads) {
    const { position, chain } = got.of(head.id);
    expect({ id: head.id, position, chain }).toEqual(head);
  }
  return got;
}

/** Writes events of {@link SET_UP} until the receiver gets a call. */
export async function isSetUp(audit: AuditService, receiver: TestReceiver): Promise<void> {
  await waitFor(async () => {
    await audit.put(requestId(), intent({ organization_id: SET_UP }));
    return receiver.calls.length > 0;
  });
}

export function partsOf(body: ReturnType<typeof OrganizationReceivers.bodiesOf>[number], id: string) {
  return body.data.organizations.filter(({ organization_id }) => organization_id === id);
}
