/**
 * A small shell that outlives this process by a moment. It holds the ids of processes and directories that
 * the run has made. When its standard input ends, however this process died, it kills the processes and
 * removes the directories. Tests clean up after themselves; this is for runs that were killed.
 */
export class Leash {
  readonly #shell = Bun.spawn(["sh", "-c", script], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });

  constructor() {
    this.#shell.unref();
  }

  /** Registers a process. `signal` ends it like a crash. */
  process(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
    this.#tell(`${signal} ${pid}`);
  }

  container(id: string): void {
    this.#tell(`box ${id}`);
  }

  directory(path: string): void {
    this.#tell(`dir ${path}`);
  }

  /** Releases a process, container or directory that is gone. */
  release(subject: number | string): void {
    this.#tell(`off ${subject}`);
  }

  #tell(line: string): void {
    this.#shell.stdin.write(`${line}\n`);
    this.#shell.stdin.flush();
  }
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
