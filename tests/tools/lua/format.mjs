// node format.mjs [--check] FOLDER...: formats every Lua file by the stylua.toml of its folder; with --check, names those that would change.
// Stylua's own program comes from its makers' site only; this is the same code, compiled for Node, from npm.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as stylua from '@johnnymorganz/stylua';

const CHOICES = { indent_type: stylua.IndentType, quote_style: stylua.QuoteStyle };

function configured(folder) {
  const config = stylua.Config.new();
  for (const [, name, value] of readFileSync(join(folder, 'stylua.toml'), 'utf8').matchAll(/^(\w+) = "?(\w+)"?$/gm)) {
    if (!(name in config)) throw new Error(`${folder}/stylua.toml: no option ${name}`);
    config[name] = name in CHOICES ? CHOICES[name][value] : Number(value);
  }
  return config;
}

const isCheck = process.argv.includes('--check');
let wrong = 0;
for (const folder of process.argv.slice(2).filter((each) => each !== '--check')) {
  for (const entry of readdirSync(folder, { recursive: true }).filter((each) => each.endsWith('.lua'))) {
    const file = join(folder, entry);
    const text = readFileSync(file, 'utf8');
    const formatted = stylua.formatCode(text, configured(folder), undefined, stylua.OutputVerification.Full);
    if (formatted === text) continue;
    wrong += 1;
    if (isCheck) console.error(`${file} is not formatted: make format`);
    else writeFileSync(file, formatted);
  }
}
process.exitCode = isCheck && wrong > 0 ? 1 : 0;
