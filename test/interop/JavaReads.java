import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.fluss.bucketing.BucketingFunction;
import org.apache.fluss.client.lookup.LookupResult;
import org.apache.fluss.client.lookup.Lookuper;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableInfo;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.record.ChangeType;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.row.encode.KeyEncoder;

/** Reads through the Java client what fluss_fdw wrote, and compares it with what it was given. */
final class JavaReads {
  private final Fluss fluss;
  private final TestTable table;
  private final TablePath path;
  private final Cells cells;
  private final List<Object[]> expected;

  JavaReads(Fluss fluss, TestTable table, Cells cells) {
    this.fluss = fluss;
    this.table = table;
    this.cells = cells;
    path = TablePath.of(Direction.SQL_WRITES.database(), table.name);
    expected =
        table.writes(Direction.SQL_WRITES).stream()
            .filter(write -> write.live)
            .map(write -> write.row)
            .collect(Collectors.toList());
  }

  void check() {
    String name = Direction.SQL_WRITES.letter + " " + table.name + " java ";
    if (!cells.run(name + "schema", this::schema)) {
      return;
    }
    if (table.isKeyed()) {
      cells.run(name + "lookup of every key", this::lookups);
      if (!table.prefixKey().isEmpty() && table.isPrefixFound()) {
        cells.run(name + "prefix lookup of every key", this::prefixLookups);
      }
      cells.run(name + "limit scan", this::state);
      cells.run(name + "changelog", this::changelog);
    } else {
      cells.run(name + "all columns", this::log);
      for (int i = 1; i < table.columns.size(); i++) {
        int column = i;
        if (isReadable(i)) {
          cells.run(name + table.names().get(i), () -> projected(column));
        }
      }
    }
  }

  private String schema() throws Exception {
    TableInfo info = fluss.admin.getTableInfo(path).get();
    List<String> want = new ArrayList<>();
    table.names().forEach(column -> want.add(column + " " + table.type(column)));
    List<String> got =
        info.getSchema().getColumns().stream()
            .map(column -> column.getName() + " " + column.getDataType())
            .collect(Collectors.toList());
    Cells.same(want, got);
    Cells.same(table.primaryKey, info.getPrimaryKeys());
    Cells.same(table.bucketKey, info.getBucketKeys());
    Cells.same(table.partitionKey, info.getPartitionKeys());
    Cells.same(table.buckets, info.getNumBuckets());
    table.properties.forEach(
        (key, value) -> Cells.same(value, info.getProperties().toMap().get(key)));
    return got.size() + " columns";
  }

  /** All rows of a log, each in its key's bucket, in the order in which they were written. */
  private String log() throws Exception {
    List<Object[]> rows = new ArrayList<>();
    Map<TableBucket, Integer> last = new HashMap<>();
    BucketOf bucketOf = table.bucketKey.isEmpty() ? null : new BucketOf();
    readReadable(
        (bucket, partition, record, row) -> {
          rows.add(row);
          Cells.same(ChangeType.APPEND_ONLY, record.getChangeType());
          if (bucketOf != null) {
            Cells.same(bucketOf.bucket(row), bucket.getBucket());
          }
          Integer previous = last.put(bucket, (Integer) row[0]);
          if (previous != null && previous >= (Integer) row[0]) {
            throw new AssertionError("row " + row[0] + " comes after " + previous);
          }
        });
    return compare(readableOf(expected), rows);
  }

  private String projected(int column) throws Exception {
    List<List<String>> got = new ArrayList<>();
    Type id = table.types().get(0);
    Type type = table.types().get(column);
    fluss.readLog(
        path,
        new int[] {0, column},
        (bucket, partition, record, row) -> got.add(List.of(text(id, row[0]), text(type, row[1]))));
    List<List<String>> want =
        expected.stream()
            .map(row -> List.of(text(id, row[0]), text(type, row[column])))
            .collect(Collectors.toList());
    return Cells.sameRows(want, got);
  }

  private String lookups() throws Exception {
    int keys = table.primaryKey.size();
    List<Object[]> rows = new ArrayList<>();
    try (Table remote = fluss.connection.getTable(path)) {
      InternalRow.FieldGetter[] getters =
          Fluss.getters(remote.getTableInfo().getRowType());
      Lookuper lookuper = remote.newLookup().createLookuper();
      List<CompletableFuture<LookupResult>> results = new ArrayList<>();
      for (Object[] row : expected) {
        results.add(lookuper.lookup(GenericRow.of(java.util.Arrays.copyOf(row, keys))));
      }
      for (CompletableFuture<LookupResult> result : results) {
        result.get().getRowList().forEach(row -> rows.add(Fluss.fields(row, getters)));
      }
    }
    return compare(rows);
  }

