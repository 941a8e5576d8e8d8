import { longRecord, parseWhole, speedOf } from '../record-check';
import { readAssignment } from './measure';
import { reportFigures } from './report-figures';

/** JSON.parse of the same record. */
reportFigures({ mbPerSecond: speedOf(parseWhole, longRecord(readAssignment().logBytes)) });
