// The reference library of Standard Webhooks as a filter: a line of JSON in, a line of JSON out.
import readline from 'node:readline';
import { Webhook } from 'standardwebhooks';

const answer = {
  sign: ({ secret, id, timestamp, body }) => new Webhook(secret).sign(id, new Date(timestamp * 1000), Buffer.from(body, 'base64')),
  verify: ({ secret, headers, body }) => {
    try {
      new Webhook(secret).verify(Buffer.from(body, 'base64'), headers);
      return true;
    } catch (error) {
      if (error.name === 'WebhookVerificationError' || error.constructor.name === 'WebhookVerificationError') return false;
      throw error;
    }
  },
};
for await (const line of readline.createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  console.log(JSON.stringify(answer[question.call](question)));
}
