/** A standard OpenID Connect provider, started by `bun tests/support/pages/oidc-provider-process.ts PORT`. */
import { Provider } from "oidc-provider";

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
      useGrantedResource: () => true,
      // Only a token that is requested for an API is a JWT. Other tokens are opaque, as with other identity
      // providers.
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: "",
        audience: resource,
        accessTokenFormat: "jwt",
      }),
    },
  },
});

provider.listen(port, "127.0.0.1", () => process.stdout.write("listening\n"));
