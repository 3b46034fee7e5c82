// profiler.mjs PORT: profiles the Node process whose inspector listens on PORT. Each input line is a
// profiler method to call; each output line is its result.
import { createInterface } from 'node:readline';

const [port] = process.argv.slice(2);
const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
const socket = new WebSocket(webSocketDebuggerUrl);
await new Promise((opened) => socket.addEventListener('open', opened, { once: true }));
const waiting = new Map();
socket.addEventListener('message', ({ data }) => {
  const { id, result } = JSON.parse(data);
  waiting.get(id)?.(result);
});
let last = 0;
const call = (method, params = {}) =>
  new Promise((answered) => {
    waiting.set(++last, answered);
    socket.send(JSON.stringify({ id: last, method, params }));
  });

await call('Profiler.enable');
await call('Profiler.setSamplingInterval', { interval: 250 });
for await (const method of createInterface({ input: process.stdin })) console.log(JSON.stringify(await call(method)));
socket.close();
