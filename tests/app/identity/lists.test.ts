import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { drizzle } from "drizzle-orm/pg-proxy";
import postgres from "postgres";
import { listKeys } from "../../../apps/identity/api-keys/api-key-sql.ts";
import { listInvites } from "../../../apps/identity/invites/invite-sql.ts";
import { listEvents } from "../../../apps/identity/lifecycle/lifecycle-sql.ts";
import { listMembers } from "../../../apps/identity/members/member-sql.ts";
import {
  listOrganizations,
  lockOrganizationsOf,
} from "../../../apps/identity/organizations/organization-sql.ts";
import { listServiceAccounts } from "../../../apps/identity/service-accounts/service-account-sql.ts";
import { listMemberships, listUsers } from "../../../apps/identity/users/user-sql.ts";
import { findKeys, findSessions } from "../../../apps/identity/validations/validation-sql.ts";
import { type OpenApiDocument, operationsIn, resolved } from "../../support/http/openapi.ts";
import { services } from "../../support/index.ts";
import { NOBODY, useIdentity, wrongFields } from "./bed.ts";
import {
  addManyEvents,
  addManyInvites,
  addManyKeys,
  addManyMembers,
  addManyMemberships,
  addManyServiceAccounts,
  analyze,
} from "./bulk.ts";

const real = services().postgres.real;
const identity = useIdentity();

describe("every list", () => {
  interface List {
    path: string;
    /** The name of the array in a page. */
    key: string;
    /** The number of items. */
    count: number;
  }

  /** The number of items that a list has besides the `count` created ones, such as the owner. */
  const BESIDES: Readonly<Record<string, number>> = { members: 2, memberships: 1, service_accounts: 1 };

  /** Creates `count` items for each list, and returns the described lists of an owner. */
  async function filledLists(count: number): Promise<List[]> {
    const { id, owner, ownerMember } = await identity.organization();
    const each = (work: (index: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: count }, (_, i) => work(i)));
    const accounts = `/organizations/${id}/service-accounts`;
    const { body: account } = await identity.call("POST", accounts, { name: "Bot with keys" });
    await each(() => identity.call("POST", `/organizations/${id}/invites`));
    await each((index) => identity.call("POST", accounts, { name: `Bot ${index}` }));
    for (const holder of [`/users/${owner}`, `/members/${ownerMember}`, `${accounts}/${account.id}`])
      await each(() => identity.call("POST", `${holder}/api-keys`));
    await each((index) =>
      identity.call("POST", "/organizations", { name: `Organization ${index}`, user_id: owner }),
    );
    const ids: Record<string, string> = {
      organization_id: id,
      user_id: owner,
      member_id: ownerMember,
      service_account_id: account.id,
    };
    const owned = (await describedLists()).filter(({ path }) => path.includes("{"));
    expect(owned.length).toBeGreaterThanOrEqual(7);
    return owned.map(({ path, key }) => ({
      path: path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? name),
      key,
      count: count + (BESIDES[key] ?? 0),
    }));
  }

  /** Returns the path and the array's name of each operation of the OpenAPI description that has pages. */
  async function describedLists(): Promise<Omit<List, "count">[]> {
    const document: OpenApiDocument = (await identity.call("GET", "/swagger/json")).body;
    const lists = operationsIn(document).filter(({ parameters = [] }) =>
      parameters.some(({ name }) => name === "starting_after"),
    );
    return lists.map(({ path, responses }) => {
      const page = resolved(document, responses[200]?.content?.["application/json"]?.schema ?? {});
      const [key = ""] = Object.keys(Object(page.properties));
      return { path, key };
    });
  }

  async function follow(path: string, key: string, limit: string): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const after = ids.length === 0 ? "" : `&starting_after=${ids.at(-1)}`;
      const { body } = await identity.call("GET", `${path}?${limit}${after}`);
      expect(Object.keys(body)).toEqual([key, "has_more"]);
      ids.push(...body[key].map((item: { id: string }) => item.id));
      if (!body.has_more) return ids;
    }
  }

  // ID-11, ID-12
  test("returns each item once, ordered by id, in pages of 50 by default and at most 100", async () => {
    for (const { path, key, count } of await filledLists(107)) {
      const all = await follow(path, key, "");
      expect(all).toHaveLength(count);
      expect(all).toEqual([...new Set(all)].toSorted());
      for (const limit of ["limit=7", "limit=100", "limit=5000", "limit=99999999999999999999"]) {
        expect(await follow(path, key, limit)).toEqual(all);
      }
      const sizeOf = async (query: string) =>
        (await identity.call("GET", `${path}${query}`)).body[key].length;
      expect(await sizeOf("")).toBe(50);
      expect(await sizeOf("?limit=1")).toBe(1);
      expect(await sizeOf("?limit=101")).toBe(100);
      const exact = await identity.call("GET", `${path}?limit=50&starting_after=${all[count - 51]}`);
      expect(exact.body[key]).toHaveLength(50);
      expect(exact.body.has_more).toBe(false);
    }
  });

  // ID-11, ID-13
  test("accepts a cursor that is not in the list, and refuses malformed cursors and invalid limits", async () => {
    const owned = await filledLists(2);
    // The lists of the whole deployment have items of other tests too.
    const shared = (await describedLists()).filter(({ path }) => !path.includes("{"));
    for (const { path, key, count } of [...owned, ...shared.map((list) => ({ ...list, count: 0 }))]) {
      const beyond = await identity.call("GET", `${path}?starting_after=7ZZZZZZZZZZZZZZZZZZZZZZZZZ`);
      expect(beyond.body).toEqual({ [key]: [], has_more: false });
      const before = await identity.call("GET", `${path}?starting_after=00000000000000000000000000`);
      if (count > 0) expect(before.body[key]).toHaveLength(count);
      for (const cursor of ["", "x", "null", NOBODY.toLowerCase(), `${NOBODY}0`, "%00"]) {
        expect(wrongFields(await identity.call("GET", `${path}?starting_after=${cursor}`))).toEqual([
          "starting_after",
        ]);
      }
      for (const limit of ["0", "-1", "1.5", "", "ten", "1e2", "%20", "0x10"]) {
        expect(wrongFields(await identity.call("GET", `${path}?limit=${limit}`))).toEqual(["limit"]);
      }
      const both = await identity.call("GET", `${path}?limit=0&starting_after=x`);
      expect(wrongFields(both)).toEqual(["limit", "starting_after"]);
    }
  });
});

