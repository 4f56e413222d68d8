import type { Socket } from 'node:net';
import { connectionClosed } from './error-codes.ts';

/*
 * Symptom: if the server closes a new connection before it answers, postgres.js reconnects without delay
 * and without end, and the query never settles. A proxy without a Postgres behind it does this, and so
 * does a web server on a mistaken port, after an answer of its own.
 * Upstream: https://github.com/porsager/postgres/issues/1193, fix in …/pull/1214.
 * Remove when: postgres.js rejects the query in this case.
 */

/** Turns the clean close of a connection into an error if Postgres never answered on it. */
export const failOnStartupClose = (socket: Socket): void => {
  let problem: string | undefined = 'The server closed the connection before it answered';
  socket.once('data', (first: Buffer) => {
    problem = isPostgresAnswer(first) ? undefined : 'The server that answered is not Postgres';
  });
  socket.once('end', () => {
    if (problem !== undefined) socket.destroy(connectionClosed(problem));
  });
};

/**
 * The first message of Postgres asks for authentication (R), is an error (E) or negotiates the protocol
 * version (v). Before TLS it is a single letter.
 */
const isPostgresAnswer = (first: Buffer): boolean =>
  first.length === 1 || /^[REv]/.test(first.toString('latin1', 0, 1));
