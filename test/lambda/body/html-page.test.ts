import { HtmlPageDetector } from '../../../lambda/body/html-page';
import { bytewise } from '../../support/json-documents';

function isHtmlPage(content: string | Buffer): boolean {
  const whole = new HtmlPageDetector();
  whole.write(Buffer.from(content));
  const pieces = new HtmlPageDetector();
  for (const byte of bytewise(Buffer.from(content))) pieces.write(byte);
  expect(pieces.found).toBe(whole.found);
  return whole.found;
}

describe('HtmlPageDetector', () => {
  it.each([
    '<!doctype html>',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
    '<!DOCTYPE\nhtml>',
    '<html lang="en">',
    '<HTML>',
    '<html',
    '<head>',
    '<body\tclass="x">',
    '<body/>',
    ' \r\n\t\f<html>',
    '\ufeff<html>',
    '\ufeff  <html>',
    '<!-- proxy error -->\n<!----><html>',
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>',
    `<!--${'x'.repeat(16_000)}--><html>`,
  ])('finds %.40j', (content) => {
    expect(isHtmlPage(content)).toBe(true);
  });

  it.each([
    '',
    'apiVersion: v1\n',
    '# <html>\n',
    'a: <html>',
    '<header>',
    '<htmlx>',
    '<!doctype htmlx>',
    '<!doctype xml>',
    '<?xml version="1.0"?><manifest><html/></manifest>',
    '<!-- <html> -->',
    '<!-- <html>',
    '<!---->x<html>',
    '< html>',
    '<!-',
    '\u00a0<html>',
    `${' '.repeat(16_384)}<html>`,
  ])('lets %.40j pass', (content) => {
    expect(isHtmlPage(content)).toBe(false);
  });

  it('stays quick on a prologue made of comments that never end', () => {
    expect(isHtmlPage(Buffer.from('<!---->'.repeat(5000)))).toBe(false);
    expect(isHtmlPage(Buffer.from('<!--'.repeat(5000)))).toBe(false);
  });
});
