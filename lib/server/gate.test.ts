import { beforeEach, describe, expect, it } from 'vitest';
import { LockedGate } from './gate';
import { SessionCookies } from './session-cookie';
import { digestOf, type Grant, TokenBook } from './tokens';

const TOKEN = 'the-token-of-the-environment';
const VIEWER = 'the-token-of-those-who-look';
const HOUR = 3_600_000;
const secret = Buffer.alloc(32, 7);

/** A book that the test changes. */
class Book extends TokenBook {
  all: Grant[] = [
    { name: 'RERAIL_TOKEN', role: 'admin', digest: digestOf(TOKEN) },
    { name: 'wall', role: 'viewer', digest: digestOf(VIEWER) },
  ];
  constructor() {
    super({ token: TOKEN, file: undefined }, () => undefined);
  }
  override grants() {
    return this.all;
  }
}

let now: number;
let book: Book;
let gate: LockedGate;
beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  book = new Book();
  gate = gateOf();
});
const gateOf = (key = secret) =>
  new LockedGate({
    tokens: book,
    cookies: new SessionCookies(key),
    hosts: new Set(),
    sessionMs: 12 * HOUR,
    now: () => now,
  });

const none = { authorization: undefined, cookie: undefined, peer: '203.0.113.7' };
const show = (token: string, peer = '203.0.113.7', at = gate) =>
  at.enter({ ...none, authorization: `Bearer ${token}`, peer });
const signIn = (over: Partial<Parameters<LockedGate['signIn']>[0]> = {}) =>
  gate.signIn({ name: 'Ada', token: TOKEN, peer: '203.0.113.7', secure: false, ...over });
/** The cookie of a sign-in, as a browser sends it back. */
const cookieOf = (over: Parameters<typeof signIn>[0] = {}) => {
  const signedIn = signIn(over);
  if (!signedIn.ok) throw new Error(signedIn.problem.kind);
  return signedIn.value.setCookie.split(';')[0] ?? '';
};
const enter = (cookie: string, at = gate) => at.enter({ ...none, cookie });
const nobody = { ok: true, value: undefined };

