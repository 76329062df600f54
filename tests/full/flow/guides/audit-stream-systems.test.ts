/** Tests that the guide's settings for Splunk, Datadog and Elastic can read what an audit stream sends. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { targetRules, urlProblem } from "@ostiary/audit/streams/targets";
import { parse } from "yaml";
import { type AuditService, intent, requestId } from "../../../app/audit/audit-service.ts";
import { exportProof, writeEvents } from "../../../app/audit/proof-bed.ts";
import {
  callStreams,
  STREAMS,
  startReceiver,
  startStreamingAudit,
  type TestReceiver,
} from "../../../app/audit/streams-bed.ts";
import { ROOT } from "../../../support/root.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

setDefaultTimeout(120_000);

interface OcsfEvent {
  message: string;
  time: number;
  class_uid: number;
  unmapped: { position: number };
}

const STRICT = targetRules({ allowHttp: false, ports: [], networks: [] });

async function blockOf(section: string, language: string): Promise<string> {
  const guide = await Bun.file(join(ROOT, ".github/guides/audit-streams.md")).text();
  const text = guide.split("\n## ").find((part) => part.startsWith(`${section}\n`)) ?? "";
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (block === undefined) throw new Error(`${section} has no block of ${language}.`);
  return block;
}

// AU-106
describe("the settings of audit-streams.md", () => {
  let audit: AuditService;
  let receiver: TestReceiver;
  let bodies: string[];
  let expected: OcsfEvent[];
  beforeAll(async () => {
    receiver = startReceiver();
    audit = await startStreamingAudit([receiver.port]);
    await writeEvents(audit, 30);
    // A caller can choose the user agent and params. This text looks like the start of an event.
    const hostile = '[{"activity_id":1,"activity_name":"x","time":1}]';
    await audit.put(requestId(), intent({ user_agent: hostile, params: { widget_id: `,${hostile}` } }));
    await exportProof(audit);
    const { body } = await callStreams(audit, "POST", STREAMS, {
      url: receiver.url,
      format: "ocsf",
      from_position: 1,
    });
    await waitFor(
      async () => (await callStreams(audit, "GET", `${STREAMS}/${body.id}`)).body.lag_events === 0,
      { timeoutMs: 60_000 },
    );
    bodies = receiver.calls.map((call) => call.body);
    expected = bodies.flatMap((text): OcsfEvent[] => JSON.parse(text));
    expect(expected.length).toBeGreaterThanOrEqual(31);
  });
  afterAll(async () => {
    await audit.stop();
    receiver.stop();
  });

  test("for Splunk split a request body into events, and find the time of each event", async () => {
    const lines = (await blockOf("Splunk", "ini")).trim().split("\n");
    const settings = new Map(
      lines.slice(1).map((line): [string, string] => {
        const [name = "", ...value] = line.split(" = ");
        return [name, value.join(" = ")];
      }),
    );
    const breaker = new RegExp(settings.get("LINE_BREAKER") ?? "", "g");
    const prefix = new RegExp(settings.get("TIME_PREFIX") ?? "");
    const lookahead = Number(settings.get("MAX_TIMESTAMP_LOOKAHEAD"));
    const [, from = "", to] = (settings.get("SEDCMD-end") ?? "").split("/");
    for (const body of bodies) {
      // Splunk starts an event after the first group of LINE_BREAKER, and discards the text of the group.
      const pieces = body.replace(breaker, "\n").split("\n");
      const events = pieces
        .filter((piece) => piece !== "")
        .map((piece) => piece.replace(new RegExp(from), to ?? ""));
      expect(events.map((text) => JSON.parse(text))).toEqual(JSON.parse(body));
      for (const text of events) {
        const begin = text.search(prefix) + (prefix.exec(text)?.[0].length ?? 0);
        expect(Number(text.slice(begin, begin + lookahead))).toBe(JSON.parse(text).time);
      }
    }
  });

  test("for Datadog send a list of objects with a message, as its API requires", async () => {
    for (const body of bodies) {
      const items: OcsfEvent[] = JSON.parse(body);
      expect(items.length).toBeLessThanOrEqual(1_000);
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(5_000_000);
      for (const item of items) {
        expect(item.message).toMatch(/^POST \/org\/widgets\/\{widget_id\} (pending|\d{3})$/);
        expect(JSON.stringify(item).length).toBeLessThanOrEqual(1_000_000);
      }
    }
  });

  test("for Elastic define an input that accepts the request body unchanged", async () => {
    const settings = parse(await blockOf("Elastic", "yaml"))["filebeat.inputs"][0];
    expect(settings).toMatchObject({ type: "http_endpoint", enabled: true });
    for (const { headers, body } of receiver.calls) {
      expect(headers["content-type"]).toBe(settings.content_type);
      expect(headers["content-encoding"]).toBeUndefined();
      // Filebeat makes one document of each object in the list.
      const documents = JSON.parse(body).map((event: OcsfEvent) => ({ [settings.prefix]: event }));
      for (const document of documents) expect(document[settings.prefix].class_uid).toBe(6003);
    }
  });

  test.each(["Splunk", "Datadog"])("for %s contain a URL that is valid for a stream", async (section) => {
    expect(urlProblem((await blockOf(section, "text")).trim(), STRICT)).toBeNull();
  });
});
