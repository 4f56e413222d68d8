import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * A self-signed certificate for localhost and 127.0.0.1, from 2020 to 2119. Its key is not secret. It was
 * created in its folder with a program that is part of Go:
 *
 *   go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" --host localhost,127.0.0.1 --ca \
 *     --ecdsa-curve P256 --start-date 'Jan 1 00:00:00 2020' --duration 876000h
 */
const folder = join(import.meta.dirname, 'self-signed');

export const selfSigned = {
  keyFile: join(folder, 'key.pem'),
  certFile: join(folder, 'cert.pem'),
  key: readFileSync(join(folder, 'key.pem'), 'utf8'),
  cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
};
