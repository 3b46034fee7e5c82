// Writes dist/NOTICES.txt: the licences of all packages of which something is in the bundle, as their makers ask.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const { inputs } = JSON.parse(readFileSync('dist/bundle.json', 'utf8'));
const packages = new Set(Object.keys(inputs).flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
const notices = [...packages].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) throw new Error(`${name} has no licence`);
    return `${name} ${version}\n\n${readFileSync(`${folder}/${licence}`, 'utf8').trim()}\n`;
});
writeFileSync('dist/NOTICES.txt', notices.join(`\n${'-'.repeat(80)}\n\n`));
