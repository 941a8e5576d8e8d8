import { measureRecordCheck } from '../record-check';
import { readAssignment } from './measure';
import { reportFigures } from './report-figures';

/** The streaming check of a log record. */
const { check } = measureRecordCheck({ mebibytes: readAssignment().logBytes / 2 ** 20, rounds: 1 });
reportFigures({ mbPerSecond: check });
