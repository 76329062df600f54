import { randomBytes } from "node:crypto";
import { type DeliveredBody, ProvingReceiver, START, type TestReceiver } from "./streams-bed.ts";

/** The body of a delivery of the operator's stream in the format ostiary. */
export interface OperatorBody {
  type: string;
  timestamp: string;
  data: {
    stream_id: string;
    organizations: Pick<DeliveredBody["data"], "organization_id" | "after" | "entries">[];
  };
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** The variables of a service with an operator's stream to this receiver. */
export function operatorVariables(url: string, secret = newSecret()): Record<string, string> {
  return { AUDIT_OPERATOR_STREAM_URL: url, AUDIT_OPERATOR_STREAM_SECRET: secret };
}

/** The organization whose events only show that the stream is set up. */
export const SET_UP = "set-up";

export function organizationOf(n: number): string {
  return `organization-${n}`;
}

/** A receiver of the operator's stream that proves by itself that it missed no entry of any organization. */
export class OrganizationReceivers {
  readonly #logs = new Map<string, ProvingReceiver>();

  static bodiesOf({ calls }: Pick<TestReceiver, "calls">): OperatorBody[] {
    return calls.map(({ body }) => JSON.parse(body));
  }

  /** Checks all that a receiver got, in its order. Each log begins with its first entry, but for {@link SET_UP}. */
  static of(receiver: Pick<TestReceiver, "calls">): OrganizationReceivers {
    const receivers = new OrganizationReceivers();
    for (const { type, timestamp, data } of OrganizationReceivers.bodiesOf(receiver)) {
      for (const { organization_id, after, entries } of data.organizations) {
        if (organization_id === SET_UP) continue;
        const part = { stream_id: data.stream_id, organization_id, after, entries };
        receivers.of(organization_id).take({ type, timestamp, data: part });
      }
    }
    return receivers;
  }

  /** The log of an organization. */
  of(organization_id: string): ProvingReceiver {
    const known = this.#logs.get(organization_id) ?? new ProvingReceiver(START);
    this.#logs.set(organization_id, known);
    return known;
  }

  get duplicates(): number {
    return Array.from(this.#logs.values()).reduce((sum, { duplicates }) => sum + duplicates, 0);
  }
}
