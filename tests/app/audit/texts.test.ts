import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";
import { intent, requestId, sharedAudit, userIntent, wrongFields } from "./audit-service.ts";

setDefaultTimeout(120_000);

const audit = sharedAudit();

/** Characters that the log can store, of one to four bytes in UTF-8. */
const characters = ["a", "~", "é", "道", "🚪", " ", "%", "\n", '"', "\\", "\u007f", "\uffff"];
/** Characters that PostgreSQL or UTF-8 cannot store: NUL and unpaired surrogates. */
const refused = ["\0", "\ud800", "\udc00"];

/** Returns a text of `length` three-byte characters that is hard to compress. */
function varied(length: number): string {
  return String.fromCharCode(...Array.from({ length }, (_, n) => 0x4e00 + ((n * 7_919) % 20_000)));
}

/**
 * Returns an arbitrary for a field of at most `lengthMax` characters. Some texts are one character too long.
 */
function texts(lengthMax: number): fc.Arbitrary<string> {
  const character = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...characters) },
    { weight: 1, arbitrary: fc.constantFrom(...refused) },
  );
  const length = fc.oneof(fc.constantFrom(0, 1, lengthMax - 1, lengthMax, lengthMax + 1), fc.nat(lengthMax));
  const long = fc.tuple(character, length).map(([each, count]) => each.repeat(count).slice(0, count));
  return fc.oneof(
    { weight: 3, arbitrary: long },
    { weight: 1, arbitrary: length.map(varied) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: lengthMax, minLength: 1 }) },
    { weight: 4, arbitrary: fc.string({ unit: "grapheme-ascii", maxLength: lengthMax, minLength: 1 }) },
  );
}

const orNull = (text: fc.Arbitrary<string>) => fc.option(text, { freq: 8 });

const intents = fc.record({
  occurred_at: fc.oneof(fc.constant(new Date().toISOString()), texts(64)),
  organization_id: orNull(texts(128)),
  user_id: orNull(texts(128)),
  actor: fc.record({
    member_id: orNull(texts(128)),
    auth_type: fc.constantFrom("jwt", "member_session"),
    key_prefix: orNull(texts(64)),
  }),
  service: texts(128),
  method: texts(16),
  route: texts(1_024),
  params: fc.dictionary(texts(64), texts(300), { maxKeys: 8 }),
  ip: texts(64),
  user_agent: orNull(texts(512)),
});

// AU-12, AU-13
describe("texts of any length and any characters", () => {
  test("in an intent are stored, or a 422 names them", async () => {
    const statuses = { 201: 0, 422: 0 };
    await fc.assert(
      fc.asyncProperty(intents, async (body) => {
        // Send one field at a time, so that one violation does not hide another.
        for (const [name, value] of Object.entries(body)) {
          const response = await audit.put(requestId(), userIntent({ [name]: value }));
          expect([201, 422]).toContain(response.status);
          if (response.status === 201) statuses[201] += 1;
          else {
            statuses[422] += 1;
            // A null in one field can leave the event without an owner, which is reported at organization_id.
            const told = value === null ? "organization_id" : name;
            const named = await wrongFields(response);
            expect(named.filter((path) => path !== told && !path.startsWith(`${told}.`))).toEqual([]);
          }
        }
        const whole = await audit.put(requestId(), body);
        expect([201, 422]).toContain(whole.status);
      }),
      { numRuns: runs(30) },
    );
    expect(Math.min(statuses[201], statuses[422])).toBeGreaterThan(10);
  });

  test.each(["道", "🚪", "é", "a"])(
    "are stored if every field has its maximum length, of %s",
    async (character) => {
      const long = (length: number) =>
        character.repeat(length).slice(0, length - (length % character.length));
      const id = requestId();
      const wide = intent({
        organization_id: long(128),
        user_id: long(128),
        actor: { member_id: long(128), auth_type: "jwt", key_prefix: long(64) },
        service: long(128),
        method: long(16),
        route: "/".repeat(1_024),
        params: Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`${n}${long(60)}`, long(300)])),
        ip: long(64),
        user_agent: long(512),
      });
      expect((await audit.put(id, wide)).status).toBe(201);
      const outcome = { outcome: "responded", status: 200, created_id: long(128) };
      expect((await audit.patch(id, outcome)).status).toBe(204);
      const query = new URLSearchParams({
        actor_member_id: long(128),
        service: long(128),
        method: long(16),
        route: "/".repeat(1_024),
        request_id: id,
        created_id: long(128),
        [`params[7${long(60)}]`]: long(300),
      });
      for (const log of [`/organizations/${long(128)}`, `/users/${long(128)}`]) {
        const page = await audit.list(`${encodeURI(log)}/audit-events?${query}`);
        expect(page.audit_events).toMatchObject([{ request_id: id, params: wide.params }]);
      }
    },
  );

  test.each([varied(1_024), "é".repeat(1_024), "/a b", "/a\n", "/\u007f", "a".repeat(1_025), ""])(
    "that are not a path template are 422 as a route: %#",
    async (route) => {
      expect(await wrongFields(await audit.put(requestId(), intent({ route })))).toEqual(["route"]);
      const search = new URLSearchParams({ route });
      expect(await wrongFields(await audit.get(`/users/u/audit-events?${search}`))).toEqual(["route"]);
    },
  );
});
