import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.client.table.writer.TableWriter;
import org.apache.fluss.client.table.writer.UpsertWriter;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.GenericRow;

/** Fills tables through the Java client, and writes the same rows as text for a heap table. */
final class JavaWrites {
  private static final int ROWS_OF_A_BATCH = 37;

  private JavaWrites() {}

  static void write(Fluss fluss, TestTable table, Path directory) throws Exception {
    TablePath path = TablePath.of(Direction.JAVA_WRITES.database(), table.name);
    List<TestTable.Write> writes = table.writes(Direction.JAVA_WRITES);
    try (Table remote = fluss.connection.getTable(path)) {
      if (table.isKeyed()) {
        upsert(table, writes, remote.newUpsert().createWriter());
      } else {
        append(writes, remote.newAppend().createWriter());
      }
    }
    Map<Integer, List<String>> positions = new HashMap<>();
    if (!table.isKeyed()) {
      // Only the id: the client cannot read every timestamp that it writes.
      fluss.readLog(
          path,
          new int[] {0},
          (bucket, partition, record, row) ->
              positions.put(
                  (Integer) row[0],
                  Stream.of(
                          String.valueOf(bucket.getBucket()),
                          String.valueOf(record.logOffset()),
                          Text.timestamp(record.timestamp(), 0, "+00"),
                          partition)
                      .filter(Objects::nonNull)
                      .collect(Collectors.toList())));
    }
    copyFile(directory, table, writes, positions);
  }

  /** The file for the heap table: order, live or not, the columns, and a log row's position. */
  static void copyFile(
      Path directory,
      TestTable table,
      List<TestTable.Write> writes,
      Map<Integer, List<String>> positions)
      throws Exception {
    try (OutputStream out = Files.newOutputStream(directory.resolve(table.name + ".copy"))) {
      for (int i = 0; i < writes.size(); i++) {
        TestTable.Write write = writes.get(i);
        List<String> fields = new ArrayList<>(table.text(write.row));
        if (!positions.isEmpty()) {
          fields.addAll(positions.get((Integer) write.row[0]));
        }
        out.write(
            Text.copyLine(
                Stream.concat(
                    Stream.of(String.valueOf(i), String.valueOf(write.live)), fields.stream())));
      }
    }
  }

  private static void append(List<TestTable.Write> writes, AppendWriter writer) throws Exception {
    List<CompletableFuture<?>> written = new ArrayList<>();
    for (int i = 0; i < writes.size(); i++) {
      written.add(writer.append(GenericRow.of(writes.get(i).row)));
      if (i % ROWS_OF_A_BATCH == 0) {
        writer.flush();
      }
    }
    finish(writer, written);
  }

  private static void upsert(TestTable table, List<TestTable.Write> writes, UpsertWriter writer)
      throws Exception {
    Map<List<String>, TestTable.Write> last = new HashMap<>();
    List<CompletableFuture<?>> written = new ArrayList<>();
    int keys = table.primaryKey.size();
    for (TestTable.Write write : writes) {
      written.add(writer.upsert(GenericRow.of(write.row)));
      last.put(table.text(write.row).subList(0, keys), write);
    }
    finish(writer, written);
    for (TestTable.Write write : last.values()) {
      if (!write.live) {
        written.add(writer.delete(GenericRow.of(write.row)));
      }
    }
    finish(writer, written);
  }

  private static void finish(TableWriter writer, List<CompletableFuture<?>> written)
      throws Exception {
    writer.flush();
    for (CompletableFuture<?> one : written) {
      one.get();
    }
  }
}
