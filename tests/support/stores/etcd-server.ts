import { join } from "node:path";
import { freePort } from "../http/free-port.ts";
import { lastingFolder } from "../temporary-folder.ts";
import { waitFor } from "../time/wait-for.ts";
import { BinaryTestServer, startOnFreePorts } from "./binary-server.ts";
import { EtcdPeers } from "./etcd-peers.ts";
import type { TestServer } from "./server.ts";

/**
 * Starts a new, empty etcd from its binary, on its own ports, with `settings` as arguments. With
 * `secureUrl`, it also serves clients over TLS at that URL.
 */
export function startEtcdBinary(
  binary: string,
  settings: string[] = [],
  secureUrl?: string,
): Promise<BinaryTestServer> {
  return startOnFreePorts(() => {
    const member = { ...newMember("default"), secureUrl };
    return memberServer(binary, member, [member], settings);
  });
}

export interface EtcdCluster {
  readonly nodes: readonly TestServer[];
  /** The URLs of all nodes, separated by commas. */
  readonly url: string;
  /** Waits until a node reports itself as the leader, and returns the node. */
  leader(): Promise<TestServer>;
  /** Separates a node from the other nodes. Clients still reach the node, which has no quorum. */
  cutOff(node: TestServer): Promise<void>;
  /**
   * Ends all outages, so that the nodes run, reach each other and respond. A node of etcd 3.4 that was cut
   * off then starts an election, because this version does not use pre-vote by default. The election can take
   * longer than a call may take.
   */
  recover(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a new, empty etcd cluster of three nodes. */
export async function startEtcdNodes(binary: string): Promise<EtcdCluster> {
  const peers = new EtcdPeers();
  const members = await Promise.all(
    ["one", "two", "three"].map(async (name) => {
      const member = newMember(name);
      const door = await peers.open(member.peerPort);
      return { ...member, door, advertisedPort: door.port };
    }),
  );
  const nodes = members.map((member) => memberServer(binary, member, members, []));
  await Promise.all(nodes.map((node) => node.start()));
  const each = (work: (node: TestServer) => Promise<void>) => Promise.all(nodes.map(work)).then(() => {});
  return {
    nodes,
    url: nodes.map((node) => node.url).join(","),
    leader: () => waitFor(() => leaderOf(nodes), { what: "the election of an etcd leader" }),
    async cutOff(node) {
      const member = members.find(({ url }) => url === node.url);
      if (member === undefined) throw new Error("The node does not belong to this cluster.");
      const member_id = await waitFor(async () => (await statusOf(node)).member_id, {
        what: "the member id of the node",
      });
      peers.part(member.peerPort, BigInt(member_id).toString(16));
    },
    recover() {
      peers.join();
      return each((node) => node.recover());
    },
    async close() {
      await each((node) => node.close());
      for (const { door } of members) door.close();
      peers.close();
    },
  };
}

interface Member {
  name: string;
  url: string;
  peerPort: number;
  /** The port to which the other nodes connect. In a cluster, this is the port of the node's proxy. */
  advertisedPort: number;
  secureUrl?: string;
}

function newMember(name: string): Member {
  const peerPort = freePort();
  return { name, url: `http://127.0.0.1:${freePort()}`, peerPort, advertisedPort: peerPort };
}

/** Prepares a node that does not sync writes to disk. Only a crash of the machine could lose these writes. */
function memberServer(
  binary: string,
  { name, url, peerPort, advertisedPort, secureUrl }: Member,
  members: readonly Member[],
  settings: string[],
): BinaryTestServer {
  const directory = lastingFolder("etcd");
  return new BinaryTestServer({
    url,
    directory,
    command: [
      binary,
      ...["--name", name, "--data-dir", join(directory, "data"), "--unsafe-no-fsync", ...settings],
      ...["--listen-client-urls", secureUrl === undefined ? url : `${url},${secureUrl}`],
      ...["--advertise-client-urls", url],
      ...["--listen-peer-urls", peerUrl(peerPort)],
      ...["--initial-advertise-peer-urls", peerUrl(advertisedPort)],
      ...["--initial-cluster", members.map((each) => `${each.name}=${peerUrl(each.advertisedPort)}`).join()],
    ],
    ready: async () => (await fetch(`${url}/health`, { signal: AbortSignal.timeout(500) })).ok,
    crash: "SIGKILL",
    shutdown: "SIGTERM",
  });
}

async function leaderOf(nodes: readonly TestServer[]): Promise<TestServer | undefined> {
  const leads = await Promise.all(nodes.map(isLeader));
  return nodes[leads.indexOf(true)];
}

async function isLeader(node: TestServer): Promise<boolean> {
  const { member_id, leader } = await statusOf(node);
  return member_id !== undefined && member_id === leader;
}

/**
 * Returns the decimal member ids of a node and of its leader. The object is empty when the node does not
 * respond.
 */
async function statusOf({ url }: TestServer): Promise<{ member_id?: string; leader?: string }> {
  try {
    const response = await fetch(`${url}/v3/maintenance/status`, {
      method: "POST",
      body: "{}",
      signal: AbortSignal.timeout(500),
    });
    const status = await response.text();
    const [, member_id] = /"member_id":"(\d+)"/.exec(status) ?? [];
    const [, leader] = /"leader":"(\d+)"/.exec(status) ?? [];
    return { member_id, leader };
  } catch {
    return {};
  }
}

function peerUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
