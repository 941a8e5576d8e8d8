/** Does one step of a check and says so; the sentence is what holds once it is done. */
export async function step<Result>(sentence: string, action: () => Result | Promise<Result>): Promise<Result> {
  try {
    const result = await action();
    process.stdout.write(`ok      ${sentence}\n`);
    return result;
  } catch (error) {
    process.stdout.write(`FAILED  ${sentence}\n`);
    throw error;
  }
}
