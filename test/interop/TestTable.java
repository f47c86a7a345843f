import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

  /** All tables. */
  static List<TestTable> all() {
    List<TestTable> all = new ArrayList<>();
    for (int buckets : new int[] {1, 4}) {
      for (String codec : new String[] {"NONE", "LZ4_FRAME", "ZSTD"}) {
        TestTable log = wide("log_" + codec.toLowerCase(), buckets, Types.ALL, false);
        log.properties.put("table.log.arrow.compression.type", codec);
        if (!codec.equals("NONE")) {
          log.bucketKey.add("id");
        }
        all.add(log);
      }
      all.add(wide("log_alternatives", buckets, Types.ALTERNATIVES, false));
      all.add(wide("log_not_null", buckets, Types.ALL, true));
      all.add(wide("kv", buckets, Types.ALL, false).keyed("id"));
      all.add(wide("kv_alternatives", buckets, Types.ALTERNATIVES, false).keyed("id"));
      all.add(wide("kv_not_null", buckets, Types.ALL, true).keyed("id"));
      for (Type type : Types.ALL) {
        all.add(byKey(buckets, type.name));
      }
      all.add(byKey(buckets, "int", "string"));
      all.add(byKey(buckets, "string", "decimal_10_2", "date"));
      all.add(byKey(buckets, "boolean", "ntz_6", "bytes", "decimal_38_18", "bigint"));
      TestTable part = byKey(buckets, "string", "int");
      part.bucketKey.clear();
      part.bucketKey.add("k2");
      all.add(part);
      TestTable log = new TestTable("log_empty", buckets, false, true);
      log.columns.put("id", Types.get("int"));
      all.add(log);
      TestTable kv = new TestTable("kv_empty", buckets, false, true);
      kv.columns.put("id", Types.get("int"));
      all.add(kv.keyed("id"));
    }
    return all;
  }

  /** A column for each type, and an id. */
  private static TestTable wide(String name, int buckets, List<Type> types, boolean notNull) {
    TestTable table = new TestTable(name, buckets, notNull, false);
    table.columns.put("id", Types.get("int"));
    types.forEach(type -> table.columns.put("c_" + type.name.replace(' ', '_'), type));
    return table;
  }

  private static TestTable byKey(int buckets, String... types) {
    TestTable table = new TestTable("key_" + String.join("_and_", types), buckets, false, false);
    for (String type : types) {
      String column = types.length == 1 ? "k" : "k" + (table.columns.size() + 1);
      table.columns.put(column, Types.get(type));
      table.keyed(column);
    }
    table.columns.put("note", Types.get("string"));
    table.columns.put("version", Types.get("bigint"));
    return table;
  }

  private TestTable keyed(String column) {
    primaryKey.add(column);
    bucketKey.add(column);
    return this;
  }

  boolean isKeyed() {
    return !primaryKey.isEmpty();
  }

  List<String> names() {
    return new ArrayList<>(columns.keySet());
  }

  List<Type> types() {
    return new ArrayList<>(columns.values());
  }

  DataType type(String column) {
    DataType type = columns.get(column).fluss;
    return notNull || primaryKey.contains(column) ? type.copy(false) : type;
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
      if (notNull) {
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
        List<Object> values = types.get(j).values(direction);
        key[j] = values.get((i + i * j / 5) % values.size());
      }
      if (seen.add(text(key))) {
        keys.add(key);
      }
    }
    return keys;
  }
}
