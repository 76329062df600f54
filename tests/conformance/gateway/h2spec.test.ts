/** The gateway's HTTP/2 passes h2spec, where it is installed, but for the cases that are listed here. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publicService, startLocalGateway } from "../../support/gateway.ts";
import { RawUpstream } from "../../support/raw-http.ts";
import { run } from "../clients/services.ts";

const H2SPEC = Bun.which("h2spec");
const reason =
  H2SPEC === null
    ? " (left out: h2spec is not on the path; go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible)"
    : "";

/** The cases that fail, each with the reason why it does no harm. */
const FAILING: Readonly<Record<string, string>> = {
  "Sends invalid connection preface":
    "Without TLS the port speaks HTTP/1.1 too: the bytes get a bare 400 of HTTP/1.1, and the connection is closed.",
};
const CASES_MIN = 140;

// GW-170, GW-172, GW-173
test.skipIf(H2SPEC === null)(
  `h2spec finds no other fault${reason}`,
  async () => {
    const service = new RawUpstream();
    const gateway = await startLocalGateway({ HTTP2_ENABLED: "true", HTTP2_CLEARTEXT: "true" });
    await gateway.publish({
      // h2spec sends bodies with most of its cases
      things: publicService(service.url, { path: "/things", methods: ["GET", "POST", "HEAD"] }),
    });
    const folder = await mkdtemp(join(tmpdir(), "h2spec-"));
    const report = join(folder, "report.xml");
    const { port } = new URL(gateway.url);
    const options = ["--strict", "--path", "/things", "--junit-report", report];
    await run([String(H2SPEC), "--host", "127.0.0.1", "--port", port, ...options], { cwd: folder });
    const cases = (await Bun.file(report).text()).split("<testcase ").slice(1);
    const failed = cases.filter((each) => /<(failure|error)/.test(each));
    expect(cases.length).toBeGreaterThanOrEqual(CASES_MIN);
    expect(failed.map((each) => /classname="([^"]*)"/.exec(each)?.[1])).toEqual(Object.keys(FAILING));
    await Promise.all([gateway.close(), rm(folder, { recursive: true })]);
    service.close();
  },
  120_000,
);
