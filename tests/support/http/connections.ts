import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The number of open TCP connections between a process and each peer, by the peer's name. */
export type Connections = Readonly<Record<string, number>>;

/** Whether the operating system has `/proc`, which lists the connections of a process. */
export const CAN_COUNT_CONNECTIONS = process.platform === "linux";

const LISTENING = "0A";
const CLIENTS = "clients";

/**
 * Counts the TCP connections of a process by peer. `names` maps remote ports to the names of peers. A peer
 * without a name appears as `host:port`. Connections that the process accepted count as `clients`.
 */
export function connectionsOf(pid: number, names: ReadonlyMap<number, string> = new Map()): Connections {
  const sockets = socketsOf(pid);
  const every = ["tcp", "tcp6"].flatMap((table) => rowsOf(pid, table));
  // The system returns its table in pages, so a connection can occur twice if others open or close between two pages.
  const rows = [...new Map(every.map((row) => [row.inode, row])).values()].filter(({ inode }) =>
    sockets.has(inode),
  );
  const served = new Set(rows.filter(({ state }) => state === LISTENING).map(({ local }) => portOf(local)));
  const counted: Record<string, number> = {};
  for (const { local, remote, state } of rows) {
    if (state === LISTENING) continue;
    const port = portOf(remote);
    const peer = served.has(portOf(local)) ? CLIENTS : (names.get(port) ?? `${hostOf(remote)}:${port}`);
    counted[peer] = (counted[peer] ?? 0) + 1;
  }
  return counted;
}

/** Counts the file descriptors of a process that are not sockets. */
export function openFilesOf(pid: number): number {
  return linksOf(pid).filter((link) => !link.startsWith("socket:")).length;
}

interface Row {
  /** The local address and port in hexadecimal, such as `0100007F:0050` for 127.0.0.1:80. */
  readonly local: string;
  readonly remote: string;
  readonly state: string;
  readonly inode: string;
}

function socketsOf(pid: number): ReadonlySet<string> {
  return new Set(linksOf(pid).flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

function linksOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return [readlinkSync(`${folder}/${descriptor}`)];
    } catch {
      return []; // The descriptor was closed in between
    }
  });
}

function rowsOf(pid: number, table: string): Row[] {
  const lines = readFileSync(`/proc/${pid}/net/${table}`, "utf8").trim().split("\n").slice(1);
  return lines.map((line) => {
    const [, local = "", remote = "", state = "", , , , , , inode = ""] = line.trim().split(/\s+/);
    return { local, remote, state, inode };
  });
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

/** Returns the host of a kernel's hexadecimal address, whose 4-byte words are in little-endian order. */
function hostOf(address: string): string {
  const words = address.slice(0, address.lastIndexOf(":")).match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => [...Buffer.from(word, "hex")].reverse());
  if (bytes.length === 4) return bytes.join(".");
  return `[${words.map((word) => Buffer.from(word, "hex").reverse().toString("hex")).join("")}]`;
}
