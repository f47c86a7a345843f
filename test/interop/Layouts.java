import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** All tables of the test: each way to lay a table out, with columns of all types. */
final class Layouts {
  private static final int[] BUCKETS = {1, 3};
  private static final String LOG_FORMAT = "table.log.format";
  private static final String KV_FORMAT = "table.kv.format";
  private static final String KV_VERSION = "table.kv.format-version";
  private static final String LAKE = "table.datalake.format";
  private static final String CODEC = "table.log.arrow.compression.type";

  private final List<TestTable> all = new ArrayList<>();
  private final boolean full;

  private Layouts(boolean full) {
    this.full = full;
  }

  /** All, or those alone that show something that no other does. */
  static List<TestTable> all(boolean full) {
    Layouts layouts = new Layouts(full);
    for (int buckets : BUCKETS) {
      layouts.logs(buckets);
      layouts.states(buckets);
    }
    layouts.nested();
    layouts.keys();
    layouts.lakes();
    layouts.partitions();
    return layouts.all;
  }

  private void logs(int buckets) {
    for (String codec : new String[] {"NONE", "LZ4_FRAME", "ZSTD"}) {
      TestTable log = TestTable.wide("log_" + codec.toLowerCase(), buckets, Types.ALL);
      all.add(log.with(CODEC, codec));
      if (!codec.equals("NONE")) {
        log.bucketedBy("id");
      }
    }
    for (String format : new String[] {"INDEXED", "COMPACTED"}) {
      String name = "log_" + format.toLowerCase();
      all.add(TestTable.wide(name, buckets, all(format)).with(LOG_FORMAT, format));
    }
    if (!full && buckets == 1) {
      return;
    }
    all.add(TestTable.wide("log_alternatives", buckets, Types.ALTERNATIVES));
    all.add(TestTable.wide("log_precisions", buckets, Types.PRECISIONS));
    all.add(TestTable.wideNotNull("log_not_null", buckets, Types.ALL));
    all.add(TestTable.empty("log_empty", buckets));
  }

  private void states(int buckets) {
    for (String format : new String[] {"COMPACTED", "INDEXED"}) {
      String name = format.equals("COMPACTED") ? "kv" : "kv_indexed";
      all.add(TestTable.wide(name, buckets, all(format)).keyed("id").with(KV_FORMAT, format));
      all.add(
          TestTable.wideNotNull(name + "_not_null", buckets, all(format))
              .keyed("id")
              .with(KV_FORMAT, format));
    }
    all.add(
        TestTable.wide("kv_log_compacted", buckets, Types.ALL)
            .keyed("id")
            .with(LOG_FORMAT, "COMPACTED"));
    if (!full && buckets == 3) {
      return;
    }
    all.add(TestTable.wide("kv_alternatives", buckets, Types.ALTERNATIVES).keyed("id"));
    all.add(TestTable.wide("kv_precisions", buckets, Types.PRECISIONS).keyed("id"));
    all.add(TestTable.empty("kv_empty", buckets).keyed("id"));
  }

  /** Nested types in every format, in one bucket or three. */
  private void nested() {
    List<Type> arrays = NestedTypes.ARRAYS;
    List<Type> objects = NestedTypes.OBJECTS;
    all.add(TestTable.wide("log_arrays_none", 1, arrays).with(CODEC, "NONE"));
    all.add(TestTable.wide("log_arrays_zstd", 3, arrays).with(CODEC, "ZSTD"));
    all.add(TestTable.wide("log_objects_none", 3, objects).with(CODEC, "NONE"));
    all.add(TestTable.wide("log_objects_lz4", 1, objects).with(CODEC, "LZ4_FRAME"));
    all.add(TestTable.wide("log_arrays_compacted", 1, arrays).with(LOG_FORMAT, "COMPACTED"));
    all.add(TestTable.wide("log_objects_compacted", 3, objects).with(LOG_FORMAT, "COMPACTED"));
    all.add(TestTable.wide("log_arrays_indexed", 3, indexed(arrays)).with(LOG_FORMAT, "INDEXED"));
    all.add(TestTable.wide("log_objects_indexed", 1, indexed(objects)).with(LOG_FORMAT, "INDEXED"));
    all.add(TestTable.wide("kv_arrays", 3, arrays).keyed("id"));
    all.add(TestTable.wide("kv_objects", 3, objects).keyed("id"));
    all.add(
        TestTable.wide("kv_arrays_indexed", 1, indexed(arrays))
            .keyed("id")
            .with(KV_FORMAT, "INDEXED"));
    all.add(
        TestTable.wide("kv_objects_indexed", 1, indexed(objects))
            .keyed("id")
            .with(KV_FORMAT, "INDEXED"));
  }

