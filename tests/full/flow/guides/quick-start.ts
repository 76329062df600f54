import { FREE_PORTS } from "../../../app/platform/bed.ts";
import { type Command, type Reader, readUntil } from "../../../support/documents/guide-reader.ts";

/** A running quick start on free ports. */
export interface QuickStart {
  /** The actual `host:port` of each server, by the default `host:port` that the guides use. */
  places: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts the platform as `bun start` does, without its installation of packages. */
export async function startQuickStart(reader: Reader, env: Record<string, string> = {}): Promise<QuickStart> {
  const platform = reader.start(
    "exec bun --preload ./tests/support/stores/embedded-template-process.ts apps/platform/main.ts",
    { ...FREE_PORTS, ...env },
  );
  const screen = await readUntil(platform.stdout, env.DEMO === "false" ? "Ctrl-C" : "/restore");
  const place = (name: string) => screen.match(new RegExp(`${name} +http://([^/\\s]+)`))?.[1] ?? "";
  return {
    places: {
      "127.0.0.1:5001": place("gateway"),
      "127.0.0.1:5002": place("route registry"),
      "127.0.0.1:3000": place("identity"),
      "127.0.0.1:4001": place("identity provider"),
      "127.0.0.1:4000": place("sample service"),
    },
    stop: () => ended(platform),
  };
}

export async function ended(command: Command): Promise<void> {
  command.kill();
  await command.exited;
}
