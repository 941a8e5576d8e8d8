import { expectAgreementWithJsonParse } from '../../../support/json-agreement';

describe('JsonScanner', () => {
  it('agrees with JSON.parse on 200,000 documents, whole and wounded, under random splits', () => {
    expectAgreementWithJsonParse(200_000);
  }, 3_600_000);
});
