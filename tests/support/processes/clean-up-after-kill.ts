/**
 * A shell that cleans up after a test run, even after one that was killed. The shell knows the processes,
 * containers and directories that the run has created. The shell's standard input ends when this process
 * ends. The shell then kills the processes, removes the rest and exits.
 */
class Leash {
  readonly #shell = Bun.spawn(["sh", "-c", script], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });

  constructor() {
    this.#shell.unref();
  }

  /** Registers a process, with the signal that ends it at once. */
  process(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
    this.#tell(`${signal} ${pid}`);
  }

  container(id: string): void {
    this.#tell(`box ${id}`);
  }

  directory(path: string): void {
    this.#tell(`dir ${path}`);
  }

  /** Removes a process, container or directory from the list, because it no longer exists. */
  release(subject: number | string): void {
    this.#tell(`off ${subject}`);
  }

  #tell(line: string): void {
    this.#shell.stdin.write(`${line}\n`);
    this.#shell.stdin.flush();
  }
}

let current: Leash | undefined;

export function leash(): Leash {
  current ??= new Leash();
  return current;
}

const script = `
trap '' INT TERM HUP
held=
while read -r kind subject; do
  if [ "$kind" = off ]; then
    held=$(printf '%s\\n' "$held" | grep -v " $subject$")
  else
    held=$(printf '%s\\n%s' "$held" "$kind $subject")
  fi
done
printf '%s\\n' "$held" | while read -r kind subject; do
  case $kind in
    SIG*) kill -CONT "$subject" 2>/dev/null; kill -"\${kind#SIG}" "$subject" 2>/dev/null;;
    box) docker rm -f "$subject" >/dev/null 2>&1;;
  esac
done
sleep 1
printf '%s\\n' "$held" | while read -r kind subject; do
  case $kind in
    SIG*) kill -KILL "$subject" 2>/dev/null;;
    dir) rm -rf "$subject";;
  esac
done
`;
