/**
 * Generates `.github/pictures/tour.svg`, which shows steps of the quick start's tour. It starts a platform on
 * the default ports, runs the steps, and draws their real output. Run it with `bun tests/pictures/tour.ts`.
 */

import { join } from "node:path";
import { type TourStep, tourSteps } from "../../apps/platform/tour.ts";
import { ROOT } from "../support/root.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type ScreenText, type Style, terminalSvg } from "./terminal.ts";

const PICTURE = join(ROOT, ".github/pictures/tour.svg");

/** Words in the headings of the steps to show. All steps run, because some depend on earlier ones. */
const SHOWN = ["no credential", "wants a label", "one too many"];

async function draw(): Promise<void> {
  const directory = temporaryFolder("tour-picture");
  const platform = Bun.spawn([process.execPath, "apps/platform/main.ts"], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", HOME: directory, DATA_DIR: join(directory, ".ostiary") },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    const screen = await screenOf(platform.stdout);
    const steps = tourSteps({
      gatewayUrl: "http://127.0.0.1:5001",
      registryUrl: "http://127.0.0.1:5002",
      identityProviderUrl: "http://127.0.0.1:4001",
      sampleServiceUrl: "http://127.0.0.1:4000",
      adminTokenFile: join(directory, ".ostiary/admin-token"),
    });
    const isShown = ({ shows }: TourStep) => SHOWN.some((words) => shows.includes(words));
    const outputs = await take(steps);
    const texts = steps.flatMap((step, index) => (isShown(step) ? shown(step, outputs[index] ?? "") : []));
    await Bun.write(
      PICTURE,
      terminalSvg("bun start, and three of the steps of its tour", [...started(screen), ...texts]),
    );
  } finally {
    platform.kill();
    await platform.exited;
  }
}

/** Reads the platform's output until it has printed the whole tour. */
async function screenOf(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("/restore")) return text;
  }
  throw new Error(`The platform exited before it printed the tour:\n${text}`);
}

/** Runs the steps in one shell, and returns the output of each. */
async function take(steps: TourStep[]): Promise<string[]> {
  const END = "--- end of step ---";
  const script = steps.map(({ commands }) => `${commands}\necho '${END}'`).join("\n");
  const shell = Bun.spawn(["bash", "-c", script], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const text = await shell.stdout.text();
  return text.split(`${END}\n`);
}

function started(screen: string): ScreenText[] {
  const lines = screen.trimStart().split("\n");
  const ready = lines.findIndex((line) => line.startsWith("Ostiary is ready"));
  // Omit the line with the data directory, whose name differs from run to run.
  const addresses = lines
    .slice(ready + 1, lines.indexOf("", ready + 2))
    .filter((line) => !/data and/.test(line));
  return [
    { style: "command", text: "$ bun start" },
    { style: "good", text: lines[ready] ?? "" },
    ...addresses.filter(Boolean).map((text): ScreenText => ({ style: "plain", text })),
  ];
}

function shown({ shows, commands }: TourStep, output: string): ScreenText[] {
  const lines = output.trim().split("\n");
  return [
    { style: "plain", text: "" },
    { style: "heading", text: `# ${shows}` },
    ...commands.split("\n").map((text): ScreenText => ({ style: "command", text: `$ ${text}` })),
    ...lines.map((text): ScreenText => ({ style: styleOf(text), text: text.trimEnd() })),
  ];
}

function styleOf(line: string): Style {
  const status = line.match(/^HTTP(?:\/1\.1)? (\d)/)?.[1];
  if (status === undefined) return "plain";
  return status === "2" ? "good" : "bad";
}

if (import.meta.main) await draw();
