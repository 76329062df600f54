import { describe, expect, test } from "bun:test";
import { isNetwork, listOf, mayCall } from "../../../apps/audit/receivers/public-addresses.ts";
import { targetRulesOf, urlProblem } from "../../../apps/audit/receivers/targets.ts";
import { wordsOf } from "../../support/words.ts";

const NONE = listOf([]);
const STRICT = targetRulesOf({});

// AU-100
describe("a stream", () => {
  test.each(["8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2606:4700::1111", "2001:4860:4860::8888"])(
    "may call the public address %s",
    (address) => {
      expect(mayCall(address, NONE)).toBe(true);
    },
  );

  const ipv4 = wordsOf(`
    0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8
    192.0.2.7 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
  `);
  const ipv6 = wordsOf(`
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::7f00:1 fc00::1 fd00::1 fe80::1 fe80::1%eth0
    ff02::1 2001:db8::1 2001::1 2002:7f00:1:: 3fff::1 100::1
  `);
  const noAddress = ["", "localhost", "1.2.3", "0x7f.1", "1.2.3.4.5"];
  test.each([...ipv4, ...ipv6, ...noAddress])("may not call %s", (address) => {
    expect(mayCall(address, NONE)).toBe(false);
  });

  test("may call addresses in allowed networks, and no other private addresses", () => {
    const allowed = listOf(["10.1.0.0/16", "fd12::/16"]);
    const may = ["10.1.255.255", "::ffff:10.1.0.1", "fd12::1"];
    const mayNot = ["10.2.0.1", "fd13::1", "127.0.0.1"];
    expect(may.filter((address) => !mayCall(address, allowed))).toEqual([]);
    expect(mayNot.filter((address) => mayCall(address, allowed))).toEqual([]);
  });
});

// AU-100
test.each([
  [true, ["0.0.0.0/0", "10.0.0.1/32", "::/0", "fd00::1/128"]],
  [false, ["10.0.0.1/33", "fd00::1/129", "10.0.0.1", "10.0/8", "localhost/8", "/8", "10.0.0.0/-1"]],
])("is a network: %p for %j", (expected, texts) => {
  expect(texts.filter((text) => isNetwork(text) !== expected)).toEqual([]);
});

// AU-94
describe("the URL of a stream", () => {
  test.each([
    "https://siem.example.com/",
    "https://siem.example.com:443/hook?token=x",
    "HTTPS://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://xn--bcher-kva.example/",
  ])("may be %s", (url) => {
    expect(urlProblem(url, STRICT)).toBeNull();
  });

  test.each([
    ...wordsOf("http://siem.example.com/ https://siem.example.com:80/ https://siem.example.com:8443/"),
    ..."https://localhost:1/ https://127.1/ https://2130706433/ https://0177.0.0.1/ https://[::1]/".split(
      " ",
    ),
    ...wordsOf(`
      https://[::ffff:127.0.0.1]/ https://a@b.example/ https://:p@b.example/ https://b.example/#x
      https://b.example/ü https:// https:///x javascript:alert(1) file:///etc/passwd
    `),
    ...["//b.example/", " https://b.example/", "https://b.example/\t", "https://b.example\\@10.0.0.1/"],
    `https://b.example/${"x".repeat(2_048)}`,
  ])("may not be %s", (url) => {
    expect(urlProblem(url, STRICT)).toStartWith("url must");
  });

  test("may use http and other ports only if the operator allows them", () => {
    const open = targetRulesOf({
      AUDIT_STREAM_ALLOW_HTTP: true,
      AUDIT_STREAM_ALLOWED_PORTS: "8088",
      AUDIT_STREAM_ALLOWED_NETWORKS: "10.0.0.0/8",
    });
    const may = ["http://siem.example.com/", "http://10.0.0.1:8088/", "https://siem.example.com:8088/"];
    const mayNot = ["http://siem.example.com:8089/", "http://192.168.0.1/", "ftp://siem.example.com/"];
    expect(may.filter((url) => urlProblem(url, open) !== null)).toEqual([]);
    expect(mayNot.filter((url) => urlProblem(url, open) === null)).toEqual([]);
  });
});