  /** By the bucket key and, if there are any, the partition columns. */
  private String prefixLookups() throws Exception {
    List<String> columns = new ArrayList<>(table.prefixKey());
    columns.addAll(table.partitionKey);
    Map<List<String>, Object[]> keys = new LinkedHashMap<>();
    for (Object[] row : expected) {
      Object[] key = columns.stream().map(c -> row[table.names().indexOf(c)]).toArray();
      keys.put(
          columns.stream()
              .map(c -> table.text(row).get(table.names().indexOf(c)))
              .collect(Collectors.toList()),
          key);
    }
    List<Object[]> rows = new ArrayList<>();
    try (Table remote = fluss.connection.getTable(path)) {
      InternalRow.FieldGetter[] getters = Fluss.getters(remote.getTableInfo().getRowType());
      Lookuper lookuper = remote.newLookup().lookupBy(columns).createLookuper();
      for (Object[] key : keys.values()) {
        lookuper
            .lookup(GenericRow.of(key))
            .get()
            .getRowList()
            .forEach(row -> rows.add(Fluss.fields(row, getters)));
      }
    }
    return compare(rows);
  }

  private String state() throws Exception {
    return compare(fluss.readState(path));
  }

  /** The changelog, replayed, must give the same rows, each key all in its own bucket. */
  private String changelog() throws Exception {
    int keys = table.primaryKey.size();
    Map<List<String>, Object[]> state = new HashMap<>();
    BucketOf bucketOf = new BucketOf();
    readReadable(
        (bucket, partition, record, row) -> {
          Cells.same(bucketOf.bucket(row), bucket.getBucket());
          List<String> key = table.text(row).subList(0, keys);
          switch (record.getChangeType()) {
            case INSERT:
            case UPDATE_AFTER:
              state.put(key, row);
              break;
            default:
              state.remove(key);
          }
        });
    return compare(readableOf(expected), new ArrayList<>(state.values()));
  }

  /**
   * The Java client cannot read the elements of type CHAR from Arrow batches, not those either that
   * it has written itself: as if they all had the same length.
   */
  private boolean isReadable(int column) {
    String name = table.names().get(column);
    boolean arrow = "ARROW".equals(table.properties.getOrDefault("table.log.format", "ARROW"));
    return !arrow || !name.equals("c_array_of_char") && !name.equals("c_map_by_char");
  }

  /** Rows with NULL for what cannot be read. */
  private List<Object[]> readableOf(List<Object[]> rows) {
    List<Object[]> readable = new ArrayList<>();
    for (Object[] row : rows) {
      Object[] copy = row.clone();
      for (int i = 0; i < copy.length; i++) {
        if (!isReadable(i)) {
          copy[i] = null;
        }
      }
      readable.add(copy);
    }
    return readable;
  }

  /** Reads the log, with NULL for what cannot be read. */
  private void readReadable(Fluss.Visitor visitor) throws Exception {
    int width = table.columns.size();
    int[] columns = IntStream.range(0, width).filter(this::isReadable).toArray();
    fluss.readLog(
        path,
        columns.length == width ? null : columns,
        (bucket, partition, record, row) -> {
          Object[] whole = new Object[width];
          for (int i = 0; i < columns.length; i++) {
            whole[columns[i]] = row[i];
          }
          visitor.visit(bucket, partition, record, whole);
        });
  }

  private String compare(List<Object[]> rows) {
    return compare(expected, rows);
  }

  private String compare(List<Object[]> want, List<Object[]> rows) {
    return Cells.sameRows(
        want.stream().map(table::text).collect(Collectors.toList()),
        rows.stream().map(table::text).collect(Collectors.toList()));
  }

  private static String text(Type type, Object value) {
    return String.valueOf(Text.of(type, value));
  }

  /** The bucket that the Java client chooses for a row. */
  private final class BucketOf {
    private final KeyEncoder encoder;
    private final BucketingFunction function = BucketingFunction.of(table.lake());

    BucketOf() throws Exception {
      TableInfo info = fluss.admin.getTableInfo(path).get();
      encoder = KeyEncoder.ofBucketKeyEncoder(info.getRowType(), info.getBucketKeys(), table.lake());
    }

    int bucket(Object[] row) {
      return function.bucketing(encoder.encodeKey(GenericRow.of(row)), table.buckets);
    }
  }
}
