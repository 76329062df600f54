import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { checkStreamKeyFile, SecretBox, SecretUnreadable } from "@ostiary/audit/streams/secrets";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { services, waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { openLog } from "./bed.ts";
import { writeEvents, writeKeyFile } from "./proof-bed.ts";
import {
  callStreams,
  STREAMS,
  shortClock,
  startReceiver,
  startStreamingAudit,
  streamKey,
} from "./streams-bed.ts";

const quiet = { warn: () => {} };

function boxOf(path: string, clock = manualClock()) {
  return new SecretBox(path, clock, quiet);
}

// AU-98
describe("an encrypted secret", () => {
  test("is decrypted only for its own stream, and has a different ciphertext each time", () => {
    const box = boxOf(writeKeyFile(streamKey()));
    const [one, two] = [box.seal("whsec_x", "a"), box.seal("whsec_x", "a")];
    expect(one).not.toBe(two);
    expect(one).not.toContain("whsec");
    expect(box.open(one, "a")).toBe("whsec_x");
    expect(() => box.open(one, "b")).toThrow(SecretUnreadable);
  });

  test("is not decrypted if it was changed or if its key is gone", () => {
    const box = boxOf(writeKeyFile(streamKey()));
    const sealed = box.seal("whsec_x", "a");
    for (const at of [9, 20, sealed.length - 2]) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
      expect(() => box.open(changed, "a")).toThrow(SecretUnreadable);
    }
    for (const text of ["", ".", "x", sealed.slice(0, 12)])
      expect(() => box.open(text, "a")).toThrow(SecretUnreadable);
    const other = boxOf(writeKeyFile(streamKey()));
    expect(() => other.open(sealed, "a")).toThrow(SecretUnreadable);
  });

  test("is decrypted while its key follows a new one in the file, and even if the file becomes invalid", () => {
    const [old, next] = [streamKey(), streamKey()];
    const path = writeKeyFile(old);
    const clock = manualClock();
    const box = boxOf(path, clock);
    const sealed = box.seal("whsec_x", "a");
    writeFileSync(path, `${next}\n${old}\n`);
    clock.advance(1_000);
    expect(box.open(sealed, "a")).toBe("whsec_x");
    const anew = box.seal("whsec_x", "a");
    expect(anew.slice(0, 8)).not.toBe(sealed.slice(0, 8));
    writeFileSync(path, "no key\n");
    clock.advance(1_000);
    expect(box.open(anew, "a")).toBe("whsec_x");
    writeFileSync(path, `${next}\n`);
    clock.advance(1_000);
    expect(() => box.open(sealed, "a")).toThrow(SecretUnreadable);
  });
});

// AU-98
describe("AUDIT_STREAM_KEY_FILE", () => {
  const problems = (path: string) => checkStreamKeyFile({ AUDIT_STREAM_KEY_FILE: path });

  test("may be unset, hold one key or several", () => {
    expect(checkStreamKeyFile({})).toEqual([]);
    expect(problems(writeKeyFile(streamKey()))).toEqual([]);
    expect(problems(writeKeyFile(`${streamKey()}\n\n${streamKey()}\n`))).toEqual([]);
  });

  test.each([
    ["", "must be the path of a file with one key of `openssl rand"],
    ["short\n", "must be the path of a file with one key of `openssl rand"],
    [`${"A".repeat(42)}=\n`, "must be the path of a file with one key of `openssl rand"],
    [`${streamKey()} ${streamKey()}`, "must be the path of a file with one key of `openssl rand"],
    ["x".repeat(5_000), "must be the path of a file with one key of `openssl rand"],
  ])("is refused if its content is %p", (text, rule) => {
    const [problem] = problems(writeKeyFile(text));
    expect([problem?.variable, problem?.message.startsWith(rule)]).toEqual(["AUDIT_STREAM_KEY_FILE", true]);
    if (text.length > 5) expect(problem?.message).not.toContain(text.trim());
  });
});

// AU-98
test.skipIf(!services().postgres.real)(
  "a new first key makes the running service re-encrypt every secret, and deliveries continue",
  async () => {
    using receiver = startReceiver();
    const [old, next] = [streamKey(), streamKey()];
    const path = writeKeyFile(old);
    await using audit = await startStreamingAudit([receiver.port], {
      clock: shortClock,
      env: { AUDIT_STREAM_KEY_FILE: path },
    });
    await using log = await openLog(audit);
    const { body: stream } = await callStreams(audit, "POST", STREAMS, { url: receiver.url });
    const stored = async () => {
      const [row] = await log.run("secret", (orm) =>
        rows<{ secret: string; others: string }>(
          orm,
          sql`select secret, streams::text as others from audit.streams`,
        ),
      );
      return row;
    };
    const before = await stored();
    expect(before?.others).not.toContain(stream.secret);
    writeFileSync(path, `${next}\n${old}\n`);
    await waitFor(async () => (await stored())?.secret.slice(0, 8) !== before?.secret.slice(0, 8));
    writeFileSync(path, `${next}\n`);
    await writeEvents(audit, 2);
    await waitFor(() => receiver.calls.length > 0);
    const [call] = receiver.calls;
    new Webhook(stream.secret).verify(call?.body ?? "", call?.headers ?? {});
  },
  60_000,
);
