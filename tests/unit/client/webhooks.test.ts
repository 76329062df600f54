/** Tests of webhooks that the client verifies. */
import { describe, expect, test } from "bun:test";
import { OstiaryError } from "@ostiary/client";
import { verifyWebhook, type WebhookHeaders } from "@ostiary/client/webhooks";
import { Webhook } from "standardwebhooks";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes ...").toString("base64")}`;
const OTHER = `whsec_${Buffer.from("another secret of many bytes ...").toString("base64")}`;
const BODY = JSON.stringify({ type: "audit.entries", data: { name: "Zoë" } });

function signed(body = BODY, ageSeconds = 0, secret = SECRET) {
  const at = new Date(Date.now() - ageSeconds * 1_000);
  return {
    "webhook-id": "1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(secret).sign("1", at, body),
  };
}

describe("a webhook", () => {
  // CL-9
  test.each<[string, WebhookHeaders, string | Uint8Array]>([
    ["fetch", new Headers(signed()), BODY],
    ["Node", { ...signed(), host: "x", "set-cookie": ["a", "b"] }, Buffer.from(BODY)],
    [
      "headers in capitals",
      Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value])),
      BODY,
    ],
    [
      "several signatures",
      { ...signed(), "webhook-signature": `v1,AAAA v1a,x v1 ${signed()["webhook-signature"]}` },
      BODY,
    ],
  ])("is accepted with the headers of %s", (_, headers, body) => {
    expect(verifyWebhook(SECRET, headers, body)).toEqual(JSON.parse(BODY));
  });

  // CL-9
  test("is accepted with any of several secrets, such as the old and the new one", () => {
    expect(verifyWebhook([OTHER, SECRET], signed(), BODY)).toEqual(JSON.parse(BODY));
  });

  // CL-9
  test.each<[string, WebhookHeaders, string | Uint8Array]>([
    ["another body", signed(), `${BODY} `],
    ["another secret", signed(BODY, 0, OTHER), BODY],
    ["an age of six minutes", signed(BODY, 360), BODY],
    ["a time six minutes ahead", signed(BODY, -360), BODY],
    ["another id", { ...signed(), "webhook-id": "2" }, BODY],
    [
      "a time that was not signed",
      { ...signed(), "webhook-timestamp": String(Math.floor(Date.now() / 1_000) + 60) },
      BODY,
    ],
    ["no headers", {}, BODY],
    ["headers twice", { ...signed(), "webhook-id": ["1", "1"] }, BODY],
    ["no signature in the field", { ...signed(), "webhook-signature": "v1," }, BODY],
    ["a signature without a version", { ...signed(), "webhook-signature": "v1" }, BODY],
    ["a nonsense time", { ...signed(), "webhook-timestamp": "NaN" }, BODY],
    ["bytes that are not UTF-8", signed("\ufffd"), new Uint8Array([0xff])],
    ["a byte order mark before the body", signed(), Buffer.from(`\ufeff${BODY}`)],
  ])("is refused with %s", (_, headers, body) => {
    const verify = () => verifyWebhook([SECRET], headers, body);
    expect(verify).toThrow(OstiaryError);
    expect(verify).toThrow(expect.objectContaining({ code: "WEBHOOK_REFUSED", status: null }));
  });

  // CL-9
  test("cannot be verified without a secret", () => {
    expect(() => verifyWebhook([], signed(), BODY)).toThrow(
      expect.objectContaining({ code: "WEBHOOK_REFUSED" }),
    );
  });

  // CL-9
  test.each(["", "whsec_", "whsec_%%%%", "whsec_abc", " ", SECRET.slice(0, -1), `${SECRET}\n`])(
    "cannot be verified with the malformed secret %j, even beside the right one",
    (malformed) => {
      for (const secret of [malformed, [SECRET, malformed], [malformed, SECRET]]) {
        const verify = () => verifyWebhook(secret, signed(), BODY);
        expect(verify).toThrow(TypeError);
        expect(verify).toThrow("secret must be whsec_ followed by base64.");
      }
    },
  );
});
