import { describe, expect, test } from "bun:test";
import { addressPatternViolation, canonicalAddress } from "@ostiary/lib/domain/routes";
import { AddressPatterns } from "../../../lib/domain/routes/service-address.ts";
import { wordsOf } from "../../support/words.ts";

// RG-155
describe("the canonical form of an address", () => {
  const LOCAL = wordsOf(`
    localhost localhost. 127.0.0.1 127.0.0.2 0x7f.0.0.1 0x7f000001 0.0.0.0 [::1] [::] [::ffff:127.0.0.1]
    [64:ff9b::127.0.0.1]
  `);
  test.each(LOCAL)("is localhost for %s", (host) => {
    expect(canonicalAddress(`http://${host}:3001`)).toBe("localhost:3001");
  });

  test.each([
    ["http://Identity.Internal.:3001", "identity.internal:3001"],
    ["identity:3001", "identity:3001"],
    ["http://identity:03001", "identity:3001"],
    ["http://10.0.0.7:80", "10.0.0.7:80"],
    ["http://167772167:80", "10.0.0.7:80"],
    ["http://[2001:DB8:0:0::1]:80", "[2001:db8::1]:80"],
    ["http://XN--MNCHEN-3YA.example:80", "xn--mnchen-3ya.example:80"],
    ["http://localhost.example:80", "localhost.example:80"],
  ])("of %s is %s", (url, address) => {
    expect(canonicalAddress(url)).toBe(address);
  });

  test.each(["http://a b:80", "http://[::1:80", "http://256.0.0.1:80", "http://host", "http://:80", ""])(
    "does not exist for %p",
    (url) => {
      expect(canonicalAddress(url)).toBeNull();
    },
  );
});

// RG-152
describe("a pattern of addresses", () => {
  const fits = (pattern: string, url: string) =>
    new AddressPatterns([pattern]).cover(canonicalAddress(url) ?? "");

  test.each([
    ["http://widgets:8080", "http://widgets:8080"],
    ["http://widgets:*", "http://widgets:1"],
    ["http://*.widgets.internal:8080", "http://a.widgets.internal:8080"],
    ["http://*.widgets.internal:*", "http://A-1.Widgets.Internal.:65535"],
    ["http://[2001:db8::1]:80", "http://[2001:DB8:0::1]:80"],
    ["http://127.0.0.1:3000", "http://localhost:3000"],
  ])("%s fits %s", (pattern, url) => {
    expect(addressPatternViolation(pattern)).toBeNull();
    expect(fits(pattern, url)).toBe(true);
  });

  test.each([
    ["http://widgets:8080", "http://widgets:8081"],
    ["http://widgets:*", "http://widgets.internal:1"],
    ["http://*.widgets.internal:*", "http://widgets.internal:1"],
    ["http://*.widgets.internal:*", "http://a.b.widgets.internal:1"],
    ["http://*.internal:*", "http://identity:3001"],
    ["http://*.internal:*", "http://[::1]:3001"],
  ])("%s does not fit %s", (pattern, url) => {
    expect(addressPatternViolation(pattern)).toBeNull();
    expect(fits(pattern, url)).toBe(false);
  });

  test.each([
    ...wordsOf(`
      http://*:80 http://*.:80 http://*.*.internal:80 http://*a.internal:80 http://*.[::1]:80 http://*.localhost:80
      http://widgets http://widgets:0 http://widgets:8* http://widgets:080 https://widgets:443 widgets:80 *
    `),
    "",
  ])("cannot be %p", (pattern) => {
    expect(addressPatternViolation(pattern)).not.toBeNull();
  });
});
