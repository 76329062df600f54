import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BinaryTestServer } from "./binary-server.ts";
import { freePort } from "./free-port.ts";
import type { Leash } from "./leash.ts";
import type { TestServer } from "./server.ts";
import { waitFor } from "./wait-for.ts";

/** A new, empty etcd from its binary, on ports of its own, with `settings` as arguments. */
export async function startEtcdBinary(
  binary: string,
  leash: Leash,
  settings: string[] = [],
): Promise<TestServer> {
  const member = await newMember("default");
  const server = await memberServer(binary, leash, member, [member], settings);
  await server.start();
  return server;
}

/** Several etcd that are one store. */
export interface EtcdCluster {
  readonly nodes: readonly TestServer[];
  /** The URLs of all nodes, separated by commas. */
  readonly url: string;
  /** The node that leads, as the others see it; waits for one. */
  leader(): Promise<TestServer>;
  /** Whatever was done to its nodes: they run and answer afterwards. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

/** A new, empty etcd of three nodes. */
export async function startEtcdNodes(binary: string, leash: Leash): Promise<EtcdCluster> {
  const members = await Promise.all(["one", "two", "three"].map(newMember));
  const nodes = await Promise.all(members.map((member) => memberServer(binary, leash, member, members, [])));
  await Promise.all(nodes.map((node) => node.start()));
  const each = (work: (node: TestServer) => Promise<void>) => Promise.all(nodes.map(work)).then(() => {});
  return {
    nodes,
    url: nodes.map((node) => node.url).join(","),
    leader: () => waitFor(() => leaderOf(nodes), { what: "A node of etcd that leads" }),
    recover: () => each((node) => node.recover()),
    close: () => each((node) => node.close()),
  };
}

interface Member {
  name: string;
  url: string;
  peer_url: string;
}

async function newMember(name: string): Promise<Member> {
  return {
    name,
    url: `http://127.0.0.1:${await freePort()}`,
    peer_url: `http://127.0.0.1:${await freePort()}`,
  };
}

/** Writes are not synced to disk, which only matters when the machine itself goes down. */
async function memberServer(
  binary: string,
  leash: Leash,
  { name, url, peer_url }: Member,
  members: readonly Member[],
  settings: string[],
): Promise<BinaryTestServer> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-etcd-"));
  return new BinaryTestServer(
    {
      url,
      directory,
      command: [
        binary,
        ...["--name", name, "--data-dir", join(directory, "data"), "--unsafe-no-fsync", ...settings],
        ...["--listen-client-urls", url, "--advertise-client-urls", url],
        ...["--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url],
        ...["--initial-cluster", members.map((each) => `${each.name}=${each.peer_url}`).join(",")],
      ],
      ready: async () => (await fetch(`${url}/health`, { signal: AbortSignal.timeout(500) })).ok,
      crash: "SIGKILL",
      shutdown: "SIGTERM",
    },
    leash,
  );
}

async function leaderOf(nodes: readonly TestServer[]): Promise<TestServer | undefined> {
  const leads = await Promise.all(nodes.map(isLeader));
  return nodes[leads.indexOf(true)];
}

async function isLeader({ url }: TestServer): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v3/maintenance/status`, {
      method: "POST",
      body: "{}",
      signal: AbortSignal.timeout(500),
    });
    const status = await response.text();
    const [, member] = /"member_id":"(\d+)"/.exec(status) ?? [];
    const [, leader] = /"leader":"(\d+)"/.exec(status) ?? [];
    return member !== undefined && member === leader;
  } catch {
    return false; // it does not answer
  }
}
