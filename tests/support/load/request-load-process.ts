/**
 * Sends many requests at once and prints the responses as JSON. Its arguments are the path, the number of
 * requests and the URLs of the gateways. It is its own process, because the runtime reads its limit of open
 * requests at its start.
 */
export {};

const [path = "/", count = "0", ...gateways] = process.argv.slice(2);

const answers = await Promise.all(
  Array.from({ length: Number(count) }, async (_, at) => {
    const response = await fetch(`${gateways[at % gateways.length]}${path}`);
    await response.arrayBuffer();
    const header = (name: string) => response.headers.get(name);
    return {
      gateway: at % gateways.length,
      status: response.status,
      remaining: header("x-ratelimit-remaining"),
      limit: header("x-ratelimit-limit"),
      reset: header("x-ratelimit-reset"),
      retry_after: header("retry-after"),
    };
  }),
);
process.stdout.write(JSON.stringify(answers));
