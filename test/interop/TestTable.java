import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.fluss.metadata.DataLakeFormat;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.types.DataType;

/** A table of the test: its columns, its keys and what is written to it. */
final class TestTable {
  /** A row that is written; live if nothing written later replaces or deletes it. */
  static final class Write {
    final Object[] row;
    final boolean live;

    Write(Object[] row, boolean live) {
      this.row = row;
      this.live = live;
    }
  }

  private static final int ROWS = 150;
  private static final int KEYS = 48;

  final String name;
  final Map<String, Type> columns = new LinkedHashMap<>();
  final List<String> primaryKey = new ArrayList<>();
  final List<String> bucketKey = new ArrayList<>();
  final List<String> partitionKey = new ArrayList<>();
  final int buckets;
  final Map<String, String> properties = new LinkedHashMap<>();
  private final boolean notNull;
  private final boolean empty;

  private TestTable(String name, int buckets, boolean notNull, boolean empty) {
    this.name = name + "_" + buckets;
    this.buckets = buckets;
    this.notNull = notNull;
    this.empty = empty;
  }

  /** A column for each type, and an id. */
  static TestTable wide(String name, int buckets, List<Type> types) {
    return new TestTable(name, buckets, false, false).columns(types);
  }

  static TestTable wideNotNull(String name, int buckets, List<Type> types) {
    return new TestTable(name, buckets, true, false).columns(types);
  }

  static TestTable empty(String name, int buckets) {
    return new TestTable(name, buckets, false, true).columns(List.of());
  }

  /** A primary key of these types, k or k1, k2, ..., and two other columns. */
  static TestTable byKey(String name, int buckets, Type... types) {
    TestTable table = new TestTable(name, buckets, false, false);
    for (Type type : types) {
      String column = types.length == 1 ? "k" : "k" + (table.columns.size() + 1);
      table.columns.put(column, type);
      table.keyed(column);
    }
    table.columns.put("note", Types.get("string"));
    table.columns.put("version", Types.get("bigint"));
    return table;
  }

  private TestTable columns(List<Type> types) {
    columns.put("id", Types.get("int"));
    types.forEach(type -> columns.put("c_" + type.name.replace(' ', '_'), type));
    return this;
  }

  TestTable keyed(String column) {
    primaryKey.add(column);
    bucketKey.add(column);
    return this;
  }

  TestTable bucketedBy(String... columns) {
    bucketKey.clear();
    bucketKey.addAll(Arrays.asList(columns));
    return this;
  }

  /** By a column that is part of the primary key, or that the table does not have yet. */
  TestTable partitionedBy(String column, Type type) {
    columns.putIfAbsent(column, type);
    partitionKey.add(column);
    bucketKey.remove(column);
    return this;
  }

  TestTable with(String property, String value) {
    properties.put(property, value);
    return this;
  }

  boolean isKeyed() {
    return !primaryKey.isEmpty();
  }

  boolean isPartitioned() {
    return !partitionKey.isEmpty();
  }

  /** The bucket key if a prefix lookup can go by it, else nothing. */
  List<String> prefixKey() {
    List<String> physical = new ArrayList<>(primaryKey);
    physical.removeAll(partitionKey);
    int n = bucketKey.size();
    boolean isPrefix = n < physical.size() && physical.subList(0, n).equals(bucketKey);
    return isKeyed() && isPrefix ? bucketKey : List.of();
  }

  /** In version 1 a key as Paimon has it does not begin with the bytes of its first columns. */
  boolean isPrefixFound() {
    return lake() != DataLakeFormat.PAIMON
        || !"1".equals(properties.get("table.kv.format-version"));
  }

  /** What the keys and the bucket depend on, or null. */
  DataLakeFormat lake() {
    String format = properties.get("table.datalake.format");
    return format == null ? null : DataLakeFormat.valueOf(format.toUpperCase());
  }

  List<String> names() {
    return new ArrayList<>(columns.keySet());
  }

  List<Type> types() {
    return new ArrayList<>(columns.values());
  }

  DataType type(String column) {
    DataType type = columns.get(column).fluss;
    boolean never = notNull || primaryKey.contains(column) || partitionKey.contains(column);
    return never ? type.copy(false) : type;
  }

  TableDescriptor descriptor() {
    Schema.Builder schema = Schema.newBuilder();
    columns.keySet().forEach(column -> schema.column(column, type(column)));
    if (isKeyed()) {
      schema.primaryKey(primaryKey);
    }
    return TableDescriptor.builder()
        .schema(schema.build())
        .distributedBy(buckets, bucketKey)
        .partitionedBy(partitionKey)
        .properties(properties)
        .build();
  }

  /** A row as text, which is how rows are compared. */
  List<String> text(Object[] row) {
    List<Type> types = types();
    return IntStream.range(0, row.length)
        .mapToObj(i -> Text.of(types.get(i), row[i]))
        .collect(Collectors.toList());
  }

  /** What is written, in order. Only Java deletes. */
  List<Write> writes(Direction direction) {
    List<Object[]> keys = keys(direction);
    List<Write> writes = new ArrayList<>();
    boolean deletes = direction == Direction.JAVA_WRITES;
    for (int i = 0; isKeyed() && i < keys.size(); i++) {
      if (i % 3 == 0 || deletes && i % 5 == 4) {
        writes.add(new Write(row(keys.get(i), i + keys.size(), direction), false));
      }
    }
    for (int i = 0; i < keys.size(); i++) {
      if (!isKeyed() || !deletes || i % 5 != 4) {
        writes.add(new Write(row(keys.get(i), i, direction), true));
      }
    }
    return writes;
  }

  private Object[] row(Object[] key, int number, Direction direction) {
    List<Type> types = types();
    Object[] row = Arrays.copyOf(key, types.size());
    for (int i = key.length; i < row.length; i++) {
      if (partitionKey.contains(names().get(i))) {
        List<Object> values = Partitions.values(types.get(i));
        row[i] = values.get(number / (i + 1 - key.length) % values.size());
      } else if (notNull) {
        List<Object> values = types.get(i).values(direction);
        row[i] = values.get(number % values.size());
      } else if (number >= 3) { // before that all are null
        row[i] = types.get(i).value(number - 3, direction);
      }
    }
    return row;
  }

  /** Distinct keys; a table without a key counts its rows. */
  private List<Object[]> keys(Direction direction) {
    List<Object[]> keys = new ArrayList<>();
    List<Type> types = types().subList(0, Math.max(1, primaryKey.size()));
    if (empty) {
      return keys;
    }
    if (names().get(0).equals("id")) {
      IntStream.range(0, ROWS).forEach(i -> keys.add(new Object[] {i}));
      return keys;
    }
    Set<List<String>> seen = new HashSet<>();
    for (int i = 0; i < KEYS; i++) {
      Object[] key = new Object[types.size()];
      for (int j = 0; j < key.length; j++) {
        List<Object> values =
            partitionKey.contains(names().get(j))
                ? Partitions.values(types.get(j))
                : types.get(j).values(direction);
        key[j] = values.get((i + i * j / 5) % values.size());
      }
      // the bytes of a key are never none
      boolean none = lake() == DataLakeFormat.ICEBERG && List.of("", "\\x").contains(text(key).get(0));
      // another key would be written than Java looks up
      boolean cut = direction == Direction.SQL_WRITES && Stream.of(key).anyMatch(Type::isTooFine);
      if (!none && !cut && seen.add(text(key))) {
        keys.add(key);
      }
    }
    return keys;
  }
}
