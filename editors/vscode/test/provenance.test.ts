import { deepStrictEqual, strictEqual } from 'node:assert';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { TextDocument } from 'vscode';
import { KnownProvenance } from '../src/provenance.ts';
import type { Server } from '../src/server/server.ts';
import { EventEmitter, events, Uri, window, type Document } from './vscode.ts';

interface Question {
  answer: (version: number) => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Returns what is known by a server of the test's own, the questions that wait for its answers, and the documents of which something is new. */
function started() {
  const changes = new EventEmitter<string>();
  const questions: Question[] = [];
  const problems: string[] = [];
  const provenance = (uri: Uri) =>
    new Promise((resolve, reject) => {
      questions.push({
        answer: (version) => settled(() => resolve({ uri: uri.toString(), version, placements: [], resultId: String(version) })),
        fail: (error) => settled(() => reject(error)),
      });
    });
  const server = {
    life: 'running',
    onDidChangeLife: new EventEmitter().event,
    onDidChangeProvenance: changes.event,
    askForProblems: ({ uri }: Document) => problems.push(uri.toString()),
    log: { debug: () => undefined },
    provenance,
  };
  const known = new KnownProvenance(server as unknown as Server);
  const news: string[] = [];
  known.onDidChange(({ uri }) => news.push(uri.toString()));
  const next = (): Question => {
    const question = questions.shift();
    if (question === undefined) throw new Error('nothing was asked');
    return question;
  };
  const version = (document: Document) => known.of(document as unknown as TextDocument)?.version;
  return { known, changes, questions, problems, news, next, version };
}

async function settled(settle: () => void): Promise<void> {
  settle();
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

function opened(version = 1): Document {
  const document = { uri: Uri.file('/a.py'), version, isClosed: false };
  window.visibleTextEditors = [{ document }];
  events.editors.fire(undefined);
  return document;
}

function close(document: Document): void {
  document.isClosed = true;
  window.visibleTextEditors = [];
  events.closed.fire(document);
}

function edit(document: Document): void {
  document.version += 1;
  events.changed.fire({ document, contentChanges: [{}] });
}

const refusal = (code: string) => Object.assign(new Error(code), { code: -32803, data: { code } });

test('an answer about a document that was closed meanwhile is nothing to remember', async () => {
  const { questions, next, news, version } = started();
  close(opened());
  await next().answer(1);
  const again = opened();
  strictEqual(version(again), undefined);
  strictEqual(questions.length, 1, 'it is asked about anew');
  await next().answer(1);
  strictEqual(version(again), 1);
  deepStrictEqual(news, ['file:///a.py']);
});

test('an answer about an earlier text of a closed document asks no more', async () => {
  const { questions, problems, next } = started();
  const document = opened();
  edit(document);
  close(document);
  await next().answer(1);
  mock.timers.tick(60_000);
  deepStrictEqual([...questions, ...problems], []);
});

test('an error about a document that was closed meanwhile leaves alone what is known of it since', async () => {
  const { next, version } = started();
  close(opened());
  const first = next();
  const again = opened();
  await next().answer(1);
  await first.fail(refusal('audit-dir-not-found'));
  strictEqual(version(again), 1);
});

test('what is painted stays when a question fails, until the next one is answered', async () => {
  const { known, next, news } = started();
  const document = opened();
  await next().answer(1);
  edit(document);
  mock.timers.tick(1000);
  await next().fail(new Error('cancelled'));
  strictEqual(known.isAwaited(document as unknown as TextDocument), true);
  strictEqual(news.length, 1, 'nobody paints anew');
  edit(document);
  mock.timers.tick(1000);
  await next().answer(3);
  strictEqual(news.length, 2);
});

test('what is painted goes when the server says that there is nothing', async () => {
  for (const code of ['audit-dir-not-found', 'unreadable-file']) {
    const { known, changes, next, news } = started();
    const document = opened();
    await next().answer(1);
    changes.fire('file:///a.py');
    await next().fail(refusal(code));
    strictEqual(known.of(document as unknown as TextDocument), undefined);
    strictEqual(known.isAwaited(document as unknown as TextDocument), false);
    strictEqual(news.length, 2);
    known.dispose();
    close(document);
  }
});
