/** Tests that staff link a further subject of an identity provider to a person (ID-120, ID-121). */
import { describe, expect, test } from "bun:test";
import { services, waitFor } from "../../support/index.ts";
import { heldTransaction } from "../../support/stores/held-transaction.ts";
import { type HttpResponse, NOBODY, TIME, useIdentity, wrongFields } from "./bed.ts";

const identity = useIdentity({ poolMax: 30 });
const real = services().postgres.real;

const ISSUER = "https://login.example.com";
const NEXT = "https://next.example.com";
let made = 0;

/** Returns a subject that no person has. */
function free(): { issuer: string; subject: string } {
  made += 1;
  return { issuer: NEXT, subject: `subject-${made}` };
}

const link = (user_id: string, body: object) => identity.call("POST", `/users/${user_id}/idps`, body);
const validate = async (idp: object) =>
  (await identity.internal("POST", "/internal/credentials/validate", { idp })).body;
const validAs = (user_id: string) => ({ valid: true, realm: "directory", user_id });
const isPerson = async (id: string) => (await identity.call("GET", `/users/${id}`)).status === 200;

function expectTaken(response: HttpResponse, holder: string): void {
  expect(response.status).toBe(409);
  expect(response.body.error).toMatchObject({
    code: "CONFLICT",
    message: "This subject already stands for a person.",
    details: { field: "subject", value: holder },
  });
}

// ID-120, ID-111
describe("a linked subject", () => {
  test("is 201 with its person and its audit note, and its tokens are the person's", async () => {
    const old = crypto.randomUUID();
    const user_id = await identity.person(old);
    const subject = free();
    const { status, body, note } = await link(user_id, subject);
    expect(status).toBe(201);
    expect(body).toEqual({ user_id, ...subject, created_at: expect.stringMatching(TIME) });
    expect(note).toMatchObject({ details: { user_id, ...subject } });
    for (const idp of [subject, { issuer: ISSUER, subject: old }]) {
      expect(await validate(idp)).toEqual(validAs(user_id));
    }
  });

  test("has characters of any script, in the audit note too", async () => {
    const user_id = await identity.person();
    const subject = { issuer: "https://münchen.example", subject: "山田 \u{1F511}'; --" };
    const { status, note } = await link(user_id, subject);
    expect({ status, details: note?.details }).toEqual({ status: 201, details: { user_id, ...subject } });
    expect(await validate(subject)).toEqual(validAs(user_id));
  });

  test("of a suspended person is refused until the suspension ends", async () => {
    const user_id = await identity.person();
    const subject = free();
    await identity.call("PATCH", `/users/${user_id}/status`, { status: "suspended" });
    expect((await link(user_id, subject)).status).toBe(201);
    expect(await validate(subject)).toEqual({ valid: false });
    await identity.call("PATCH", `/users/${user_id}/status`, { status: "active" });
    expect(await validate(subject)).toEqual(validAs(user_id));
  });

  test("differs from a subject of another issuer, and from one in another case", async () => {
    const [user_id, other] = [await identity.person(), await identity.person()];
    const { subject } = free();
    expect((await link(user_id, { issuer: NEXT, subject })).status).toBe(201);
    expect((await link(other, { issuer: `${NEXT}/`, subject })).status).toBe(201);
    expect((await link(other, { issuer: NEXT, subject: subject.toUpperCase() })).status).toBe(201);
  });

  test("is deleted with its person, and is then free", async () => {
    const [user_id, other] = [await identity.person(), await identity.person()];
    const subject = free();
    await link(user_id, subject);
    expect((await identity.call("DELETE", `/users/${user_id}`)).status).toBe(204);
    expect((await link(other, subject)).status).toBe(201);
    expect(await validate(subject)).toEqual(validAs(other));
  });
});

// ID-121
describe("a subject that is taken", () => {
  test("is 409 with the id of its person: another one, or the same one", async () => {
    const [user_id, other] = [await identity.person(), await identity.person()];
    const subject = free();
    await link(user_id, subject);
    expectTaken(await link(other, subject), user_id);
    expectTaken(await link(user_id, subject), user_id);
    expect(await validate(subject)).toEqual(validAs(user_id));
  });

  test("is 409 if its first validation created a person, until that person is deleted", async () => {
    const user_id = await identity.person();
    const subject = free();
    const created: string = (await validate(subject)).user_id;
    expectTaken(await link(user_id, subject), created);
    await identity.call("DELETE", `/users/${created}`);
    expect((await link(user_id, subject)).status).toBe(201);
  });
});

