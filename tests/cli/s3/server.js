// Serves FOLDER over S3 with a bucket "logs" on a port of its own, which it prints. The only key is S3RVER, with
// the secret S3RVER. Continuation tokens are DES: node needs --openssl-legacy-provider.
'use strict';

const S3rver = require('@20minutes/s3rver');

const [folder, address] = process.argv.slice(2);
new S3rver({ directory: folder, address, port: 0, silent: true, configureBuckets: [{ name: 'logs', configs: [] }] })
  .run()
  .then(({ port }) => console.log(port));
