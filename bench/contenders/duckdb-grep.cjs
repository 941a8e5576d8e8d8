// Finds the lines of all logs of an archive that contain a text, and prints how many there are.
// Arguments: the folder of @duckdb/node-api, the archive, the text.
const [package, archive, text] = process.argv.slice(2);
const { DuckDBInstance } = require(package);

const query = `
  SELECT cluster, line
  FROM (
    SELECT cluster, unnest(string_split(spec.log, chr(10))) AS line
    FROM read_json($files, columns = {spec: 'STRUCT(log VARCHAR)'}, hive_partitioning = true)
  )
  WHERE contains(line, $text)`;

void (async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const files = `${archive}/logs/*/*/*.json.gz`;
  const result = await connection.runAndReadAll(query, { files, text });
  console.log(result.getRows().length);
})();
