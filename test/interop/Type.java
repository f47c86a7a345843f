import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.fluss.row.GenericArray;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypeRoot;

/**
 * A type as both sides name it, and the values that the tests store: every edge once, then
 * random ones, the same in each run. Values are objects as Fluss's InternalRow has them.
 */
final class Type {
  final String name;
  final DataType fluss;
  final String postgres;
  final String option; // fluss_type, where fluss_create_table cannot tell from the PostgreSQL type
  private final List<Object> edges;
  private final Function<Random, Object> random;

  Type(
      String name,
      DataType fluss,
      String postgres,
      String option,
      List<Object> edges,
      Function<Random, Object> random) {
    this.name = name;
    this.fluss = fluss;
    this.postgres = postgres;
    this.option = option;
    this.edges = edges;
    this.random = random;
  }

  /** The edges and as many random values, none null. */
  List<Object> values(Direction direction) {
    Random seeded = new Random(name.hashCode());
    List<Object> all = new java.util.ArrayList<>(edges);
    for (int i = 0; i < edges.size(); i++) {
      all.add(random.apply(seeded));
    }
    return all.stream().filter(v -> readable(v, direction)).collect(Collectors.toList());
  }

  /** The value for a row of a table, null now and then. */
  Object value(int row, Direction direction) {
    List<Object> edge =
        edges.stream().filter(v -> readable(v, direction)).collect(Collectors.toList());
    if (row < edge.size()) {
      return edge.get(row);
    }
    Random seeded = new Random(31L * name.hashCode() + row);
    seeded.nextInt();
    if (seeded.nextInt(8) == 0) {
      return null;
    }
    Object value = random.apply(seeded);
    return readable(value, direction) ? value : null;
  }

  /**
   * The Java client fails on Arrow timestamps before 1970 with a part below the millisecond, so
   * what Java reads back has none.
   */
  private static boolean readable(Object value, Direction direction) {
    if (direction == Direction.JAVA_WRITES) {
      return true;
    }
    if (value instanceof TimestampNtz) {
      TimestampNtz t = (TimestampNtz) value;
      return t.getMillisecond() >= 0 || t.getNanoOfMillisecond() == 0;
    }
    if (value instanceof TimestampLtz) {
      TimestampLtz t = (TimestampLtz) value;
      return t.getEpochMillisecond() >= 0 || t.getNanoOfMillisecond() == 0;
    }
    if (value instanceof GenericArray) {
      return Stream.of(((GenericArray) value).toObjectArray())
          .allMatch(item -> readable(item, direction));
    }
    return true;
  }

  /** What SQL cannot write: times finer than a microsecond. */
  static boolean isTooFine(Object value) {
    if (value instanceof TimestampNtz) {
      return ((TimestampNtz) value).getNanoOfMillisecond() % 1000 != 0;
    }
    return value instanceof TimestampLtz
        && ((TimestampLtz) value).getNanoOfMillisecond() % 1000 != 0;
  }

  boolean isNested() {
    return fluss.is(DataTypeRoot.ARRAY) || fluss.is(DataTypeRoot.MAP) || fluss.is(DataTypeRoot.ROW);
  }

  /** False where equal values may have different bytes: such keys are not looked up. */
  boolean isExactKey() {
    return !name.startsWith("float")
        && !name.startsWith("double")
        && !name.endsWith("_9")
        && !postgres.startsWith("character(");
  }
}
