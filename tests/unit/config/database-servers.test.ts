/** Tests of the servers that a `DATABASE_URL` names. */
import { describe, expect, test } from "bun:test";
import { ipv6Place, serverUrls, wantsPrimary } from "../../../lib/runtime/stores/database/primary-search.ts";

describe("the database URL", () => {
  test.each<[url: string, servers: string[]]>([
    ["postgres://h/db", ["postgres://h/db"]],
    [
      "postgres://u:p@a:5432,b/db?sslmode=require",
      ["postgres://u:p@a:5432/db?sslmode=require", "postgres://u:p@b/db?sslmode=require"],
    ],
    ["postgres://u:p@x@a,b", ["postgres://u:p@x@a", "postgres://u:p@x@b"]],
    ["postgresql://[::1]:5433,h/db", ["postgresql://[::1]:5433/db", "postgresql://h/db"]],
    ["postgres://u:p,q@a/db", ["postgres://u:p,q@a/db"]],
  ])("%s names its servers", (url, servers) => {
    expect(serverUrls(url)).toEqual(servers);
  });

  test.each<[url: string, primary: boolean]>([
    ["postgres://a,b/db", true],
    ["postgres://a/db?target_session_attrs=primary", true],
    ["postgres://a/db?sslmode=require&target_session_attrs=read-write", true],
    ["postgres://u:p,q@a/db", false],
    ["postgres://a/db", false],
  ])("%s asks for the primary server: %p", (url, primary) => {
    expect(wantsPrimary(url)).toBe(primary);
  });

  test.each<[url: string, place: object]>([
    ["postgres://u:p@[::1]:5433/db", { host: ["::1"], port: [5433] }],
    ["postgres://[2001:db8::1]", { host: ["2001:db8::1"], port: [5432] }],
    ["postgres://u:[::1]@h:5433/db", {}],
    ["postgres://h/db?x=[::1]", {}],
  ])("%s names an IPv6 address only as its host", (url, place) => {
    expect<object>(ipv6Place(url)).toEqual(place);
  });
});
