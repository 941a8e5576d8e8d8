import { measureRecordCheck } from '../record-check';
import { readAssignment } from './measure';
import { reportFigures } from './report-figures';

/** JSON.parse of the same record. */
const { jsonParse } = measureRecordCheck({ mebibytes: readAssignment().logBytes / 2 ** 20, rounds: 1 });
reportFigures({ mbPerSecond: jsonParse });
