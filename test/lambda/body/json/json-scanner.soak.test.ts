import { expectAgreementWithJsonParse } from '../../../support/json-agreement';

describe('JsonScanner', () => {
  it('agrees with JSON.parse on 60,000 documents, whole and wounded, under random splits', () => {
    expectAgreementWithJsonParse(60_000);
  }, 3_600_000);
});
