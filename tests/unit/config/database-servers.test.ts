/** Tests of the servers that a `DATABASE_URL` names. */
import { describe, expect, test } from "bun:test";
import { connectTimeoutOf, serversOf, wantsPrimary } from "../../../lib/runtime/stores/database/connector.ts";

describe("the database URL", () => {
  test.each<[url: string, servers: [url: string, host: string, port: number][]]>([
    ["postgres://h/db", [["postgres://h/db", "h", 5432]]],
    [
      "postgres://u:p@a:5433,b/db?sslmode=require",
      [
        ["postgres://u:p@a:5433/db?sslmode=require", "a", 5433],
        ["postgres://u:p@b/db?sslmode=require", "b", 5432],
      ],
    ],
    [
      "postgres://u:p@x@a,b",
      [
        ["postgres://u:p@x@a", "a", 5432],
        ["postgres://u:p@x@b", "b", 5432],
      ],
    ],
    ["postgres://u:p,q@a/db", [["postgres://u:p,q@a/db", "a", 5432]]],
    ["postgres://u:[::1]@h:5433/db", [["postgres://u:[::1]@h:5433/db", "h", 5433]]],
  ])("%s names its servers", (url, servers) => {
    expect(serversOf(url)).toEqual(servers.map(([each, host, port]) => ({ url: each, host, port })));
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

  test.each<[url: string, ms: number | null]>([
    ["postgres://a/db", null],
    ["postgres://a/db?connect_timeout=0", null],
    ["postgres://a/db?connect_timeout=1", 1_000],
  ])("%s limits the time of connecting to %p ms", (url, ms) => expect(connectTimeoutOf(url)).toBe(ms));
});
