/* Every key that the console's pages listen to, as the dialog of keys shows them. */

export interface ListedKey {
  /** Each as hotkeys name it. */
  readonly keys: readonly string[];
  readonly what: string;
  /** The part of the page that has to have the focus; its keys are not the whole page's. */
  readonly within?: string;
}
export interface KeyGroup {
  readonly name: 'Everywhere' | 'Lists' | 'Run' | 'Plan';
  readonly keys: readonly ListedKey[];
}

export const keyGroups: readonly KeyGroup[] = [
  {
    name: 'Everywhere',
    keys: [
      { keys: ['Mod+k'], what: 'run any command' },
      { keys: ['n'], what: 'next run that needs a person' },
      { keys: ['?'], what: 'this list' },
      { keys: ['Shift+d'], what: 'light or dark' },
      { keys: ['Escape'], what: 'up one level' },
      { keys: ['g r'], what: 'go to the runs' },
      { keys: ['g a'], what: 'go to the audit' },
      { keys: ['g c'], what: 'go to Connect' },
      { keys: ['g p'], what: 'go to the API' },
    ],
  },
  {
    name: 'Lists',
    keys: [
      { keys: ['/'], what: 'search the runs' },
      { keys: ['j', 'k'], what: 'next, previous row' },
      { keys: ['ArrowUp', 'ArrowDown'], what: 'the same' },
      { keys: ['x'], what: 'select the row' },
      { keys: ['Shift+x'], what: 'select up to the row' },
      { keys: ['Enter'], what: 'open', within: 'a row' },
      { keys: ['r'], what: 'plan a resume' },
    ],
  },
  {
    name: 'Run',
    keys: [
      { keys: ['ArrowLeft', 'ArrowRight'], what: 'one event' },
      { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], what: 'one step' },
      { keys: ['Home', 'End'], what: 'first event, newest' },
      { keys: [' '], what: 'play' },
      { keys: ['c'], what: 'next checkpoint' },
      { keys: ['e'], what: 'next effect' },
      { keys: ['1', '2', '3', '4', '5'], what: 'inspector tab' },
      { keys: ['r'], what: 'plan a resume' },
      { keys: ['b'], what: 'fork from the cursor' },
      { keys: ['p'], what: 'replay' },
      { keys: ['/', 'f'], what: 'find in this run' },
      { keys: ['[', ']'], what: 'attempt before, next attempt' },
      { keys: ['v'], what: 'ask downstream' },
      { keys: ['d'], what: 'decide what is in doubt' },
      { keys: ['+', '-'], what: 'zoom the graph' },
      { keys: ['0'], what: 'fit the graph' },
      { keys: ['ArrowUp', 'ArrowDown'], what: 'row up, row down', within: 'the timeline' },
    ],
  },
  {
    name: 'Plan',
    keys: [
      { keys: ['ArrowUp', 'ArrowDown'], what: 'row up, row down' },
      { keys: ['ArrowLeft', 'ArrowRight'], what: 'older, newer checkpoint', within: 'the rail' },
      { keys: ['v'], what: 'ask downstream' },
      { keys: ['Mod+Enter'], what: 'do what the button says' },
    ],
  },
];

const names: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Enter: '↵',
  Escape: 'Esc',
  ' ': 'Space',
  Shift: '⇧',
};

/** The keys that are held or pressed together: a plus ends a name and may be one. */
const partsOf = (combo: string): readonly string[] => combo.split(/\+(?=.)/);

/** The caps of a key as they stand on the keyboard, `mod` being what `Mod` is called there: `⇧`, `D`. */
export const capsOf = (key: string, mod: string): readonly string[] =>
  (key === ' ' ? [key] : key.split(' '))
    .flatMap(partsOf)
    .map((part) => (part === 'Mod' ? mod : (names[part] ?? (part.length === 1 ? part.toUpperCase() : part))));

/** In one text, for a button or a command: `⇧D`, `Ctrl K`, `G R`. */
export const keyWords = (key: string, mod: string): string => {
  const caps = capsOf(key, mod);
  return caps[0] === '⇧' ? caps.join('') : caps.join(' ');
};
