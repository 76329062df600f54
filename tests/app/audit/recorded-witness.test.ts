/** Responses that another project's code for witnesses (torchwood v0.6.1) gave, as the audit service reads them. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "@ostiary/lib/async";
import { readNoteKey } from "@ostiary/lib/domain/tlog";
import { askWitness } from "../../../apps/audit/proof/witnesses/ask-witness.ts";
import { Receiver } from "../../../apps/audit/receivers/receiver-call.ts";
import { targetRulesOf } from "../../../apps/audit/receivers/targets.ts";
import { atTestEnd } from "../../support/at-test-end.ts";

const NOTE = `audit.example.com/log
5
SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=

— audit.example.com/log 1gh1fbSDNyuYsnKfaOPke/3wJnsmDsHXQZPD8wHI9O+l/GMIvsMr4tdx1egrs3nqPqeIy527/lNcWJO29l2lB4sw0Qs=
`;
const KEY = "witness.example.com/w1+b0bfc668+BDCU50txP46at76QGFS8XYxoYFwdwLr3SlnLh9LKFKKY";
const LINE =
  "— witness.example.com/w1 sL/GaAAAAABrDISEkAEXmWbYO1R1Dv5EmKMT92BF2EzaeKe8qEg9enrlljNhVNFtb19W6Y9UHbJtvn+4uJTFcB5Lr8USoC4m2Mq/AA==\n";
/** The same root, cosigned by a witness that the log does not know. */
const OTHER_LINE =
  "— witness.example.com/w2 Els3FAAAAABrDISE6kz8clHa3TIU1Kz6hLgZJUu0USqplKPttXgt43yVX042fa1IQNiMH5gJIP7dZXvOKfssD+4GkXmgmwECEJBrDw==\n";
const COSIGNED_S = 0x6b_0c_84_84;
const RESPONSE_BYTES_MAX = 65_536;

/** Asks a server that gives this response, with the service's clock `lateS` seconds after the cosignature. */
async function ask(response: string, lateS = 0, note = NOTE) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(response) });
  atTestEnd(() => server.stop(true));
  const rules = targetRulesOf({
    AUDIT_STREAM_ALLOW_HTTP: true,
    AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
    AUDIT_STREAM_ALLOWED_PORTS: String(server.port),
  });
  const url = `http://127.0.0.1:${server.port}`;
  const deps = { rules, clock: systemClock, responseBytesMax: RESPONSE_BYTES_MAX };
  const receiver = new Receiver(`${url}/add-checkpoint`, deps);
  atTestEnd(() => receiver.close());
  const key = readNoteKey(KEY);
  if (key === null) throw new Error("The key cannot be read.");
  const { signal } = new AbortController();
  const nowMs = (COSIGNED_S + lateS) * 1_000;
  const witness = { name: "w1", url, key, keyText: KEY };
  return askWitness({ receiver, witness, nowMs, signal }, { size: 5, note }, { oldSize: 0, path: [] });
}

/** Returns a response of this many bytes: the line of the witness between lines of keys that nobody knows. */
function responseOf(bytes: number): string {
  const lines = 90;
  const rest = bytes - Buffer.byteLength(LINE) - lines * Buffer.byteLength(OTHER_LINE);
  const unknown = Array.from({ length: lines }, (_, n) => {
    const padding = Math.floor(rest / lines) + (n < rest % lines ? 1 : 0);
    return OTHER_LINE.replace(" witness", ` ${"x".repeat(padding)}witness`);
  });
  return unknown.toSpliced(lines - 1, 0, LINE).join("");
}

// AU-171, AU-174
describe("a recorded response of another project's witness", () => {
  test.each([
    ["alone", LINE],
    ["after the line of another witness", OTHER_LINE + LINE],
    ["in 64 KiB of lines of unknown keys", responseOf(RESPONSE_BYTES_MAX)],
  ])("counts: %s", async (_title, response) => {
    expect(await ask(response)).toEqual({
      size: 5,
      note: NOTE,
      witness: KEY,
      line: LINE,
      cosigned_at: new Date(COSIGNED_S * 1_000),
    });
  });

  test.each([
    ["of more than 64 KiB", responseOf(RESPONSE_BYTES_MAX + 1), 0, NOTE, "too long"],
    ["without the line of the witness", OTHER_LINE, 0, NOTE, "no valid cosignature"],
    ["of another root", LINE, 0, NOTE.replace("\n5\n", "\n6\n"), "no valid cosignature"],
    ["with a changed time", LINE.replace("DISE", "DISF"), 0, NOTE, "no valid cosignature"],
    ["of two hours ago", LINE, 7_200, NOTE, "differs from this server's clock"],
    ["of text that is no signature", `${LINE}more\n`, 0, NOTE, "signature lines"],
  ])("does not count: %s", async (_title, response, lateS, note, reason) => {
    await expect(ask(response, lateS, note)).rejects.toThrow(reason);
  });
});
