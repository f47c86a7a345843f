import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collections;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TablePath;

/** Answers "count COLUMN" and "aggregate COLUMN" by a loop over a table of one bucket. */
public final class Readings {
  public static void main(String[] args) throws Exception {
    Configuration settings = new Configuration();
    settings.setString("bootstrap.servers", args[0].replace(',', ';'));
    settings.setString("client.scanner.log.fetch.max-bytes", "64mb");
    settings.setString("client.scanner.log.fetch.max-bytes-for-bucket", "16mb");
    settings.setString("client.scanner.log.max-poll-records", "1000000");
    TablePath path = TablePath.of(args[1], args[2]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    try (Connection connection = ConnectionFactory.createConnection(settings);
        Table table = connection.getTable(path)) {
      for (String line; (line = in.readLine()) != null; ) {
        String[] words = line.split(" ");
        System.out.println(answer(connection, table, path, words[0], words[1]));
      }
    }
  }

  private static String answer(
      Connection connection, Table table, TablePath path, String what, String column)
      throws Exception {
    long end =
        connection
            .getAdmin()
            .listOffsets(path, Collections.singletonList(0), new OffsetSpec.LatestSpec())
            .all()
            .get()
            .get(0);
    boolean aggregate = what.equals("aggregate");
    long count = 0;
    double sum = 0;
    double min = Double.POSITIVE_INFINITY;
    double max = Double.NEGATIVE_INFINITY;
    TableBucket bucket = new TableBucket(table.getTableInfo().getTableId(), 0);
    try (LogScanner scanner =
        table.newScan().project(Collections.singletonList(column)).createLogScanner()) {
      scanner.subscribeFromBeginning(0);
      for (long next = 0; next < end; ) {
        for (ScanRecord record : scanner.poll(Duration.ofSeconds(10)).records(bucket)) {
          next = record.logOffset() + 1;
          count++;
          if (aggregate) {
            double value = record.getRow().getDouble(0);
            sum += value;
            min = Math.min(min, value);
            max = Math.max(max, value);
          }
        }
      }
    }
    return aggregate ? count + "|" + sum + "|" + sum / count + "|" + min + "|" + max : "" + count;
  }
}