describe('the gate', () => {
  it('knows a program by its bearer, in any case of the scheme, and nobody without one', () => {
    expect(show(TOKEN)).toEqual({ ok: true, value: { kind: 'token', actor: 'RERAIL_TOKEN', role: 'admin' } });
    expect(gate.enter({ ...none, authorization: `bearer  ${VIEWER} ` })).toEqual({
      ok: true,
      value: { kind: 'token', actor: 'wall', role: 'viewer' },
    });
    expect(gate.enter(none)).toEqual(nobody);
    expect(gate.enter({ ...none, authorization: `Basic ${TOKEN}` })).toEqual(nobody);
    for (const wrong of [`${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase(), digestOf(TOKEN).toString('hex')])
      expect(show(wrong)).toEqual({ ok: false, problem: { kind: 'bad-token' } });
  });

  it('makes whoever showed too many wrong tokens wait, whatever is shown then', () => {
    for (let i = 0; i < 10; i++) expect(show(`wrong-token-number-${i}`)).toMatchObject({ ok: false });
    const wait = { ok: false, problem: { kind: 'too-many-attempts', retryAfterSeconds: 30 } };
    expect(show('wrong-token-number-11')).toEqual(wait);
    // Not looked at: whoever guesses learns nothing.
    expect(show(TOKEN)).toEqual(wait);
    expect(signIn()).toEqual(wait);
    now += 30_000;
    expect(show(TOKEN)).toMatchObject({ ok: true, value: { actor: 'RERAIL_TOKEN' } });
  });

  it('does not lock out tokens that came from there before, nor cookies, nor other addresses', () => {
    expect(show(VIEWER)).toMatchObject({ ok: true });
    const cookie = cookieOf();
    for (let i = 0; i < 50; i++) show(`wrong-token-number-${i}`);
    expect(show(VIEWER)).toMatchObject({ ok: true, value: { actor: 'wall' } });
    expect(enter(cookie)).toMatchObject({ ok: true, value: { actor: 'Ada' } });
    expect(show(TOKEN, '198.51.100.1')).toMatchObject({ ok: true });
  });

  it('does not let a token that was good once be guessed at for ever', () => {
    expect(show(VIEWER)).toMatchObject({ ok: true });
    book.all = book.all.filter(({ name }) => name !== 'wall');
    for (let i = 0; i < 10; i++) show(`wrong-token-number-${i}`);
    expect(show(VIEWER)).toMatchObject({ ok: false, problem: { kind: 'bad-token' } });
    expect(show(VIEWER)).toMatchObject({ ok: false, problem: { kind: 'too-many-attempts' } });
  });
});

describe('a session', () => {
  it('is the person who signed in, until it ends, and outlives the console', () => {
    const cookie = cookieOf({ name: '  Ada Lovelace ', token: VIEWER });
    const ada = { ok: true, value: { kind: 'person', actor: 'Ada Lovelace', role: 'viewer' } };
    expect(enter(cookie)).toEqual(ada);
    expect(enter(`theme=dark; ${cookie}; other=1`)).toEqual(ada);
    expect(enter(cookie, gateOf())).toEqual(ada);
    now += 12 * HOUR - 1;
    expect(enter(cookie)).toEqual(ada);
    now += 1;
    expect(enter(cookie)).toEqual(nobody);
  });

  it('has a cookie that scripts cannot read and other sites cannot send', () => {
    const signedIn = signIn();
    if (!signedIn.ok) throw new Error(signedIn.problem.kind);
    const [pair, ...attributes] = signedIn.value.setCookie.split('; ');
    expect(pair).toMatch(/^rerail_[0-9a-f]{8}=/);
    expect(attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=43200']);
    expect(signedIn.value.setCookie).not.toContain(TOKEN);
    const overHttps = signIn({ secure: true });
    if (!overHttps.ok) throw new Error(overHttps.problem.kind);
    expect(overHttps.value.setCookie).toMatch(/^__Host-rerail_[0-9a-f]{8}=.*; Secure$/);
    expect(enter(overHttps.value.setCookie.split(';')[0] ?? '')).toMatchObject({ value: { actor: 'Ada' } });
  });

  it('has the role that its token has now, and ends with it', () => {
    const cookie = cookieOf({ token: VIEWER });
    book.all = book.all.map((grant) => (grant.name === 'wall' ? { ...grant, role: 'operator' } : grant));
    expect(enter(cookie)).toMatchObject({ value: { actor: 'Ada', role: 'operator' } });
    book.all = book.all.map((grant) =>
      grant.name === 'wall' ? { ...grant, digest: digestOf('changed') } : grant,
    );
    expect(enter(cookie)).toEqual(nobody);
  });

  it('cannot be made, changed or taken from another console', () => {
    const cookie = cookieOf({ token: VIEWER });
    const [name, value = ''] = cookie.split('=');
    const [body = '', seal = ''] = value.split('.');
    const content = JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown[];
    const withContent = (changed: readonly unknown[]) =>
      `${name}=${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${seal}`;
    for (const forged of [
      withContent([content[0], 'root', content[2], content[3]]),
      withContent([content[0], content[1], 'RERAIL_TOKEN', content[3]]),
      withContent([content[0], content[1], content[2], 9_999_999_999]),
      `${name}=${body}.`,
      `${name}=${body}`,
      `${name}=.${seal}`,
      `${name}=${body}.${seal}.${seal}`,
      `${name}=${body}.${seal.slice(0, -2)}`,
      `${name}=`,
      '=',
      ';',
      '',
      'x'.repeat(100_000),
    ])
      expect(enter(forged)).toEqual(nobody);
    expect(enter(cookie, gateOf(Buffer.alloc(32, 8)))).toEqual(nobody);
    const other = new SessionCookies(Buffer.alloc(32, 8));
    const grant = book.all[1];
    if (grant === undefined) throw new Error('no grant');
    const foreign = other.set(
      { id: 'x', actor: 'Eve', grant: 'wall', until: 9_999_999_999 },
      grant,
      false,
      1,
    );
    expect(enter(`${name}=${foreign.split(';')[0]?.split('=')[1]}`)).toEqual(nobody);
  });

  it('ends when it is signed out, and its cookie with it', () => {
    const [one, two] = [cookieOf(), cookieOf({ name: 'Bo' })];
    expect(gate.signOut(one, false)).toMatch(/^rerail_[0-9a-f]{8}=; .*Max-Age=0$/);
    expect(enter(one)).toEqual(nobody);
    expect(enter(two)).toMatchObject({ value: { actor: 'Bo' } });
    expect(gate.signOut(undefined, false)).toContain('Max-Age=0');
  });

  it.each([
    ['', 'A name has'],
    ['   ', 'A name has'],
    ['x'.repeat(81), 'A name has'],
    ['Ada\nadmin', 'control'],
    ['Ada\u0000', 'control'],
    ['\u202Enimda', 'control'],
    ['A\u200Bda', 'control'],
    ['Ada\u2028x', 'control'],
    ['\ud800', 'control'],
    ['wall', 'name of a token'],
    ['WALL', 'name of a token'],
    ['ｗａｌｌ', 'name of a token'],
    ['rerail_token', 'name of a token'],
  ])('is refused the name %j', (name, says) => {
    expect(signIn({ name })).toMatchObject({
      ok: false,
      problem: { kind: 'bad-name', detail: expect.stringContaining(says) },
    });
  });

  it('says nothing about names to whoever has no token', () => {
    expect(signIn({ name: 'wall', token: 'not-a-token-of-this-console' })).toEqual({
      ok: false,
      problem: { kind: 'bad-token' },
    });
  });

  it('takes any name that people have', () => {
    for (const name of ['Ada', 'Łukasz Ó Briain', '山田 太郎', 'x'.repeat(80), '👩', "O'Neil <ops>"])
      expect(signIn({ name })).toMatchObject({ ok: true, value: { principal: { actor: name } } });
  });
});
