import { describe, expect, test } from "bun:test";
import { fields, service, useRegistry } from "./bed.ts";

const registry = useRegistry();

const restore = (name: string, number: number, headers: Record<string, string>) =>
  registry.call("POST", `/services/${name}/revisions/${number}/restore`, undefined, headers);

describe("If-Match", () => {
  const matching = { "If-Match": '"1"' };

  // RG-54
  test("allows a write if it names the current revision", async () => {
    for (const [name, header] of [
      ["m-1", '"1"'],
      ["m-2", '"7", "1"'],
      ["m-3", "*"],
      ["m-4", ' "1" '],
    ] as const) {
      await registry.put(name, service(`/${name}`));
      const response = await registry.put(name, service(`/${name}`), { "If-Match": header });
      expect(response.status).toBe(200);
    }
    expect((await restore("m-1", 1, { "If-Match": '"2"' })).status).toBe(200);
    const response = await registry.call("DELETE", "/services/m-1", undefined, { "If-Match": '"3"' });
    expect(response.status).toBe(204);
    expect((await restore("m-1", 1, { "If-Match": '"4"' })).status).toBe(200);
  });

  // RG-54, RG-55
  test.each(['"2"', 'W/"1"', '"2", W/"1"'])("%s does not match revision 1", async (header) => {
    const name = `n-${Bun.hash(header)}`;
    await registry.put(name, service(`/${name}`));
    const headers = { "If-Match": header };
    const responses = [
      await registry.put(name, service(`/${name}`), headers),
      await registry.call("DELETE", `/services/${name}`, undefined, headers),
      await restore(name, 1, headers),
    ];
    for (const response of responses) {
      expect(response.status).toBe(412);
      expect(response.body.error).toMatchObject({
        type: "invalid_request_error",
        code: "PRECONDITION_FAILED",
        details: { current_revision: 1 },
      });
    }
    expect((await registry.call("GET", `/services/${name}/revisions`)).body.revisions).toHaveLength(1);
  });

  // RG-55
  test.each(["1", '"1', '* , "1"'])("%j is malformed: 422", async (header) => {
    await registry.put("malformed", service("/malformed"));
    const response = await registry.put("malformed", service("/malformed"), { "If-Match": header });
    expect(response.status).toBe(422);
    expect(fields(response)[0]?.path).toBe("If-Match");
  });

  // RG-56
  test("refuses to create a service", async () => {
    for (const header of ['"1"', "*"]) {
      const response = await registry.put("absent", service("/absent"), { "If-Match": header });
      expect(response.status).toBe(412);
      expect(response.body.error.details).toEqual({ current_revision: null });
    }
    expect((await registry.call("GET", "/services/absent/revisions")).status).toBe(404);
  });

  // RG-54, RG-55
  test("matches a deleted service by the revision that deleted it, but not by `*`", async () => {
    await registry.put("erased", service("/erased"));
    await registry.call("DELETE", "/services/erased");
    expect((await registry.put("erased", service("/erased"), { "If-Match": "*" })).status).toBe(412);
    expect((await registry.put("erased", service("/erased"), { "If-Match": '"1"' })).status).toBe(412);
    expect((await registry.put("erased", service("/erased"), { "If-Match": '"2"' })).status).toBe(200);
  });

  // RG-58
  test("allows only one of many writers that saw the same revision", async () => {
    await registry.put("raced", service("/raced"));
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => registry.put("raced", service(`/raced/${n}`), matching)),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(19);
    expect((await registry.call("GET", "/services/raced")).body.revision).toBe(2);
  });
});
