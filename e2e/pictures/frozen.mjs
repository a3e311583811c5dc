import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/*
 * Preloaded into the console of the pictures: its clock stands at `RERAIL_FROZEN_AT` (epoch ms) and goes where the
 * parent sends it, and what it draws at random is drawn alike each time, so that every time and every id on a page is
 * the same in every picture. Timers go on.
 */
let now = Number(process.env.RERAIL_FROZEN_AT);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  // Next wraps Date and takes over what is its own, not what it inherits.
  static parse = RealDate.parse;
  static UTC = RealDate.UTC;

  constructor(...given) {
    if (given.length === 0) super(now);
    else super(...given);
  }

  static now() {
    return now;
  }
};

const drawn = new Map();
crypto.randomBytes = (size) => {
  const nth = (drawn.get(size) ?? 0) + 1;
  drawn.set(size, nth);
  return crypto.createHash('shake256', { outputLength: size }).update(`${size} ${nth}`).digest();
};
syncBuiltinESMExports();

process.on('message', (message) => {
  now = message.now;
  process.send({ moved: now });
});
process.channel.unref();
