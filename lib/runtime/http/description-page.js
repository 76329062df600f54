// The browser script of the pages that show an OpenAPI description. The script reads its settings from the
// attributes of its script tag.

const { description: address, title } = document.currentScript.dataset;
const OPEN_OPERATIONS_MAX = 200;

/**
 * Shows the curl command of an operation, in `x-codeSamples`, before its responses. Removes the command that Swagger UI
 * makes of a call: it does not quote a body that starts with `/`, and curl would read a file for one that starts with
 * `@`.
 */
const samplesPlugin = ({ React, specSelectors }) => {
  const element = React.createElement;
  const responses = (Original) => (props) => {
    const at = ["paths", props.path, props.method, "x-codeSamples", 0, "source"];
    const command = specSelectors.specJson().getIn(at);
    const shown =
      command === undefined
        ? null
        : element(
            "section",
            { className: "samples", "aria-label": "curl" },
            element("h4", null, "curl"),
            element("pre", { tabIndex: 0 }, element("code", null, command)),
          );
    return element(React.Fragment, null, shown, element(Original, props));
  };
  return { wrapComponents: { responses, curl: () => () => null } };
};

function show(spec) {
  const operations = Object.values(spec.paths).reduce((count, item) => count + Object.keys(item).length, 0);
  window.ui = SwaggerUIBundle({
    spec,
    dom_id: "#swagger-ui",
    deepLinking: true,
    validatorUrl: null,
    docExpansion: operations > OPEN_OPERATIONS_MAX ? "none" : "list",
    defaultModelsExpandDepth: 0,
    tagsSorter: undefined,
    plugins: [samplesPlugin],
  });
}

/** Asks for the token of an operator. The page keeps the token in memory only. */
function askForToken(message) {
  document.querySelector("#message").hidden = true;
  const form = document.querySelector("#token-form");
  form.hidden = false;
  form.querySelector("output").textContent = message;
  form.querySelector("input").focus();
  form.onsubmit = (event) => {
    event.preventDefault();
    load(form.querySelector("input").value);
  };
}

async function load(token) {
  const message = document.querySelector("#message");
  try {
    const response = await fetch(address, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
    if (response.status === 401) return askForToken(token ? "The registry does not accept this token." : "");
    if (!response.ok) throw new Error(`The description could not be read: ${response.status}.`);
    const spec = await response.json();
    document.querySelector("#token-form").hidden = true;
    message.hidden = true;
    show(spec);
  } catch (error) {
    message.textContent = `${title}: ${error.message} Reload the page to try again.`;
  }
}

load(null);
