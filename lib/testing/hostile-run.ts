import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine } from '@/lib/core/machine/machine';
import { type ApiClient, deskMachine, hash, TestWorker } from './api-client';

/** Where a page that takes a text for markup would go. Reserved: nobody has it. */
export const EVIL = 'evil.example';

/** Set on `window` by what must never run. */
export const RAN = '__ran';

/** A name that is a script, an image and a handler wherever it is taken for markup; at most 128 characters. */
export const hostileName = (field: string): string =>
  `"'></script><img src=//${EVIL}/${field} onerror=${RAN}=1><script>${RAN}=1</script>${field}`;

/** Everything that a text of any length might be taken for. */
export const hostileText = (field: string): string =>
  [
    hostileName(field),
    `javascript:window.${RAN}=1`,
    `<a href="javascript:window.${RAN}=1">${field}</a>`,
    `<svg/onload=window.${RAN}=1><iframe srcdoc="<script>parent.${RAN}=1</script>"></iframe>`,
    `<iframe src=//${EVIL}/frame></iframe><link rel=stylesheet href=//${EVIL}/style><base href=//${EVIL}/>`,
    `<form action=//${EVIL}/form><button autofocus onfocus=window.${RAN}=1>${field}</button></form>`,
    `<style>@import "//${EVIL}/import";*{background:url(//${EVIL}/css)}</style>`,
    `![${field}](http://${EVIL}/markdown) [${field}](javascript:window.${RAN}=1)`,
    `{{constructor.constructor("window.${RAN}=1")()}} \${window.${RAN}=1} <%= window.${RAN}=1 %>`,
    `http://${EVIL}/plain data:text/html,<script>opener.${RAN}=1</script>`,
    '\u202E\u2066\u0007\uFEFF',
  ].join('\n');

const state = hostileName('state');
const next = hostileName('next');
const tool = hostileName('tool');
const agent = hostileName('agent');

export const hostileMachine: Machine = {
  agent,
  provenance: 'declared',
  initial: state,
  states: {
    [state]: { transitions: [next], tools: [tool] },
    [next]: { transitions: [], tools: [], final: true },
  },
  tools: {
    [tool]: { ...(deskMachine.tools['create_refund'] as Machine['tools'][string]) },
  },
  prompts: { [hostileName('prompt')]: hostileText('prompt') },
};

/** A run at home whose every text is hostile; it failed with a question asked and an effect confirmed. */
export async function makeHostileRun(api: ApiClient, runId = hostileName('run')): Promise<string> {
  const machineDigest = machineDigestOf(hostileMachine, hash);
  const stored = await api.put(`/api/v1/machines/${machineDigest}`, hostileMachine);
  if (stored.status >= 300) throw new Error(`the machine was not stored: ${JSON.stringify(stored.body)}`);
  const workerId = hostileName('worker');
  const created = await api.post('/api/v1/runs', {
    runId,
    workerId,
    agent,
    machineDigest,
    input: {
      value: { [hostileName('key')]: hostileText('input'), __proto: 1, constructor: { prototype: 1 } },
    },
    tags: [hostileName('tag'), 'constructor', 'toString'],
  });
  if (created.status !== 201) throw new Error(`the run was not created: ${JSON.stringify(created.body)}`);
  const worker = TestWorker.of(api, created.body, workerId);
  const visit = `${state}#1`;
  const read = `${visit}/${hostileName('read')}#1`;
  const pay = `${visit}/${tool}#1`;
  const ask = `${visit}/${hostileName('ask')}#1`;
  await worker.write(
    worker.enter(state),
    {
      kind: 'variables.patched',
      patch: [
        {
          op: 'add',
          path: `/${escaped(hostileName('variable'))}`,
          value: worker.value(hostileText('variable')),
        },
      ],
    },
    {
      kind: 'message.appended',
      role: hostileName('role'),
      message: worker.value({ role: hostileName('role'), content: hostileText('message') }),
    },
    worker.start(
      read,
      { step: 'llm', effect: 'read', model: hostileName('model'), api: hostileName('api') },
      { [hostileName('argument')]: hostileText('argument') },
    ),
    worker.done(read, { [hostileName('member')]: hostileText('result') }),
    worker.external(pay, { note: hostileText('payment') }),
    { ...worker.done(pay, { note: hostileText('paid') }), receipt: hostileText('receipt') },
    {
      kind: 'checkpoint.saved',
      trigger: 'manual',
      visit,
      name: hostileText('checkpoint'),
      entrySeq: 0,
      othersSeq: 0,
    },
    worker.start(ask, { step: 'human' }),
    worker.ask(ask, { prompt: hostileText('question'), options: [hostileText('option')] }),
  );
  await worker.write({
    kind: 'run.failed',
    cause: 'error',
    error: { type: hostileName('error'), message: hostileText('error'), stack: hostileText('stack') },
  });
  await worker.release('done');
  return worker.runId;
}

/** As a member stands in a JSON Pointer. */
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
