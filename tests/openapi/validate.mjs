// Validates a description against the official schema of OpenAPI: node validate.mjs FILE
// Ends with 0 when it is valid 3.1, with 3 and the errors when it is not, with anything else when it could not tell.
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';

const [file] = process.argv.slice(2);
const validator = new Validator();
const { valid, errors } = await validator.validate(JSON.parse(readFileSync(file, 'utf8')));
if (!valid || validator.version !== '3.1') {
  console.error(validator.version, JSON.stringify(errors, null, 2));
  process.exit(3);
}
