import { randomBytes } from "node:crypto";
import { type DeliveredBody, ProvingReceiver, START, type TestReceiver } from "./streams-bed.ts";

/** The body of a delivery of the operator's stream in the format `ostiary`. */
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

/** Returns the environment variables that set up the operator's stream, with this URL and this secret. */
export function operatorVariables(url: string, secret = newSecret()): Record<string, string> {
  return { AUDIT_OPERATOR_STREAM_URL: url, AUDIT_OPERATOR_STREAM_SECRET: secret };
}

/** The id of an organization. Its events only show that the operator's stream delivers. */
export const SET_UP = "set-up";

export function organizationOf(n: number): string {
  return `organization-${n}`;
}

/**
 * Verifies each organization's chain in the deliveries of the operator's stream. Throws if an entry is
 * missing.
 */
export class OrganizationReceivers {
  readonly #logs = new Map<string, ProvingReceiver>();

  static bodiesOf({ calls }: Pick<TestReceiver, "calls">): OperatorBody[] {
    return calls.map(({ body }) => JSON.parse(body));
  }

  /** Verifies all deliveries in order. Expects each log from its first entry on. Ignores {@link SET_UP}. */
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

  /** Returns the verified deliveries of one organization. */
  of(organization_id: string): ProvingReceiver {
    const known = this.#logs.get(organization_id) ?? new ProvingReceiver(START);
    this.#logs.set(organization_id, known);
    return known;
  }

  get duplicates(): number {
    return Array.from(this.#logs.values()).reduce((sum, { duplicates }) => sum + duplicates, 0);
  }
}
