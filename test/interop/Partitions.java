import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.fluss.client.table.getter.PartitionGetter;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;

/** Values that name a partition, of each type that can. */
final class Partitions {
  private static final long TIME = 1785834896789L; // 2026-08-04 09:14:56.789

  /** The types, by their names in Types. */
  static final List<String> TYPES =
      List.of(
          "string", "char", "boolean", "binary", "bytes", "tinyint", "smallint", "int", "bigint",
          "date", "time_3", "float", "double", "ntz_6", "ltz_3");

  private Partitions() {}

  /** Those that a table's rows belong to. */
  static Set<PartitionSpec> of(TestTable table, Direction direction) {
    Set<PartitionSpec> all = new HashSet<>();
    if (!table.isPartitioned()) {
      return all;
    }
    PartitionGetter getter =
        new PartitionGetter(table.descriptor().getSchema().getRowType(), table.partitionKey);
    for (TestTable.Write write : table.writes(direction)) {
      String[] values = getter.getPartition(GenericRow.of(write.row)).split("\\$");
      Map<String, String> spec = new LinkedHashMap<>();
      for (int i = 0; i < values.length; i++) {
        spec.put(table.partitionKey.get(i), values[i]);
      }
      all.add(new PartitionSpec(spec));
    }
    return all;
  }

  static List<Object> values(Type type) {
    switch (type.name) {
      case "string":
      case "char":
        return List.of(text("a"), text("longer-than_7"), text("A"));
      case "boolean":
        return List.of(true, false);
      case "binary":
        return List.of(new byte[] {0, 1, 2, 3}, new byte[] {-1, -128, 127, 0});
      case "bytes":
        return List.of(new byte[] {0}, new byte[] {-1, -128});
      case "tinyint":
        return List.of((byte) 1, Byte.MAX_VALUE, Byte.MIN_VALUE);
      case "smallint":
        return List.of((short) 1, Short.MAX_VALUE, Short.MIN_VALUE);
      case "int":
        return List.of(0, Integer.MAX_VALUE, Integer.MIN_VALUE);
      case "bigint":
        return List.of(7L, Long.MAX_VALUE, Long.MIN_VALUE);
      case "date":
        return List.of(0, -1, 20669);
      case "time_3":
        return List.of(0, 1, 86399999);
      case "float":
        return List.of(1.5f, -1e10f, 1e-7f);
      case "double":
        return List.of(1.5d, -1e10d, 1e-7d);
      case "ntz_6":
        return List.of(
            TimestampNtz.fromMillis(TIME, 123000),
            TimestampNtz.fromMillis(-1000),
            TimestampNtz.fromMillis(0));
      case "ltz_3":
        return List.of(TimestampLtz.fromEpochMillis(TIME), TimestampLtz.fromEpochMillis(-1));
      default:
        throw new IllegalArgumentException(type.name);
    }
  }

  private static BinaryString text(String value) {
    return BinaryString.fromString(value);
  }
}
