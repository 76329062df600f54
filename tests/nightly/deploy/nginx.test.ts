/** Tests of the nginx configuration in the guide for one machine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { blocksOf } from "../../support/documents/documents.ts";
import { Certificates } from "../../support/http/certificates.ts";
import { freePort } from "../../support/http/free-port.ts";
import { leash } from "../../support/processes/clean-up-after-kill.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/time/wait-for.ts";

const [block] = (await blocksOf(".github/guides/one-machine-systemd.md")).filter(
  ({ language }) => language === "nginx",
);
const config = block?.text ?? "";

describe.skipIf(Bun.which("nginx") === null)("nginx with the guide's configuration", () => {
  const certificates = new Certificates();
  let directory: string;
  let origin: string;
  let nginx: ReturnType<typeof Bun.spawn>;
  let gateway: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    directory = temporaryFolder("nginx");
    gateway = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) =>
        server.upgrade(request, { data: undefined })
          ? undefined
          : Response.json({
              host: request.headers.get("host"),
              connection: request.headers.get("connection"),
            }),
      websocket: { message: (socket, message) => void socket.send(message) },
    });
    const { certFile, keyFile } = certificates.make("localhost");
    const port = freePort();
    const here = config
      .replace("/etc/letsencrypt/live/api.example.com/fullchain.pem", certFile)
      .replace("/etc/letsencrypt/live/api.example.com/privkey.pem", keyFile)
      .replace("listen 443", `listen 127.0.0.1:${port}`)
      .replace("127.0.0.1:5001", `127.0.0.1:${gateway.port}`);
    const settings = `daemon off; master_process off; pid ${directory}/pid; error_log stderr;\nevents {}\nhttp { access_log off;\n${here}}\n`;
    await Bun.write(join(directory, "nginx.conf"), settings);
    nginx = Bun.spawn(["nginx", "-p", directory, "-e", "stderr", "-c", join(directory, "nginx.conf")], {
      stderr: "pipe",
    });
    leash().process(nginx.pid);
    origin = `localhost:${port}`;
    await waitFor(async () => nginx.exitCode !== null || (await get()).ok, { what: "nginx" });
  });
  afterAll(async () => {
    nginx.kill();
    await nginx.exited;
    leash().release(nginx.pid);
    await gateway.stop(true);
  });
  const tls = { rejectUnauthorized: false };
  const get = () => fetch(`https://${origin}/`, { tls });

  test("starts, and forwards requests without a Connection: close header", async () => {
    expect(nginx.exitCode).toBeNull();
    expect(await (await get()).json()).toEqual({ host: "localhost", connection: null });
  });

  test("forwards a WebSocket", async () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = new WebSocket(`wss://${origin}/`, { tls });
    socket.onopen = () => socket.send("through");
    socket.onmessage = ({ data }) => resolve(String(data));
    socket.onerror = () => reject(new Error("The WebSocket did not open."));
    expect(await promise).toBe("through");
    socket.close();
  });
});
