import { createProgram } from './program';

void createProgram().parseAsync();