// ID-2, ID-5, ID-86, ID-120
describe("a link is refused", () => {
  test.each([NOBODY, "nobody", NOBODY.toLowerCase()])("with 404 for the person %s", async (id) => {
    const subject = free();
    expect((await link(id, subject)).status).toBe(404);
    expect((await link(await identity.person(), subject)).status).toBe(201);
  });

  const rows: [what: string, body: object, fields: string[]][] = [
    ["no field", {}, ["issuer", "subject"]],
    ["no subject", { issuer: NEXT }, ["subject"]],
    ["empty texts", { issuer: "", subject: "" }, ["issuer", "subject"]],
    ["wrong types", { issuer: 7, subject: null }, ["issuer", "subject"]],
    ["an unknown field", { issuer: NEXT, subject: "a", status: "active" }, ["status"]],
    ["256 characters", { issuer: "i".repeat(256), subject: "s".repeat(256) }, ["issuer", "subject"]],
    ["control characters", { issuer: "a\n", subject: "\u0000" }, ["issuer", "subject"]],
    ["white space around the texts", { issuer: ` ${NEXT}`, subject: "a\u00a0" }, ["issuer", "subject"]],
    ["a template", { issuer: "https://t.example/{tenantid}", subject: "a" }, ["issuer"]],
    ["half a surrogate pair", { issuer: NEXT, subject: "\ud800" }, ["subject"]],
    ["a noncharacter", { issuer: NEXT, subject: "\u{1ffff}" }, ["subject"]],
  ];
  test.each(rows)("with 422 for %s", async (_, body, fields) => {
    const response = await link(await identity.person(), body);
    expect(response.status).toBe(422);
    expect(wrongFields(response).toSorted()).toEqual(fields);
  });
});

// ID-121
test("a person has at most 10 subjects", async () => {
  const user_id = await identity.person();
  for (let count = 1; count < 10; count++) expect((await link(user_id, free())).status).toBe(201);
  expectTooMany(await link(user_id, free()));
});

function expectTooMany({ status, body }: HttpResponse): void {
  expect({ status, details: body.error.details }).toEqual({
    status: 409,
    details: { field: "idps", value: "10" },
  });
}

// ID-121
describe.if(real)("links and sign-ins at once", () => {
  test("give a person no subject too many, when two wait for the same moment", async () => {
    const user_id = await identity.person();
    for (let count = 1; count < 9; count++) await link(user_id, free());
    const subjects = [free(), free()];
    const other = await identity.person();
    const inserted = await heldTransaction(identity.database, async (tx) => {
      for (const { issuer, subject } of subjects) {
        await tx.execute(
          `insert into identity.idp_links values ('${issuer}', '${subject}', '${other}', now())`,
        );
      }
    });
    const responses = Promise.all(subjects.map((subject) => link(user_id, subject)));
    const waiting = () => identity.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await waitFor(async () => (await waiting()).length === 2);
    await inserted.rollBack();
    const [one, two] = (await responses).toSorted((a, b) => a.status - b.status);
    expect(one?.status).toBe(201);
    if (two !== undefined) expectTooMany(two);
  });

  test("give a subject to one person, whom every other link names", async () => {
    const persons = await Promise.all(Array.from({ length: 20 }, () => identity.person()));
    for (let round = 0; round < 10; round++) {
      const subject = free();
      const before = await identity.sql`select count(*)::integer from identity.users`;
      const [links, signIns] = await Promise.all([
        Promise.all(persons.map((user_id) => link(user_id, subject))),
        Promise.all(Array.from({ length: 10 }, () => validate(subject))),
      ]);
      const holder: string = (await validate(subject)).user_id;
      for (const response of signIns) expect(response).toEqual(validAs(holder));
      for (const [index, response] of links.entries()) {
        if (response.status === 201) expect(persons[index]).toBe(holder);
        else expectTaken(response, holder);
      }
      const isLinked = persons.includes(holder);
      expect(links.filter(({ status }) => status === 201)).toHaveLength(isLinked ? 1 : 0);
      const after = await identity.sql`select count(*)::integer from identity.users`;
      expect(Number(after[0]?.count) - Number(before[0]?.count)).toBe(isLinked ? 0 : 1);
    }
  });

  test("never leave a subject of a person whose deletion runs at once", async () => {
    for (let round = 0; round < 20; round++) {
      const [leaving, other] = [await identity.person(), await identity.person()];
      const subject = free();
      const [first] = await Promise.all([
        link(leaving, subject),
        identity.call("DELETE", `/users/${leaving}`),
        link(other, subject),
      ]);
      expect([201, 404, 409]).toContain(first.status);
      const holder: string = (await validate(subject)).user_id;
      expect(holder).not.toBe(leaving);
      expect(await isPerson(holder)).toBeTrue();
      expect(await isPerson(leaving)).toBeFalse();
    }
  });
});
