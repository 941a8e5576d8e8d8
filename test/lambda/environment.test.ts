import { readVariables, SettingsError } from '../../lambda/environment';

describe('the environment', () => {
  it('is read with every missing variable named at once', () => {
    const names = ['ARCHIVE_BUCKET', 'API_KEY_SECRET'] as const;
    expect(() => readVariables(names, { ARCHIVE_BUCKET: '' })).toThrow(SettingsError);
    expect(() => readVariables(names, {})).toThrow('ARCHIVE_BUCKET, API_KEY_SECRET not set; deploy the stack again');
    expect(readVariables(names, { ARCHIVE_BUCKET: 'b', API_KEY_SECRET: 's', OTHER: 'x' })).toEqual({
      ARCHIVE_BUCKET: 'b',
      API_KEY_SECRET: 's',
    });
  });
});
