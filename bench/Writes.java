import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.LocalDateTime;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.client.table.writer.UpsertWriter;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampNtz;

/** Follows "append N" and "upsert N": writes N rows, and answers when all are acknowledged. */
public final class Writes {
  private static final String[] STATES = {
    "OK", "ERROR", "MAINTENANCE", "LOW_BATTERY", "CALIBRATING"
  };

  public static void main(String[] args) throws Exception {
    Configuration settings = new Configuration();
    settings.setString("bootstrap.servers", args[0].replace(',', ';'));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    try (Connection connection = ConnectionFactory.createConnection(settings);
        Table table = connection.getTable(TablePath.of(args[1], args[2]))) {
      for (String line; (line = in.readLine()) != null; ) {
        String[] words = line.split(" ");
        int n = Integer.parseInt(words[1]);
        if (words[0].equals("append")) {
          append(table, n);
        } else {
          upsert(table, n);
        }
        System.out.println(n);
      }
    }
  }

  private static void append(Table table, int n) {
    LocalDateTime start = LocalDateTime.of(2026, 8, 4, 9, 0);
    AppendWriter writer = table.newAppend().createWriter();
    for (int i = 0; i < n; i++) {
      writer.append(
          GenericRow.of(
              i % 100_000 + 1,
              TimestampNtz.fromLocalDateTime(start.plusNanos(i * 1_000_000L)),
              20 + i % 40 / 4.0,
              40 + i % 100 / 10.0));
    }
    writer.flush();
  }

  private static void upsert(Table table, int n) {
    UpsertWriter writer = table.newUpsert().createWriter();
    for (int i = 1; i <= n; i++) {
      writer.upsert(
          GenericRow.of(
              i,
              BinaryString.fromString("sensor number " + i),
              BinaryString.fromString("room-" + i % 997),
              BinaryString.fromString(STATES[i % 5])));
    }
    writer.flush();
  }
}
