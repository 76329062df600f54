/** Tests that an apply with the ETag of a dry run writes exactly what the dry run showed, or nothing. */
import { describe, expect, test } from "bun:test";
import { current, fields, type RegistryResponse, service, useRegistry } from "./bed.ts";

const registry = useRegistry();

const plan = (services: object) => registry.call("POST", "/apply?dry_run=true", { services });
const tagOf = ({ headers }: RegistryResponse) => headers.get("etag") ?? "";
const applyIf = (tag: string, services: object) =>
  registry.call("POST", "/apply", { services }, { "If-Match": tag });

describe("an apply with the ETag of a dry run", () => {
  // RG-57
  test("writes if the services of the document are unchanged, even if others have changed", async () => {
    const document = { "as-it-was": service("/as-it-was"), another: service("/another") };
    const tag = tagOf(await plan(document));
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    await registry.put("beside", service("/beside"));
    expect((await applyIf(tag, document)).status).toBe(200);
    const next = tagOf(await plan(document));
    expect(next).not.toBe(tag);
    // The ETag does not depend on the order of the services in the document.
    const reversed = { another: service("/another"), "as-it-was": service("/as-it-was/2") };
    expect((await applyIf(next, reversed)).status).toBe(200);
  });

  // RG-57
  test.each<[string, (name: string) => Promise<unknown>]>([
    ["written", (name) => registry.put(name, service(`/${name}/theirs`))],
    ["deleted", (name) => registry.call("DELETE", `/services/${name}`)],
  ])("is 412 if one of its services was %s, and writes none of them", async (what, write) => {
    const [one, other] = [`one-${what}`, `other-${what}`];
    await registry.apply({ [one]: service(`/${one}`), [other]: service(`/${other}`) });
    const document = { [one]: service(`/${one}/new`), [other]: service(`/${other}/new`) };
    const tag = tagOf(await plan(document));
    await write(other);
    const response = await applyIf(tag, document);
    expect(response.status).toBe(412);
    expect(response.body.error).toMatchObject({
      code: "PRECONDITION_FAILED",
      details: { current_revision: null },
    });
    expect(await current(registry)).toMatchObject({ [one]: service(`/${one}`) });
  });

  // RG-57
  test("is 412 if a service that it would create exists by now", async () => {
    const tag = tagOf(await plan({ fresh: service("/fresh") }));
    await registry.put("fresh", service("/fresh/theirs"));
    expect((await applyIf(tag, { fresh: service("/fresh") })).status).toBe(412);
  });

  // RG-57, RG-58
  test("allows only one of eight that were reviewed with the same dry run", async () => {
    await registry.put("raced", service("/raced"));
    const tag = tagOf(await plan({ raced: service("/raced/0") }));
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => applyIf(tag, { raced: service(`/raced/${index}`) })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
  });

  // RG-55
  test("accepts a list and *, and refuses weak and malformed tags", async () => {
    const document = { tagged: service("/tagged") };
    const tag = tagOf(await plan(document));
    expect((await applyIf(`W/${tag}`, document)).status).toBe(412);
    expect((await applyIf('"1"', document)).status).toBe(412);
    expect((await applyIf("*", document)).status).toBe(200);
    const next = tagOf(await plan(document));
    expect((await applyIf(`"else", ${next}`, document)).status).toBe(200);
    for (const malformed of ["", tag.slice(1), `${tag},`, "a b"]) {
      const response = await applyIf(malformed, document);
      expect(response.status).toBe(422);
      expect(fields(response)).toEqual([
        { path: "If-Match", message: "If-Match must be the ETag of a dry run, in double quotes." },
      ]);
    }
  });
});
