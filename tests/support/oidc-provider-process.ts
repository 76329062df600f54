import { Provider } from "oidc-provider";

/** A standard OpenID provider as a process, started by `bun tests/support/oidc-provider-process.ts PORT`. */

const port = Number(process.argv[2]);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "ten-minutes",
      client_secret: "ten-minutes-secret",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      // A token for no API is opaque, like those of other providers.
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: "",
        audience: resource,
        accessTokenFormat: "jwt",
      }),
    },
  },
});

provider.listen(port, "127.0.0.1", () => process.stdout.write("listening\n"));