/** A node in the output of EXPLAIN ANALYZE. */
interface PlanNode {
  "Node Type": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

const ROWS = 10_000;
/**
 * Lets the planner scan and sort whole tables only if no index fits. With so few rows, it might choose to anyway, as
 * its statistics differ in each run.
 */
const INDEXES_ONLY = {
  enable_seqscan: "off",
  enable_sort: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_material: "off",
};

describe.skipIf(!real)("over 10 000 rows", () => {
  let client: postgres.Sql;
  let onIndexes: postgres.Sql;
  let lists: Record<string, (orm: Orm, page: PageRequest) => Promise<unknown>>;

  beforeAll(async () => {
    client = postgres(identity.databaseUrl, { max: 1 });
    onIndexes = postgres(identity.databaseUrl, { max: 1, connection: INDEXES_ONLY });
    const { id, owner, ownerMember } = await identity.organization();
    await addManyMembers(identity, id, "1", ROWS);
    await addManyServiceAccounts(identity, id, "1", ROWS);
    await addManyInvites(identity, id, "1", ROWS);
    await addManyKeys(identity, { member_id: ownerMember }, "1", ROWS);
    await addManyKeys(identity, { user_id: owner }, "2", ROWS);
    await addManyMemberships(identity, { member: owner, owner: await identity.person() }, "2", ROWS);
    await addManyEvents(identity, id, "1", ROWS);
    // Mark many of the first members as removed, so that a query would have to skip them to reach the first
    // page.
    await identity.sql`update identity.members set status = 'removed'
      where id < '01KA4YB0Q91D00000000000300' and role = 'viewer'`;
    await analyze(identity);
    lists = {
      users: listUsers,
      organizations: listOrganizations,
      lifecycle_events: listEvents,
      members: (orm, page) => listMembers(orm, id, page),
      service_accounts: (orm, page) => listServiceAccounts(orm, id, page),
      invites: (orm, page) => listInvites(orm, id, page),
      "keys of a member": (orm, page) => listKeys(orm, { member_id: ownerMember }, page),
      "keys of a person": (orm, page) => listKeys(orm, { user_id: owner }, page),
      memberships: (orm, page) => listMemberships(orm, owner, page),
    };
  });
  afterAll(() => Promise.all([client?.end(), onIndexes?.end()]));

  /** Casts a query builder that only records statements. Its results are always empty. */
  function asOrm(recorder: unknown): Orm {
    // biome-ignore lint/plugin: the builders of two drivers differ in the type of a raw result only
    return recorder as Orm;
  }

  /** Returns the SQL text and the parameters of a query. */
  async function statementOf(query: (orm: Orm) => Promise<unknown>) {
    const sent: { text: string; parameters: unknown[] }[] = [];
    const recorder = drizzle(async (text, parameters) => {
      sent.push({ text, parameters });
      return { rows: [] };
    });
    await query(asOrm(recorder));
    const [statement] = sent;
    if (statement === undefined) throw new Error("The query sent no statement.");
    return statement;
  }

  async function nodesOf(
    statement: { text: string; parameters: unknown[] },
    on = onIndexes,
  ): Promise<PlanNode[]> {
    const text = `explain (analyze, format json) ${statement.text}`;
    const [row] = await on.unsafe(text, statement.parameters.map(String));
    const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];
    return flat(row?.["QUERY PLAN"][0].Plan);
  }

  const rowsRead = (node: PlanNode) =>
    (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];

  // ID-109
  test("the organizations that a person created or joined are found with indexes", async () => {
    const { owner } = await identity.organization();
    const nodes = await nodesOf(await statementOf((orm) => lockOrganizationsOf(orm, owner)), client);
    expect(nodes.filter((node) => node["Node Type"].includes("Seq Scan"))).toEqual([]);
    expect(Math.max(...nodes.map(rowsRead))).toBeLessThan(10);
  });

  // ID-14
  test("each list reads only the rows of the page, from an index in page order, at any depth", async () => {
    const limit = 100;
    for (const [name, list] of Object.entries(lists)) {
      for (const starting_after of [null, "01KA4YB0Q91B00000000005000", "01KA4YB0Q92B00000000009900"]) {
        const nodes = await nodesOf(await statementOf((orm) => list(orm, { limit, starting_after })));
        const types = nodes.map((node) => node["Node Type"]);
        expect({ name, types }).toEqual({
          name,
          types: types.filter((type) => !/Seq Scan|Sort|Bitmap|Hash|Materialize/.test(type)),
        });
        expect({ name, most: Math.max(...nodes.map(rowsRead)) <= 2 * limit }).toEqual({ name, most: true });
      }
    }
  });

  test("known and unknown credentials are found with one query on indexes", async () => {
    const { hash } =
      (await client`select hash from identity.api_keys where member_id is not null limit 1`)[0] ?? {};
    const session = await client`insert into identity.sessions (hash, member_id, created_at, expires_at)
      select 'session' || number, (select id from identity.members limit 1), now(), now()
      from generate_series(1, 10000) number`;
    expect(session.count).toBe(10_000);
    await client`analyze identity.sessions`;
    for (const query of [
      (orm: Orm) => findKeys(orm, [String(hash)]),
      (orm: Orm) => findKeys(orm, ["unknown", String(hash)]),
      (orm: Orm) => findSessions(orm, ["session77"]),
      (orm: Orm) => findSessions(orm, ["unknown", "session78"]),
    ]) {
      const types = (await nodesOf(await statementOf(query))).map((node) => node["Node Type"]);
      expect(types).toEqual(
        types.filter((type) => /Index Scan|Index Only Scan|Nested Loop|Memoize/.test(type)),
      );
    }
  });
});
