import { Balancer } from "../load/balancer.ts";
import { waitFor } from "../time/wait-for.ts";
import { SERVICES, type ServiceName, type StackOf, startServices } from "./stack.ts";
import { ProcessEnded, type RunningProcess, startProcess } from "./start-process.ts";

export interface Replicated {
  readonly url: string;
  readonly internalUrl: string;
  readonly all: readonly RunningProcess[];
  /**
   * Restarts the replicas one at a time, as in a rolling update. Resolves with the exit codes of the old
   * replicas.
   */
  restart(): Promise<number[]>;
  close(): Promise<void>;
}

/** The replicas of the four services, which call each other only through their balancers. */
export interface ReplicatedStack extends StackOf<Replicated> {
  close(): Promise<void>;
}

/**
 * Starts two replicas of each service. `everyEnv` contains environment variables of all services, `gatewayEnv`
 * those of the gateways.
 */
export async function startReplicatedStack(
  everyEnv: Record<string, string>,
  gatewayEnv: Record<string, string>,
): Promise<ReplicatedStack> {
  const stack = await startServices(startReplicas, everyEnv, gatewayEnv);
  return {
    ...stack,
    async close() {
      await Promise.all(SERVICES.map((service) => stack[service].close()));
      await stack.stopDemo();
    },
  };
}

const REPLICAS = 2;
const STARTS_MAX = 5;

/**
 * Starts a replica and retries after a failure, as a supervisor would, because a store may be too busy to
 * respond.
 */
async function startAgain(entry: string, env: Record<string, string>): Promise<RunningProcess> {
  for (let start = 1; ; start++) {
    try {
      return await startProcess(entry, env);
    } catch (error) {
      if (start === STARTS_MAX || !(error instanceof ProcessEnded) || error.exitCode !== 1) throw error;
    }
  }
}

async function startReplicas(service: ServiceName, env: Record<string, string>): Promise<Replicated> {
  const balancer = new Balancer<RunningProcess>();
  const replicas: RunningProcess[] = [];
  const all: RunningProcess[] = [];
  const start = async () => {
    const replica = await startAgain(`apps/${service}/main.ts`, env);
    balancer.add(replica);
    await waitFor(() => balancer.ready.includes(replica), {
      what: `the readiness of a replica of ${service}`,
      timeoutMs: 30_000,
    });
    replicas.push(replica);
    all.push(replica);
  };
  const end = async (replica: RunningProcess) => {
    replicas.splice(replicas.indexOf(replica), 1);
    const code = await replica.stop();
    balancer.remove(replica);
    return code;
  };
  await Promise.all(Array.from({ length: REPLICAS }, start));
  const [open, internal] = await Promise.all([balancer.listen("url"), balancer.listen("internalUrl")]);
  return {
    url: open.url,
    internalUrl: internal.url,
    all,
    async restart() {
      const codes: number[] = [];
      for (const replica of [...replicas]) {
        codes.push(await end(replica));
        await start();
      }
      return codes;
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.kill()));
      balancer.stop();
      await Promise.all([open.close(), internal.close()]);
    },
  };
}