  private static List<Type> all(String format) {
    return format.equals("INDEXED") ? indexed(Types.ALL) : Types.ALL;
  }

  /**
   * An INDEXED row has n bytes for a CHAR(n), which not every text of n characters fits, and the
   * Java client and server take the zeros at the end of a BINARY for padding.
   */
  private static List<Type> indexed(List<Type> types) {
    return types.stream()
        .filter(type -> !type.fluss.asSummaryString().matches("(.*[ <])?(CHAR|BINARY)\\(.*"))
        .collect(Collectors.toList());
  }

  /** Each type as a key; several; those that are only partly the bucket key. */
  private void keys() {
    for (Type type : Types.ALL) {
      all.add(TestTable.byKey("key_" + type.name, 3, type));
    }
    all.add(byKey("key_boolean_and_others", 3, "boolean", "ntz_6", "bytes", "decimal_38_18"));
    all.add(byKey("key_bucket_by_second", 3, "string", "int").bucketedBy("k2"));
    all.add(byKey("key_indexed", 3, "string", "int", "decimal_38_18").with(KV_FORMAT, "INDEXED"));
  }

  /** Keys by the encoders of each lake format, in both versions, whole and by prefix. */
  private void lakes() {
    for (String version : new String[] {"1", "2"}) {
      for (String lake : new String[] {"", "paimon", "lance"}) {
        String name = "key_" + (lake.isEmpty() ? "none" : lake) + "_v" + version;
        all.add(lake(TestTable.byKey(name, 3, exact()), lake, version));
        all.add(
            lake(
                byKey(name + "_prefix", 3, "string", "int", "ntz_6", "decimal_38_18")
                    .bucketedBy("k1", "k2"),
                lake,
                version));
      }
      String[] types = {
        "int", "string", "bigint", "date", "time_3", "ntz_6", "bytes", "decimal_38_18"
      };
      // the version decides only where the bucket key is another
      for (String type : full || version.equals("2") ? types : new String[] {"int"}) {
        String name = "key_iceberg_v" + version + "_" + type;
        all.add(lake(byKey(name, 3, type), "iceberg", version));
      }
    }
    // version 1 would need one key column
    all.add(
        lake(byKey("key_iceberg_v2_prefix", 3, "string", "int").bucketedBy("k1"), "iceberg", "2"));
  }

  private static TestTable lake(TestTable table, String lake, String version) {
    if (!lake.isEmpty()) {
      table.with(LAKE, lake);
    }
    return table.with(KV_VERSION, version);
  }

  private void partitions() {
    Type string = Types.get("string");
    for (int i = 0; i < Partitions.TYPES.size(); i++) {
      Type type = Types.get(Partitions.TYPES.get(i));
      int buckets = BUCKETS[i % BUCKETS.length];
      // logs and states name partitions alike
      if (full || i % 3 != 1) {
        all.add(
            TestTable.wide("part_log_" + type.name, buckets, List.of(string))
                .partitionedBy("p", type));
      }
      if (full || i % 3 == 1 || i == 0) {
        all.add(
            TestTable.byKey("part_key_" + type.name, BUCKETS[1] - buckets + 1, string, type)
                .partitionedBy("k2", type));
      }
    }
    for (String format : new String[] {"ARROW", "INDEXED", "COMPACTED"}) {
      all.add(
          TestTable.wide("part_log_several_" + format.toLowerCase(), 3, all(format))
              .with(LOG_FORMAT, format)
              .partitionedBy("p1", string)
              .partitionedBy("p2", Types.get("int"))
              .partitionedBy("p3", Types.get("date")));
    }
    all.add(TestTable.empty("part_log_none", 3).partitionedBy("p", string));
    all.add(
        byKey("part_key_several", 3, "int", "string", "bigint", "date")
            .partitionedBy("k2", string)
            .partitionedBy("k4", Types.get("date")));
    all.add(
        byKey("part_key_prefix", 3, "string", "bigint", "string")
            .partitionedBy("k3", string)
            .bucketedBy("k1"));
    all.add(byKey("part_key_paimon", 3, "int", "string").partitionedBy("k2", string)
        .with(LAKE, "paimon"));
  }

  private static TestTable byKey(String name, int buckets, String... types) {
    return TestTable.byKey(name, buckets, Arrays.stream(types).map(Types::get).toArray(Type[]::new));
  }

  /** What one key of many columns can hold and be looked up by. */
  private static Type[] exact() {
    return Types.ALL.stream()
        .filter(type -> type.isExactKey() && !type.name.equals("boolean"))
        .toArray(Type[]::new);
  }
}
