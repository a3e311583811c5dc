/** A database that cannot be opened as it is: the message is for who starts the console, and says what to do. */
export class DatabaseProblem extends Error {
  override readonly name: string = 'DatabaseProblem';
}
