import { describe, expect, test } from "bun:test";
import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { batchOf } from "../../../apps/audit/streams/batch.ts";
import type { EntryRow } from "../../../apps/audit/streams/entry.ts";
import { ocsfEvent } from "../../../apps/audit/streams/ocsf.ts";
import { type EventOfRow, entryRow } from "./entry-row.ts";

const STREAM = { organization_id: "organization-1" };

// AU-106
describe("an OCSF event of the class API Activity", () => {
  test("has the fields that the schema requires, and all data of the audit event", () => {
    expect(ocsfEvent(STREAM, entryRow())).toEqual({
      activity_id: 4,
      activity_name: "Delete",
      actor: {
        user: { type: "Unknown", type_id: 0, uid: "member-1", credential_uid: "ostiary-k-2-abcd" },
      },
      api: {
        operation: "DELETE /org/widgets/{widget_id}",
        service: { name: "widgets" },
        request: { uid: "request-1" },
        response: { code: 204 },
      },
      category_name: "Application Activity",
      category_uid: 6,
      class_name: "API Activity",
      class_uid: 6003,
      http_request: {
        http_method: "DELETE",
        uid: "request-1",
        url: { path: "/org/widgets/{widget_id}" },
        user_agent: "curl/8.5.0",
      },
      http_response: { code: 204 },
      message: "DELETE /org/widgets/{widget_id} 204",
      metadata: {
        correlation_uid: "request-1",
        log_name: "audit",
        product: { name: "Ostiary", vendor_name: "Ostiary", version: expect.any(String) },
        sequence: 7,
        tenant_uid: "organization-1",
        uid: ULID_EXAMPLE,
        version: "1.8.0",
      },
      resources: [{ name: "widget_id", uid: "42" }],
      severity: "Informational",
      severity_id: 1,
      src_endpoint: { ip: "192.0.2.1" },
      status: "Success",
      status_code: "204",
      status_detail: "responded",
      status_id: 1,
      time: Date.parse("2026-01-31T12:00:00Z"),
      type_name: "API Activity: Delete",
      type_uid: 600304,
      unmapped: {
        details: { a: 1 },
        auth_type: "member_apikey",
        kind: "outcome",
        position: 7,
        salt: "cd".repeat(16),
        chain: "ab".repeat(32),
      },
    });
  });

  test.each([
    ["POST", 1, "Create", 600301],
    ["GET", 2, "Read", 600302],
    ["OPTIONS", 99, "OPTIONS", 600399],
  ])("for %s has the activity_id %i", (method, activity_id, activity_name, type_uid) => {
    expect(ocsfEvent(STREAM, entryRow({ method }))).toMatchObject({ activity_id, activity_name, type_uid });
  });

  test.each([
    [399, "responded", 1],
    [400, "responded", 2],
    [null, "no_response", 0],
  ] as const)("with status %p and outcome %s has the status_id %i", (status, outcome, status_id) => {
    expect(ocsfEvent(STREAM, entryRow({ status, outcome }))).toMatchObject({
      status_id,
      status_detail: outcome,
    });
  });

  test("never contains the person's id, and without a member it names the authentication type", () => {
    const event = ocsfEvent(
      STREAM,
      entryRow({ actor_member_id: null, actor_auth_type: "jwt", actor_key_prefix: null }),
    );
    expect(event?.actor).toEqual({ invoked_by: "jwt" });
    expect(JSON.stringify(event)).not.toContain("user-1");
  });

  test("is sent once for a request: with the outcome, or as pending while the outcome is unknown", () => {
    const intent = (changes: Partial<EventOfRow>) => entryRow(changes, { is_outcome: false });
    const pending = { outcome: "pending", status: null, details: null } as const;
    expect(ocsfEvent(STREAM, intent(pending))).toMatchObject({ status_id: 0, status_detail: "pending" });
    expect(ocsfEvent(STREAM, intent({}))).toBeNull();
    expect(ocsfEvent(STREAM, entryRow({}, { event: null, salt: null }))).toBeNull();
    const bodyOf = (...entries: EntryRow[]) => {
      const part = { ...STREAM, after: { position: 6, chain: "00" }, entries };
      const { body, parts } = batchOf({ id: ULID_EXAMPLE, format: "ocsf" }, [part], 0);
      expect(parts).toEqual([part]);
      return body;
    };
    expect(JSON.parse(String(bodyOf(intent({}), entryRow(), intent({}))))).toHaveLength(1);
    expect(bodyOf(intent({}), intent({}))).toBeNull();
  });
});
