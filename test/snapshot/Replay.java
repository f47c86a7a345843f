import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.record.ChangeType;

/**
 * What SQL read of a primary key table (id INT, v BIGINT, s STRING) from its KV snapshots, judged by
 * the official Java client alone: it is the changelog's state at the pinned ends, and with the
 * changes from there on it becomes the state that the client reads.
 *
 * <p>A state is a file of rows "bucket TAB id TAB v TAB s" and the ends of its buckets, "0:17,1:23".
 */
public final class Replay {
  private static final int LIMIT = 100_000_000;

  /** Rows by id, as "bucket TAB v TAB s". */
  private static final class Rows {
    String[] rows = new String[1024];

    void put(int id, String row) {
      if (id >= rows.length) {
        rows = Arrays.copyOf(rows, Math.max(id + 1, rows.length * 2));
      }
      rows[id] = row;
    }

    String get(int id) {
      return id < rows.length ? rows[id] : null;
    }

    Rows copy() {
      Rows copy = new Rows();
      copy.rows = rows.clone();
      return copy;
    }

    String same(Rows want) {
      int rowsHere = 0;
      int differences = 0;
      int example = -1;
      for (int id = 0; id < Math.max(rows.length, want.rows.length); id++) {
        String row = get(id);
        rowsHere += row == null ? 0 : 1;
        if (row == null ? want.get(id) != null : !row.equals(want.get(id))) {
          differences++;
          example = id;
        }
      }
      if (differences > 0) {
        throw new AssertionError(
            String.format(
                "%d rows differ, like id %d: expected %s, got %s",
                differences, example, want.get(example), get(example)));
      }
      return rowsHere + " rows";
    }
  }

  private static String row(int bucket, Object v, Object s) {
    return bucket + "\t" + v + "\t" + s;
  }

  private static Rows read(String file) throws Exception {
    Rows rows = new Rows();
    try (BufferedReader in = Files.newBufferedReader(Paths.get(file))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] fields = line.split("\t", -1);
        int id = Integer.parseInt(fields[1]);
        if (rows.get(id) != null) {
          throw new AssertionError("id " + id + " is there twice");
        }
        rows.put(id, row(Integer.parseInt(fields[0]), fields[2], fields[3]));
      }
    }
    return rows;
  }

  private static Map<Integer, Long> ends(String text) {
    Map<Integer, Long> ends = new HashMap<>();
    for (String bucket : text.split(",")) {
      String[] parts = bucket.split(":");
      ends.put(Integer.valueOf(parts[0]), Long.valueOf(parts[1]));
    }
    return ends;
  }

  private static void apply(Rows rows, int bucket, ChangeType change, Object[] row) {
    if (change == ChangeType.DELETE) {
      rows.put((Integer) row[0], null);
    } else if (change != ChangeType.UPDATE_BEFORE) {
      rows.put((Integer) row[0], row(bucket, row[1], row[2]));
    }
  }

  public static void main(String[] args) throws Exception {
    Cells cells = new Cells();
    try (Fluss fluss = new Fluss(args[0])) {
      TablePath path = TablePath.of(args[1], args[2]);
      Rows state = new Rows();
      fluss.readState(
          path,
          LIMIT,
          (bucket, row) -> state.put((Integer) row[0], row(bucket.getBucket(), row[1], row[2])));
      for (int i = 3; i + 1 < args.length; i += 2) {
        String name = Paths.get(args[i]).getFileName().toString();
        Map<Integer, Long> ends = ends(args[i + 1]);
        Rows sql = read(args[i]);
        Rows atEnds = new Rows();
        Rows replayed = sql.copy();
        fluss.readLog(
            path,
            null,
            (bucket, partition, record, row) ->
                apply(
                    record.logOffset() < ends.get(bucket.getBucket()) ? atEnds : replayed,
                    bucket.getBucket(),
                    record.getChangeType(),
                    row));
        cells.run(name + " is the changelog's up to its pinned ends", () -> sql.same(atEnds));
        cells.run(name + " becomes the table's by the changes after", () -> replayed.same(state));
      }
    }
    System.exit(cells.allPassed() ? 0 : 1);
  }
}
