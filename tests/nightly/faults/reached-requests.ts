import { open } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Reached } from "./cell-run.ts";
import { CLIENTS } from "./clients.ts";

const Noted = Type.Object({ request_id: Type.String(), path: Type.String() });
const Asked = Type.Object({
  client: Type.Union(CLIENTS.map((client) => Type.Literal(client))),
  whose: Type.String(),
  member: Type.String(),
});

/** A reader of the file in which the upstream service records the requests that it receives. */
export class ReachedRequests {
  readonly #file: string;
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
  }

  async sinceLast(): Promise<Reached[]> {
    const file = await open(this.#file, "r");
    try {
      const { size } = await file.stat();
      const { buffer } = await file.read(Buffer.alloc(size - this.#offset), { position: this.#offset });
      // The service may be writing the last line: leave an incomplete line for the next call.
      const whole = buffer.subarray(0, buffer.lastIndexOf("\n") + 1);
      this.#offset += whole.length;
      return whole.toString().trimEnd().split("\n").flatMap(reachedOf);
    } finally {
      await file.close();
    }
  }
}

/**
 * Parses a recorded request. Omits a request whose query names no client and caller, because no client of a
 * run sent the request.
 */
function reachedOf(line: string): Reached[] {
  if (line === "") return [];
  const { request_id, path } = Value.Parse(Noted, JSON.parse(line));
  const { pathname, searchParams } = new URL(path, "http://service");
  const asked: unknown = Object.fromEntries(searchParams);
  if (!Value.Check(Asked, asked)) return [];
  const [, collection, owner = ""] = pathname.split("/");
  const { client, whose, member } = asked;
  if (collection === "public") return [{ request_id, client, owner: "", caller: "" }];
  return [{ request_id, client, owner, caller: collection === "members" ? member : whose }];
}
