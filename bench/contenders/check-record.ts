import { checkInChunks, longRecord, speedOf } from '../record-check';
import { readAssignment } from './measure';
import { reportFigures } from './report-figures';

/** The streaming check of a log record. */
reportFigures({ mbPerSecond: speedOf(checkInChunks, longRecord(readAssignment().logBytes)) });
